/* Assemblies, images, tables, heaps, blobs. */
#include "api.h"

static int count_assemblies;
static void count (void *assembly, void *data) { count_assemblies += assembly == data; }

static void names (void)
{
	uint16_t minor, build, revision;
	MonoAssemblyName *name = mono_assembly_name_new ("Some.Name, Version=1.2.3.4, Culture=de, PublicKeyToken=b77a5c561934e089");
	uint16_t major = mono_assembly_name_get_version (name, &minor, &build, &revision);
	printf ("name: %s %s %d.%d.%d.%d %s\n", mono_assembly_name_get_name (name), mono_assembly_name_get_culture (name), major, minor, build, revision,
		(char *) mono_assembly_name_get_pubkeytoken (name));
	show ("whole", mono_stringify_assembly_name (name));
	MonoAssemblyName *plain = mono_assembly_name_new ("Plain");
	printf ("plain: %s '%s' %d\n", mono_assembly_name_get_name (plain), mono_assembly_name_get_culture (plain), mono_assembly_name_get_pubkeytoken (plain) == NULL);
	printf ("equal: %d %d\n", mono_assembly_names_equal (name, name), mono_assembly_names_equal (name, plain));
	MonoAssemblyName *own = mono_assembly_get_name (assembly);
	show ("own", mono_stringify_assembly_name (own));
	show ("corlib", mono_stringify_assembly_name (mono_assembly_get_name (mono_image_get_assembly (mono_get_corlib ()))));
	mono_assembly_get_assemblyref (image, 0, plain);
	show ("reference", mono_stringify_assembly_name (plain));
	printf ("loaded: %d %d\n", mono_assembly_loaded (own) == assembly, mono_assembly_loaded (name) == NULL);
	mono_assembly_foreach (count, assembly);
	printf ("foreach: %d\n", count_assemblies);
}

static void opening (const char *file)
{
	MonoImageOpenStatus status;
	printf ("same: %d", mono_assembly_open (file, &status) == assembly);
	printf (" %d\n", status);
	printf ("none: %d", mono_assembly_open ("/no/such.dll", &status) == NULL);
	printf (" %d %d\n", status, mono_image_open ("/no/such.dll", &status) == NULL);
	printf ("bad: %d", mono_image_open_from_data_full ("no image", 8, 1, &status, 0) == NULL);
	printf (" %d %s\n", status, mono_image_strerror (MONO_IMAGE_IMAGE_INVALID));
	MonoAssembly *system = mono_assembly_load_with_partial_name ("System", &status);
	printf ("partial: %d %s\n", status, mono_assembly_name_get_name (mono_assembly_get_name (system)));
	MonoAssembly *core = mono_assembly_load (mono_assembly_name_new ("System.Core, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089"), NULL, &status);
	printf ("load: %d %s\n", status, mono_image_get_name (mono_assembly_get_image (core)));
	printf ("missing: %d", mono_assembly_load (mono_assembly_name_new ("No.Such.Assembly"), NULL, &status) == NULL);
	printf (" %d\n", status);
	FILE *stream = fopen (file, "rb");
	static char bytes [1 << 20];
	int length = fread (bytes, 1, sizeof bytes, stream);
	fclose (stream);
	MonoImage *copy = mono_image_open_from_data_with_name (bytes, length, 1, &status, 0, "copy.dll");
	printf ("from data: %d", status);
	MonoAssembly *loaded = mono_assembly_load_from_full (copy, "copy.dll", &status, 0);
	printf (" %d %s %d\n", status, mono_image_get_name (mono_assembly_get_image (loaded)), mono_class_from_name (mono_assembly_get_image (loaded), "Some", "Square") != NULL);
}

static void info (const char *file)
{
	uint32_t size = 99;
	printf ("image: %s %d %d %d\n", mono_image_get_name (image), !strcmp (mono_image_get_filename (image), file), mono_image_is_dynamic (image), mono_image_get_assembly (image) == assembly);
	printf ("guid: %d %d %d\n", (int) strlen (mono_image_get_guid (image)), mono_image_loaded_by_guid (mono_image_get_guid (image)) == image, mono_image_loaded ("no such") == NULL);
	printf ("entry: %x key %d %u name %d\n", mono_image_get_entry_point (image), mono_image_get_public_key (image, &size) == NULL, size, mono_image_strong_name_position (image, &size));
	mono_image_get_public_key (mono_get_corlib (), &size);
	printf ("corlib key: %u\n", size);
	printf ("rows: %d %d %d\n", mono_image_get_table_rows (image, MONO_TABLE_TYPEDEF), mono_image_get_table_rows (image, MONO_TABLE_METHOD), mono_image_get_table_rows (image, MONO_TABLE_FILE));
}

