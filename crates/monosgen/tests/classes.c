/* Classes, members, types, signatures, names and descriptions. */
#include "api.h"

static void show_class (MonoClass *class)
{
	void *iter = NULL;
	uint32_t align = 0;
	MonoClass *parent = mono_class_get_parent (class), *nesting = mono_class_get_nesting_type (class);
	printf ("class %s.%s flags %x token %x rank %d parent %s nesting %s\n", mono_class_get_namespace (class),
		mono_class_get_name (class), mono_class_get_flags (class), mono_class_get_type_token (class), mono_class_get_rank (class),
		parent ? mono_class_get_name (parent) : "-", nesting ? mono_class_get_name (nesting) : "-");
	printf ("  value %d enum %d delegate %d nullable %d element %s members %d %d %d %d\n", mono_class_is_valuetype (class),
		mono_class_is_enum (class), mono_class_is_delegate (class), mono_class_is_nullable (class),
		mono_class_get_name (mono_class_get_element_class (class)), mono_class_num_fields (class), mono_class_get_rank (class) ? 0 : mono_class_num_methods (class),
		mono_class_num_properties (class), mono_class_num_events (class));
	int size = mono_class_value_size (class, &align);
	printf ("  in array %d", mono_class_array_element_size (class));
	if (mono_class_is_valuetype (class))
		printf (" instance %d value %d align %u", mono_class_instance_size (class), size, align);
	printf ("\n");
	for (MonoClassField *field; (field = mono_class_get_fields (class, &iter)); ) {
		char *type = mono_type_get_name (mono_field_get_type (field));
		printf ("  field %s %s flags %x token %x in %s data %d", type, mono_field_get_name (field), mono_field_get_flags (field),
			mono_class_get_field_token (field), mono_class_get_name (mono_field_get_parent (field)), mono_field_get_data (field) != NULL);
		if (mono_class_is_valuetype (class) && !(mono_field_get_flags (field) & MONO_FIELD_ATTR_STATIC))
			printf (" at %u", mono_field_get_offset (field));
		printf ("\n");
		mono_free (type);
	}
	iter = NULL;
	for (MonoMethod *method; (method = mono_class_get_methods (class, &iter)); ) {
		uint32_t impl, flags = mono_method_get_flags (method, &impl);
		printf ("  method %s flags %x impl %x token %x index %u", mono_method_get_name (method), flags, impl,
			mono_method_get_token (method), mono_method_get_index (method));
		show ("", mono_method_full_name (method, 1));
	}
	iter = NULL;
	for (MonoProperty *property; (property = mono_class_get_properties (class, &iter)); ) {
		MonoMethod *get = mono_property_get_get_method (property), *set = mono_property_get_set_method (property);
		printf ("  property %s flags %x token %x in %s %s %s\n", mono_property_get_name (property), mono_property_get_flags (property),
			mono_class_get_property_token (property), mono_class_get_name (mono_property_get_parent (property)),
			get ? mono_method_get_name (get) : "-", set ? mono_method_get_name (set) : "-");
	}
	iter = NULL;
	for (MonoEvent *event; (event = mono_class_get_events (class, &iter)); )
		printf ("  event %s flags %x token %x in %s %s %s %d\n", mono_event_get_name (event), mono_event_get_flags (event),
			mono_class_get_event_token (event), mono_class_get_name (mono_event_get_parent (event)),
			mono_method_get_name (mono_event_get_add_method (event)), mono_method_get_name (mono_event_get_remove_method (event)),
			mono_event_get_raise_method (event) != NULL);
	iter = NULL;
	for (MonoClass *interface; (interface = mono_class_get_interfaces (class, &iter)); )
		printf ("  interface %s\n", mono_class_get_name (interface));
	iter = NULL;
	for (MonoClass *nested; (nested = mono_class_get_nested_types (class, &iter)); )
		printf ("  nested %s\n", mono_class_get_name (nested));
}

static void show_type (MonoType *type)
{
	int align = 0, stack_align = 0;
	int size = mono_type_size (type, &align);
	int stack = mono_type_is_void (type) || mono_type_is_generic_parameter (type) ? 0 : mono_type_stack_size (type, &stack_align);
	printf ("type %x byref %d struct %d void %d pointer %d reference %d parameter %d size %d/%d stack %d/%d class %s ", mono_type_get_type (type),
		mono_type_is_byref (type), mono_type_is_struct (type), mono_type_is_void (type), mono_type_is_pointer (type),
		mono_type_is_reference (type), mono_type_is_generic_parameter (type), size, align, stack, stack_align,
		mono_class_get_name (mono_class_from_mono_type (type)));
	char *full = mono_type_full_name (type);
	printf ("%s", full);
	mono_free (full);
	show (" ", mono_type_get_name (type));
}

