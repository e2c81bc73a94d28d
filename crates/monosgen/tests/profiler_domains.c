/* What a domain has of its own begins and ends with it. */
#include "api.h"
#include <mono/metadata/profiler.h>

static int is_on;

static void tell (const char *event, const char *name)
{
	if (is_on && name && !strcmp (name, "some"))
		printf ("%s %s\n", event, name);
}

#define IMAGE(event) static void event (MonoProfiler *prof, MonoImage *image) { tell (#event, mono_image_get_name (image)); }
IMAGE (image_loading) IMAGE (image_loaded) IMAGE (image_unloading) IMAGE (image_unloaded)
#define ASSEMBLY(event) static void event (MonoProfiler *prof, MonoAssembly *assembly) { tell (#event, mono_image_get_name (mono_assembly_get_image (assembly))); }
ASSEMBLY (assembly_loading) ASSEMBLY (assembly_loaded) ASSEMBLY (assembly_unloading) ASSEMBLY (assembly_unloaded)
#define DOMAIN(event) static void event (MonoProfiler *prof, MonoDomain *domain) { if (is_on) printf (#event "\n"); }
DOMAIN (domain_unloading) DOMAIN (domain_unloaded)
#define CONTEXT(event) static void event (MonoProfiler *prof, MonoAppContext *context) { printf (#event " %s\n", class_of (context)); }
CONTEXT (context_loaded)

int main (int argc, char **argv)
{
	MonoProfilerHandle handle = mono_profiler_create (NULL);
#define SET(event) mono_profiler_set_ ## event ## _callback (handle, event);
	SET (image_loading) SET (image_loaded) SET (image_unloading) SET (image_unloaded)
	SET (assembly_loading) SET (assembly_loaded) SET (assembly_unloading) SET (assembly_unloaded)
	SET (domain_unloading) SET (domain_unloaded) SET (context_loaded)
	start (argv);
	is_on = 1;
	MonoDomain *other = mono_domain_create_appdomain ("other", NULL);
	mono_domain_set (other, 0);
	mono_domain_assembly_open (other, argv [1]);
	mono_domain_set (domain, 0);
	mono_domain_unload (other);
	is_on = 0;
	mono_runtime_invoke (method_named ("Contexts", "Make", 0), NULL, NULL, NULL);
	mono_jit_cleanup (domain);
	return 0;
}
