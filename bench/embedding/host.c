/* Costs of Mono's embedding API, ns each, the least of five rounds. `./x bench --suite embedding` runs it with Mono's library and with Saki's:
 *   cc -O2 host.c $(pkg-config --cflags --libs mono-2) -lpthread -o host && ./host embedding.dll */
#include <mono/jit/jit.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/class.h>
#include <mono/metadata/loader.h>
#include <mono/metadata/object.h>
#include <mono/metadata/threads.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static MonoDomain *domain;
static MonoMethod *empty, *loop;
static void (*pointer) (void);

static double now (void)
{
	struct timespec t;
	clock_gettime (CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int host_add (int a, int b) { return a + b; }

static void invoke (int n) { while (n--) mono_runtime_invoke (empty, NULL, NULL, NULL); }

static void thunk (int n)
{
	void (*f) (MonoException **) = mono_method_get_unmanaged_thunk (empty);
	MonoException *exc = NULL;
	while (n--)
		f (&exc);
}

static void internal (int n)
{
	void *params[] = { &n };
	mono_runtime_invoke (loop, NULL, params, NULL);
}

static void delegate (int n)
{
	while (n--)
		pointer ();
}

static void handle (int n)
{
	MonoObject *object = mono_object_new (domain, mono_get_object_class ());
	while (n--) {
		uint32_t handle = mono_gchandle_new (object, 0);
		if (!mono_gchandle_get_target (handle))
			abort ();
		mono_gchandle_free (handle);
	}
}

static void text (int n)
{
	while (n--) {
		char *utf8 = mono_string_to_utf8 (mono_string_new (domain, "a text of some length"));
		mono_free (utf8);
	}
}

static void *attach_once (void *unused)
{
	mono_thread_detach (mono_thread_attach (domain));
	return unused;
}

static void attach (int n)
{
	while (n--) {
		pthread_t thread;
		pthread_create (&thread, NULL, attach_once, NULL);
		pthread_join (thread, NULL);
	}
}

static void *nothing (void *unused) { return unused; }

static void thread (int n)
{
	while (n--) {
		pthread_t thread;
		pthread_create (&thread, NULL, nothing, NULL);
		pthread_join (thread, NULL);
	}
}

static double least_of (void (*body) (int), int n)
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
	return least;
}

static void measure (const char *name, void (*body) (int), int n)
{
	printf ("%-36s %10.1f\n", name, least_of (body, n));
}

int main (int argc, char **argv)
{
	domain = mono_jit_init ("bench");
	mono_add_internal_call ("Embedding::Add", host_add);
	MonoImage *image = mono_assembly_get_image (mono_domain_assembly_open (domain, argv[1]));
	MonoClass *class = mono_class_from_name (image, "", "Embedding");
	empty = mono_class_get_method_from_name (class, "Empty", 0);
	loop = mono_class_get_method_from_name (class, "Loop", 1);
	MonoObject *boxed = mono_runtime_invoke (mono_class_get_method_from_name (class, "Pointer", 0), NULL, NULL, NULL);
	pointer = *(void (**) (void)) mono_object_unbox (boxed);
	measure ("mono_runtime_invoke of an empty method", invoke, 1000000);
	measure ("unmanaged thunk", thunk, 1000000);
	measure ("internal call", internal, 10000000);
	measure ("delegate called by C", delegate, 1000000);
	measure ("GC handle: new, target, free", handle, 1000000);
	measure ("string to UTF-8 and back", text, 1000000);
	/* Two figures of one thing that varies: each thread is there with and without. */
	printf ("%-36s %10.1f\n", "attach and detach", least_of (attach, 2000) - least_of (thread, 2000));
	return 0;
}