static void show_signature (MonoMethod *method)
{
	void *iter = NULL;
	MonoMethodSignature *signature = mono_method_signature (method);
	uint32_t count = mono_signature_get_param_count (signature);
	const char *names [8];
	mono_method_get_param_names (method, names);
	printf ("signature of %s: %u parameters, convention %u, instance %d, explicit %d, variable from %d\n", mono_method_get_name (method), count,
		mono_signature_get_call_conv (signature), mono_signature_is_instance (signature), mono_signature_explicit_this (signature),
		mono_signature_vararg_start (signature));
	show ("  desc", mono_signature_get_desc (signature, 0));
	show ("  reflection", mono_method_get_reflection_name (method));
	for (uint32_t i = 0; i < count; i++) {
		printf ("  %s token %x out %d ", names [i], mono_method_get_param_token (method, i), mono_signature_param_is_out (signature, i));
		show_type (mono_signature_get_params (signature, &iter));
	}
	printf ("  end %d, result ", mono_signature_get_params (signature, &iter) == NULL);
	show_type (mono_signature_get_return_type (signature));
}

static void search (const char *text, int with_namespace, MonoImage *where)
{
	MonoMethodDesc *desc = mono_method_desc_new (text, with_namespace);
	if (!desc) {
		printf ("description %s: none\n", text);
		return;
	}
	MonoMethod *found = mono_method_desc_search_in_image (desc, where);
	char *name = found ? mono_method_full_name (found, 1) : NULL;
	printf ("description %s: full %d, %s", text, mono_method_desc_is_full (desc), name ? name : "nothing");
	if (found)
		printf (" %d %d", mono_method_desc_match (desc, found), mono_method_desc_full_match (desc, found));
	printf ("\n");
	mono_free (name);
	mono_method_desc_free (desc);
}

