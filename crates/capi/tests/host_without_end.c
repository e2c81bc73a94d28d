/* A host that never ends the machine, and exits while threads run. */
#include "api.h"
#include <pthread.h>

static void *works_on (void *data)
{
	saki_value result;
	for (;;)
		saki_error_free (saki_call_static (data, "Files", NULL, 0, NULL, &result));
	return NULL;
}

int main (int argc, char **argv)
{
	(void) argc;
	pthread_t thread;
	saki_assembly *assembly = start (argv);
	saki_class *counter = class_of (assembly, "Some.Counter");
	saki_value result;
	works (saki_call_static (counter, "Files", NULL, 0, NULL, &result));
	shows ("files", result);
	for (int i = 0; i < 3; i++)
		pthread_create (&thread, NULL, works_on, counter);
	return 0;
}