static void rows (void)
{
	const MonoTableInfo *types = mono_image_get_table_info (image, MONO_TABLE_TYPEDEF);
	for (int i = 0; i < mono_table_info_get_rows (types); i++) {
		uint32_t cells [MONO_TYPEDEF_SIZE], packing = 0, size = 0;
		unsigned events_end = 7, properties_end = 7;
		mono_metadata_decode_row (types, i, cells, MONO_TYPEDEF_SIZE);
		uint32_t events = mono_metadata_events_from_typedef (image, i, &events_end), properties = mono_metadata_properties_from_typedef (image, i, &properties_end);
		uint32_t layout = mono_metadata_packing_from_typedef (image, i + 1, &packing, &size);
		printf ("%s.%s: %x %x %u %u events %u %u properties %u %u nested in %x layout %u %u %u\n", mono_metadata_string_heap (image, cells [MONO_TYPEDEF_NAMESPACE]),
			mono_metadata_string_heap (image, cells [MONO_TYPEDEF_NAME]), cells [MONO_TYPEDEF_FLAGS], cells [MONO_TYPEDEF_EXTENDS],
			mono_metadata_decode_row_col (types, i, MONO_TYPEDEF_FIELD_LIST), cells [MONO_TYPEDEF_METHOD_LIST], events, events_end, properties, properties_end,
			mono_metadata_nested_in_typedef (image, i + 1), layout, packing, size);
	}
	MonoMethod *area = method_named ("Square", "Area", 0);
	MonoClassField *side = mono_class_get_field_from_name (class_named ("Square"), "side");
	printf ("owners: %u %u\n", mono_metadata_typedef_from_method (image, mono_method_get_index (area)), mono_metadata_typedef_from_field (image, mono_class_get_field_token (side) & 0xffffff));
	unsigned end;
	uint32_t start = mono_metadata_methods_from_property (image, (mono_class_get_property_token (mono_class_get_property_from_name (class_named ("Shape"), "Name")) & 0xffffff) - 1, &end);
	printf ("accessors: %u", end - start);
	start = mono_metadata_methods_from_event (image, 0, &end);
	printf (" %u\n", end - start);
	uint32_t method = mono_method_get_index (method_named ("Holder", "getpid", 0));
	uint32_t map = mono_metadata_implmap_from_method (image, method - 1);
	printf ("map: %u %s\n", map, mono_metadata_string_heap (image, mono_metadata_decode_row_col (mono_image_get_table_info (image, MONO_TABLE_IMPLMAP), map - 1, MONO_IMPLMAP_NAME)));
	MonoClassField *limit = mono_class_get_field_from_name (class_named ("Shape"), "Limit");
	uint32_t constant = mono_metadata_get_constant_index (image, mono_class_get_field_token (limit), 0);
	const char *blob = mono_metadata_blob_heap (image, mono_metadata_decode_row_col (mono_image_get_table_info (image, MONO_TABLE_CONSTANT), constant - 1, MONO_CONSTANT_VALUE));
	uint32_t length = mono_metadata_decode_blob_size (blob, &blob);
	printf ("constant: %d %u %d\n", constant != 0, length, *blob);
	printf ("attributes: %d %d\n", mono_metadata_custom_attrs_from_index (image, ((mono_class_get_type_token (class_named ("Square")) & 0xffffff) << 5) | 3) != 0,
		mono_metadata_custom_attrs_from_index (image, ((mono_class_get_type_token (class_named ("Pair")) & 0xffffff) << 5) | 3));
	printf ("declared: %d %x\n", mono_metadata_declsec_from_index (image, 4) == (uint32_t) -1, mono_metadata_token_from_dor (0x1d));
	printf ("nesting: %u\n", mono_metadata_nesting_typedef (image, mono_class_get_type_token (class_named ("Square")) & 0xffffff, 1) != 0);
	printf ("located: %d\n", mono_metadata_locate_token (image, 0x02000001) == mono_metadata_locate (image, MONO_TABLE_TYPEDEF, 1));
	show ("name", mono_class_name_from_token (image, mono_class_get_type_token (class_named ("Square"))));
	const unsigned char *data = (const unsigned char *) mono_field_get_data (limit);
	printf ("data: %d %d\n", data [0], data [1]);
}

static void blobs (void)
{
	static const uint32_t numbers [] = { 0, 3, 0x7f, 0x80, 0x2e57, 0x3fff, 0x4000, 0x1fffffff };
	for (int i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		char bytes [8], *end;
		const char *after;
		mono_metadata_encode_value (numbers [i], bytes, &end);
		uint32_t back = mono_metadata_decode_value (bytes, &after);
		printf ("%x: %d %d %d\n", numbers [i], (int) (end - bytes), back == numbers [i], after == end);
	}
	static const unsigned char signed_numbers [] [4] = { { 6 }, { 0x7b }, { 0x80, 0x80 }, { 1 }, { 0xc0, 0, 0x40, 0 }, { 0xdf, 0xff, 0xff, 0xfe } };
	for (int i = 0; i < 6; i++)
		printf ("signed: %d\n", mono_metadata_decode_signed_value ((const char *) signed_numbers [i], NULL));
	/* A static method with two parameters, an int and a string[], that gives an object. */
	static const unsigned char signature [] = { 0, 2, 0x1c, 8, 0x1d, 0xe };
	const char *after;
	MonoMethodSignature *parsed = mono_metadata_parse_method_signature (image, 0, (const char *) signature, &after);
	show ("signature", mono_signature_get_desc (parsed, 1));
	printf ("length: %d\n", (int) (after - (const char *) signature));
	static const unsigned char type [] = { 0x1d, 0x1d, 0xc };
	show ("type", mono_type_get_name (mono_metadata_parse_type (image, MONO_PARSE_TYPE, 0, (const char *) type, &after)));
	printf ("length: %d\n", (int) (after - (const char *) type));
	static const unsigned char guid [] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255 };
	show ("guid", mono_guid_to_string (guid));
	show ("guid", mono_guid_to_string_minimal (guid));
}

int main (int argc, char **argv)
{
	start (argv);
	names ();
	info (argv [1]);
	rows ();
	blobs ();
	opening (argv [1]);
	return 0;
}
