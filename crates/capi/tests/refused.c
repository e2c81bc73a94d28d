/* Classes, members and values that do not go together: each call gives an error or an object, and the host lives on. */
#include "api.h"

static saki_assembly *assembly;
static int errors, objects;

static void counts (saki_error *error, saki_object **made)
{
	errors += error != NULL;
	saki_error_free (error);
	if (made == NULL)
		return;
	objects += *made != NULL;
	saki_object_release (*made);
}

static saki_class *core (const char *name)
{
	saki_class *found = NULL;
	saki_error_free (saki_class_core (name, &found));
	if (found == NULL)
		printf ("no %s\n", name);
	return found;
}

static saki_error *closes (void *data, saki_scope *scope, const saki_value *arguments, size_t count, saki_value *result)
{
	(void) data, (void) arguments, (void) count, (void) result;
	saki_object *made;
	works (saki_string_new ("x", 1, scope, &made));
	saki_scope_close (scope);
	saki_scope_close (scope);
	works (saki_string_new ("x", 1, scope, &made));
	*result = saki_value_object (made);
	return NULL;
}

int main (int argc, char **argv)
{
	(void) argc;
	assembly = start (argv);
	const char *names [] = {
		"System.Object", "System.String", "System.Int32", "System.Void", "System.Array", "System.Enum", "System.ValueType",
		"System.Delegate", "System.MulticastDelegate", "System.Action", "System.Action`1", "System.Nullable`1",
		"System.Collections.Generic.List`1", "System.Collections.Generic.Dictionary`2", "System.IDisposable", "System.Math",
		"System.IO.Stream", "System.TypedReference", "System.Type", "System.Threading.Thread",
		"System.Exception", "System.Decimal", "System.DateTime", "System.IntPtr", "System.Guid", "System.Attribute",
		"System.DayOfWeek", "System.AppDomain", "System.ArgIterator", "System.Span`1", "System.Predicate`1",
	};
	saki_value values [] = {
		saki_value_none (), saki_value_null (), saki_value_bool (true), saki_value_char ('c'), saki_value_i32 (-1),
		saki_value_i64 (1), saki_value_u8 (2), saki_value_f64 (0.5), saki_value_text ("text"), saki_value_text (""),
		saki_value_object (NULL), saki_value_object ((saki_object *) (uintptr_t) 16),
	};
	const char *members [] = { "ToString", "GetHashCode", ".ctor", ".cctor", "Invoke", "Length", "", "a b", "get_Item", "op_Equality", "Finalize",
		"MemberwiseClone", "Empty", "MaxValue", "Zero", "m_value", "_items", "value" };
	saki_class *classes [COUNT (names) * 2];
	size_t known = 0;
	for (size_t i = 0; i < COUNT (names); i++) {
		saki_class *found = NULL;
		saki_error_free (saki_class_core (names [i], &found));
		if (found != NULL)
			classes [known++] = found;
	}
	/* Instances of generic classes with arguments that they cannot have. */
	size_t plain = known;
	saki_class *nullable = core ("System.Nullable`1"), *list = core ("System.Collections.Generic.List`1");
	for (size_t i = 0; i < plain && known < COUNT (classes); i++) {
		saki_class *made = NULL;
		saki_error *error = saki_class_generic (i % 2 ? nullable : list, &classes [i], 1, &made);
		errors += error != NULL;
		saki_error_free (error);
		if (made != NULL)
			classes [known++] = made;
	}
	saki_object *array = NULL;
	for (size_t c = 0; c < known; c++) {
		saki_object *made = NULL, *box = NULL;
		if (getenv ("SHOW_CLASSES")) {
			/* Where it ends, when it does not. */
			char *name;
			works (saki_class_name (classes [c], &name, NULL));
			fprintf (stderr, "%s\n", name);
			saki_text_free (name);
		}
		works (saki_collect ());
		counts (saki_new (classes [c], NULL, 0, NULL, &made), &made);
		made = NULL;
		counts (saki_array_new (classes [c], (size_t) -1, NULL, &made), &made);
		counts (saki_array_new (classes [c], (size_t) 1 << 31, NULL, &made), &made);
		counts (saki_delegate_new (classes [c], closes, NULL, NULL, &made), &made);
		saki_error *error = saki_array_new (classes [c], 2, NULL, &array);
		for (size_t v = 0; v < COUNT (values); v++) {
			saki_value result;
			made = NULL;
			counts (saki_new (classes [c], &values [v], 1, NULL, &made), &made);
			box = NULL;
			counts (saki_box (classes [c], values [v], NULL, &box), NULL);
			if (box != NULL) {
				counts (saki_unbox (box, &result), NULL);
				counts (saki_call (box, "ToString", NULL, 0, NULL, NULL), NULL);
			}
			if (array != NULL) {
				counts (saki_array_set (array, 1, values [v]), NULL);
				result = saki_value_none ();
				counts (saki_array_get (array, 1, NULL, &result), NULL);
				saki_object_release (result.kind == SAKI_OBJECT ? result.of.object : NULL);
			}
			for (size_t m = 0; m < COUNT (members); m++) {
				saki_method *method = NULL;
				saki_field *field = NULL;
				for (size_t count = 0; count < 2; count++) {
					counts (saki_method_find (classes [c], members [m], count, &method), NULL);
					if (method != NULL && strcmp (members [m], "Finalize")) {
						counts (saki_invoke (method, NULL, &values [v], count, NULL, NULL), NULL);
						counts (saki_invoke (method, box, &values [v], count, NULL, NULL), NULL);
						counts (saki_invoke (method, array, &values [v], count, NULL, NULL), NULL);
					}
				}
				if (v > 2)
					continue;
				counts (saki_field_find (classes [c], members [m], &field), NULL);
				if (field != NULL) {
					counts (saki_field_get (field, NULL, NULL, NULL), NULL);
					counts (saki_field_get (field, box, NULL, NULL), NULL);
					counts (saki_field_get (field, array, NULL, NULL), NULL);
				}
			}
			saki_object_release (box);
		}
		char bytes [64];
		if (array != NULL)
			counts (saki_array_read (array, 0, bytes, sizeof bytes), NULL);
		saki_object_release (array);
		array = NULL;
		saki_error_free (error);
	}
	printf ("errors and objects: %d %d\n", errors > 1000, objects > 20);
	saki_value result;
	saki_object *delegate;
	saki_class *object = core ("System.Object"), *function = core ("System.Func`1");
	works (saki_class_generic (function, &object, 1, &function));
	works (saki_delegate_new (function, closes, NULL, NULL, &delegate));
	works (saki_call (delegate, "Invoke", NULL, 0, NULL, &result));
	shows ("closed", result);
	saki_object_release (delegate);
	printf ("left: %zu\n", saki_live_objects ());
	works (saki_end (NULL));
	return 0;
}
