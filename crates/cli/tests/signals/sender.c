// Preloaded into the virtual machine: SIGUSR1 to every thread of the process, 20,000 times a second each unless told otherwise, from a timer of the
// thread's own (so that a running thread is hit wherever it is) and now and then by tgkill. Each handler sends its own
// thread SIGUSR2, whose handler nests; now and then it nests as deep as an alternate stack is promised to hold
// (saki_os::signal::MAX_NESTED_HANDLERS and HANDLER_STACK_BYTES). SIGUSR1 runs on the alternate stack and restarts system calls,
// SIGUSR2 does neither, so both stacks and EINTR are met. The signals begin before the program's `main`, with the main thread's timer.
// `call_from_new_thread` is for the program: a thread that native code makes calls back. At exit the counts go to stderr.
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

enum { MAX_THREADS = 256, TIMER_NS = 50000, TIMERS_PER_SCAN = 20, SCANS_PER_KILL = 2 };
// Between two signals of a thread's timer. SAKI_SIGNAL_NS may say more, for storms in which other things are to come about, too.
static long timer_ns = TIMER_NS;
// Six nested handlers with nearly all the stack that they may use, in a signal's handler that may be inside that of a fault. One
// in so many signals goes so deep.
enum { DEEPEST = 6, DEEP_BYTES = 7 << 10, SIGNALS_PER_DEEP = 64 };

// Not in every C library's headers.
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

// A thread that was seen. Slots are used once while the process lasts, as a late signal may still name one.
struct target {
	int id;
	int has_ended;
	char name[32];
	timer_t timer;
	double first_s, last_s, cpu_s;
	atomic_ulong count;
};

// Threads seen later get no timer.
enum { MAX_TARGETS = 1 << 16 };
static struct target targets[MAX_TARGETS];
static int target_count;
// Those of threads that live: many thousands may have ended.
static int living[MAX_THREADS], living_count;

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

// Written and read by handlers of one thread.
static __thread volatile int depth __attribute__((tls_model("initial-exec")));

static void touch_much(void)
{
	volatile char block[DEEP_BYTES];
	for (unsigned i = 0; i < sizeof block; i += 64)
		block[i] = (char)i;
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR2);
	block[0] = block[64];
}

static void on_nested(int number)
{
	int saved = errno;
	(void)number;
	touch_stack();
	unsigned long count = atomic_fetch_add(&nested, 1);
	if ((depth || count % SIGNALS_PER_DEEP == 0) && depth < DEEPEST) {
		depth++;
		touch_much();
		depth--;
	}
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
	struct itimerspec period = { { 0, timer_ns }, { 0, timer_ns } };
	if (target_count == MAX_TARGETS || living_count == MAX_THREADS)
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
	living[living_count++] = target_count++;
	timer_settime(target->timer, 0, &period, NULL);
}

static void note_name(struct target *target)
{
	char path[64];
	FILE *file;
	snprintf(path, sizeof path, "/proc/self/task/%d/comm", target->id);
	file = fopen(path, "r");
	if (file && fgets(target->name, sizeof target->name, file))
		target->name[strcspn(target->name, "\n")] = 0;
	if (file)
		fclose(file);
}

// Notes the processor time of the threads that live, takes the timers of the others away, arms the new ones.
static void follow(const int *ids, int count, int self)
{
	double now = now_s(CLOCK_MONOTONIC);
	int still = 0;
	for (int l = 0; l < living_count; l++) {
		struct target *target = &targets[living[l]];
		int lives = 0;
		for (int i = 0; i < count; i++)
			lives |= ids[i] == target->id;
		if (lives) {
			// The clock of a thread's processor time, by its id.
			double cpu_s = now_s((clockid_t)((~(unsigned)target->id << 3) | 6));
			if (cpu_s >= 0) {
				target->cpu_s = cpu_s;
				target->last_s = now;
				note_name(target);
			}
			living[still++] = living[l];
		} else {
			timer_delete(target->timer);
			target->has_ended = 1;
		}
	}
	living_count = still;
	for (int i = 0; i < count; i++) {
		int known = ids[i] == self;
		for (int l = 0; l < living_count; l++)
			known |= targets[living[l]].id == ids[i];
		if (!known)
			arm(ids[i]);
	}
}

static void *send_all(void *unused)
{
	int ids[MAX_THREADS], self = (int)syscall(SYS_gettid), pid = getpid();
	(void)unused;
	for (unsigned scan = 0;; scan++) {
		struct timespec period = { 0, TIMERS_PER_SCAN * timer_ns };
		int count = list_threads(ids);
		follow(ids, count, self);
		for (int i = 0; scan % SCANS_PER_KILL == 0 && i < count; i++)
			if (ids[i] != self)
				syscall(SYS_tgkill, pid, ids[i], SIGUSR1);
		nanosleep(&period, NULL);
	}
	return NULL;
}

struct call {
	void (*function)(int);
	int argument;
};

static void *make_calls(void *argument)
{
	struct call *call = argument;
	for (int i = 0; i < 3; i++)
		call->function(call->argument);
	return NULL;
}

// Calls `function` three times from a thread that is made for it, and waits for the thread.
void call_from_new_thread(void (*function)(int), int argument)
{
	struct call call = { function, argument };
	pthread_t thread;
	if (pthread_create(&thread, NULL, make_calls, &call) == 0)
		pthread_join(thread, NULL);
}

__attribute__((constructor)) static void start(void)
{
	struct sigaction action = { 0 };
	sigset_t all, before;
	pthread_t thread;
	const char *interval = getenv("SAKI_SIGNAL_NS");
	if (interval)
		timer_ns = atol(interval);
	action.sa_sigaction = on_outer;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = on_nested;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGUSR2, &action, NULL);
	arm((int)syscall(SYS_gettid));
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
			fprintf(stderr, "signals: deaf: %s\n", target->name);
			deaf++;
			continue;
		}
		busy++;
		if (count / target->cpu_s < slowest)
			slowest = count / target->cpu_s;
		if (count / lived_s < slowest_by_clock)
			slowest_by_clock = count / lived_s;
		fprintf(stderr, "signals: thread %d (%s): %.0f in %.2f s of processor time, %.2f s by the clock\n", target->id,
			target->name, count, target->cpu_s, lived_s);
	}
	fprintf(stderr,
		"signals: %lu timed, %lu sent, %lu nested, %d threads, %d busy, %d deaf, %.0f slowest, "
		"%.0f slowest_by_clock\n",
		atomic_load(&by_timer), atomic_load(&by_kill), atomic_load(&nested), target_count, busy, deaf, slowest,
		slowest_by_clock);
}
