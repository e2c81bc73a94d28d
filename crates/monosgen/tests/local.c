/* The library is loaded for its user alone; libmono-native.so takes symbols from it all the same. */
#include <dlfcn.h>
#include <stdio.h>

typedef void *P;

int main (int argc, char **argv)
{
	P library = dlopen ("libmonosgen-2.0.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		printf ("%s\n", dlerror ());
		return 1;
	}
	P (*init) (const char *) = dlsym (library, "mono_jit_init");
	P (*open) (P, const char *) = dlsym (library, "mono_domain_assembly_open");
	P (*image) (P) = dlsym (library, "mono_assembly_get_image");
	P (*class) (P, const char *, const char *) = dlsym (library, "mono_class_from_name");
	P (*method) (P, const char *, int) = dlsym (library, "mono_class_get_method_from_name");
	P (*invoke) (P, P, P *, P *) = dlsym (library, "mono_runtime_invoke");
	int *(*unbox) (P) = dlsym (library, "mono_object_unbox");
	P some = class (image (open (init ("local"), argv[1])), "Some", "Calls");
	P exc = 0;
	P size = invoke (method (some, "Files", 0), 0, 0, &exc);
	printf ("files: %d\n", exc ? -1 : *unbox (size));
	return 0;
}
