/* Domains, threads, the collector, configuration. */
#include "api.h"
#include <pthread.h>
#include <unistd.h>

static int domains;
static void count (MonoDomain *each, void *data) { domains += each == data; }

static void *in_thread (void *data)
{
	MonoThread *thread = mono_thread_attach (domain);
	printf ("attached: %d %d %d\n", thread != NULL, thread == mono_thread_current (), mono_thread_get_managed_id (thread) > 1);
	printf ("sum: %d\n", *(int *) mono_object_unbox (mono_runtime_invoke (method_named ("Square/Inner", "Twice", 1), NULL, (void *[]) { data }, NULL)));
	mono_thread_detach (thread);
	return NULL;
}

static volatile int ran;
static uint32_t created (void *data)
{
	ran = *(int *) data + (mono_thread_current () != NULL);
	return 0;
}

int main (int argc, char **argv)
{
	mono_config_parse (NULL);
	start (argv);
	printf ("root: %d %d %s\n", mono_get_root_domain () == domain, mono_domain_get () == domain, mono_domain_get_friendly_name (domain));
	printf ("id: %d %d\n", mono_domain_get_by_id (mono_domain_get_id (domain)) == domain, mono_domain_get_by_id (77) == NULL);
	mono_domain_foreach (count, domain);
	printf ("foreach: %d\n", domains);
	MonoDomain *other = mono_domain_create_appdomain ("other", NULL);
	printf ("other: %s %d %d\n", mono_domain_get_friendly_name (other), other != domain, mono_domain_get_by_id (mono_domain_get_id (other)) == other);
	printf ("set: %d", mono_domain_set (other, 0));
	printf (" %d", mono_domain_get () == other);
	MonoAssembly *there = mono_domain_assembly_open (other, argv [1]);
	MonoClass *inner = mono_class_from_name (mono_assembly_get_image (there), "Some", "Square/Inner");
	int number = 21;
	void *params [] = { &number };
	printf (" %d", *(int *) mono_object_unbox (mono_runtime_invoke (mono_class_get_method_from_name (inner, "Twice", 1), NULL, params, NULL)));
	printf (" %d %d\n", mono_domain_set (domain, 0), mono_domain_get () == domain);
	printf ("unloading: %d\n", mono_domain_is_unloading (other));
	mono_domain_unload (other);
	printf ("gone: %d\n", mono_domain_get_by_id (1) == NULL);

	MonoThread *main_thread = mono_thread_current ();
	printf ("main: %d\n", mono_thread_get_managed_id (main_thread));
	pthread_t thread;
	pthread_create (&thread, NULL, in_thread, &number);
	pthread_join (thread, NULL);
	mono_thread_create (domain, created, &number);
	for (int i = 0; i < 1000 && !ran; i++)
		usleep (10000);
	printf ("created: %d\n", ran);
	mono_thread_manage ();

	int before = mono_gc_collection_count (mono_gc_max_generation ());
	mono_gc_collect (mono_gc_max_generation ());
	printf ("collections: %d %d %d\n", mono_gc_max_generation (), mono_gc_collection_count (mono_gc_max_generation ()) > before, mono_gc_get_used_size () > 0 && mono_gc_get_heap_size () > 0);
	MonoString *text = mono_string_new (domain, "text");
	uint32_t handle = mono_gchandle_new ((MonoObject *) text, 1);
	mono_gc_collect (mono_gc_max_generation ());
	printf ("generation: %d\n", mono_gc_get_generation ((MonoObject *) text) <= mono_gc_max_generation ());
	mono_gchandle_free (handle);
	printf ("root folder: %s\n", mono_assembly_getrootdir ());
	mono_dllmap_insert (NULL, "libnothing", NULL, "libc.so.6", NULL);
	mono_environment_exitcode_set (4);
	printf ("exit code: %d\n", mono_environment_exitcode_get ());
	printf ("opcode: %s\n", mono_opcode_name (0x2a));
	char *arguments [] = { argv [1], "one", "two" };
	printf ("exit: %d\n", mono_runtime_run_main (method_named ("Holder", "Main", 1), 3, arguments, NULL));
	MonoArray *args = mono_runtime_get_main_args ();
	printf ("arguments: %d\n", (int) mono_array_length (args));
	show_string ("argument", (MonoObject *) mono_array_get (args, MonoString *, 1));
	return 0;
}
