/* Counters, limits, reference queues, the heap, native libraries, threads, contexts, configurations. */
#include "api.h"
#include <mono/utils/mono-dl-fallback.h>
#include <pthread.h>
#include <unistd.h>

static int number = 7;
static int gives_nine (void) { return 9; }
static double gives_half (void) { return 0.5; }
static const char *gives_text (void) { return "a text"; }
static int registered;
static void on_register (MonoCounter *counter) { registered++; }

static mono_bool show_counter (MonoCounter *counter, void *data)
{
	union { int i; long l; double d; char text [16]; } value = { 0 };
	if (strncmp (mono_counter_get_name (counter), "host ", 5))
		return 1;
	int size = mono_counters_sample (counter, &value, sizeof value);
	printf ("counter %s: %d bytes of %d, kind %x section %x unit %x variance %x:", mono_counter_get_name (counter), size, (int) mono_counter_get_size (counter), mono_counter_get_type (counter),
		mono_counter_get_section (counter), mono_counter_get_unit (counter), mono_counter_get_variance (counter));
	switch (mono_counter_get_type (counter)) {
	case MONO_COUNTER_DOUBLE: printf (" %g\n", value.d); break;
	case MONO_COUNTER_STRING: printf (" %s\n", value.text); break;
	default: printf (" %d\n", value.i);
	}
	printf ("too small: %d\n", mono_counters_sample (counter, &value, 2));
	return 1;
}

static int of_system, major;
static mono_bool look (MonoCounter *counter, void *data)
{
	long value = 0;
	const char *name = mono_counter_get_name (counter);
	int size = mono_counters_sample (counter, &value, sizeof value);
	if (!strcmp (name, "Working Set") || !strcmp (name, "Virtual Bytes") || !strcmp (name, "Page Faults"))
		of_system += size == 8 && value > 0 && mono_counter_get_section (counter) == MONO_COUNTER_SYSTEM;
	if (!strcmp (name, "Major GC collections"))
		major = mono_counter_get_section (counter) == MONO_COUNTER_GC && value > 0;
	return 1;
}

static int collected [4];
static void on_collected (void *data) { collected [(long) data]++; }

__attribute__ ((noinline)) static void watch (MonoReferenceQueue *queue)
{
	for (int i = 0; i < 100; i++)
		mono_gc_reference_queue_add (queue, (MonoObject *) mono_string_new (domain, "dies"), (void *) 1L);
}

static void collect (int *until, int least)
{
	for (int i = 0; i < 200 && *until < least; i++) {
		mono_gc_collect (mono_gc_max_generation ());
		mono_gc_finalize_notify ();
		usleep (10000);
	}
}

static uint32_t holder;
static int walked, holders, strings;
static int on_object (MonoObject *object, MonoClass *class, uintptr_t size, uintptr_t count, MonoObject **references, uintptr_t *offsets, void *data)
{
	walked++;
	if (class == data) {
		holders++;
		for (uintptr_t i = 0; i < count; i++)
			strings += offsets [i] > 0 && offsets [i] < size && references [i] != NULL;
	}
	return 0;
}

static int opened, closed;
static int supplied (int x) { return 3 * x; }
static void *load (const char *name, int flags, char **error, void *data)
{
	if (!strstr (name, "hostonly"))
		return NULL;
	opened++;
	return data;
}
static void *find (void *library, const char *name, char **error, void *data)
{
	return library == data && !strcmp (name, "triple") ? (void *) supplied : NULL;
}
static void *shut (void *library, void *data) { closed++; return NULL; }

static volatile int ran, waited_for, here;
static mono_bool is_waited_for (MonoThread *thread) { waited_for = thread != NULL; return 0; }

static void created (void *data) { usleep (300000); ran++; }

static void sleeps (void *data)
{
	mono_thread_set_manage_callback (mono_thread_current (), is_waited_for);
	here = 1;
	usleep (900000);
	ran += 10;
}

