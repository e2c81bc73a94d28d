/* Samples of a thread that works, and who may set how they are taken. */
#define _GNU_SOURCE
#include "api.h"
#include <ucontext.h>
#include <mono/metadata/profiler.h>

static volatile int samples, with_context;

static void sample_hit (MonoProfiler *prof, const mono_byte *ip, const void *context)
{
	samples++;
#ifdef __x86_64__
	with_context += ((ucontext_t *) context)->uc_mcontext.gregs [REG_RIP] == (greg_t) ip;
#else
	with_context += context && ip;
#endif
}

static void show_mode (const char *who, MonoProfilerHandle handle)
{
	MonoProfilerSampleMode mode = 77;
	uint32_t frequency = 0;
	int is_owner = mono_profiler_get_sample_mode (handle, &mode, &frequency);
	printf ("%s: owner %d mode %d frequency %u\n", who, is_owner, mode, frequency);
}

/* Works until there are samples, or for so many rounds. */
static void work (int rounds)
{
	int number = 5;
	void *arguments [] = { &number };
	samples = with_context = 0;
	for (int i = 0; i < rounds && samples < 10; i++)
		mono_runtime_invoke (method_named ("Covered", "Run", 1), NULL, arguments, NULL);
}

int main (int argc, char **argv)
{
	MonoProfilerHandle first = mono_profiler_create (NULL), second = mono_profiler_create (NULL);
	mono_profiler_set_sample_hit_callback (first, sample_hit);
	printf ("enabled: %d", mono_profiler_enable_sampling (first));
	printf (" %d\n", mono_profiler_enable_sampling (second));
	show_mode ("first", first);
	start (argv);
	printf ("too late: %d\n", mono_profiler_enable_sampling (second));
	show_mode ("second", second);
	printf ("set: %d", mono_profiler_set_sample_mode (second, MONO_PROFILER_SAMPLE_MODE_REAL, 5));
	printf (" %d\n", mono_profiler_set_sample_mode (first, MONO_PROFILER_SAMPLE_MODE_REAL, 500));
	show_mode ("first", first);
	work (1 << 30);
	printf ("real: %d %d\n", samples >= 10, with_context == samples);
	mono_profiler_set_sample_mode (first, MONO_PROFILER_SAMPLE_MODE_PROCESS, 500);
	work (1 << 30);
	printf ("process: %d %d\n", samples >= 10, with_context == samples);
	mono_profiler_set_sample_mode (first, MONO_PROFILER_SAMPLE_MODE_NONE, 500);
	/* One that was under way may still come. */
	work (1000);
	work (1000);
	printf ("none: %d\n", samples);
	mono_jit_cleanup (domain);
	return 0;
}
