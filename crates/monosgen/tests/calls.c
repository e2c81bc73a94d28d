/* Internal calls, exceptions out of them, unmanaged thunks, and threads of the host that come and go. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef void *P;
P mono_jit_init (const char *name);
P mono_domain_assembly_open (P domain, const char *name);
P mono_assembly_get_image (P assembly);
P mono_class_from_name (P image, const char *space, const char *name);
P mono_class_get_method_from_name (P class, const char *name, int count);
P mono_runtime_invoke (P method, P object, P *params, P *exc);
P mono_object_new (P domain, P class);
void mono_runtime_object_init (P object);
P mono_object_get_class (P object);
const char *mono_class_get_name (P class);
P mono_object_unbox (P object);
P mono_string_new (P domain, const char *text);
int mono_string_length (P string);
char *mono_string_to_utf8 (P string);
void mono_free (P memory);
void mono_add_internal_call (const char *name, const void *function);
void mono_raise_exception (P exception);
P mono_method_get_unmanaged_thunk (P method);

static P domain, image, class;
struct point { int x; double y; P text; };

static P add_text (P text, int number, signed char small)
{
	char buffer[100];
	char *utf8 = mono_string_to_utf8 (text);
	snprintf (buffer, sizeof buffer, "%s+%d%+d", utf8, number, small);
	mono_free (utf8);
	return mono_string_new (domain, buffer);
}

static double of_point (struct point point, float factor)
{
	return (point.x + point.y + mono_string_length (point.text)) * factor;
}

static unsigned char many (P self, int a, int b, int c, int d, int e, int f, int g, P *text)
{
	*text = mono_string_new (domain, "many");
	return a + b + c + d + e + f + g == 28 && !strcmp (mono_class_get_name (mono_object_get_class (self)), "Calls");
}

static void fail (P message)
{
	P failure = mono_class_from_name (image, "Some", "Failure");
	P exception = mono_object_new (domain, failure);
	mono_runtime_object_init (exception);
	P thrower[] = { message };
	/* An exception of a method called without room for one goes on to the caller. */
	if (mono_string_length (message) == 2)
		mono_runtime_invoke (mono_class_get_method_from_name (class, "Throw", 1), 0, thrower, 0);
	mono_raise_exception (exception);
}

static P print (const char *what, P method, P *params)
{
	P exc = 0;
	P result = mono_runtime_invoke (method, 0, params, &exc);
	if (exc)
		printf ("%s: throws %s\n", what, mono_class_get_name (mono_object_get_class (exc)));
	else if (result) {
		char *utf8 = mono_string_to_utf8 (result);
		printf ("%s: %s\n", what, utf8);
		mono_free (utf8);
	}
	return result;
}

static P run (P rounds)
{
	P sum = mono_class_get_method_from_name (class, "Sum", 2);
	long bad = 0;
	for (int i = 0; i < *(int *) rounds; i++) {
		P text = mono_string_new (domain, "0123456789");
		int number = i;
		P params[] = { &number, text };
		P exc = 0;
		P boxed = mono_runtime_invoke (sum, 0, params, &exc);
		bad += exc != 0 || *(int *) mono_object_unbox (boxed) != i + 10 || mono_string_length (text) != 10;
	}
	return (P) bad;
}

int main (int argc, char **argv)
{
	domain = mono_jit_init ("calls");
	mono_add_internal_call ("Some.Calls::AddText(string,int,sbyte)", add_text);
	mono_add_internal_call ("Some.Calls::OfPoint", of_point);
	mono_add_internal_call ("Some.Calls::Many", many);
	mono_add_internal_call ("Some.Calls::Fail", fail);
	image = mono_assembly_get_image (mono_domain_assembly_open (domain, argv[1]));
	class = mono_class_from_name (image, "Some", "Calls");
	print ("internal calls", mono_class_get_method_from_name (class, "Test", 0), 0);
	print ("missing", mono_class_get_method_from_name (class, "Missing", 0), 0);

	typedef P (*Thunk) (P self, int number, P point, P text, P *exc);
	Thunk thunk = mono_method_get_unmanaged_thunk (mono_class_get_method_from_name (class, "Join", 3));
	P self = mono_object_new (domain, class);
	P boxed = mono_object_new (domain, mono_class_from_name (image, "Some", "Point"));
	struct point *point = mono_object_unbox (boxed);
	point->x = 4;
	P exc = self;
	char *utf8 = mono_string_to_utf8 (thunk (self, 3, boxed, mono_string_new (domain, "t"), &exc));
	printf ("thunk: %s %d\n", utf8, exc == 0);
	mono_free (utf8);
	thunk (self, 3, boxed, 0, &exc);
	printf ("thunk: throws %s\n", mono_class_get_name (mono_object_get_class (exc)));
	typedef P (*Moved) (P point, signed char by, P *exc);
	Moved moved = mono_method_get_unmanaged_thunk (mono_class_get_method_from_name (class, "Moved", 2));
	struct point *to = mono_object_unbox (moved (boxed, -2, &exc));
	printf ("struct: %d %g %d\n", to->x, to->y, point->x);

	long bad = 0;
	for (int i = 0; i < 20; i++) {
		int rounds = 100;
		pthread_t threads[4];
		for (int t = 0; t < 4; t++)
			pthread_create (&threads[t], 0, run, &rounds);
		for (int t = 0; t < 4; t++) {
			P result;
			pthread_join (threads[t], &result);
			bad += (long) result;
		}
	}
	printf ("threads: %ld bad\n", bad);
	return 0;
}
