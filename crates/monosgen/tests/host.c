/* Starts the machine, loads the assembly that it is given and prints what its methods give. */
#include <stdio.h>

typedef void *P;
P mono_jit_init (const char *name);
P mono_get_root_domain (void);
P mono_domain_assembly_open (P domain, const char *name);
P mono_assembly_get_image (P assembly);
P mono_class_from_name (P image, const char *space, const char *name);
P mono_class_get_method_from_name (P class, const char *name, int count);
P mono_runtime_invoke (P method, P object, P *params, P *exc);
P mono_object_new (P domain, P class);
void mono_runtime_object_init (P object);
P mono_object_get_class (P object);
P mono_object_unbox (P object);
P mono_string_new (P domain, const char *text);
int mono_string_length (P string);
char *mono_string_to_utf8 (P string);
void mono_free (P memory);

int main (int argc, char **argv)
{
	P domain = mono_jit_init ("host");
	if (!domain || domain != mono_get_root_domain ())
		return 1;
	P missing = mono_domain_assembly_open (domain, "/no/such/file.dll");
	P image = mono_assembly_get_image (mono_domain_assembly_open (domain, argv[1]));
	P class = mono_class_from_name (image, "Some", "Thing");
	printf ("missing: %d %d\n", !missing, !mono_class_from_name (image, "Some", "Nothing"));

	int number = 40;
	P text = mono_string_new (domain, "h\xc3\xa9");
	P params[] = { &number, text };
	P exc = &exc;
	P sum = mono_runtime_invoke (mono_class_get_method_from_name (class, "Add", 2), 0, params, &exc);
	printf ("static: %d %d\n", *(int *) mono_object_unbox (sum), exc == 0);

	P thing = mono_object_new (domain, class);
	mono_runtime_object_init (thing);
	mono_runtime_invoke (mono_class_get_method_from_name (class, "Collect", 0), 0, 0, 0);
	P name = mono_runtime_invoke (mono_class_get_method_from_name (class, "Name", -1), thing, &text, &exc);
	char *utf8 = mono_string_to_utf8 (name);
	printf ("instance: %s %d\n", utf8, mono_string_length (name));
	mono_free (utf8);

	P none = mono_runtime_invoke (mono_class_get_method_from_name (class, "Throw", 0), 0, 0, &exc);
	P of_tests = mono_class_from_name (image, "Some", "Thing/Failure");
	printf ("thrown: %d %d\n", !none, mono_object_get_class (exc) == of_tests);
	return 0;
}
