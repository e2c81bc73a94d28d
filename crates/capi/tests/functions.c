/* Functions of the host: internal calls, delegates, exceptions through both; threads that come and go; the end. */
#include "api.h"
#include <pthread.h>

static saki_assembly *assembly;
static saki_class *host, *counter;
static int asked;

static saki_error *ask (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	char buffer [200], *text;
	saki_value x, point_text;
	(*(int *) data)++;
	works (saki_string_text (arguments [0].of.object, &text, NULL));
	works (saki_get (arguments [2].of.object, "X", scope, &x));
	works (saki_get (arguments [2].of.object, "Text", scope, &point_text));
	snprintf (buffer, sizeof buffer, "%zu %s %d %d", count, text, arguments [1].of.i32, x.of.i32);
	saki_text_free (text);
	saki_object *made;
	works (saki_string_new (buffer, strlen (buffer), scope, &made));
	*result = saki_value_object (made);
	return NULL;
}

static saki_error *self (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	(void) data, (void) scope, (void) count;
	shows ("this", arguments [0]);
	*result = saki_value_f64 (arguments [1].of.f32 * 2);
	return NULL;
}

static saki_error *fail (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	char *how;
	saki_error *error = NULL;
	(void) data, (void) count;
	works (saki_string_text (arguments [0].of.object, &how, NULL));
	if (!strcmp (how, "own"))
		error = saki_error_new ("System.TimeoutException", "too late");
	else if (!strcmp (how, "object")) {
		saki_class *class_;
		saki_object *exception;
		works (saki_class_core ("System.IO.FileNotFoundException", &class_));
		works (saki_new (class_, arguments, 1, scope, &exception));
		error = saki_error_of (exception);
	} else if (!strcmp (how, "through"))
		error = saki_call_static (host, "ThrowKept", NULL, 0, scope, NULL);
	else if (!strcmp (how, "argument"))
		error = saki_call (NULL, "x", NULL, 0, scope, NULL);
	else if (!strcmp (how, "wrong result"))
		result->kind = 77;
	saki_text_free (how);
	return error;
}

static saki_error *down (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	(void) data;
	return saki_call_static (host, "Deeper", arguments, count, scope, result);
}

static saki_error *join (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	char buffer [200], *text, *point_text;
	saki_value value;
	(void) count;
	works (saki_string_text (arguments [0].of.object, &text, NULL));
	works (saki_get (arguments [2].of.object, "Text", scope, &value));
	works (saki_string_text (value.of.object, &point_text, NULL));
	snprintf (buffer, sizeof buffer, "%s%s/%d/%s", (const char *) data, text, arguments [1].of.i32, point_text);
	saki_text_free (text);
	saki_text_free (point_text);
	works (saki_collect ());
	/* Not of the scope: the machine takes it. */
	saki_object *made;
	works (saki_string_new (buffer, strlen (buffer), NULL, &made));
	*result = saki_value_object (made);
	return NULL;
}

static saki_error *twice (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	(void) data, (void) count;
	saki_object *made;
	works (saki_string_new ("x", 1, scope, &made));
	*result = saki_value_i32 (arguments [0].of.i32 * 2);
	return NULL;
}

/* Sets the variables that it got. */
static saki_error *swap (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	saki_value text, number;
	char *utf8;
	(void) data, (void) count;
	works (saki_place_get (arguments [0], scope, &text));
	works (saki_place_get (arguments [1], scope, &number));
	works (saki_string_text (text.of.object, &utf8, NULL));
	printf ("variables: %s %d\n", utf8, number.of.i32);
	saki_text_free (utf8);
	works (saki_collect ());
	works (saki_place_set (arguments [0], saki_value_text ("swapped")));
	works (saki_place_set (arguments [1], saki_value_i32 (20)));
	fails ("a text for an int", saki_place_set (arguments [1], saki_value_text ("no number")));
	fails ("no variable", saki_place_set (number, number));
	*result = saki_value_i32 (number.of.i32 * 100);
	return NULL;
}

