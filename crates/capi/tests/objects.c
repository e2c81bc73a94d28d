/* Classes, members, objects, values, arrays, texts; and arguments that are wrong. */
#include "api.h"

int main (int argc, char **argv)
{
	(void) argc;
	saki_assembly *assembly;
	printf ("version: %d\n", saki_version () [0] != 0);
	printf ("runs: %d\n", saki_is_running ());
	fails ("before the start", saki_load (argv [1], &assembly));
	saki_options *options = saki_options_new ();
	fails ("no option", saki_options_set (options, "colour", "red"));
	fails ("no value", saki_options_set (options, "threads", "many"));
	fails ("no options", saki_options_set (NULL, "threads", "mn"));
	works (saki_options_set (options, "max-heap", "256m"));
	saki_options_free (options);
	assembly = start (argv);
	printf ("runs: %d\n", saki_is_running ());
	fails ("second start", saki_start (NULL));

	char *text;
	size_t length;
	works (saki_assembly_name (assembly, &text, NULL));
	printf ("assembly: %s\n", text);
	saki_text_free (text);
	saki_class *counter = class_of (assembly, "Some.Counter"), *derived = class_of (assembly, "Some.Derived"), *base;
	saki_class *inner = class_of (assembly, "Some.Counter+Inner");
	works (saki_class_base (derived, &base));
	works (saki_class_name (inner, &text, &length));
	printf ("classes: %d %s %zu\n", base == counter, text, length);
	saki_text_free (text);
	saki_assembly *again;
	works (saki_load_named ("System.Xml", &again));
	printf ("named: %d\n", again != NULL && again != assembly);

	/* Objects of a scope, and one that outlives it. */
	saki_scope *scope = saki_scope_open ();
	saki_value name = saki_value_text ("h\xc3\xa9 first"), result;
	saki_object *first, *kept, *other;
	works (saki_new (counter, &name, 1, scope, &first));
	works (saki_object_keep (first, NULL, &kept));
	works (saki_new (derived, NULL, 0, scope, &other));
	saki_value number = saki_value_i32 (40);
	works (saki_call (first, "Add", &number, 1, scope, &result));
	shows ("call", result);
	saki_method *add;
	works (saki_method_find (counter, "Add", 1, &add));
	number = saki_value_i32 (2);
	works (saki_invoke (add, other, &number, 1, scope, &result));
	shows ("virtual", result);
	bool is, is_static;
	works (saki_object_is (other, counter, &is));
	printf ("is: %d", is);
	works (saki_object_is (first, derived, &is));
	printf (" %d", is);
	works (saki_object_is_same (first, kept, &is));
	printf (" %d\n", is);
	saki_object_release (first);
	works (saki_collect ());
	works (saki_set (first, "Count", saki_value_i32 (42)));
	saki_scope_close (scope);
	fails ("after the scope", saki_call (first, "ToString", NULL, 0, NULL, &result));
	works (saki_call (kept, "ToString", NULL, 0, NULL, &result));
	shows ("kept", result);
	works (saki_method_is_static (add, &is_static));
	works (saki_method_parameters (add, &length));
	works (saki_method_name (add, &text, NULL));
	works (saki_method_class (add, &base));
	printf ("method: %s %d %zu %d\n", text, is_static, length, base == counter);
	saki_text_free (text);

	/* Fields and properties. */
	saki_field *field;
	works (saki_field_find (derived, "Name", &field));
	works (saki_field_get (field, kept, NULL, &result));
	shows ("field", result);
	works (saki_field_find (counter, "Made", &field));
	works (saki_field_get (field, NULL, NULL, &result));
	shows ("static field", result);
	works (saki_field_set (field, NULL, saki_value_i32 (7)));
	works (saki_get_static (counter, "Made", NULL, &result));
	shows ("set", result);
	saki_property *property;
	works (saki_property_find (counter, "Count", &property));
	works (saki_property_set (property, kept, saki_value_i32 (5)));
	works (saki_property_get (property, kept, NULL, &result));
	shows ("property", result);
	works (saki_property_find (counter, "Fixed", &property));
	fails ("no setter", saki_property_set (property, kept, saki_value_text ("x")));
	works (saki_set_static (counter, "Total", saki_value_i64 (-5)));
	works (saki_get_static (counter, "Total", NULL, &result));
	shows ("static property", result);
	works (saki_get (kept, "Colour", NULL, &result));
	shows ("enum", result);
	works (saki_get_static (inner, "Where", NULL, &result));
	shows ("inner", result);

	/* Values of each kind. */
	saki_object *string;
	works (saki_string_new ("a\0b", 3, NULL, &string));
	saki_value all [] = {
		saki_value_bool (true), saki_value_char ('c'), saki_value_i8 (-1), saki_value_u8 (255), saki_value_i16 (-2),
		saki_value_u16 (65535), saki_value_i32 (-3), saki_value_u32 (4000000000u), saki_value_i64 (-4),
		saki_value_u64 (18000000000000000000ull), saki_value_f32 (1.5f), saki_value_f64 (0.25), saki_value_i32 (9),
		saki_value_utf8 ("text and more", 4),
	};
	works (saki_call_static (counter, "All", all, COUNT (all), NULL, &result));
	shows ("all", result);
	works (saki_string_text (string, &text, &length));
	printf ("string: %zu %d\n", length, memcmp (text, "a\0b", 4));
	saki_text_free (text);
	for (size_t i = 0; i < COUNT (all); i++) {
		works (saki_call_static (counter, "Kind", &all [i], 1, NULL, &result));
		shows ("kind", result);
	}
	saki_object *boxed;
	saki_class *int64;
	works (saki_class_core ("System.Int64", &int64));
	works (saki_box (int64, saki_value_i64 (1), NULL, &boxed));
	works (saki_unbox (boxed, &result));
	shows ("unboxed", result);
	saki_value pointed [] = { saki_value_none (), saki_value_i32 (3) };
	saki_object *points, *moved;
	works (saki_array_new (class_of (assembly, "Some.Point"), 1, NULL, &points));
	works (saki_array_get (points, 0, NULL, &pointed [0]));
	works (saki_set (pointed [0].of.object, "Text", saki_value_text ("point")));
	works (saki_call_static (counter, "Moved", pointed, 2, NULL, &result));
	moved = result.of.object;
	works (saki_get (moved, "X", NULL, &result));
	shows ("struct", result);
	works (saki_get (moved, "Text", NULL, &result));
	shows ("struct", result);
	saki_object_release (moved);
	saki_object_release (points);
	saki_object_release (pointed [0].of.object);

	/* Arrays and generics. */
	saki_class *int32, *list;
	works (saki_class_core ("System.Int32", &int32));
	works (saki_class_core ("System.Collections.Generic.List`1", &list));
	works (saki_class_generic (list, &int32, 1, &list));
	saki_object *numbers, *array;
	works (saki_new (list, NULL, 0, NULL, &numbers));
	for (int i = 0; i < 1000; i++) {
		number = saki_value_i32 (i);
		works (saki_call (numbers, "Add", &number, 1, NULL, NULL));
	}
	works (saki_call (numbers, "ToArray", NULL, 0, NULL, &result));
	array = result.of.object;
	works (saki_array_length (array, &length));
	printf ("array: %zu\n", length);
	int32_t some [3];
	works (saki_array_read (array, 500, some, sizeof some));
	printf ("read: %d %d %d\n", some [0], some [1], some [2]);
	some [0] = -1;
	works (saki_array_write (array, 999, some, sizeof *some));
	works (saki_array_get (array, 999, NULL, &result));
	shows ("written", result);
	works (saki_array_set (array, 0, saki_value_i32 (6)));
	works (saki_array_get (array, 0, NULL, &result));
	shows ("set", result);
	fails ("index", saki_array_get (array, 1000, NULL, &result));
	fails ("bytes", saki_array_read (array, 999, some, sizeof some));
	fails ("element", saki_array_set (array, 0, saki_value_f64 (1)));
	fails ("no array", saki_array_length (kept, &length));
	works (saki_call_static (counter, "Files", NULL, 0, NULL, &result));
	shows ("files", result);

	/* What is wrong. */
	fails ("null object", saki_call (NULL, "Add", &number, 1, NULL, NULL));
	fails ("null name", saki_call (kept, NULL, &number, 1, NULL, NULL));
	fails ("null class", saki_new (NULL, NULL, 0, NULL, &other));
	fails ("null room", saki_new (derived, NULL, 0, NULL, NULL));
	fails ("null method", saki_invoke (NULL, kept, NULL, 0, NULL, NULL));
	fails ("null arguments", saki_invoke (add, kept, NULL, 1, NULL, NULL));
	fails ("count", saki_invoke (add, kept, &number, 0, NULL, NULL));
	fails ("no this", saki_invoke (add, NULL, &number, 1, NULL, NULL));
	fails ("other this", saki_invoke (add, string, &number, 1, NULL, NULL));
	number = saki_value_i64 (1);
	fails ("type", saki_invoke (add, kept, &number, 1, NULL, NULL));
	number.kind = 99;
	fails ("kind", saki_invoke (add, kept, &number, 1, NULL, NULL));
	number = saki_value_text ("\xff");
	fails ("UTF-8", saki_call_static (counter, "Throw", &number, 1, NULL, NULL));
	number = saki_value_object ((saki_object *) (uintptr_t) 0x123456789abcdef0);
	fails ("garbage", saki_call_static (counter, "Kind", &number, 1, NULL, &result));
	fails ("many", saki_call_static (counter, "Kind", all, (size_t) -1, NULL, &result));
	fails ("no method", saki_call (kept, "Nothing", NULL, 0, NULL, NULL));
	fails ("no class", saki_class_find (assembly, "Some.Nothing", &base));
	fails ("no field", saki_get (kept, "Nothing", NULL, &result));
	fails ("no file", saki_load ("/no/such/file.dll", &again));
	fails ("no bytes", saki_load_bytes ("MZ", 2, &again));
	fails ("no text", saki_string_text (kept, &text, NULL));
	fails ("no box", saki_unbox (kept, &result));
	fails ("no delegate", saki_delegate_new (counter, NULL, NULL, NULL, &other));
	fails ("no exception", saki_error_of (kept));
	saki_object_release (string);
	fails ("released", saki_object_text (string, &text, NULL));
	saki_object_release (string);
	saki_object_release (NULL);
	printf ("nothing: '%s' '%s'\n", saki_error_type (NULL), saki_error_text (NULL));
	saki_error_free (NULL);
	saki_scope_close (NULL);
	saki_text_free (NULL);

	saki_object_release (array);
	saki_object_release (numbers);
	saki_object_release (boxed);
	saki_object_release (kept);
	printf ("left: %zu\n", saki_live_objects ());

	/* Calls leave nothing behind. */
	saki_object *one;
	works (saki_new (derived, NULL, 0, NULL, &one));
	for (int i = 0; i < 1000; i++) {
		scope = saki_scope_open ();
		number = saki_value_i32 (i);
		works (saki_invoke (add, one, &number, 1, scope, &result));
		works (saki_call (one, "ToString", NULL, 0, scope, &result));
		works (saki_object_keep (result.of.object, NULL, &other));
		saki_object_release (other);
		saki_error_free (saki_call_static (counter, "Throw", &result, 1, scope, NULL));
		saki_scope_close (scope);
	}
	printf ("after a loop: %zu\n", saki_live_objects ());
	saki_object_release (one);

	/* The process goes on after the machine. */
	works (saki_call_static (class_of (assembly, "Some.Host"), "SetExitCode", (saki_value []) { saki_value_i32 (3) }, 1, NULL, NULL));
	int32_t code = 0;
	works (saki_end (&code));
	printf ("end: %d %d\n", code, saki_is_running ());
	fails ("second end", saki_end (&code));
	fails ("call after the end", saki_call_static (counter, "Files", NULL, 0, NULL, &result));
	fails ("start after the end", saki_start (NULL));
	return 0;
}
