// Preloaded into the virtual machine: sends SIGUSR1 to every thread of the process, 5,000 times a second and more. Each
// handler sends its own thread SIGUSR2, whose handler nests. SIGUSR1 runs on the alternate stack and restarts system
// calls, SIGUSR2 does neither, so both stacks and EINTR are met. At exit it writes the number of deliveries to stderr.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 256, PERIOD_NS = 100000, TICKS_PER_LIST = 100 };

static atomic_ulong rounds, outer, nested;
static struct timespec started;

static void touch_stack(void)
{
	volatile char block[2048];
	for (unsigned i = 0; i < sizeof block; i += 64)
		block[i] = (char)i;
}

static void on_nested(int number)
{
	int saved = errno;
	(void)number;
	touch_stack();
	atomic_fetch_add(&nested, 1);
	errno = saved;
}

static void on_outer(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	(void)number, (void)info, (void)context;
	touch_stack();
	atomic_fetch_add(&outer, 1);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR2);
	errno = saved;
}

static int list_threads(int *ids)
{
	int count = 0;
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	while (tasks && count < MAX_THREADS && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			ids[count++] = atoi(entry->d_name);
	if (tasks)
		closedir(tasks);
	return count;
}

static void *send_all(void *unused)
{
	int ids[MAX_THREADS], count = 0, self = (int)syscall(SYS_gettid), pid = getpid();
	struct timespec start_up = { 0, 2000000 };
	(void)unused;
	// Until main runs, the process has the small alternate stack that its language runtime gave it.
	nanosleep(&start_up, NULL);
	for (unsigned tick = 0;; tick++) {
		struct timespec period = { 0, PERIOD_NS };
		nanosleep(&period, NULL);
		if (tick % TICKS_PER_LIST == 0)
			count = list_threads(ids);
		for (int i = 0; i < count; i++)
			if (ids[i] != self)
				syscall(SYS_tgkill, pid, ids[i], SIGUSR1);
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

__attribute__((constructor)) static void start(void)
{
	struct sigaction action = { 0 };
	sigset_t all, before;
	pthread_t thread;
	action.sa_sigaction = on_outer;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = on_nested;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGUSR2, &action, NULL);
	clock_gettime(CLOCK_MONOTONIC, &started);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_create(&thread, NULL, send_all, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

__attribute__((destructor)) static void stop(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	double seconds = (double)(now.tv_sec - started.tv_sec) + (double)(now.tv_nsec - started.tv_nsec) / 1e9;
	fprintf(stderr, "signals: %lu rounds, %lu outer, %lu nested in %.1f s\n", atomic_load(&rounds),
		atomic_load(&outer), atomic_load(&nested), seconds);
}