static void by_reference (void)
{
	saki_value arguments [3] = { saki_value_text ("ref"), saki_value_none (), saki_value_i32 (7) }, result;
	saki_method *method;
	saki_scope *scope = saki_scope_open ();
	char *text;
	works (saki_call_static (host, "Swapped", NULL, 0, scope, &result));
	works (saki_string_text (result.of.object, &text, NULL));
	printf ("swapped: %s\n", text);
	saki_text_free (text);
	works (saki_method_find (host, "Refer", 3, &method));
	for (int i = 0; i < 2; i++) {
		works (saki_invoke_by_ref (method, NULL, arguments, 3, scope, &result));
		works (saki_string_text (arguments [0].of.object, &text, NULL));
		printf ("by reference: %s %d %d %d\n", text, arguments [1].of.i32, arguments [2].of.i32, result.of.i32);
		saki_text_free (text);
	}
	fails ("a reference", saki_invoke (method, NULL, arguments, 3, scope, &result));
	saki_scope_close (scope);
}

static saki_error *at_exit (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	saki_value made;
	(void) arguments, (void) count, (void) result;
	works (saki_get_static (counter, "Made", scope, &made));
	printf ("at exit: %s %d\n", (const char *) data, made.of.i32);
	fails ("end in a function", saki_end (NULL));
	return NULL;
}

static void *in_thread (void *data)
{
	long bad = 0;
	for (int i = 0; i < 20; i++) {
		saki_scope *scope = saki_scope_open ();
		saki_value value, text = saki_value_text ("thread");
		saki_object *object;
		works (saki_new (counter, &text, 1, scope, &object));
		text = saki_value_i32 (i);
		works (saki_call (object, "Add", &text, 1, scope, &value));
		bad += value.of.i32 != i;
		char *text_of_data;
		works (saki_object_text (data, &text_of_data, NULL));
		saki_text_free (text_of_data);
		saki_scope_close (scope);
	}
	return (void *) bad;
}

/* Attaches and detaches many times; ends attached, or not. */
static void *comes_and_goes (void *data)
{
	long bad = 0;
	for (int i = 0; i < 20; i++) {
		works (saki_attach ());
		works (saki_attach ());
		bad += (long) in_thread (data);
		works (saki_detach ());
		saki_error *error = saki_detach ();
		bad += error == NULL;
		saki_error_free (error);
	}
	return (void *) bad;
}

/* Another function of the same type. */
static saki_error *thrice (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	(void) data, (void) scope, (void) count;
	*result = saki_value_i32 (arguments [0].of.i32 * 3);
	return NULL;
}

static int freed;

static void frees (void *data)
{
	free (data);
	freed++;
}

/* The data of a dead delegate is given back, that of one which is alive is not. */
static void owned_data (saki_class *host, saki_class *function, saki_class *no_delegate)
{
	saki_object *kept = NULL, *delegate;
	saki_value result, four = saki_value_i32 (4);
	/* Finalizers call delegates that only dead objects have. */
	for (int i = 0; i < 50; i++) {
		works (saki_delegate_new_owning (function, thrice, malloc (8), frees, NULL, &delegate));
		saki_value argument = saki_value_object (delegate);
		works (saki_call_static (host, "CallAtTheEnd", &argument, 1, NULL, NULL));
		saki_object_release (delegate);
	}
	works (saki_collect ());
	for (int i = 0; i < 2000; i++) {
		works (saki_delegate_new_owning (function, twice, malloc (8), frees, NULL, &delegate));
		works (saki_call (delegate, "Invoke", &four, 1, NULL, &result));
		if (i == 0)
			kept = delegate;
		else
			saki_object_release (delegate);
		if (i % 200 == 0)
			works (saki_collect ());
	}
	works (saki_call (kept, "Invoke", &four, 1, NULL, &result));
	shows ("kept", result);
	works (saki_get_static (host, "OtherResults", NULL, &result));
	shows ("wrong results in finalizers", result);
	printf ("given back: %s\n", freed >= 1000 && freed < 2050 ? "yes" : "no");
	saki_object_release (kept);
	freed = 0;
	saki_error_free (saki_delegate_new_owning (no_delegate, twice, malloc (8), frees, NULL, &delegate));
	printf ("given back at once: %d\n", freed);
}

