/* The end while threads of the host call, and while one waits inside a function: they get errors, and go on. */
#include "api.h"
#include <pthread.h>
#include <unistd.h>

static saki_class *counter, *host;
static volatile int is_inside, may_return;

static void *calls (void *data)
{
	saki_value result, text = saki_value_text ("own");
	(void) data;
	for (;;) {
		saki_object *object = NULL;
		saki_error *error = saki_new (counter, &text, 1, NULL, &object);
		if (error == NULL)
			error = saki_call (object, "ToString", NULL, 0, NULL, &result);
		if (error == NULL) {
			saki_object_release (result.of.object);
			saki_object_release (object);
			continue;
		}
		/* The end may come between the two calls. */
		saki_object_release (object);
		bool is_refused = !strcmp (saki_error_message (error), "the machine has ended");
		saki_error_free (error);
		error = saki_attach ();
		is_refused &= error != NULL;
		saki_error_free (error);
		return is_refused ? data : NULL;
	}
}

static saki_error *waits (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	(void) data, (void) arguments, (void) count;
	is_inside = 1;
	while (!may_return)
		usleep (1000);
	/* The end has begun: a function goes on until it returns. */
	saki_object *made;
	works (saki_string_new ("x", 1, scope, &made));
	printf ("inside: %d\n", saki_is_running ());
	*result = saki_value_i32 (7);
	return NULL;
}

static saki_value waited;

static void *waiting (void *data)
{
	works (saki_call (data, "Invoke", (saki_value []) { saki_value_i32 (0) }, 1, NULL, &waited));
	return data;
}

static void *lets_go (void *data)
{
	while (saki_is_running ())
		usleep (1000);
	may_return = 1;
	return data;
}

int main (int argc, char **argv)
{
	(void) argc;
	saki_assembly *assembly = start (argv);
	counter = class_of (assembly, "Some.Counter");
	host = class_of (assembly, "Some.Host");
	saki_class *function, *int32;
	saki_object *delegate;
	works (saki_class_core ("System.Int32", &int32));
	works (saki_class_core ("System.Func`2", &function));
	works (saki_class_generic (function, (saki_class *[]) { int32, int32 }, 2, &function));
	works (saki_delegate_new (function, waits, NULL, NULL, &delegate));
	pthread_t threads [6], waiter, other;
	for (size_t i = 0; i < COUNT (threads); i++)
		pthread_create (&threads [i], NULL, calls, &threads);
	pthread_create (&waiter, NULL, waiting, delegate);
	while (!is_inside)
		usleep (1000);
	pthread_create (&other, NULL, lets_go, NULL);
	int32_t code = -1;
	works (saki_end (&code));
	printf ("end: %d\n", code);
	int refused = 0;
	for (size_t i = 0; i < COUNT (threads); i++) {
		void *result;
		pthread_join (threads [i], &result);
		refused += result != NULL;
	}
	pthread_join (waiter, NULL);
	pthread_join (other, NULL);
	shows ("after the wait", waited);
	printf ("refused: %d\n", refused);
	return 0;
}
