/* Objects, strings, arrays, fields, properties, delegates, handles, monitors, exceptions. */
#include "api.h"

static void show_units (const char *what, mono_unichar2 *units)
{
	printf ("%s:", what);
	for (int i = 0; units && units [i]; i++)
		printf (" %x", units [i]);
	printf ("\n");
	mono_free (units);
}

static void strings (void)
{
	MonoString *text = mono_string_new (domain, "h\xc3\xa9llo \xf0\x9f\x98\x80");
	mono_unichar2 utf16 [] = { 'a', 0xe9, 0xd83d, 0xde00, 0 };
	mono_unichar4 utf32 [] = { 'a', 0xe9, 0x1f600, 0 };
	printf ("string: %d %u %u %d\n", mono_string_length (text), mono_string_hash (text), mono_object_get_size ((MonoObject *) text), mono_string_chars (text) [1]);
	show_units ("utf16", mono_string_to_utf16 (text));
	mono_unichar4 *long_units = mono_string_to_utf32 (text);
	printf ("utf32: %x %x %x\n", long_units [1], long_units [6], long_units [7]);
	mono_free (long_units);
	show_string ("from utf16", (MonoObject *) mono_string_new_utf16 (domain, utf16, 4));
	show_string ("from utf16, ended", (MonoObject *) mono_string_from_utf16 (utf16));
	show_string ("from utf32", (MonoObject *) mono_string_new_utf32 (domain, utf32, 3));
	show_string ("from utf32, ended", (MonoObject *) mono_string_from_utf32 (utf32));
	show_string ("part", (MonoObject *) mono_string_new_len (domain, "abcdef", 3));
	show_string ("wrapper", (MonoObject *) mono_string_new_wrapper ("wrapped"));
	MonoString *sized = mono_string_new_size (domain, 3);
	printf ("size: %d %d, empty %d %d\n", mono_string_length (sized), mono_string_chars (sized) [2], mono_string_length (mono_string_empty (domain)),
		mono_string_empty (domain) == mono_string_empty_wrapper ());
	MonoString *once = mono_string_new (domain, "never seen before"), *again = mono_string_new (domain, "never seen before");
	printf ("equal: %d %d %d\n", mono_string_equal (once, again), once == again, mono_string_equal (once, text));
	printf ("interned: %d", mono_string_is_interned (once) == NULL);
	MonoString *kept = mono_string_intern (once);
	printf (" %d %d\n", mono_string_intern (again) == kept, mono_string_is_interned (again) == kept);
	MonoError error;
	mono_error_init (&error);
	char *utf8 = mono_string_to_utf8_checked (text, &error);
	printf ("checked: %d %s %d\n", mono_error_ok (&error), utf8, mono_error_get_error_code (&error));
	mono_free (utf8);
	mono_error_cleanup (&error);
}

static void arrays (void)
{
	MonoArray *ints = mono_array_new (domain, mono_get_int32_class (), 5);
	for (int i = 0; i < 5; i++)
		mono_array_set (ints, int32_t, i, i * i);
	MonoArray *copy = mono_array_clone (ints);
	mono_array_set (ints, int32_t, 4, -1);
	printf ("ints: %d %d %d size %u %s\n", (int) mono_array_length (copy), mono_array_get (copy, int32_t, 4), mono_array_get (ints, int32_t, 4),
		mono_object_get_size ((MonoObject *) ints), class_of (ints));
	MonoArray *texts = mono_array_new (domain, mono_get_string_class (), 3);
	mono_array_setref (texts, 0, mono_string_new (domain, "zero"));
	mono_array_setref (texts, 2, mono_string_new (domain, "two"));
	mono_runtime_invoke (method_named ("Holder", "Collect", 0), NULL, NULL, NULL);
	show_string ("text", (MonoObject *) mono_array_get (texts, MonoString *, 2));
	printf ("missing: %d\n", mono_array_get (texts, MonoString *, 1) == NULL);
	uintptr_t lengths [] = { 2, 3 };
	intptr_t bounds [] = { 1, -1 };
	MonoArray *grid = mono_array_new_full (domain, mono_array_class_get (mono_get_double_class (), 2), lengths, bounds);
	printf ("grid: %s %d size %u\n", class_of (grid), (int) mono_array_length (grid), mono_object_get_size ((MonoObject *) grid));
	MonoArray *specific = mono_array_new_specific (mono_class_vtable (domain, mono_array_class_get (mono_get_byte_class (), 1)), 7);
	printf ("specific: %s %d %d\n", class_of (specific), (int) mono_array_length (specific), mono_object_get_size ((MonoObject *) specific));
	MonoArray *pairs = mono_array_new (domain, class_named ("Pair"), 2);
	struct { uint8_t small; int64_t large; MonoString *text; } pair = { 1, 2, mono_string_new (domain, "in a pair") };
	mono_value_copy_array (pairs, 1, &pair, 1);
	mono_runtime_invoke (method_named ("Holder", "Collect", 0), NULL, NULL, NULL);
	MonoObject *box = mono_value_box (domain, class_named ("Pair"), mono_array_addr_with_size (pairs, sizeof pair, 1));
	MonoString *found;
	mono_field_get_value (box, mono_class_get_field_from_name (class_named ("Pair"), "Text"), &found);
	show_string ("pair", (MonoObject *) found);
	MonoArray *objects = mono_array_new (domain, mono_get_object_class (), 2);
	mono_gc_wbarrier_set_arrayref (objects, mono_array_addr (objects, MonoObject *, 0), box);
	mono_gc_wbarrier_arrayref_copy (mono_array_addr (objects, MonoObject *, 1), mono_array_addr (objects, MonoObject *, 0), 1);
	printf ("copied: %d\n", mono_array_get (objects, MonoObject *, 1) == box);
}

