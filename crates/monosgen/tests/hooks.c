/* Hooks of loading, bundles, handlers of messages, unhandled exceptions. */
#include "api.h"

static int loaded, asked, told_of_class;
static MonoAssembly *phantom;
static char order [64];

static void note (const char *what) { if (strlen (order) + 2 < sizeof order) strcat (order, what); }

static void on_load (MonoAssembly *assembly, void *data)
{
	loaded += *(int *) data;
	/* The library may be called. */
	told_of_class += mono_class_from_name (mono_assembly_get_image (assembly), "Nothing", "There") == NULL;
	note ("1");
}

static void on_load_too (MonoAssembly *assembly, void *data) { note ("2"); }

static MonoAssembly *on_preload (MonoAssemblyName *name, char **folders, void *data)
{
	asked++;
	if (!strcmp (mono_assembly_name_get_name (name), "Phantom")) {
		printf ("folders: %s %s\n", folders && folders [0] ? folders [0] : "none", folders && folders [0] && folders [1] ? folders [1] : "end");
		return *(MonoAssembly **) data;
	}
	return NULL;
}

static MonoAssembly *on_missing (MonoAssemblyName *name, void *data)
{
	uint16_t minor, build, revision;
	uint16_t major = mono_assembly_name_get_version (name, &minor, &build, &revision);
	if (strcmp (mono_assembly_name_get_name (name), "Lost"))
		return NULL;
	printf ("asked for Lost %d.%d.%d.%d\n", major, minor, build, revision);
	return *(MonoAssembly **) data;
}

static MonoAssembly *on_search (MonoAssemblyName *name, void *data)
{
	return strcmp (mono_assembly_name_get_name (name), "Sought") ? NULL : *(MonoAssembly **) data;
}

static MonoAssembly *for_reflection (MonoAssemblyName *name, void *data)
{
	if (!strcmp (mono_assembly_name_get_name (name), "Mirror"))
		printf ("asked for Mirror: %s\n", (char *) data);
	return NULL;
}

static MonoAssembly *before_reflection (MonoAssemblyName *name, char **folders, void *data)
{
	return for_reflection (name, "preload");
}

static int messages;
static void on_message (const char *domain, const char *level, const char *text, mono_bool is_fatal, void *data)
{
	if (!strcmp (level, "warning") && !is_fatal && data == &messages)
		messages++;
}

static char errors [400];
static void on_error (const char *text, mono_bool is_output)
{
	if (strlen (errors) + strlen (text) < sizeof errors)
		strcat (errors, text);
}

static int quits;
static void on_quit (MonoDomain *which, void *data) { quits += which == domain && data == NULL; }

static int number = 7;

static void on_unhandled (MonoObject *exception, void *data)
{
	char *first = errors;
	printf ("unhandled: %s %d\n", class_of (exception), data == &number);
	MonoObject *thrown = NULL;
	show_string ("text", (MonoObject *) mono_object_to_string (mono_get_exception_argument ("a", "text") ? (MonoObject *) mono_string_new (domain, "of it") : NULL, &thrown));
	printf ("reported otherwise: %d\n", strstr (first, "FATAL") != NULL);
	exit (0);
}

static void *bytes_of (const char *path, unsigned int *size)
{
	FILE *file = fopen (path, "rb");
	fseek (file, 0, SEEK_END);
	*size = ftell (file);
	rewind (file);
	void *bytes = malloc (*size);
	if (fread (bytes, 1, *size, file) != *size)
		abort ();
	fclose (file);
	return bytes;
}

