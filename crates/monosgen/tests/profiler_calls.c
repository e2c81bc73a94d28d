/* Calls of instrumented methods, with their arguments and results; two profilers, the newer of which comes first. They
   are installed by a function that mono_profiler_load finds in the program. Mono fills contexts only for profilers that
   its command loads: with this as a library, `mono --profile=calls` prints the same lines between "run" and "asked". */
#include "api.h"
#include <mono/metadata/profiler.h>

struct _MonoProfiler { const char *name; };

static int asked_of_run;

static MonoProfilerCallInstrumentationFlags filter (MonoProfiler *prof, MonoMethod *method)
{
	MonoClass *class = mono_method_get_class (method);
	const char *name = mono_method_get_name (method);
	if (strcmp (mono_class_get_name (class), "Calls") || strcmp (mono_class_get_namespace (class), "Some"))
		return MONO_PROFILER_CALL_INSTRUMENTATION_NONE;
	asked_of_run += !strcmp (name, "Run");
	/* The methods of one get no context. */
	if (!strcmp (name, ".ctor"))
		return MONO_PROFILER_CALL_INSTRUMENTATION_ENTER | MONO_PROFILER_CALL_INSTRUMENTATION_LEAVE;
	return MONO_PROFILER_CALL_INSTRUMENTATION_ENTER | MONO_PROFILER_CALL_INSTRUMENTATION_ENTER_CONTEXT | MONO_PROFILER_CALL_INSTRUMENTATION_LEAVE |
		MONO_PROFILER_CALL_INSTRUMENTATION_LEAVE_CONTEXT | MONO_PROFILER_CALL_INSTRUMENTATION_TAIL_CALL | MONO_PROFILER_CALL_INSTRUMENTATION_EXCEPTION_LEAVE;
}

struct pair { int first; int64_t second; void *third; };

/* A copy of a value, by its type. */
static void show_value (MonoType *type, void *buffer)
{
	if (!buffer)
		printf ("nothing");
	else if (mono_type_is_byref (type))
		printf ("&%d", **(int **) buffer);
	else switch (mono_type_get_type (type)) {
	case MONO_TYPE_I4: printf ("%d", *(int *) buffer); break;
	case MONO_TYPE_I8: printf ("%d", (int) *(int64_t *) buffer); break;
	case MONO_TYPE_R4: printf ("%g", *(float *) buffer); break;
	case MONO_TYPE_R8: printf ("%g", *(double *) buffer); break;
	case MONO_TYPE_STRING: printf ("'%d characters'", mono_string_length (*(MonoString **) buffer)); break;
	case MONO_TYPE_VALUETYPE: printf ("{%d %d}", ((struct pair *) buffer)->first, (int) ((struct pair *) buffer)->second); break;
	default: printf ("type %x", mono_type_get_type (type));
	}
	mono_profiler_call_context_free_buffer (buffer);
}

static void show_call (MonoProfiler *prof, const char *event, MonoMethod *method, MonoProfilerCallContext *context, int is_end)
{
	MonoMethodSignature *sig = mono_method_signature (method);
	void *iter = NULL;
	printf ("%s %s", event, mono_method_get_name (method));
	if (!context) {
		printf (" without context\n");
		return;
	}
	void *this = mono_profiler_call_context_get_this (context);
	printf (" %s(", this ? class_of (*(MonoObject **) this) : "static");
	mono_profiler_call_context_free_buffer (this);
	int position = 0;
	for (MonoType *type; (type = mono_signature_get_params (sig, &iter)); position++) {
		printf (position ? ", " : "");
		show_value (type, mono_profiler_call_context_get_argument (context, position));
	}
	printf (")%s", mono_profiler_call_context_get_argument (context, position) ? " and more" : "");
	MonoType *result = mono_signature_get_return_type (sig);
	if (is_end && mono_type_get_type (result) != MONO_TYPE_VOID) {
		printf (" = ");
		show_value (result, mono_profiler_call_context_get_result (context));
	} else if (mono_profiler_call_context_get_result (context))
		printf (" = something");
	printf ("\n");
}

static void method_enter (MonoProfiler *prof, MonoMethod *method, MonoProfilerCallContext *context) { show_call (prof, "enter", method, context, 0); }
static void method_leave (MonoProfiler *prof, MonoMethod *method, MonoProfilerCallContext *context) { show_call (prof, "leave", method, context, 1); }
static void method_tail_call (MonoProfiler *prof, MonoMethod *method, MonoMethod *target) { printf ("tail call %s %s\n", mono_method_get_name (method), target ? mono_method_get_name (target) : ""); }
static void method_exception_leave (MonoProfiler *prof, MonoMethod *method, MonoObject *exception) { printf ("exception leaves %s\n", mono_method_get_name (method)); }
static void ctor_entered (MonoProfiler *prof, MonoMethod *method, MonoProfilerCallContext *context) { if (!strcmp (mono_method_get_name (method), ".ctor")) printf ("%s: enter .ctor\n", prof->name); }

void mono_profiler_init_calls (const char *description)
{
	static MonoProfiler first = { "first" }, second = { "second" };
	MonoProfilerHandle older = mono_profiler_create (&first), newer = mono_profiler_create (&second);
	setvbuf (stdout, NULL, _IOLBF, 0);
	printf ("%s, contexts: %d\n", description, mono_profiler_enable_call_context_introspection ());
	mono_profiler_set_call_instrumentation_filter_callback (older, filter);
	mono_profiler_set_method_enter_callback (older, method_enter);
	mono_profiler_set_method_leave_callback (older, method_leave);
	mono_profiler_set_method_tail_call_callback (older, method_tail_call);
	mono_profiler_set_method_exception_leave_callback (older, method_exception_leave);
	mono_profiler_set_method_enter_callback (newer, ctor_entered);
}

int main (int argc, char **argv)
{
	mono_profiler_load ("calls:with arguments");
	start (argv);
	printf ("too late: %d\n", mono_profiler_enable_call_context_introspection ());
	printf ("run: %d\n", *(int *) mono_object_unbox (mono_runtime_invoke (method_named ("Calls", "Run", 0), NULL, NULL, NULL)));
	printf ("asked: %d\n", asked_of_run > 0);
	mono_jit_cleanup (domain);
	return 0;
}