static void fields (void)
{
	MonoClass *holder = class_named ("Holder"), *shape = class_named ("Shape"), *square = class_named ("Square");
	MonoObject *object = mono_object_new (domain, holder);
	mono_runtime_object_init (object);
	MonoClassField *locked = mono_class_get_field_from_name (holder, "Locked"), *anything = mono_class_get_field_from_name (holder, "Anything");
	int number = 12, got = 0;
	mono_field_set_value (object, locked, &number);
	mono_field_get_value (object, locked, &got);
	MonoString *text = mono_string_new (domain, "anything");
	mono_field_set_value (object, anything, text);
	mono_runtime_invoke (method_named ("Holder", "Collect", 0), NULL, NULL, NULL);
	MonoObject *read;
	mono_field_get_value (object, anything, &read);
	printf ("instance: %d %d\n", got, read == (MonoObject *) text);
	MonoArray *plain;
	mono_field_get_value (object, mono_class_get_field_from_name (holder, "Plain"), &plain);
	printf ("plain: %d %d\n", (int) mono_array_length (plain), mono_array_get (plain, int32_t, 0));
	struct { uint8_t small; int64_t large; MonoString *text; } pair;
	mono_field_get_value (object, mono_class_get_field_from_name (holder, "Pair"), &pair);
	printf ("pair: %d %d ", pair.small, (int) pair.large);
	show_string ("", (MonoObject *) pair.text);
	MonoObject *maybe = mono_field_get_value_object (domain, mono_class_get_field_from_name (holder, "Maybe"), object);
	printf ("maybe: %s %d\n", class_of (maybe), *(int *) mono_object_unbox (maybe));
	MonoVTable *vtable = mono_class_vtable (domain, shape);
	mono_runtime_object_init (mono_object_new (domain, square));
	MonoClassField *count = mono_class_get_field_from_name (shape, "Count"), *last = mono_class_get_field_from_name (shape, "Last");
	mono_field_static_get_value (vtable, count, &got);
	number = 100;
	mono_field_static_set_value (vtable, count, &number);
	mono_field_static_set_value (vtable, last, mono_string_new (domain, "last"));
	mono_runtime_invoke (method_named ("Holder", "Collect", 0), NULL, NULL, NULL);
	show_string ("static", mono_field_get_value_object (domain, last, NULL));
	printf ("count: %d", got);
	mono_field_static_get_value (vtable, count, &got);
	printf (" %d", got);
	mono_field_static_get_value (vtable, mono_class_get_field_from_name (shape, "Limit"), &got);
	printf (" %d\n", got);
	MonoClassField *title = mono_class_get_field_from_name (shape, "Title");
	mono_field_static_get_value (vtable, title, &read);
	show_string ("title", read);
	show_string ("title", mono_field_get_value_object (domain, title, NULL));
	printf ("vtable: %d %d %s\n", mono_vtable_domain (vtable) == domain, mono_vtable_class (vtable) == shape, mono_class_get_name (shape));

	MonoObject *made = mono_object_new (domain, square);
	double side = 1.5;
	void *params [] = { &side };
	mono_runtime_invoke (mono_class_get_method_from_name (square, ".ctor", 1), made, params, NULL);
	MonoProperty *name = mono_class_get_property_from_name (square, "Name"), *item = mono_class_get_property_from_name (square, "Item");
	show_string ("name", mono_property_get_value (name, made, NULL, NULL));
	void *value [] = { mono_string_new (domain, "new name") };
	mono_property_set_value (name, made, value, NULL);
	show_string ("set", mono_field_get_value_object (domain, last, NULL));
	int index = 4;
	void *indices [] = { &index, mono_string_new (domain, "key") };
	printf ("item: %d\n", *(int *) mono_object_unbox (mono_property_get_value (item, made, indices, NULL)));
	MonoObject *exc = NULL;
	show_string ("ToString", (MonoObject *) mono_object_to_string (made, &exc));
	printf ("thrown: %s\n", class_of (exc));
	MonoMethod *area = mono_object_get_virtual_method (made, mono_class_get_method_from_name (class_named ("IShape"), "Area", 0));
	show ("virtual", mono_method_full_name (area, 1));
	printf ("area: %g\n", *(double *) mono_object_unbox (mono_runtime_invoke (area, made, NULL, NULL)));
	printf ("is: %d %d %d\n", mono_object_isinst (made, class_named ("INamed")) == made, mono_object_isinst (made, holder) == NULL, mono_object_isinst (NULL, holder) == NULL);
	MonoObject *clone = mono_object_clone (made);
	printf ("clone: %d %s %d\n", clone != made, class_of (clone), mono_object_hash (made) == mono_object_hash (made));
	printf ("domain: %d %d\n", mono_object_get_domain (made) == domain, mono_object_get_vtable (made) == mono_class_vtable (domain, square));
	mono_gc_wbarrier_object_copy (clone, made);
	mono_gc_wbarrier_generic_store (&read, made);
	printf ("stored: %d\n", read == made);
}

