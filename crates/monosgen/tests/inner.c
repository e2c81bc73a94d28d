/* Functions that Mono's library exports although no public header has them; hosts declare them. */
#include "api.h"
#include <pthread.h>

extern void *mono_threads_enter_gc_unsafe_region (void **stack_data);
extern void mono_threads_exit_gc_unsafe_region (void *cookie, void **stack_data);
extern void *mono_threads_enter_gc_unsafe_region_unbalanced (void **stack_data);
extern void mono_threads_exit_gc_unsafe_region_unbalanced (void *cookie, void **stack_data);
extern void *mono_threads_enter_gc_safe_region (void **stack_data);
extern void mono_threads_exit_gc_safe_region (void *cookie, void **stack_data);
extern void mono_threads_assert_gc_unsafe_region (void);
extern void *mono_threads_attach_coop (MonoDomain *domain, void **stack_data);
extern void mono_threads_detach_coop (void *cookie, void **stack_data);
extern void mono_thread_set_coop_aware (void);
extern mono_bool mono_thread_get_coop_aware (void);
extern MonoObject *mono_runtime_try_invoke (MonoMethod *method, void *object, void **params, MonoObject **exc, MonoError *error);
extern MonoString *mono_string_new_checked (MonoDomain *domain, const char *text, MonoError *error);
extern MonoClass *mono_class_get_checked (MonoImage *image, uint32_t token, MonoError *error);
extern mono_bool mono_type_is_primitive (MonoType *type);
extern mono_bool mono_class_is_valid_enum (MonoClass *class);
extern char *mono_method_get_full_name (MonoMethod *method);
extern char *mono_signature_full_name (MonoMethodSignature *signature);
extern void mono_object_describe (MonoObject *object);
extern char *mono_pmip (void *address);
extern MonoImage *mono_assembly_get_image_internal (MonoAssembly *assembly);
extern MonoClass *mono_class_from_mono_type_internal (MonoType *type);
extern void mono_add_internal_call_internal (const char *name, const void *function);

typedef void *Profiler;
extern void mono_profiler_install (Profiler *prof, void (*ended) (Profiler *));
extern void mono_profiler_install_thread (void (*start) (Profiler *, uintptr_t), void (*end) (Profiler *, uintptr_t));
extern void mono_profiler_install_gc (void (*event) (Profiler *, int, int), void (*resize) (Profiler *, int64_t));
extern void mono_profiler_install_jit_end (void (*end) (Profiler *, MonoMethod *, MonoJitInfo *, int));
extern void mono_profiler_install_exception (void (*thrown) (Profiler *, MonoObject *), void (*left) (Profiler *, MonoMethod *),
	void (*clause) (Profiler *, MonoMethod *, int, int));
extern void mono_profiler_set_events (int flags);

static int threads_started, threads_ended, collections, exceptions;

static void ended (Profiler *prof) { printf ("ended: %s\n", (char *) prof); }
static void thread_start (Profiler *prof, uintptr_t tid) { if (pthread_self () == (pthread_t) tid) threads_started++; }
static void thread_end (Profiler *prof, uintptr_t tid) { threads_ended++; }
static void collection (Profiler *prof, int event, int generation) { collections++; }
static void thrown (Profiler *prof, MonoObject *object) { exceptions++; }

static void compiled (Profiler *prof, MonoMethod *method, MonoJitInfo *info, int result)
{
	if (!strcmp (mono_method_get_name (method), "Work"))
		printf ("compiled Work for %s: %d, has code: %d\n", (char *) prof, result, info != NULL);
}

static void *work (void *data)
{
	void *dummy;
	void *cookie = mono_threads_attach_coop (domain, &dummy);
	MonoObject *name = mono_runtime_invoke (method_named ("Program", "Domain", 0), NULL, NULL, NULL);
	show_string ("domain of the other thread", name);
	mono_threads_detach_coop (cookie, &dummy);
	return NULL;
}

static void show_sizes (const char *name)
{
	MonoClass *class = class_named (name);
	uint32_t align;
	int size = mono_class_value_size (class, &align);
	printf ("%s: instance %d value %d align %u", name, mono_class_instance_size (class), size, align);
	MonoObject *object = mono_object_new (domain, class);
	printf (" object %u\n", mono_object_get_size (object));
}

static int of_objects (MonoObject *object, MonoClass *class, uintptr_t size, uintptr_t count, MonoObject **refs, uintptr_t *offsets, void *data)
{
	if (size)
		++*(int *) data;
	return 0;
}

