/* Loads a profiler. */
#include "api.h"
#include <mono/metadata/profiler.h>

int main (int argc, char **argv)
{
	mono_profiler_load ("tiny:with,arguments");
	start (argv);
	puts (image ? "loaded" : "not loaded");
	mono_jit_cleanup (domain);
	return 0;
}