static void calls (void)
{
	MonoObject *exc = NULL;
	MonoObject *fold = mono_runtime_invoke (method_named ("Square", "Folder", 0), NULL, NULL, &exc);
	int number = 3;
	void *params [] = { &number, mono_string_new (domain, "four") };
	printf ("delegate: %d\n", *(int *) mono_object_unbox (mono_runtime_delegate_invoke (fold, params, &exc)));
	show ("invoke", mono_method_full_name (mono_get_delegate_invoke (class_named ("Fold")), 1));
	show ("begin", mono_method_full_name (mono_get_delegate_begin_invoke (class_named ("Fold")), 1));
	show ("end", mono_method_full_name (mono_get_delegate_end_invoke (class_named ("Fold")), 1));
	MonoArray *args = mono_array_new (domain, mono_get_object_class (), 2);
	mono_array_setref (args, 0, mono_value_box (domain, mono_get_int32_class (), &number));
	mono_array_setref (args, 1, mono_string_new (domain, "x"));
	MonoObject *made = mono_object_new (domain, class_named ("Square"));
	mono_runtime_object_init (made);
	printf ("array: %d\n", *(int *) mono_object_unbox (mono_runtime_invoke_array (method_named ("Shape", "get_Item", 2), made, args, &exc)));
	MonoArray *one = mono_array_new (domain, mono_get_object_class (), 1);
	double side = 3;
	mono_array_setref (one, 0, mono_value_box (domain, mono_get_double_class (), &side));
	made = mono_runtime_invoke_array (method_named ("Square", ".ctor", 1), NULL, one, &exc);
	printf ("constructed: %s %s\n", class_of (made), class_of (exc));
	void *message [] = { mono_string_new (domain, "a message") };
	MonoObject *none = mono_runtime_invoke (method_named ("Square", "Fails", 1), NULL, message, &exc);
	printf ("fails: %d %s\n", none == NULL, class_of (exc));
	show_string ("message", mono_property_get_value (mono_class_get_property_from_name (mono_object_get_class (exc), "Message"), exc, NULL, NULL));
	number = 5;
	MonoString *text = mono_string_new (domain, "t");
	short color = 0;
	void *byrefs [] = { &number, &text, &color };
	mono_runtime_invoke (method_named ("Square", "Over", 3), NULL, byrefs, &exc);
	show_string ("by reference", (MonoObject *) text);
	printf ("out: %d\n", color);
}

