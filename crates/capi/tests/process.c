/* What the machine does to its host's process: signals, masks, locale, folder, descriptors of standard streams. */
#include "api.h"
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static struct sigaction before [65];
static char folder [4096];
static sigset_t mask;

static void remembers (void)
{
	for (int signal = 1; signal <= 64; signal++)
		sigaction (signal, NULL, &before [signal]);
	pthread_sigmask (SIG_SETMASK, NULL, &mask);
	if (getcwd (folder, sizeof folder) == NULL)
		folder [0] = 0;
}

static void compares (const char *when)
{
	struct sigaction after;
	sigset_t now;
	char here [4096];
	int masked = 0;
	printf ("%s:", when);
	for (int signal = 1; signal <= 64; signal++) {
		sigaction (signal, NULL, &after);
		if (after.sa_handler == before [signal].sa_handler)
			continue;
		printf (signal >= 32 ? " real-time" : " %d", signal);
		if (after.sa_handler == SIG_IGN)
			printf (" ignored");
	}
	pthread_sigmask (SIG_SETMASK, NULL, &now);
	for (int signal = 1; signal <= 64; signal++)
		masked += sigismember (&now, signal) != sigismember (&mask, signal);
	printf (" masked %d", masked);
	printf (" folder %d", getcwd (here, sizeof here) != NULL && !strcmp (here, folder));
	printf (" locale %s\n", setlocale (LC_ALL, NULL));
}

int main (int argc, char **argv)
{
	(void) argc;
	saki_value result;
	saki_options *options = saki_options_new ();
	works (saki_options_set (options, "threads", argv [2]));
	works (saki_options_class_libraries (options, "/no/such/folder"));
	saki_error *error = saki_start (options);
	printf ("no class libraries: %s %d\n", saki_error_type (error), strstr (saki_error_message (error), "/no/such/folder") != NULL);
	saki_error_free (error);
	saki_options_free (options);
	remembers ();
	saki_assembly *assembly = start (argv);
	saki_class *counter = class_of (assembly, "Some.Counter");
	works (saki_call_static (counter, "Files", NULL, 0, NULL, &result));
	shows ("files", result);
	works (saki_collect ());
	compares ("started");
	works (saki_end (NULL));
	compares ("ended");
	return 0;
}
