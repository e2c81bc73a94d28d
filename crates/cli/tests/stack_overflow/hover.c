// Sends a signal to the calling thread all the time, whose handler runs on the thread's own stack.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static atomic_int count, is_over;
static pthread_t target, sender;

static void on_signal(int number)
{
	volatile char block[256];
	for (unsigned i = 0; i < sizeof block; i++)
		block[i] = (char)number;
	count++;
}

static void *send(void *unused)
{
	while (!is_over) {
		pthread_kill(target, SIGUSR2);
		usleep(20);
	}
	return unused;
}

int begin_signals(void)
{
	struct sigaction action;
	memset(&action, 0, sizeof action);
	action.sa_handler = on_signal;
	target = pthread_self();
	return sigaction(SIGUSR2, &action, NULL) || pthread_create(&sender, NULL, send, NULL);
}

int end_signals(void)
{
	is_over = 1;
	pthread_join(sender, NULL);
	return count;
}