static int count_objects (void)
{
	int count = 0;
	mono_gc_walk_heap (0, of_objects, &count);
	return count;
}

static void garbage (void)
{
	for (int i = 0; i < 1000; i++)
		mono_object_new (domain, class_named ("OneInt"));
}

int main (int argc, char **argv)
{
	mono_profiler_install ((Profiler *) "an old profiler", ended);
	mono_profiler_install_thread (thread_start, thread_end);
	mono_profiler_install_gc (collection, NULL);
	mono_profiler_install_jit_end (compiled);
	mono_profiler_install_exception (thrown, NULL, NULL);
	mono_profiler_set_events (-1);
	start (argv);

	static const char *const names [] = { "Empty", "OneInt", "OneByte", "LongAndByte", "ByteAfterByte", "IntAfterByte", "ByteAfterInt",
		"TextAndInt", "IntAndText", "OfInt", "OfStruct", "Small", "Large", "Choice", "Program" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		show_sizes (names [i]);

	int number = 3, exceptions_before = exceptions;
	void *args [] = { &number, mono_string_new (domain, "four") };
	MonoMethod *method = method_named ("Program", "Work", 2);
	MonoError error;
	MonoObject *exc = NULL;
	MonoObject *result = mono_runtime_try_invoke (method, NULL, args, &exc, &error);
	printf ("try_invoke: %d, exception: %d, ok: %d\n", *(int *) mono_object_unbox (result), exc != NULL, mono_error_ok (&error));
	printf ("exceptions thrown: %d\n", exceptions - exceptions_before);
	result = mono_runtime_try_invoke (method_named ("Program", "Fails", 0), NULL, NULL, &exc, &error);
	printf ("try_invoke: %d, %s, ok: %d\n", result != NULL, class_of (exc), mono_error_ok (&error));

	show ("full name", mono_method_get_full_name (method));
	show ("full name", mono_method_get_full_name (method_named ("Program", "Domain", 0)));
	show ("signature", mono_signature_full_name (mono_method_signature (method)));
	show_string ("checked", (MonoObject *) mono_string_new_checked (domain, "text", &error));
	MonoClass *class = mono_class_get_checked (image, mono_class_get_type_token (class_named ("Large")), &error);
	printf ("class: %s, ok: %d\n", mono_class_get_name (class), mono_error_ok (&error));
	MonoClass *missing = mono_class_get_checked (image, 0x02000fff, &error);
	printf ("no class: %d, ok: %d\n", missing == NULL, mono_error_ok (&error));
	printf ("primitive: %d %d %d %d\n", mono_type_is_primitive (mono_class_get_type (mono_get_int32_class ())),
		mono_type_is_primitive (mono_class_get_type (mono_get_string_class ())), mono_type_is_primitive (mono_class_get_type (mono_get_intptr_class ())),
		mono_type_is_primitive (mono_class_get_type (class)));
	printf ("enum: %d\n", mono_class_is_valid_enum (class_named ("Choice")));
	printf ("same: %d %d\n", mono_assembly_get_image_internal (assembly) == image, mono_class_from_mono_type_internal (mono_class_get_type (class)) == class);
	show ("pmip", mono_pmip (&number));

	void *stack;
	void *cookie = mono_threads_enter_gc_unsafe_region (&stack);
	mono_threads_assert_gc_unsafe_region ();
	void *inner = mono_threads_enter_gc_safe_region (&stack);
	mono_threads_exit_gc_safe_region (inner, &stack);
	show_string ("in a region", (MonoObject *) mono_string_new (domain, "made"));
	mono_threads_exit_gc_unsafe_region (cookie, &stack);
	cookie = mono_threads_enter_gc_unsafe_region_unbalanced (&stack);
	mono_threads_exit_gc_unsafe_region_unbalanced (cookie, &stack);
	mono_thread_set_coop_aware ();
	printf ("aware: %d\n", mono_thread_get_coop_aware ());

	pthread_t thread;
	pthread_create (&thread, NULL, work, NULL);
	pthread_join (thread, NULL);
	printf ("threads: %d %d\n", threads_started > 0, threads_ended > 0);

	garbage ();
	int before = count_objects ();
	mono_gc_collect (mono_gc_max_generation ());
	int after = count_objects ();
	/* Under GC stress it has gone before. */
	const char *stress = getenv ("SAKI_GC_STRESS");
	printf ("garbage is walked, too: %d\n", before - after > 500 || (stress && atoi (stress)));
	printf ("collections: %d\n", collections > 0);
	mono_object_describe (NULL);
	mono_jit_cleanup (domain);
	return 0;
}
