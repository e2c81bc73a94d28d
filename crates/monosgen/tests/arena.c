/* Threads of a host that are in the allocator most of the time, whose one arena the collector uses, too. */
#include "api.h"
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

static volatile int is_over;

static void *work (void *data)
{
	MonoThread *thread = mono_thread_attach (domain);
	MonoObject *kept = (MonoObject *) mono_string_new (domain, "kept");
	void *blocks [200] = { NULL };
	unsigned seed = (unsigned) (size_t) data;
	while (!is_over) {
		for (int i = 0; i < 200; i++) {
			free (blocks [i]);
			seed = seed * 1103515245 + 12345;
			blocks [i] = malloc (2000 + (seed >> 8) % 60000);
			memset (blocks [i], 1, 2000);
		}
	}
	for (int i = 0; i < 200; i++)
		free (blocks [i]);
	long length = mono_string_length ((MonoString *) kept);
	mono_thread_detach (thread);
	return (void *) length;
}

int main (int argc, char **argv)
{
	/* A deadlock is a failure, and no hang. */
	alarm (120);
	mallopt (M_ARENA_MAX, 1);
	mallopt (M_TRIM_THRESHOLD, 0);
	start (argv);
	pthread_t threads [4];
	for (size_t i = 0; i < 4; i++)
		pthread_create (&threads [i], NULL, work, (void *) i);
	for (int i = 0; i < 100; i++) {
		for (int j = 0; j < 20; j++)
			mono_string_new (domain, "garbage");
		mono_gc_collect (i % 10 ? 0 : 1);
	}
	is_over = 1;
	long sum = 0;
	for (size_t i = 0; i < 4; i++) {
		void *length;
		pthread_join (threads [i], &length);
		sum += (long) length;
	}
	printf ("kept: %ld\n", sum);
	mono_jit_cleanup (domain);
	return 0;
}
