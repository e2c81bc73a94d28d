/* A profiler in a library of its own. */
#include <mono/metadata/profiler.h>
#include <stdio.h>

static void started (MonoProfiler *prof) { puts ("started"); }
static void ended (MonoProfiler *prof) { puts ("ended"); }

void mono_profiler_init_tiny (const char *description)
{
	printf ("tiny: %s\n", description);
	MonoProfilerHandle handle = mono_profiler_create (NULL);
	mono_profiler_set_runtime_initialized_callback (handle, started);
	mono_profiler_set_runtime_shutdown_end_callback (handle, ended);
}
