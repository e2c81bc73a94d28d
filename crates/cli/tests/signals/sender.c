// Preloaded into the virtual machine: SIGUSR1 to every thread of the process, 20,000 times a second each, from a timer of the
// thread's own (so that a running thread is hit wherever it is) and now and then by tgkill. Each handler sends its own
// thread SIGUSR2, whose handler nests. SIGUSR1 runs on the alternate stack and restarts system calls, SIGUSR2 does neither, so
// both stacks and EINTR are met. At exit the counts go to stderr.
//
// A thread that waits for a processor gets no signal, and then one; with five busy threads on two processors this leaves
// more than 5,000 a second by the clock. The rate of a thread is given by its own processor time, beside that by the clock.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 256, TIMER_NS = 50000, SCAN_NS = 1000000, SCANS_PER_KILL = 2 };

// Not in every C library's headers.
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

// A thread that was seen. Slots are used once while the process lasts, as a late signal may still name one.
struct target {
	int id;
	int has_ended;
	timer_t timer;
	double first_s, last_s, cpu_s;
	atomic_ulong count;
};

// Threads seen later get no timer.
enum { MAX_TARGETS = 1 << 16 };
static struct target targets[MAX_TARGETS];
static int target_count;

static atomic_ulong by_timer, by_kill, nested;

static double now_s(clockid_t clock)
{
	struct timespec now;
	return clock_gettime(clock, &now) ? -1 : (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

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
	(void)number, (void)context;
	touch_stack();
	if (info->si_code == SI_TIMER) {
		atomic_fetch_add(&((struct target *)info->si_value.sival_ptr)->count, 1);
		atomic_fetch_add(&by_timer, 1);
	} else {
		atomic_fetch_add(&by_kill, 1);
	}
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

static void arm(int id)
{
	struct target *target = &targets[target_count];
	struct sigevent event;
	struct itimerspec period = { { 0, TIMER_NS }, { 0, TIMER_NS } };
	if (target_count == MAX_TARGETS)
		return;
	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGUSR1;
	event.sigev_value.sival_ptr = target;
	event.sigev_notify_thread_id = id;
	if (timer_create(CLOCK_MONOTONIC, &event, &target->timer))
		return; // The thread has just ended.
	target->id = id;
	target->first_s = target->last_s = now_s(CLOCK_MONOTONIC);
	target_count++;
	timer_settime(target->timer, 0, &period, NULL);
}

// Notes the processor time of the threads that live, takes the timers of the others away, arms the new ones.
static void follow(const int *ids, int count, int self)
{
	double now = now_s(CLOCK_MONOTONIC);
	for (int t = 0; t < target_count; t++) {
		struct target *target = &targets[t];
		int lives = 0;
		if (target->has_ended)
			continue;
		for (int i = 0; i < count; i++)
			lives |= ids[i] == target->id;
		if (lives) {
			// The clock of a thread's processor time, by its id.
			double cpu_s = now_s((clockid_t)((~(unsigned)target->id << 3) | 6));
			if (cpu_s >= 0) {
				target->cpu_s = cpu_s;
				target->last_s = now;
			}
		} else {
			timer_delete(target->timer);
			target->has_ended = 1;
		}
	}
	for (int i = 0; i < count; i++) {
		int known = ids[i] == self;
		for (int t = 0; t < target_count; t++)
			known |= targets[t].id == ids[i] && !targets[t].has_ended;
		if (!known)
			arm(ids[i]);
	}
}

static void *send_all(void *unused)
{
	int ids[MAX_THREADS], self = (int)syscall(SYS_gettid), pid = getpid();
	struct timespec start_up = { 0, 2000000 };
	(void)unused;
	// Until main runs, the process has the small alternate stack that its language runtime gave it.
	nanosleep(&start_up, NULL);
	for (unsigned scan = 0;; scan++) {
		struct timespec period = { 0, SCAN_NS };
		int count = list_threads(ids);
		follow(ids, count, self);
		for (int i = 0; scan % SCANS_PER_KILL == 0 && i < count; i++)
			if (ids[i] != self)
				syscall(SYS_tgkill, pid, ids[i], SIGUSR1);
		nanosleep(&period, NULL);
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
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_create(&thread, NULL, send_all, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// The busy threads (a tenth of a second of processor time and more), and the slowest rate among them. Deaf ones block the
// signal, as collector threads do.
__attribute__((destructor)) static void stop(void)
{
	double slowest = 1e9, slowest_by_clock = 1e9;
	int busy = 0, deaf = 0;
	for (int t = 0; t < target_count; t++) {
		struct target *target = &targets[t];
		double count = (double)atomic_load(&target->count), lived_s = target->last_s - target->first_s;
		if (target->cpu_s < 0.1 || lived_s < 0.1)
			continue;
		if (count == 0) {
			deaf++;
			continue;
		}
		busy++;
		if (count / target->cpu_s < slowest)
			slowest = count / target->cpu_s;
		if (count / lived_s < slowest_by_clock)
			slowest_by_clock = count / lived_s;
		fprintf(stderr, "signals: thread %d: %.0f in %.2f s of processor time, %.2f s by the clock\n", target->id,
			count, target->cpu_s, lived_s);
	}
	fprintf(stderr,
		"signals: %lu timed, %lu sent, %lu nested, %d threads, %d busy, %d deaf, %.0f slowest, "
		"%.0f slowest_by_clock\n",
		atomic_load(&by_timer), atomic_load(&by_kill), atomic_load(&nested), target_count, busy, deaf, slowest,
		slowest_by_clock);
}