int main (int argc, char **argv)
{
	(void) argc;
	works (saki_add_function ("Some.Host::Ask(string,int,Some.Point)", ask, &asked));
	works (saki_add_function ("Some.Host::Self", self, NULL));
	works (saki_add_function ("Some.Host::Swap", swap, NULL));
	fails ("no function", saki_add_function ("Some.Host::Fail", NULL, NULL));
	assembly = start (argv);
	host = class_of (assembly, "Some.Host");
	counter = class_of (assembly, "Some.Counter");
	saki_value result;
	fails ("missing", saki_call_static (host, "Nobody", NULL, 0, NULL, NULL));
	works (saki_add_function ("Some.Host::Fail", fail, NULL));
	works (saki_add_function ("Some.Host::Down", down, NULL));
	works (saki_call_static (host, "Asked", NULL, 0, NULL, &result));
	shows ("asked", result);
	printf ("times: %d\n", asked);
	works (saki_call_static (host, "Failures", NULL, 0, NULL, &result));
	shows ("failures", result);

	/* An exception of managed code. */
	saki_value message = saki_value_text ("bad");
	saki_error *error = saki_call_static (counter, "Throw", &message, 1, NULL, &result);
	printf ("thrown: %s: %s\n", saki_error_type (error), saki_error_message (error));
	printf ("stack: %d %d\n", strstr (saki_error_stack (error), "at Some.Counter.Throw") != NULL,
		strstr (saki_error_text (error), "System.FormatException: bad") == saki_error_text (error));
	saki_object *exception;
	works (saki_error_exception (error, NULL, &exception));
	saki_error_free (error);
	works (saki_get (exception, "Message", NULL, &result));
	shows ("message", result);
	saki_object_release (exception);

	/* Through many frames of both. */
	saki_method *deeper;
	works (saki_method_find (host, "Deeper", 1, &deeper));
	error = saki_invoke (deeper, NULL, (saki_value []) { saki_value_i32 (10) }, 1, NULL, NULL);
	printf ("from below: %s: %s\n", saki_error_type (error), saki_error_message (error));
	saki_error_free (error);
	works (saki_get_static (host, "Finallies", NULL, &result));
	shows ("finally", result);
	printf ("left: %zu\n", saki_live_objects ());

	/* Delegates. */
	saki_object *delegate;
	char prefix [] = "-";
	works (saki_delegate_new (class_of (assembly, "Some.Join"), join, prefix, NULL, &delegate));
	saki_value argument = saki_value_object (delegate);
	works (saki_call_static (host, "UseJoin", &argument, 1, NULL, &result));
	shows ("joined", result);
	saki_object_release (delegate);
	saki_class *function, *int32, *action;
	works (saki_class_core ("System.Int32", &int32));
	works (saki_class_core ("System.Func`2", &function));
	works (saki_class_generic (function, (saki_class *[]) { int32, int32 }, 2, &function));
	works (saki_delegate_new (function, twice, NULL, NULL, &delegate));
	saki_value arguments [] = { saki_value_object (delegate), saki_value_i32 (4), saki_value_i32 (50) };
	works (saki_call_static (host, "Threads", arguments, 3, NULL, &result));
	shows ("threads of managed code", result);
	saki_object_release (delegate);
	printf ("left: %zu\n", saki_live_objects ());

	owned_data (host, function, counter);

	by_reference ();

	/* Threads of the host. */
	saki_object *shared;
	works (saki_string_new ("shared", 6, NULL, &shared));
	long bad = 0;
	for (int round = 0; round < 5; round++) {
		pthread_t threads [6];
		for (size_t i = 0; i < COUNT (threads); i++)
			pthread_create (&threads [i], NULL, i % 2 ? in_thread : comes_and_goes, shared);
		for (size_t i = 0; i < COUNT (threads); i++) {
			void *count;
			pthread_join (threads [i], &count);
			bad += (long) count;
		}
	}
	printf ("bad: %ld\n", bad);
	saki_object_release (shared);
	printf ("left: %zu\n", saki_live_objects ());

	/* Handlers of the end may call back. */
	works (saki_class_core ("System.Action", &action));
	works (saki_set_static (counter, "Made", saki_value_i32 (11)));
	works (saki_delegate_new (action, at_exit, "handler", NULL, &delegate));
	argument = saki_value_object (delegate);
	works (saki_call_static (host, "OnExit", &argument, 1, NULL, NULL));
	works (saki_end (NULL));
	saki_object_release (delegate);
	works (saki_detach ());
	printf ("goes on\n");
	return 0;
}
