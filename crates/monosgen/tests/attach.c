/* Threads of the host that attach and detach leave nothing behind. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

typedef void *P;
P mono_jit_init (const char *name);
P mono_thread_attach (P domain);
void mono_thread_detach (P thread);
void mono_gc_collect (int generation);

static P domain;

static void *comes_and_goes (void *unused)
{
	mono_thread_detach (mono_thread_attach (domain));
	return unused;
}

/* The resident bytes after so many threads. */
static long round_of (int threads)
{
	while (threads--) {
		pthread_t thread;
		pthread_create (&thread, NULL, comes_and_goes, NULL);
		pthread_join (thread, NULL);
	}
	mono_gc_collect (1);
	long pages = 0, resident = 0;
	FILE *file = fopen ("/proc/self/statm", "r");
	if (!file || fscanf (file, "%ld %ld", &pages, &resident) != 2)
		return -1;
	fclose (file);
	return resident * sysconf (_SC_PAGESIZE);
}

int main (void)
{
	domain = mono_jit_init ("attach");
	/* What a collection finds dead is used again by the threads after it. */
	round_of (1000);
	long before = round_of (1000), after = 0;
	size_t allocated = mallinfo2 ().uordblks;
	for (int round = 0; round < 8; round++)
		after = round_of (1000);
	allocated = mallinfo2 ().uordblks - allocated;
	if (after - before < 8000 * 500 && (long) allocated < 8000 * 32)
		printf ("memory is kept\n");
	else
		printf ("8000 threads have left %ld bytes, %ld of malloc's\n", after - before, (long) allocated);
	return 0;
}
