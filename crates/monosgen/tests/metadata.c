/* Marshalling, declarative security, blobs, resources of Windows. */
#include "api.h"
#include <signal.h>
#include <sys/time.h>
/* The headers want that of GLib, or a compiler of C++. */
extern void mono_gc_wait_for_bridge_processing (void);
extern mono_bool mono_debug_symfile_is_loaded (void *symbols);

static void show_spec (int index, MonoMarshalSpec *spec)
{
	printf ("spec %d:", index);
	if (!spec) {
		printf (" none\n");
		return;
	}
	printf (" %x", spec->native);
	if (spec->native == MONO_NATIVE_LPARRAY)
		printf (" of %x, %d, %d", spec->data.array_data.elem_type, spec->data.array_data.num_elem, spec->data.array_data.param_num);
	if (spec->native == MONO_NATIVE_CUSTOM)
		printf (" %s %s", spec->data.custom_data.custom_name, spec->data.custom_data.cookie);
	if (spec->native == MONO_NATIVE_SAFEARRAY)
		printf (" of %x", spec->data.safearray_data.elem_type);
	printf ("\n");
	mono_metadata_free_marshal_spec (spec);
}

static void show_actions (const char *what, int is_there, MonoDeclSecurityActions *actions)
{
	printf ("%s: %d", what, is_there);
	MonoDeclSecurityEntry *entries [] = { &actions->demand, &actions->noncasdemand, &actions->demandchoice };
	for (int i = 0; is_there && i < 3; i++)
		printf (" %d %d", entries [i]->blob != NULL, (int) entries [i]->size > 0);
	printf ("\n");
}

static char *indent (MonoDisHelper *helper, MonoMethod *method, uint32_t offset) { return strdup (offset ? "  " : "> "); }
static char *token_name (MonoDisHelper *helper, MonoMethod *method, uint32_t token)
{
	char name [20];
	snprintf (name, sizeof name, "<%s>", (char *) helper->user_data);
	return strdup (name);
}

static volatile int walks, in_spin, spin_frames;
static int *stop;
static mono_bool on_frame (MonoMethod *method, MonoDomain *of, void *start, int offset, void *data)
{
	if (walks < 0) {
		spin_frames += method && !strcmp (mono_method_get_name (method), "Spin") && of == domain && offset > 0;
		return 0;
	}
	printf ("frame: %s %d %d\n", method ? mono_method_get_name (method) : "none", of == domain, start != NULL && offset > 0);
	return strcmp (mono_method_get_name (method), "Outer") == 0;
}

static void on_signal (int signal, siginfo_t *info, void *context)
{
	mono_stack_walk_async_safe (on_frame, context, NULL);
	if (walks < 0 && (spin_frames || ++in_spin > 200))
		*stop = 1;
	else if (walks >= 0)
		walks++;
}

static int ended;
static void on_end (void *data) { *(int *) data += 1; }

static void raises (void) { raise (SIGUSR1); }

