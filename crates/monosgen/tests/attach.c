/* Threads of the host that attach and detach leave nothing behind. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>

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

/* The bytes in use after so many threads. */
static size_t round_of (int threads)
{
	while (threads--) {
		pthread_t thread;
		pthread_create (&thread, NULL, comes_and_goes, NULL);
		pthread_join (thread, NULL);
	}
	mono_gc_collect (1);
	return mallinfo2 ().uordblks;
}

int main (void)
{
	domain = mono_jit_init ("attach");
	/* What a collection finds dead is used again by the threads after it. */
	round_of (1000);
	size_t before = round_of (1000), after = 0;
	for (int round = 0; round < 4; round++)
		after = round_of (1000);
	long grown = after > before ? (long) (after - before) : 0;
	if (grown < 4000 * 250)
		printf ("memory is kept\n");
	else
		printf ("4000 threads have left %ld bytes\n", grown);
	return 0;
}
