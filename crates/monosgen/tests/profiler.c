/* The events of a profiler, those of the program's own classes, methods and objects. */
#define _GNU_SOURCE
#include "api.h"
#include <mono/metadata/profiler.h>
#include <pthread.h>
#include <unistd.h>

struct _MonoProfiler { int number; };

static MonoProfiler profiler = { 42 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *lines [4096];
static int count;
static int is_on, is_starting, are_allocations_on, are_handles_on, are_threads_on;

/* Callbacks of several threads add lines, which the main thread prints at the end of a step. */
static void note (MonoProfiler *prof, const char *event, const char *what)
{
	if (!is_on)
		return;
	char line [512];
	snprintf (line, sizeof line, "  %s%s%s%s", event, *what ? " " : "", what, prof->number == 42 ? "" : " of another");
	pthread_mutex_lock (&lock);
	lines [count++] = strdup (line);
	pthread_mutex_unlock (&lock);
}

static int is_own_class (MonoClass *class)
{
	MonoImage *of_class = class ? mono_class_get_image (class) : NULL;
	return of_class && !strcmp (mono_image_get_name (of_class), "some");
}

static int is_own (MonoMethod *method) { return is_own_class (mono_method_get_class (method)); }

static void note_class (MonoProfiler *prof, const char *event, MonoClass *class)
{
	if (is_own_class (class))
		note (prof, event, mono_class_get_name (class));
}

static void note_method (MonoProfiler *prof, const char *event, MonoMethod *method)
{
	char name [256];
	/* When initialisers run depends on the machine, too. */
	if (!is_own (method) || !strcmp (mono_method_get_name (method), ".cctor"))
		return;
	snprintf (name, sizeof name, "%s.%s", mono_class_get_name (mono_method_get_class (method)), mono_method_get_name (method));
	note (prof, event, name);
}

static void note_object (MonoProfiler *prof, const char *event, MonoObject *object)
{
	note_class (prof, event, object ? mono_object_get_class (object) : NULL);
}

static void note_assembly (MonoProfiler *prof, const char *event, const char *name)
{
	/* Domains share it, or not. */
	if (name && (!strcmp (name, "some") || (is_starting && !strcmp (name, "mscorlib"))))
		note (prof, event, name);
}

/* When classes are loaded and methods compiled depends on the machine. So a step asks at its end by name, and each end
   must have its begin before it. */
struct thing { const char *what; void *of; char name [100]; };
static struct thing begun [1 << 16], ended [1 << 12];
static int begun_count, ended_count, unpaired;

static void begin (const char *what, void *of)
{
	pthread_mutex_lock (&lock);
	begun [begun_count++] = (struct thing) { what, of };
	pthread_mutex_unlock (&lock);
}

static void end (const char *what, const char *of_what, void *of, const char *name)
{
	int place = 0;
	pthread_mutex_lock (&lock);
	while (place < begun_count && (begun [place].of != of || strcmp (begun [place].what, of_what)))
		place++;
	unpaired += place == begun_count;
	ended [ended_count] = (struct thing) { what, of };
	snprintf (ended [ended_count++].name, 100, "%s", name);
	pthread_mutex_unlock (&lock);
}

static void end_class (const char *what, const char *of_what, void *of, MonoClass *class)
{
	if (is_own_class (class))
		end (what, of_what, of, mono_class_get_name (class));
}

static void class_loading (MonoProfiler *prof, MonoClass *class) { begin ("class", class); }
static void class_loaded (MonoProfiler *prof, MonoClass *class) { end_class ("class", "class", class, class); }
static void class_failed (MonoProfiler *prof, MonoClass *class) { end_class ("failed class", "class", class, class); }
static void vtable_loading (MonoProfiler *prof, MonoVTable *vtable) { begin ("vtable", vtable); }
static void vtable_loaded (MonoProfiler *prof, MonoVTable *vtable) { end_class ("vtable", "vtable", vtable, mono_vtable_class (vtable)); }
static void vtable_failed (MonoProfiler *prof, MonoVTable *vtable) { end_class ("failed vtable", "vtable", vtable, mono_vtable_class (vtable)); }

static void end_method (const char *what, const char *of_what, MonoMethod *method)
{
	char name [100];
	if (!is_own (method))
		return;
	snprintf (name, sizeof name, "%s.%s", mono_class_get_name (mono_method_get_class (method)), mono_method_get_name (method));
	end (what, of_what, method, name);
}

static void jit_begin (MonoProfiler *prof, MonoMethod *method) { begin ("jit", method); }
static void jit_failed (MonoProfiler *prof, MonoMethod *method) { end_method ("failed jit", "jit", method); }
static void jit_done (MonoProfiler *prof, MonoMethod *method, MonoJitInfo *info)
{
	if (is_own (method) && (!info || mono_jit_info_get_method (info) != method || mono_jit_info_get_code_size (info) <= 0))
		note (prof, "jit_done", "with wrong information");
	end_method ("jit", "jit", method);
}
static void jit_code_buffer (MonoProfiler *prof, const mono_byte *buffer, uint64_t size, MonoProfilerCodeBufferType type, const void *data)
{
	if (type == MONO_PROFILER_CODE_BUFFER_METHOD && buffer && size)
		end_method ("code", "jit", (MonoMethod *) data);
}

/* Asks for "KIND NAME, KIND NAME, …". */
static void ask (const char *things)
{
	char list [500], *rest = list, *thing;
	snprintf (list, sizeof list, "%s", things);
	while ((thing = strsep (&rest, ","))) {
		char *name = strrchr (thing += *thing == ' ', ' ');
		int place = 0;
		*name++ = 0;
		while (place < ended_count && (strcmp (ended [place].what, thing) || strcmp (ended [place].name, name)))
			place++;
		printf ("  %s %s: %d\n", thing, name, place < ended_count);
	}
}

#define METHOD(event) static void event (MonoProfiler *prof, MonoMethod *method) { note_method (prof, #event, method); }
METHOD (method_begin_invoke) METHOD (method_end_invoke)
#define OBJECT(event) static void event (MonoProfiler *prof, MonoObject *object) { note_object (prof, #event, object); }
OBJECT (exception_throw) OBJECT (gc_finalizing_object) OBJECT (gc_finalized_object)
OBJECT (monitor_contention) OBJECT (monitor_failed) OBJECT (monitor_acquired)
#define DOMAIN(event) static void event (MonoProfiler *prof, MonoDomain *domain) { note (prof, #event, ""); }
DOMAIN (domain_loading) DOMAIN (domain_loaded) DOMAIN (domain_unloading) DOMAIN (domain_unloaded)
#define NOTHING(event) static void event (MonoProfiler *prof) { note (prof, #event, ""); }
NOTHING (runtime_initialized) NOTHING (runtime_shutdown_begin) NOTHING (runtime_shutdown_end)

static void domain_name (MonoProfiler *prof, MonoDomain *domain, const char *name) { note (prof, "domain_name", name); }

static void image_loading (MonoProfiler *prof, MonoImage *image) { note_assembly (prof, "image_loading", strstr (mono_image_get_filename (image), "some.dll") ? "some" : NULL); }
static void image_loaded (MonoProfiler *prof, MonoImage *image) { note_assembly (prof, "image_loaded", mono_image_get_name (image)); }
/* Its name is not known then. */
static void assembly_loading (MonoProfiler *prof, MonoAssembly *assembly) { begin ("assembly", assembly); }
static void assembly_loaded (MonoProfiler *prof, MonoAssembly *assembly)
{
	const char *name = mono_assembly_name_get_name (mono_assembly_get_name (assembly));
	end ("assembly", "assembly", assembly, name);
	note_assembly (prof, "assembly_loaded", name);
}

static void exception_clause (MonoProfiler *prof, MonoMethod *method, uint32_t index, MonoExceptionEnum type, MonoObject *exception)
{
	char text [100];
	if (!is_own (method))
		return;
	snprintf (text, sizeof text, "%s %u type %d %s", mono_method_get_name (method), index, type, class_of (exception));
	note (prof, "exception_clause", text);
}

static void gc_allocation (MonoProfiler *prof, MonoObject *object)
{
	char text [100];
	MonoClass *class = mono_object_get_class (object);
	const char *name = mono_class_get_name (class);
	if (!are_allocations_on || !is_own_class (class) || (strncmp (name, "Held", 4) && strncmp (name, "Pair", 4)))
		return;
	snprintf (text, sizeof text, "%s %d", mono_class_get_name (class), mono_class_get_rank (class) ? (int) mono_array_length ((MonoArray *) object) : -1);
	note (prof, "gc_allocation", text);
}

/* The steps of a collection, and what else is only counted. */
static volatile int steps [12], moves, resizes, finalizing, finalized, is_order_wrong, last = MONO_GC_EVENT_POST_START_WORLD_UNLOCKED;

static void gc_event (MonoProfiler *prof, MonoProfilerGCEvent event, uint32_t generation, mono_bool is_serial)
{
	static const int before [12] = { [MONO_GC_EVENT_PRE_STOP_WORLD] = MONO_GC_EVENT_POST_START_WORLD_UNLOCKED, [MONO_GC_EVENT_PRE_STOP_WORLD_LOCKED] = MONO_GC_EVENT_PRE_STOP_WORLD,
		[MONO_GC_EVENT_POST_STOP_WORLD] = MONO_GC_EVENT_PRE_STOP_WORLD_LOCKED, [MONO_GC_EVENT_START] = MONO_GC_EVENT_POST_STOP_WORLD, [MONO_GC_EVENT_END] = MONO_GC_EVENT_START,
		[MONO_GC_EVENT_PRE_START_WORLD] = MONO_GC_EVENT_END, [MONO_GC_EVENT_POST_START_WORLD] = MONO_GC_EVENT_PRE_START_WORLD, [MONO_GC_EVENT_POST_START_WORLD_UNLOCKED] = MONO_GC_EVENT_POST_START_WORLD };
	/* The world is also stopped without a collection. */
	int is_plain_stop = event == MONO_GC_EVENT_PRE_START_WORLD && last == MONO_GC_EVENT_POST_STOP_WORLD;
	is_order_wrong |= before [event] != last && !is_plain_stop;
	last = event;
	steps [event]++;
}

static void gc_moves (MonoProfiler *prof, MonoObject *const *objects, uint64_t count) { moves += count % 2 == 0 && objects [0] != objects [1]; }
static void gc_resize (MonoProfiler *prof, uintptr_t size) { resizes += size > 0; }
static void gc_finalizing (MonoProfiler *prof) { finalizing++; }
static void gc_finalized (MonoProfiler *prof) { finalized++; }

static uint32_t own_handle;
static void gc_handle_created (MonoProfiler *prof, uint32_t handle, MonoGCHandleType type, MonoObject *object)
{
	if (are_handles_on && object && is_own_class (mono_object_get_class (object))) {
		own_handle = handle;
		note (prof, "gc_handle_created", type == MONO_GC_HANDLE_PINNED ? "pinned" : type == MONO_GC_HANDLE_WEAK ? "weak" : "other");
	}
}
static void gc_handle_deleted (MonoProfiler *prof, uint32_t handle, MonoGCHandleType type)
{
	if (are_handles_on && handle == own_handle)
		note (prof, "gc_handle_deleted", type == MONO_GC_HANDLE_PINNED ? "pinned" : type == MONO_GC_HANDLE_WEAK ? "weak" : "other");
}

/* Threads of the program: each is told of on itself. Those of the library come and go when they like. */
static __thread int is_told;
static void thread_started (MonoProfiler *prof, uintptr_t tid)
{
	is_told = are_threads_on;
	if (is_told)
		note (prof, "thread_started", tid == (uintptr_t) pthread_self () ? "" : "elsewhere");
}
#define THREAD(event) static void event (MonoProfiler *prof, uintptr_t tid) { if (is_told) note (prof, #event, tid == (uintptr_t) pthread_self () ? "" : "elsewhere"); }
THREAD (thread_stopping) THREAD (thread_stopped) THREAD (thread_exited)
static void thread_name (MonoProfiler *prof, uintptr_t tid, const char *name) { if (is_told || !strcmp (name, "Main")) note (prof, "thread_name", name); }

static void flush (const char *title)
{
	pthread_mutex_lock (&lock);
	printf ("%s\n", title);
	for (int i = 0; i < count; i++) {
		puts (lines [i]);
		free (lines [i]);
	}
	count = 0;
	pthread_mutex_unlock (&lock);
}

static void cleanup (MonoProfiler *prof)
{
	flush ("end");
	printf ("cleanup %d\n", prof->number);
}

static void step (const char *name, const char *things)
{
	MonoObject *result = mono_runtime_invoke (method_named ("Steps", name, 0), NULL, NULL, NULL);
	/* Threads that the step has joined may still be on their way out. */
	for (int i = 0; i < 20; i++)
		usleep (1000);
	char title [100];
	snprintf (title, sizeof title, "%s: %d", name, *(int *) mono_object_unbox (result));
	flush (title);
	if (*things)
		ask (things);
	printf ("  unpaired: %d\n", unpaired);
}

static void *in_thread (void *data)
{
	mono_thread_detach (mono_thread_attach (domain));
	return NULL;
}

int main (int argc, char **argv)
{
	MonoProfilerHandle handle = mono_profiler_create (&profiler);
	mono_profiler_set_cleanup_callback (handle, cleanup);
	printf ("enabled: %d %d\n", mono_profiler_enable_allocations (), mono_profiler_enable_clauses ());
#define SET(event) mono_profiler_set_ ## event ## _callback (handle, event);
	SET (runtime_initialized) SET (runtime_shutdown_begin) SET (runtime_shutdown_end)
	SET (domain_loading) SET (domain_loaded) SET (domain_unloading) SET (domain_unloaded) SET (domain_name)
	SET (jit_begin) SET (jit_failed) SET (jit_done) SET (jit_code_buffer)
	SET (class_loading) SET (class_failed) SET (class_loaded) SET (vtable_loading) SET (vtable_failed) SET (vtable_loaded)
	SET (image_loading) SET (image_loaded) SET (assembly_loading) SET (assembly_loaded)
	SET (method_begin_invoke) SET (method_end_invoke) SET (exception_throw) SET (exception_clause)
	SET (gc_event) SET (gc_allocation) SET (gc_moves) SET (gc_resize) SET (gc_handle_created) SET (gc_handle_deleted)
	SET (gc_finalizing) SET (gc_finalized) SET (gc_finalizing_object) SET (gc_finalized_object)
	SET (monitor_contention) SET (monitor_failed) SET (monitor_acquired)
	SET (thread_started) SET (thread_stopping) SET (thread_stopped) SET (thread_exited) SET (thread_name)
	is_on = is_starting = 1;
	setvbuf (stdout, NULL, _IOLBF, 0);
	domain = mono_jit_init ("api");
	flush ("start");
	is_starting = 0;
	printf ("too late: %d %d\n", mono_profiler_enable_allocations (), mono_profiler_enable_clauses ());
	assembly = mono_domain_assembly_open (domain, argv [1]);
	image = mono_assembly_get_image (assembly);
	flush ("assembly");
	step ("Classes", "class Base, class Derived, vtable Derived, jit Steps.Classes, code Steps.Classes, jit Derived.Number, jit Base.Number, jit WithInitialiser..cctor, jit WithInitialiser.Compute");
	step ("Exceptions", "class Failure, jit Steps.Throw, jit Failure..ctor");
	step ("Again", "");
	are_threads_on = 1;
	step ("Threads", "jit Steps.InThread");
	pthread_t thread;
	pthread_create (&thread, NULL, in_thread, NULL);
	pthread_join (thread, NULL);
	flush ("attached");
	are_threads_on = 0;
	step ("Locks", "jit Steps.Wait");
	step ("Finalizers", "vtable Final, jit Final.Finalize");
	are_allocations_on = 1;
	step ("Allocations", "vtable Held[], vtable Pair");
	are_allocations_on = 0;
	step ("Failures", "failed class Missing, jit Steps.Failures, failed jit Steps.OfUnknown");
	step ("Collect", "");
	MonoObject *held = mono_object_new (domain, class_named ("Held"));
	are_handles_on = 1;
	mono_gchandle_free (mono_gchandle_new (held, 1));
	mono_gchandle_free (mono_gchandle_new_weakref (held, 0));
	flush ("handles");
	are_handles_on = 0;
	MonoDomain *other = mono_domain_create_appdomain ("other", NULL);
	mono_domain_unload (other);
	flush ("domain");
	mono_profiler_set_exception_throw_callback (handle, NULL);
	step ("Exceptions", "");
	mono_jit_cleanup (domain);
	printf ("collections: %d %d %d\n", is_order_wrong, steps [MONO_GC_EVENT_START] > 0, steps [MONO_GC_EVENT_START] == steps [MONO_GC_EVENT_END]);
	printf ("sizes: %d finalizing: %d\n", resizes > 0, finalizing > 0 && finalizing == finalized);
	return 0;
}
