/* A host that loads the library at run time, for itself alone, as other languages do. */
#include <dlfcn.h>
#include <saki.h>
#include <stdio.h>
#include <stdlib.h>

static void *library;

static void function (const char *name, void *place)
{
	void *found = dlsym (library, name);
	if (found == NULL) {
		printf ("%s\n", dlerror ());
		exit (1);
	}
	memcpy (place, &found, sizeof found);
}

int main (int argc, char **argv)
{
	saki_error *(*start) (const saki_options *), *(*load) (const char *, saki_assembly **);
	saki_error *(*class_find) (saki_assembly *, const char *, saki_class **);
	saki_error *(*call_static) (saki_class *, const char *, const saki_value *, size_t, saki_scope *, saki_value *);
	saki_assembly *assembly;
	saki_class *counter;
	saki_value result;
	(void) argc;
	library = dlopen ("libsaki.so.0", RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		printf ("%s\n", dlerror ());
		return 1;
	}
	function ("saki_start", &start);
	function ("saki_load", &load);
	function ("saki_class_find", &class_find);
	function ("saki_call_static", &call_static);
	if (start (NULL) || load (argv [1], &assembly) || class_find (assembly, "Some.Counter", &counter))
		return 1;
	/* libmono-native needs functions of the library. */
	if (call_static (counter, "Files", NULL, 0, NULL, &result))
		return 1;
	printf ("files: %d, closed: %d\n", result.of.boolean, dlclose (library));
	return 0;
}
