/* What the hosts in C share. */
#include <saki.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* Ends the test unless it worked. */
static inline void works (saki_error *error)
{
	if (error == NULL)
		return;
	printf ("failed: %s\n", saki_error_text (error));
	exit (1);
}

/* Prints an error, and frees it. */
static inline void fails (const char *what, saki_error *error)
{
	printf ("%s: ", what);
	if (error == NULL)
		printf ("no error\n");
	else
		printf ("%s: %s\n", saki_error_type (error), saki_error_message (error));
	saki_error_free (error);
}

/* Prints a value; its object is let go unless it is of a scope. */
static inline void shows (const char *what, saki_value value)
{
	char *text = NULL;
	printf ("%s: ", what);
	switch (value.kind) {
	case SAKI_NONE: printf ("none\n"); break;
	case SAKI_NULL: printf ("null\n"); break;
	case SAKI_BOOL: printf ("%s\n", value.of.boolean ? "true" : "false"); break;
	case SAKI_CHAR: printf ("U+%04x\n", value.of.character); break;
	case SAKI_I8: printf ("i8 %d\n", value.of.i8); break;
	case SAKI_U8: printf ("u8 %d\n", value.of.u8); break;
	case SAKI_I16: printf ("i16 %d\n", value.of.i16); break;
	case SAKI_U16: printf ("u16 %d\n", value.of.u16); break;
	case SAKI_I32: printf ("i32 %d\n", value.of.i32); break;
	case SAKI_U32: printf ("u32 %u\n", value.of.u32); break;
	case SAKI_I64: printf ("i64 %lld\n", (long long) value.of.i64); break;
	case SAKI_U64: printf ("u64 %llu\n", (unsigned long long) value.of.u64); break;
	case SAKI_F32: printf ("f32 %g\n", (double) value.of.f32); break;
	case SAKI_F64: printf ("f64 %g\n", value.of.f64); break;
	case SAKI_OBJECT:
		works (saki_object_text (value.of.object, &text, NULL));
		printf ("%s\n", text);
		saki_text_free (text);
		saki_object_release (value.of.object);
		break;
	default: printf ("kind %u\n", value.kind);
	}
}

/* Starts a machine: the host's arguments are an assembly and a thread mode. */
static inline saki_assembly *start (char **argv)
{
	saki_options *options = saki_options_new ();
	works (saki_options_set (options, "threads", argv [2]));
	works (saki_start (options));
	saki_options_free (options);
	saki_assembly *assembly;
	works (saki_load (argv [1], &assembly));
	return assembly;
}

static inline saki_class *class_of (saki_assembly *assembly, const char *name)
{
	saki_class *found;
	works (saki_class_find (assembly, name, &found));
	return found;
}
