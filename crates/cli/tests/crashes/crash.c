/* Faults in a native library, in a function of its own and in one without a symbol. */
#include <stddef.h>

__attribute__((noinline)) int crash_here(volatile int *place)
{
    return *place + 1;
}

int crash_outside(void)
{
    return crash_here((volatile int *)24) + 1;
}
