// A host of components: asks hostfxr for a runtime and calls static methods of a library, from the thread that started the runtime and from others.
// host HOSTFXR DOTNET_ROOT RUNTIMECONFIG LIBRARY SECOND_LIBRARY; it prints statuses and results.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

// hostfxr.h and coreclr_delegates.h of dotnet/runtime.
struct parameters {
	size_t size;
	const char *host_path;
	const char *dotnet_root;
};
typedef int (*initialize_function)(const char *config, const struct parameters *parameters, void **context);
typedef int (*get_delegate_function)(void *context, int kind, void **delegate);
typedef int (*close_function)(void *context);
typedef int (*load_function)(const char *library, const char *type, const char *method, const char *delegate_type, void *reserved, void **function);
typedef int (*get_function)(const char *type, const char *method, const char *delegate_type, void *load_context, void *reserved, void **function);
typedef int (*load_assembly_function)(const char *path, void *load_context, void *reserved);
typedef int (*load_bytes_function)(const void *bytes, size_t size, const void *symbols, size_t symbols_size, void *load_context, void *reserved);
enum { LOAD_ASSEMBLY_AND_GET_FUNCTION_POINTER = 5, GET_FUNCTION_POINTER = 6, LOAD_ASSEMBLY = 7, LOAD_ASSEMBLY_BYTES = 8 };
// Where V8, a host's engine, maps memory by chance: 256 MiB into the range of one of the heap's spaces.
static void *const IN_HEAP_RANGE = (void *)0x40010000000;
static const char *const CALLERS_ONLY = (const char *)-1;

static const char *library;
static load_function load;

static void *symbol(void *handle, const char *name) {
	void *found = dlsym(handle, name);
	if (!found) {
		printf("no %s\n", name);
		exit(2);
	}
	return found;
}

// The function of a method, or NULL; its status is printed.
static void *function(const char *type, const char *method, const char *delegate_type) {
	void *found = NULL;
	int status = load(library, type, method, delegate_type, NULL, &found);
	printf("%s: %#x\n", method, (unsigned)status);
	return status == 0 ? found : NULL;
}

static void *call_all(void *name) {
	const char *type = "Component, component";
	int number = 30;
	int (*hello)(void *, int) = (int (*)(void *, int))function(type, "Hello", NULL);
	int (*add)(int, int) = (int (*)(int, int))function(type, "Add", CALLERS_ONLY);
	int (*length)(const char *) = (int (*)(const char *))function(type, "Length", "Component+Named, component");
	for (int i = 0; i < 2 && hello && add && length; i++)
		printf("%s: %d %d %d\n", (const char *)name, hello(&number, (int)sizeof number), add(40, i), length("h\303\251llo"));
	return NULL;
}

static void on_other_thread(const char *name) {
	pthread_t thread;
	pthread_create(&thread, NULL, call_all, (void *)name);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
	if (argc != 6)
		return 2;
	setvbuf(stdout, NULL, _IONBF, 0);
	if (mmap(IN_HEAP_RANGE, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != IN_HEAP_RANGE)
		return 2;
	void *fxr = dlopen(argv[1], RTLD_NOW);
	if (!fxr) {
		printf("%s\n", dlerror());
		return 2;
	}
	initialize_function initialize = (initialize_function)symbol(fxr, "hostfxr_initialize_for_runtime_config");
	get_delegate_function get_delegate = (get_delegate_function)symbol(fxr, "hostfxr_get_runtime_delegate");
	close_function close_context = (close_function)symbol(fxr, "hostfxr_close");
	struct parameters parameters = {sizeof parameters, argv[0], argv[2]};
	library = argv[4];

	void *context = NULL;
	printf("initialize: %#x\n", (unsigned)initialize(argv[3], &parameters, &context));
	int status = get_delegate(context, LOAD_ASSEMBLY_AND_GET_FUNCTION_POINTER, (void **)&load);
	printf("delegate: %#x\n", (unsigned)status);
	if (status != 0)
		return 1;
	call_all("first thread");
	on_other_thread("second thread");
	on_other_thread("third thread");
	call_all("first thread again");

	function("Component, component", "Missing", NULL);
	function("NoSuchType, component", "Hello", NULL);
	function("Component, component", "Add", NULL);
	function("Component, component", NULL, NULL);
	library = "/nowhere/component.dll";
	function("Component, component", "Hello", NULL);

	get_function get = NULL;
	printf("second delegate: %#x\n", (unsigned)get_delegate(context, GET_FUNCTION_POINTER, (void **)&get));
	int (*id)(void) = NULL;
	if (get) {
		printf("get: %#x\n", (unsigned)get("System.Environment, System.Runtime", "get_CurrentManagedThreadId", "System.Func`1[[System.Int32]], System.Runtime", NULL, NULL, (void **)&id));
	}
	load_assembly_function load_assembly = NULL;
	printf("third delegate: %#x\n", (unsigned)get_delegate(context, LOAD_ASSEMBLY, (void **)&load_assembly));
	int (*add)(int, int) = NULL;
	if (load_assembly && get) {
		printf("load: %#x\n", (unsigned)load_assembly(argv[4], NULL, NULL));
		printf("load again: %#x\n", (unsigned)load_assembly(argv[4], NULL, NULL));
		printf("get: %#x\n", (unsigned)get("Component, component", "Add", CALLERS_ONLY, NULL, NULL, (void **)&add));
		printf("in the default context: %d\n", add ? add(3, 4) : -1);
	}
	load_bytes_function load_bytes = NULL;
	printf("fourth delegate: %#x\n", (unsigned)get_delegate(context, LOAD_ASSEMBLY_BYTES, (void **)&load_bytes));
	static char bytes[1 << 20];
	FILE *file = fopen(argv[5], "rb");
	size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
	if (load_bytes && get && size) {
		printf("load bytes: %#x\n", (unsigned)load_bytes(bytes, size, NULL, 0, NULL, NULL));
		printf("get: %#x\n", (unsigned)get("Component, second", "Add", CALLERS_ONLY, NULL, NULL, (void **)&add));
		printf("from bytes: %d\n", add ? add(5, 6) : -1);
		printf("load other bytes: %#x\n", (unsigned)load_bytes(argv[0], 5, NULL, 0, NULL, NULL));
	}
	printf("close: %#x\n", (unsigned)close_context(context));
	void *second = NULL;
	printf("initialize again: %#x\n", (unsigned)initialize(argv[3], &parameters, &second));
	close_context(second);
	return 0;
}
