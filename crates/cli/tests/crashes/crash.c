/* Ends in a native library: faults in a function and in one that calls it, on a thread of its own, and abort. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

__attribute__((noinline)) int crash_here(volatile int *place)
{
    return *place + 1;
}

int crash_outside(void)
{
    return crash_here((volatile int *)24) + 1;
}

int abort_outside(void)
{
    abort();
}

static void *foreign_thread(void *unused)
{
    return crash_outside() ? unused : 0;
}

int crash_on_foreign_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, 0, foreign_thread, 0) == 0)
        pthread_join(thread, 0);
    return 0;
}
