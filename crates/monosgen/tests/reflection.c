/* Reflection objects, custom attributes, names to types. */
#include "api.h"

static MonoObject *described (void *object)
{
	MonoMethod *method = mono_class_get_method_from_name (mono_get_object_class (), "ToString", 0);
	return mono_runtime_invoke (mono_object_get_virtual_method (object, method), object, NULL, NULL);
}

static void show_member (const char *what, void *object)
{
	printf ("%s %s %x ", what, class_of (object), mono_reflection_get_token (object));
	show_string ("", described (object));
}

static void show_attributes (const char *what, MonoCustomAttrInfo *info)
{
	MonoClass *mark = class_named ("MarkAttribute");
	if (!info) {
		printf ("%s: none\n", what);
		return;
	}
	printf ("%s: %d, marked %d, attribute %d, other %d\n", what, info->num_attrs, mono_custom_attrs_has_attr (info, mark),
		mono_custom_attrs_has_attr (info, mono_class_from_name (mono_get_corlib (), "System", "Attribute")), mono_custom_attrs_has_attr (info, mono_get_string_class ()));
	for (int i = 0; i < info->num_attrs; i++) {
		show ("  constructor", mono_method_full_name (info->attrs [i].ctor, 1));
		printf ("  %u bytes from %x\n", info->attrs [i].data_size, info->attrs [i].data [0]);
	}
	MonoObject *made = mono_custom_attrs_get_attr (info, mark);
	if (made) {
		MonoString *text;
		mono_field_get_value (made, mono_class_get_field_from_name (mark, "Text"), &text);
		show_string ("  text", (MonoObject *) text);
		printf ("  number %d\n", *(int *) mono_object_unbox (mono_property_get_value (mono_class_get_property_from_name (mark, "Number"), made, NULL, NULL)));
	}
	printf ("  all %d\n", (int) mono_array_length (mono_custom_attrs_construct (info)));
	mono_custom_attrs_free (info);
}

static void show_type (const char *name, MonoImage *where)
{
	char *copy = strdup (name);
	MonoType *type = mono_reflection_type_from_name (copy, where);
	show (name, type ? mono_type_get_name (type) : NULL);
	free (copy);
}

int main (int argc, char **argv)
{
	start (argv);
	MonoClass *square = class_named ("Square"), *shape = class_named ("Shape");
	MonoMethod *area = method_named ("Square", "Area", 0);
	MonoClassField *side = mono_class_get_field_from_name (square, "side");
	MonoProperty *name = mono_class_get_property_from_name (shape, "Name");
	void *iter = NULL;
	MonoEvent *event = mono_class_get_events (shape, &iter);
	MonoObject *type = (MonoObject *) mono_type_get_object (domain, mono_class_get_type (square));
	show_member ("type", type);
	show_member ("method", mono_method_get_object (domain, area, square));
	show_member ("inherited", mono_method_get_object (domain, method_named ("Shape", "Raise", 2), NULL));
	show_member ("constructor", mono_method_get_object (domain, method_named ("Square", ".ctor", 1), square));
	show_member ("field", mono_field_get_object (domain, square, side));
	show_member ("property", mono_property_get_object (domain, shape, name));
	show_member ("event", mono_event_get_object (domain, shape, event));
	printf ("assembly %s %d\n", class_of (mono_assembly_get_object (domain, assembly)), mono_reflection_assembly_get_assembly (mono_assembly_get_object (domain, assembly)) == assembly);
	printf ("module %s\n", class_of (mono_module_get_object (domain, image)));
	printf ("same: %d %d\n", mono_type_get_object (domain, mono_class_get_type (square)) == (void *) type, mono_reflection_type_get_type ((MonoReflectionType *) type) == mono_class_get_type (square));
	MonoArray *parameters = mono_param_get_objects (domain, method_named ("Square", "Over", 3));
	printf ("parameters: %d\n", (int) mono_array_length (parameters));
	show_string ("parameter", described (mono_array_get (parameters, MonoObject *, 1)));
	printf ("body: %s %d\n", class_of (mono_method_body_get_object (domain, area)), mono_method_body_get_object (domain, method_named ("Shape", "Area", 0)) == NULL);
	printf ("null: %s\n", class_of (mono_get_dbnull_object (domain)));

	show_attributes ("class", mono_custom_attrs_from_class (square));
	show_attributes ("plain class", mono_custom_attrs_from_class (class_named ("Pair")));
	show_attributes ("enum", mono_custom_attrs_from_class (class_named ("Bits")));
	show_attributes ("property", mono_custom_attrs_from_property (shape, name));
	show_attributes ("method", mono_custom_attrs_from_method (area));
	show_attributes ("field", mono_custom_attrs_from_field (shape, mono_class_get_field_from_name (shape, "PerThread")));
	show_attributes ("event", mono_custom_attrs_from_event (shape, event));
	show_attributes ("parameter", mono_custom_attrs_from_param (method_named ("Holder", "Join", 1), 1));
	show_attributes ("index", mono_custom_attrs_from_index (image, ((mono_class_get_type_token (square) & 0xffffff) << 5) | 3));
	show_attributes ("object", mono_reflection_get_custom_attrs_info (type));
	MonoCustomAttrInfo *of_assembly = mono_custom_attrs_from_assembly (assembly);
	printf ("assembly: %d\n", mono_custom_attrs_has_attr (of_assembly, mono_class_from_name (mono_get_corlib (), "System.Reflection", "AssemblyTitleAttribute")));
	mono_custom_attrs_free (of_assembly);
	MonoError error;
	mono_error_init (&error);
	printf ("by object: %d %d\n", (int) mono_array_length (mono_reflection_get_custom_attrs_by_type (type, class_named ("MarkAttribute"), &error)), mono_error_ok (&error));
	printf ("data: %s\n", class_of (mono_reflection_get_custom_attrs_data (type)));

	show_type ("Some.Square", image);
	show_type ("Some.Square+Inner", image);
	show_type ("Some.Box`1[[System.Int32, mscorlib]]", image);
	show_type ("Some.Pair[,]", image);
	show_type ("Some.Pair*", image);
	show_type ("System.Int32", NULL);
	show_type ("Some.None", image);
	show_type ("System.Collections.Generic.List`1[[Some.Square, some]]", NULL);
	return 0;
}
