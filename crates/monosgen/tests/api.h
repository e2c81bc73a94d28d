/* What the hosts of the tests share. */
#include <mono/jit/jit.h>
#include <mono/metadata/appdomain.h>
#include <mono/metadata/assembly.h>
#include <mono/metadata/attrdefs.h>
#include <mono/metadata/class.h>
#include <mono/metadata/debug-helpers.h>
#include <mono/metadata/environment.h>
#include <mono/metadata/exception.h>
#include <mono/metadata/image.h>
#include <mono/metadata/metadata.h>
#include <mono/metadata/mono-config.h>
#include <mono/metadata/mono-debug.h>
#include <mono/metadata/mono-gc.h>
#include <mono/metadata/object.h>
#include <mono/metadata/opcodes.h>
#include <mono/metadata/reflection.h>
#include <mono/metadata/row-indexes.h>
#include <mono/metadata/threads.h>
#include <mono/metadata/tokentype.h>
#include <mono/utils/mono-counters.h>
#include <mono/utils/mono-error.h>
#include <mono/utils/mono-logger.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MonoDomain *domain;
static MonoAssembly *assembly;
static MonoImage *image;

static void start (char **argv)
{
	setvbuf (stdout, NULL, _IOLBF, 0);
	domain = mono_jit_init ("api");
	assembly = mono_domain_assembly_open (domain, argv [1]);
	image = mono_assembly_get_image (assembly);
}

static MonoClass *class_named (const char *name) { return mono_class_from_name (image, "Some", name); }

static MonoMethod *method_named (const char *class, const char *name, int count)
{
	return mono_class_get_method_from_name (class_named (class), name, count);
}

/* Prints a text that the library gave, and frees it. */
static void show (const char *what, char *text)
{
	printf ("%s: %s\n", what, text ? text : "(null)");
	mono_free (text);
}

static void show_string (const char *what, MonoObject *string)
{
	show (what, string ? mono_string_to_utf8 ((MonoString *) string) : NULL);
}

static const char *class_of (void *object)
{
	return object ? mono_class_get_name (mono_object_get_class (object)) : "null";
}
