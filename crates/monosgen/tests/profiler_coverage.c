/* Which parts of methods were reached. The library has no symbols, so that lines are not known. */
#include "api.h"
#include <mono/metadata/profiler.h>

struct _MonoProfiler { int entries, unreached, most, begin, lines; };

static MonoProfiler profiler;

static mono_bool filter (MonoProfiler *prof, MonoMethod *method) { return !strcmp (mono_class_get_name (mono_method_get_class (method)), "Covered"); }

static void count (MonoProfiler *prof, const MonoProfilerCoverageData *data)
{
	prof->entries++;
	prof->unreached += data->counter == 0;
	prof->most = (int) data->counter > prof->most ? (int) data->counter : prof->most;
	prof->begin += data->il_offset == 0 ? (int) data->counter : 0;
	prof->lines += data->file_name != NULL || data->line != 1 || data->column != 1;
}

static void show_counts (MonoProfilerHandle handle, const char *class, const char *name, int parameters)
{
	memset (&profiler, 0, sizeof profiler);
	int is_counted = mono_profiler_get_coverage_data (handle, method_named (class, name, parameters), count);
	printf ("%s: %d entries %d unreached %d most %d begin %d lines %d\n", name, is_counted, profiler.entries > 0, profiler.unreached > 0, profiler.most, profiler.begin, profiler.lines);
}

static void run (int number)
{
	void *arguments [] = { &number };
	mono_runtime_invoke (method_named ("Covered", "Run", 1), NULL, arguments, NULL);
}

int main (int argc, char **argv)
{
	MonoProfilerHandle handle = mono_profiler_create (&profiler);
	printf ("enabled: %d\n", mono_profiler_enable_coverage ());
	mono_profiler_set_coverage_filter_callback (handle, filter);
	start (argv);
	printf ("too late: %d\n", mono_profiler_enable_coverage ());
	show_counts (handle, "Covered", "Run", 1);
	for (int number = 4; number < 10; number++)
		run (number);
	show_counts (handle, "Covered", "Run", 1);
	run (1);
	show_counts (handle, "Covered", "Run", 1);
	show_counts (handle, "Covered", "Never", 0);
	show_counts (handle, "Calls", "Run", 0);
	mono_jit_cleanup (domain);
	return 0;
}