static volatile int is_foreign = -1, goes_on;
static void *attached (void *data)
{
	MonoThread *thread = mono_thread_attach (domain);
	is_foreign = mono_thread_is_foreign (thread);
	mono_thread_set_manage_callback (thread, is_waited_for);
	mono_thread_set_manage_callback (thread, NULL);
	mono_thread_exit ();
	goes_on = 1;
	return NULL;
}

static void limit (int type, uintptr_t value, int is_soft) { printf ("limit: %d %d %d\n", type, (int) value, is_soft); }

int main (int argc, char **argv)
{
	mono_counters_init ();
	mono_counters_enable (MONO_COUNTER_JIT | MONO_COUNTER_GC);
	printf ("trace: %d\n", mono_jit_set_trace_options ("N:Some.Where,disabled"));
	mono_register_machine_config ("<configuration/>");
	mono_register_config_for_assembly ("some.dll", "<configuration><dllmap dll=\"mapped\" target=\"libc.so.6\"/></configuration>");
	mono_register_config_for_assembly ("other.dll", "<other/>");
	start (argv);
	printf ("configs: %s %s %d\n", mono_get_machine_config (), mono_config_string_for_assembly_file ("other.dll"), mono_config_string_for_assembly_file ("none.dll") == NULL);
	mono_config_for_assembly (image);
	MonoObject *result = mono_runtime_invoke (method_named ("Natives", "Mapped", 0), NULL, NULL, NULL);
	printf ("mapped: %d\n", *(int *) mono_object_unbox (result) == getpid ());

	mono_counters_on_register (on_register);
	mono_counters_register ("host number", MONO_COUNTER_JIT | MONO_COUNTER_INT | MONO_COUNTER_BYTES | MONO_COUNTER_MONOTONIC, &number);
	mono_counters_register ("host function", MONO_COUNTER_GC | MONO_COUNTER_INT | MONO_COUNTER_CALLBACK | MONO_COUNTER_COUNT | MONO_COUNTER_VARIABLE, gives_nine);
	mono_counters_register ("host share", MONO_COUNTER_GC | MONO_COUNTER_DOUBLE | MONO_COUNTER_CALLBACK | MONO_COUNTER_PERCENTAGE, gives_half);
	mono_counters_register_with_size ("host text", MONO_COUNTER_JIT | MONO_COUNTER_STRING | MONO_COUNTER_CALLBACK, gives_text, 7);
	number = 8;
	mono_counters_foreach (show_counter, NULL);
	mono_gc_collect (mono_gc_max_generation ());
	mono_counters_foreach (look, NULL);
	printf ("registered: %d, of the system: %d, of the machine: %d\n", registered, of_system, major);
	char dump [20000] = "";
	FILE *file = tmpfile ();
	mono_counters_dump (MONO_COUNTER_JIT | MONO_COUNTER_GC | MONO_COUNTER_SYSTEM, file);
	rewind (file);
	dump [fread (dump, 1, sizeof dump - 1, file)] = 0;
	char *line = strstr (dump, "host number");
	printf ("dump: %.41s", line ? line : "none\n");
	line = strstr (dump, "host share");
	printf ("dump: %.45s", line ? line : "none\n");
	printf ("dump: %d %d %d\n", strstr (dump, "\nJIT statistics\n") != NULL, strstr (dump, "\nGC statistics\n") != NULL, strstr (dump, "\nSystem statistics\n") != NULL);

	mono_runtime_resource_check_limit (MONO_RESOURCE_METADATA, 5);
	printf ("limits: %d %d %d\n", mono_runtime_resource_limit (7, 1, 2), mono_runtime_resource_limit (MONO_RESOURCE_METADATA, 2, 1), mono_runtime_resource_limit (MONO_RESOURCE_METADATA, 10, 20));
	mono_runtime_resource_set_callback (limit);
	mono_runtime_resource_check_limit (MONO_RESOURCE_METADATA, 10);
	mono_runtime_resource_check_limit (MONO_RESOURCE_METADATA, 11);
	mono_runtime_resource_check_limit (MONO_RESOURCE_METADATA, 21);
	mono_runtime_resource_set_callback (NULL);

	MonoReferenceQueue *queue = mono_gc_reference_queue_new (on_collected);
	MonoObject *kept = mono_object_new (domain, class_named ("Holder"));
	mono_runtime_object_init (kept);
	holder = mono_gchandle_new (kept, 1);
	printf ("watched: %d\n", mono_gc_reference_queue_add (queue, kept, (void *) 2L));
	watch (queue);
	collect (&collected [1], 90);
	printf ("collected: %d %d\n", collected [1] >= 90, collected [2]);
	mono_gc_reference_queue_free (queue);
	collect (&collected [2], 1);
	printf ("freed: %d\n", collected [2]);

	printf ("walk: %d", mono_gc_walk_heap (0, on_object, class_named ("Holder")));
	printf (" %d %d %d\n", walked > 10, holders, strings > 2);

	MonoObject *thrown = NULL;
	void *three [] = { &number };
	mono_runtime_invoke (method_named ("Natives", "Nowhere", 0), NULL, NULL, &thrown);
	printf ("no library: %s\n", class_of (thrown));
	MonoDlFallbackHandler *handler = mono_dl_fallback_register (load, find, shut, &number);
	printf ("no handler: %d\n", mono_dl_fallback_register (NULL, find, shut, NULL) == NULL);
	result = mono_runtime_invoke (method_named ("Natives", "Triple", 1), NULL, three, &thrown);
	printf ("library: %d %d %d\n", *(int *) mono_object_unbox (result), opened, closed);
	mono_runtime_invoke (method_named ("Natives", "Absent", 0), NULL, NULL, &thrown);
	printf ("no function: %s\n", class_of (thrown));
	mono_dl_fallback_unregister (handler);

	MonoMethod *method = method_named ("Square/Inner", "Twice", 1);
	printf ("code: %d", mono_compile_method (method) != NULL);
	printf (" %d\n", mono_compile_method (method) == mono_jit_info_get_code_start (mono_jit_info_table_find (domain, mono_compile_method (method))));

	MonoAppContext *context = mono_context_get ();
	printf ("context: %s %d %d\n", class_of (context), mono_context_get_id (context), mono_context_get_domain_id (context) == mono_domain_get_id (domain));
	mono_context_set (context);
	printf ("same: %d\n", mono_context_get () == context);

	printf ("attached: %d", mono_is_debugger_attached ());
	mono_set_is_debugger_attached (1);
	result = mono_runtime_invoke (method_named ("Natives", "IsDebugged", 0), NULL, NULL, NULL);
	printf (" %d %d\n", mono_is_debugger_attached (), *(char *) mono_object_unbox (result));
	mono_set_break_policy (NULL);

	printf ("stack: %d", mono_threads_get_default_stacksize ());
	mono_threads_set_default_stacksize (1 << 20);
	printf (" %d\n", mono_threads_get_default_stacksize ());
	printf ("foreign: %d", mono_thread_is_foreign (mono_thread_current ()));
	pthread_t other;
	pthread_create (&other, NULL, attached, NULL);
	pthread_join (other, NULL);
	printf (" %d, went on: %d\n", is_foreign, goes_on);
	result = mono_runtime_invoke (method_named ("Natives", "Sleeper", 1), NULL, (void *[]) { &number }, NULL);
	printf ("foreign: %d\n", mono_thread_is_foreign ((MonoThread *) result));
	/* One that is waited for, and one that is not. */
	mono_thread_create (domain, created, NULL);
	mono_thread_create (domain, sleeps, NULL);
	while (!here)
		usleep (1000);
	mono_thread_manage ();
	printf ("managed: %d, asked: %d\n", ran % 10, waited_for);
	mono_environment_exitcode_set (0);
	mono_thread_exit ();
	return 1;
}