int main (int argc, char **argv)
{
	start (argv);
	static const char *const classes [] = { "IShape", "INamed", "Color", "Fold", "Pair", "Shape", "Square", "Square/Inner", "Square/Inner/Deep", "Box`1", "Holder" };
	for (int i = 0; i < sizeof classes / sizeof *classes; i++)
		show_class (class_named (classes [i]));

	MonoClass *square = class_named ("Square"), *shape = class_named ("Shape"), *named = class_named ("INamed"), *ishape = class_named ("IShape");
	printf ("case: %d %d\n", mono_class_from_name_case (image, "some", "SQUARE") == square, mono_class_from_name_case (image, "some", "nothing") == NULL);
	printf ("token: %d %d %d\n", mono_class_get (image, mono_class_get_type_token (square)) == square,
		mono_get_method (image, mono_method_get_token (method_named ("Square", "Area", 0)), NULL) == method_named ("Square", "Area", 0),
		mono_class_get_field (square, mono_class_get_field_token (mono_class_get_field_from_name (square, "id"))) == mono_class_get_field_from_name (shape, "id"));
	printf ("subclass: %d %d %d %d %d\n", mono_class_is_subclass_of (square, shape, 0), mono_class_is_subclass_of (shape, square, 0),
		mono_class_is_subclass_of (square, ishape, 0), mono_class_is_subclass_of (square, ishape, 1), mono_class_is_subclass_of (named, ishape, 1));
	printf ("assignable: %d %d %d %d\n", mono_class_is_assignable_from (shape, square), mono_class_is_assignable_from (square, shape),
		mono_class_is_assignable_from (ishape, square), mono_class_is_assignable_from (mono_get_object_class (), named));
	printf ("implements: %d %d\n", mono_class_implements_interface (square, ishape), mono_class_implements_interface (ishape, named));
	printf ("members: %d %d %d %d %d\n", mono_class_get_property_from_name (square, "Name") != NULL, mono_class_get_property_from_name (square, "None") == NULL,
		mono_class_get_field_from_name (square, "Count") != NULL, mono_class_get_field_from_name (square, "none") == NULL,
		mono_class_get_method_from_name (square, "Raise", 2) != NULL);
	printf ("flags: %d %d\n", mono_class_get_method_from_name_flags (square, "Over", 1, MONO_METHOD_ATTR_STATIC) != NULL,
		mono_class_get_method_from_name_flags (square, "Area", 0, MONO_METHOD_ATTR_STATIC) == NULL);

	MonoClass *ints = mono_array_class_get (mono_get_int32_class (), 1), *grid = mono_array_class_get (mono_get_int32_class (), 2);
	MonoClass *bounded = mono_bounded_array_class_get (mono_get_string_class (), 1, 1);
	MonoClass *pointer = mono_ptr_class_get (mono_class_get_type (mono_get_int32_class ()));
	show_class (grid);
	printf ("arrays: %s %s %s %s %d %d\n", mono_class_get_name (ints), mono_class_get_name (grid), mono_class_get_name (bounded), mono_class_get_name (pointer),
		mono_array_element_size (ints), mono_array_element_size (bounded));
	printf ("element: %s %d\n", mono_class_get_name (mono_class_get_element_class (grid)), mono_type_get_array_type (mono_class_get_type (grid))->rank);
	printf ("enum base: %s %s\n", mono_class_get_name (mono_class_from_mono_type (mono_class_enum_basetype (class_named ("Color")))),
		mono_class_get_name (mono_class_from_mono_type (mono_type_get_underlying_type (mono_class_get_type (class_named ("Bits"))))));

	show_type (mono_class_get_byref_type (square));
	show_type (mono_class_get_type (mono_get_void_class ()));
	show_type (mono_class_get_type (mono_get_double_class ()));
	show_type (mono_class_get_type (mono_get_single_class ()));
	show_type (mono_class_get_type (class_named ("Pair")));
	show_type (mono_class_get_type (bounded));
	void *iter = NULL;
	for (MonoClassField *field; (field = mono_class_get_fields (class_named ("Holder"), &iter)); )
		show_type (mono_field_get_type (field));
	MonoClass *maybe = mono_class_from_mono_type (mono_field_get_type (mono_class_get_field_from_name (class_named ("Holder"), "Maybe")));
	printf ("nullable: %d %s\n", mono_class_is_nullable (maybe), mono_class_get_name (mono_class_get_nullable_param (maybe)));
	show_class (mono_class_from_mono_type (mono_field_get_type (mono_class_get_field_from_name (class_named ("Holder"), "Numbers"))));

	show_signature (method_named ("Square", "Over", 3));
	show_signature (method_named ("Square", "Point", 5));
	show_signature (method_named ("Square", "Echo", 1));
	show_signature (method_named ("Shape", "set_Item", 3));
	printf ("equal: %d %d\n", mono_metadata_signature_equal (mono_method_signature (method_named ("Square", "Over", 3)), mono_method_signature (method_named ("Square", "Over", 3))),
		mono_metadata_type_equal (mono_class_get_type (square), mono_class_get_type (shape)));

	search ("Some.Square:Area", 1, image);
	search ("Some.Square:Over(string)", 1, image);
	search ("Square:Over (int)", 1, image);
	search ("Square::Over(int,string&,Color&)", 0, image);
	search ("Square::Over(int,string&,Some.Color&)", 1, image);
	search ("*:Twice", 1, image);
	search ("Square/Inner:Twice(int)", 1, image);
	search ("Some.Square/Inner:Twice(int)", 1, image);
	search ("Other.Square:Area", 1, image);
	search (":Area", 1, image);
	search ("Area", 1, image);
	search ("Some.Square:Over(", 1, image);
	search ("string:Concat(string,string)", 1, mono_get_corlib ());
	search ("int:Parse(string)", 1, mono_get_corlib ());
	MonoMethodDesc *of = mono_method_desc_from_method (method_named ("Square", "Area", 0));
	printf ("from method: %d %d\n", mono_method_desc_full_match (of, method_named ("Square", "Area", 0)), mono_method_desc_full_match (of, method_named ("Shape", "Area", 0)));
	mono_method_desc_free (of);
	show ("field", mono_field_full_name (mono_class_get_field_from_name (square, "side")));
	show ("no signature", mono_method_full_name (method_named ("Square", "Echo", 1), 0));

	MonoMethodHeader *header = mono_method_get_header (method_named ("Holder", "Collect", 0));
	uint32_t size, stack, locals;
	mono_bool zeroed;
	const unsigned char *code = mono_method_header_get_code (header, &size, &stack);
	const unsigned char *at = code;
	mono_method_header_get_locals (header, &locals, &zeroed);
	printf ("body: %u bytes, stack %u, locals %u, zeroed %d, clauses %d\n", size, stack, locals, zeroed, mono_method_header_get_num_clauses (header));
	printf ("first: %s %d\n", mono_opcode_name (mono_opcode_value (&at, code + size)), mono_opcodes [*code].flow_type);
	mono_metadata_free_mh (header);
	printf ("no body: %d\n", mono_method_get_header (method_named ("Shape", "Area", 0)) == NULL);
	MonoClass *handle;
	void *type = mono_ldtoken (image, mono_class_get_type_token (square), &handle, NULL);
	printf ("handle: %d %s\n", type == mono_class_get_type (square), mono_class_get_name (handle));
	printf ("marshal: %d access %d\n", mono_method_has_marshal_info (method_named ("Holder", "getpid", 0)),
		mono_method_can_access_field (method_named ("Holder", "Collect", 0), mono_class_get_field_from_name (square, "side")));
	return 0;
}
