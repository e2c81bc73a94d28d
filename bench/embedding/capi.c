/* Costs of libsaki, ns each, the least of five rounds:
 *   cc -O2 capi.c $(pkg-config --cflags --libs saki) -lpthread -o capi && ./capi embedding.dll */
#include <pthread.h>
#include <saki.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static saki_method *empty, *loop;
static saki_object *string;
static saki_class *class;

static void works (saki_error *error)
{
	if (error == NULL)
		return;
	fprintf (stderr, "%s\n", saki_error_text (error));
	exit (1);
}

static double now (void)
{
	struct timespec t;
	clock_gettime (CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static saki_error *add (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	(void) data, (void) scope, (void) count;
	*result = saki_value_i32 (arguments[0].of.i32 + arguments[1].of.i32);
	return NULL;
}

static void nothing (int n)
{
	bool result;
	while (n--)
		works (saki_method_is_static (empty, &result));
}

static void invoke (int n)
{
	while (n--)
		works (saki_invoke (empty, NULL, NULL, 0, NULL, NULL));
}

static void invoke_named (int n)
{
	while (n--)
		works (saki_call_static (class, "Empty", NULL, 0, NULL, NULL));
}

static void internal (int n)
{
	saki_value rounds = saki_value_i32 (n);
	works (saki_invoke (loop, NULL, &rounds, 1, NULL, NULL));
}

static void handle (int n)
{
	while (n--) {
		saki_object *kept;
		works (saki_object_keep (string, NULL, &kept));
		saki_object_release (kept);
	}
}

static void text (int n)
{
	while (n--) {
		saki_object *made;
		char *utf8;
		works (saki_string_new ("a text of some length", 21, NULL, &made));
		works (saki_string_text (made, &utf8, NULL));
		saki_text_free (utf8);
		saki_object_release (made);
	}
}

static void *attach_once (void *unused)
{
	works (saki_attach ());
	works (saki_detach ());
	return unused;
}

static void *returns (void *unused) { return unused; }

static void threads (int n, void *(*body) (void *))
{
	while (n--) {
		pthread_t thread;
		pthread_create (&thread, NULL, body, NULL);
		pthread_join (thread, NULL);
	}
}

static void thread (int n) { threads (n, returns); }
static void attach (int n) { threads (n, attach_once); }

static void measure (const char *name, void (*body) (int), int n)
{
	double least = 1e18;
	body (n);
	for (int round = 0; round < 5; round++) {
		double start = now ();
		body (n);
		double each = (now () - start) / n;
		if (each < least)
			least = each;
	}
	printf ("%-36s %10.1f\n", name, least);
}

int main (int argc, char **argv)
{
	saki_assembly *assembly;
	(void) argc;
	works (saki_add_function ("Embedding::Add", add, NULL));
	works (saki_start (NULL));
	works (saki_load (argv[1], &assembly));
	works (saki_class_find (assembly, "Embedding", &class));
	works (saki_method_find (class, "Empty", 0, &empty));
	works (saki_method_find (class, "Loop", 1, &loop));
	works (saki_string_new ("x", 1, NULL, &string));
	measure ("a call that does nothing", nothing, 1000000);
	measure ("saki_invoke of an empty method", invoke, 1000000);
	measure ("saki_call_static by name", invoke_named, 1000000);
	measure ("internal call of a function", internal, 1000000);
	measure ("handle: keep, release", handle, 1000000);
	measure ("string to UTF-8 and back", text, 1000000);
	measure ("OS thread", thread, 2000);
	measure ("OS thread, attached and detached", attach, 2000);
	return 0;
}