int main (int argc, char **argv)
{
	int one = 1;
	MonoImageOpenStatus status;
	mono_trace_set_level_string ("warning");
	mono_trace_set_mask_string ("asm");
	mono_trace_set_log_handler (on_message, &messages);
	mono_set_assemblies_path ("/nowhere:/elsewhere");
	start (argv);
	mono_install_assembly_load_hook (on_load, &one);
	mono_install_assembly_load_hook (on_load_too, NULL);
	mono_install_assembly_preload_hook (on_preload, &phantom);
	mono_install_assembly_postload_search_hook (on_missing, &phantom);
	mono_install_assembly_search_hook (on_search, &phantom);
	mono_install_assembly_refonly_preload_hook (before_reflection, NULL);
	mono_install_assembly_refonly_search_hook (for_reflection, "search");
	phantom = assembly;
	printf ("preload: %d", mono_assembly_load (mono_assembly_name_new ("Phantom"), NULL, &status) == assembly);
	printf (" %d %d\n", status, asked > 0);
	printf ("postload: %d\n", mono_assembly_load (mono_assembly_name_new ("Lost, Version=1.2.3.4"), NULL, &status) == assembly);
	printf ("search: %d", mono_assembly_loaded (mono_assembly_name_new ("Sought")) == assembly);
	printf (" %d", mono_assembly_invoke_search_hook (mono_assembly_name_new ("Sought")) == assembly);
	printf (" %d", mono_assembly_invoke_search_hook (mono_assembly_name_new ("some")) == assembly);
	printf (" %d\n", mono_assembly_load (mono_assembly_name_new ("Sought"), NULL, &status) == assembly);
	printf ("missing: %d\n", mono_assembly_load (mono_assembly_name_new ("Nobody"), NULL, &status) == NULL);
	printf ("for reflection: %d\n", mono_assembly_load_full (mono_assembly_name_new ("Mirror"), NULL, &status, 1) == NULL);
	int before = loaded;
	order [0] = 0;
	printf ("load: %d", mono_assembly_load (mono_assembly_name_new ("System.Numerics, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089"), NULL, &status) != NULL);
	printf (" %d %d %s\n", loaded > before, told_of_class == loaded, strncmp (order, "21", 2) ? "other" : "last first");
	before = loaded;
	mono_assembly_invoke_load_hook (assembly);
	printf ("invoked: %d\n", loaded - before);

	/* Managed code that asks. */
	MonoObject *thrown = NULL;
	void *name [] = { mono_string_new (domain, "Lost, Version=5.6.7.8") };
	MonoObject *found = mono_runtime_invoke (method_named ("Loads", "Name", 1), NULL, name, &thrown);
	show_string ("by code", thrown ? mono_object_to_string (thrown, NULL) ? (MonoObject *) mono_string_new (domain, "thrown") : NULL : found);
	name [0] = mono_string_new (domain, "Phantom");
	show_string ("by code", mono_runtime_invoke (method_named ("Loads", "Name", 1), NULL, name, &thrown));
	name [0] = mono_string_new (domain, "Nobody");
	show_string ("by code", mono_runtime_invoke (method_named ("Loads", "Name", 1), NULL, name, &thrown));

	MonoBundledAssembly bundle = { "Microsoft.VisualBasic.dll" };
	bundle.data = bytes_of ("/usr/lib/mono/4.5/System.Transactions.dll", &bundle.size);
	MonoBundledAssembly other = { "Bundled.dll", bundle.data, bundle.size };
	const MonoBundledAssembly *list [] = { &bundle, &other, NULL };
	mono_register_bundled_assemblies (list);
	MonoAssembly *bundled = mono_assembly_open ("/no/such/folder/Bundled.dll", &status);
	printf ("bundle: %s %d\n", bundled ? mono_assembly_name_get_name (mono_assembly_get_name (bundled)) : "none", status);
	printf ("no bundle: %d\n", mono_assembly_open ("/no/such/folder/Other.dll", &status) == NULL);

	printf ("messages: %d\n", messages > 0);
	mono_install_runtime_cleanup (on_quit);
	mono_runtime_quit ();
	printf ("quits: %d\n", quits);
	printf ("shuts down: %d", mono_runtime_is_shutting_down ());
	mono_runtime_set_shutting_down ();
	printf (" %d\n", mono_runtime_is_shutting_down ());
	mono_trace_set_printerr_handler (on_error);
	mono_install_unhandled_exception_hook (on_unhandled, &number);
	mono_runtime_invoke (method_named ("Square", "Fails", 1), NULL, (void *[]) { mono_string_new (domain, "m") }, NULL);
	return 1;
}