static void handles (void)
{
	MonoString *text = mono_string_new (domain, "held");
	uint32_t strong = mono_gchandle_new ((MonoObject *) text, 0), pinned = mono_gchandle_new ((MonoObject *) text, 1);
	uint32_t weak = mono_gchandle_new_weakref ((MonoObject *) text, 0);
	mono_gc_collect (mono_gc_max_generation ());
	printf ("handles: %d %d %d\n", mono_gchandle_get_target (strong) == mono_gchandle_get_target (pinned), mono_gchandle_get_target (weak) == (MonoObject *) text,
		mono_gchandle_get_target (pinned) == (MonoObject *) text);
	show_string ("target", mono_gchandle_get_target (strong));
	mono_gchandle_free (strong);
	mono_gchandle_free (pinned);
	mono_gchandle_free (weak);
	printf ("null: %d\n", mono_gchandle_get_target (mono_gchandle_new (NULL, 0)) == NULL);
	printf ("monitor: %d %d\n", mono_monitor_enter ((MonoObject *) text), mono_monitor_try_enter ((MonoObject *) text, 10));
	mono_monitor_exit ((MonoObject *) text);
	mono_monitor_exit ((MonoObject *) text);
	char taken = 0;
	mono_monitor_enter_v4 ((MonoObject *) text, &taken);
	printf ("taken: %d\n", taken);
	mono_monitor_exit ((MonoObject *) text);
}

static void show_exception (MonoException *exception)
{
	MonoObject *object = (MonoObject *) exception;
	MonoProperty *message = mono_class_get_property_from_name (mono_get_exception_class (), "Message");
	MonoMethod *get = mono_object_get_virtual_method (object, mono_property_get_get_method (message));
	show_string (class_of (object), mono_runtime_invoke (get, object, NULL, NULL));
}

static void exceptions (void)
{
	MonoImage *corlib = mono_get_corlib ();
	MonoString *file = mono_string_new (domain, "some.file");
	show_exception (mono_exception_from_name (corlib, "System", "FormatException"));
	show_exception (mono_exception_from_name_msg (corlib, "System", "FormatException", "own text"));
	show_exception (mono_exception_from_name_domain (domain, corlib, "System", "RankException"));
	show_exception (mono_exception_from_name_two_strings (corlib, "System", "ArgumentException", mono_string_new (domain, "one"), mono_string_new (domain, "two")));
	show_exception (mono_exception_from_name_two_strings (corlib, "System", "ArgumentException", mono_string_new (domain, "one"), NULL));
	show_exception (mono_exception_from_token (corlib, mono_class_get_type_token (mono_get_exception_class ())));
	show_exception (mono_get_exception_divide_by_zero ());
	show_exception (mono_get_exception_security ());
	show_exception (mono_get_exception_arithmetic ());
	show_exception (mono_get_exception_overflow ());
	show_exception (mono_get_exception_null_reference ());
	show_exception (mono_get_exception_execution_engine ("engine"));
	show_exception (mono_get_exception_thread_abort ());
	show_exception (mono_get_exception_thread_state ("state"));
	show_exception (mono_get_exception_thread_interrupted ());
	show_exception (mono_get_exception_serialization ("serialization"));
	show_exception (mono_get_exception_invalid_cast ());
	show_exception (mono_get_exception_invalid_operation ("operation"));
	show_exception (mono_get_exception_index_out_of_range ());
	show_exception (mono_get_exception_array_type_mismatch ());
	show_exception (mono_get_exception_type_load (mono_string_new (domain, "A.Class"), "assembly"));
	show_exception (mono_get_exception_missing_method ("Class", "Method"));
	show_exception (mono_get_exception_missing_field ("Class", "field"));
	show_exception (mono_get_exception_not_implemented ("not there"));
	show_exception (mono_get_exception_not_implemented (NULL));
	show_exception (mono_get_exception_not_supported ("not so"));
	show_exception (mono_get_exception_argument_null ("arg"));
	show_exception (mono_get_exception_argument ("arg", "text"));
	show_exception (mono_get_exception_argument_out_of_range ("arg"));
	show_exception (mono_get_exception_io ("io"));
	show_exception (mono_get_exception_file_not_found (file));
	show_exception (mono_get_exception_file_not_found2 ("not found", file));
	show_exception (mono_get_exception_type_initialization ("A.Class", mono_get_exception_overflow ()));
	show_exception (mono_get_exception_synchronization_lock ("lock"));
	show_exception (mono_get_exception_cannot_unload_appdomain ("domain"));
	show_exception (mono_get_exception_appdomain_unloaded ());
	show_exception (mono_get_exception_bad_image_format ("bad"));
	show_exception (mono_get_exception_bad_image_format2 ("bad", file));
	show_exception (mono_get_exception_stack_overflow ());
	show_exception (mono_get_exception_out_of_memory ());
	show_exception (mono_get_exception_field_access ());
	show_exception (mono_get_exception_method_access ());
	show_exception (mono_get_exception_runtime_wrapped ((MonoObject *) file));
}

int main (int argc, char **argv)
{
	start (argv);
	strings ();
	arrays ();
	fields ();
	calls ();
	handles ();
	exceptions ();
	return 0;
}