int main (int argc, char **argv)
{
	mono_debug_init (MONO_DEBUG_FORMAT_MONO);
	start (argv);
	MonoMarshalSpec *specs [7];
	mono_method_get_marshal_info (method_named ("Passed", "Pass", 6), specs);
	for (int i = 0; i < 7; i++)
		show_spec (i, specs [i]);
	const char blob [] = { 2, 0x17, 40 };
	MonoMarshalSpec *fixed = mono_metadata_parse_marshal_spec (image, blob);
	printf ("fixed: %x %d\n", fixed->native, fixed->data.array_data.num_elem);

	MonoMethodSignature *many = mono_method_signature (method_named ("Passed", "Many", 20));
	void *iter = NULL;
	MonoType *type;
	while ((type = mono_signature_get_params (many, &iter))) {
		MonoMarshalConv by, wide;
		int native = mono_type_to_unmanaged (type, NULL, 0, 0, &by), unicode = mono_type_to_unmanaged (type, NULL, 0, 1, &wide);
		char *name = mono_type_get_name (type);
		printf ("%s: %x by %d, %x by %d\n", name, native, by, unicode, wide);
		mono_free (name);
	}
	MonoMarshalConv by;
	printf ("fixed string: %x", mono_type_to_unmanaged (mono_class_get_type (mono_get_string_class ()), fixed, 1, 0, &by));
	printf (" by %d\n", by);
	mono_metadata_free_marshal_spec (fixed);

	MonoDeclSecurityActions demands, of_method;
	MonoDeclSecurityEntry entry;
	MonoMethod *guarded = method_named ("Guarded", "Demands", 0), *open = method_named ("Guarded", "Free", 0);
	MonoClass *class = class_named ("Guarded");
	printf ("flags: %x %x %x %x\n", mono_declsec_flags_from_method (guarded), mono_declsec_flags_from_method (open), mono_declsec_flags_from_class (class), mono_declsec_flags_from_class (class_named ("Square")));
	printf ("assembly: %x\n", mono_declsec_flags_from_assembly (assembly));
	int is_there = mono_declsec_get_demands (guarded, &demands);
	show_actions ("demands", is_there, &demands);
	is_there = mono_declsec_get_demands (open, &demands);
	show_actions ("demands of the class", is_there, &demands);
	is_there = mono_declsec_get_linkdemands (open, &demands, &of_method);
	show_actions ("link demands", is_there, &demands);
	printf ("of the method: %d\n", of_method.demand.blob != NULL);
	is_there = mono_declsec_get_inheritdemands_class (class, &demands);
	show_actions ("inheritance demands", is_there, &demands);
	is_there = mono_declsec_get_inheritdemands_method (guarded, &demands);
	show_actions ("inheritance demands of the method", is_there, &demands);
	printf ("actions: %d %d %d %d\n", mono_declsec_get_method_action (guarded, 3, &entry), mono_declsec_get_method_action (guarded, 4, &entry), mono_declsec_get_class_action (class, 6, &entry), mono_declsec_get_assembly_action (assembly, 8, &entry));

	const char modifier [] = { 0x1f, 0x49, 0x08 };
	MonoCustomMod mod;
	const char *after = NULL;
	printf ("modifier: %d", mono_metadata_parse_custom_mod (image, &mod, modifier, &after));
	printf (" %d %x %d\n", mod.required, mod.token, (int) (after - modifier));
	printf ("none: %d\n", mono_metadata_parse_custom_mod (image, &mod, modifier + 2, &after));
	const char shape [] = { 0x08, 3, 2, 4, 5, 2, 2, 6 };
	MonoArrayType *array = mono_metadata_parse_array (image, shape, &after);
	printf ("array: %s %d, sizes %d: %d %d, bounds %d: %d %d, %d bytes\n", mono_class_get_name (array->eklass), array->rank, array->numsizes, array->sizes [0], array->sizes [1],
		array->numlobounds, array->lobounds [0], array->lobounds [1], (int) (after - shape));

	MonoMethodHeader *header = mono_method_get_header (method_named ("Walks", "Many", 2));
	uint32_t size, locals;
	const unsigned char *code = mono_method_header_get_code (header, &size, NULL), *next = NULL;
	MonoMethodHeader *plain = mono_method_get_header (method_named ("Walks", "Spin", 1));
	uint32_t plain_size;
	const unsigned char *plain_code = mono_method_header_get_code (plain, &plain_size, NULL);
	show ("plain", mono_disasm_code (NULL, method_named ("Walks", "Spin", 1), plain_code, plain_code + 7));
	show ("one", mono_disasm_code_one (NULL, method_named ("Walks", "Many", 2), code, &next));
	printf ("length: %d\n", (int) (next - code));
	MonoDisHelper helper = { "|", NULL, "to %u", indent, token_name, "token" };
	show ("code", mono_disasm_code (&helper, method_named ("Walks", "Many", 2), code, code + size));

	uint32_t rows [MONO_METHOD_SIZE];
	mono_metadata_decode_row (mono_image_get_table_info (image, MONO_TABLE_METHOD), mono_metadata_token_index (mono_method_get_token (method_named ("Walks", "Many", 2))) - 1, rows, MONO_METHOD_SIZE);
	MonoMethodHeader *parsed = mono_metadata_parse_mh (image, mono_image_rva_map (image, rows [MONO_METHOD_RVA]));
	uint32_t size_again;
	mono_method_header_get_code (parsed, &size_again, NULL);
	mono_method_header_get_locals (parsed, &locals, NULL);
	printf ("parsed: %d %d, %d clauses\n", size == size_again, locals > 0, mono_method_header_get_num_clauses (parsed));
	mono_metadata_free_mh (parsed);
	mono_metadata_free_mh (header);

	MonoMethod *declared = NULL, *told = NULL;
	MonoMethod *to_string = mono_class_get_method_from_name (mono_get_object_class (), "ToString", 0);
	uint32_t token = 0;
	for (int i = 1; i <= mono_image_get_table_rows (image, MONO_TABLE_MEMBERREF) && !token; i++) {
		MonoMethod *each = mono_get_method (image, MONO_TOKEN_MEMBER_REF | i, NULL);
		if (each == to_string)
			token = MONO_TOKEN_MEMBER_REF | i;
	}
	told = mono_get_method_constrained (image, token, class_named ("Counted"), NULL, &declared);
	printf ("constrained: %s of %s", mono_method_get_name (told), mono_class_get_name (mono_method_get_class (told)));
	printf (", declared by %s\n", mono_class_get_name (mono_method_get_class (declared)));

	struct sigaction action = { 0 };
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	sigaction (SIGUSR1, &action, NULL);
	sigaction (SIGVTALRM, &action, NULL);
	mono_add_internal_call ("Some.Walks::Raise", raises);
	mono_runtime_invoke (method_named ("Walks", "Outer", 0), NULL, NULL, NULL);
	printf ("walks: %d\n", walks);
	MonoArray *flag = mono_array_new (domain, mono_get_int32_class (), 1);
	mono_gchandle_new ((MonoObject *) flag, 1);
	stop = mono_array_addr (flag, int, 0);
	walks = -1;
	struct itimerval often = { { 0, 5000 }, { 0, 5000 } };
	setitimer (ITIMER_VIRTUAL, &often, NULL);
	void *spin [] = { flag };
	mono_runtime_invoke (method_named ("Walks", "Spin", 1), NULL, spin, NULL);
	setitimer (ITIMER_VIRTUAL, &(struct itimerval) { 0 }, NULL);
	printf ("in managed code: %d\n", spin_frames > 0);

	MonoMethod *compiled = method_named ("Walks", "Spin", 1);
	MonoDebugMethodJitInfo *jit = mono_debug_find_method (compiled, domain);
	printf ("code: %d %d %d\n", jit->code_start == mono_compile_method (compiled), jit->code_size > 10, jit->num_line_numbers > 1);
	mono_debug_free_method_jit_info (jit);

	printf ("sizes:");
	for (int i = 0; i <= MONO_TABLE_LAST; i++) {
		uint32_t bits = 0;
		int bytes = i == 3 || i == 5 || i == 7 || i == 19 || i == 22 || i == 30 || i == 31 || i > MONO_TABLE_GENERICPARAMCONSTRAINT ? 0 : mono_metadata_compute_size (image, i, &bits);
		printf (" %d:%x", bytes, bits);
	}
	printf ("\n");

	uint32_t *data = mono_image_lookup_resource (image, 1, 0, NULL);
	printf ("resource: %d", data && data [0] > 0 && data [1] > 100);
	printf (" %d\n", mono_image_lookup_resource (image, 77, 0, NULL) == NULL);
	mono_free (data);
	printf ("signature: %d\n", mono_image_has_authenticode_entry (image));
	printf ("symbols: %d %d\n", mono_debug_lookup_method (guarded) == NULL, mono_debug_symfile_is_loaded (NULL));
	mono_debug_add_delegate_trampoline (NULL, 0);
	mono_gc_wait_for_bridge_processing ();
	mono_gc_reference_queue_add (mono_gc_reference_queue_new (on_end), (MonoObject *) flag, &ended);
	mono_jit_cleanup (domain);
	printf ("watched to the end: %d\n", ended);
	return 0;
}
