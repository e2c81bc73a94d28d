/*
 * saki.h: run C# in a program written in C. Link with libsaki: pkg-config --cflags --libs saki
 *
 * One machine a process. saki_start starts it, on threads of its own; saki_end ends it, and the process goes on. It
 * cannot be started a second time. A program need not end it before it exits.
 *
 * Errors. A function that can fail returns a saki_error, or null for success. Free it with saki_error_free. Results are
 * null, zero or none then. A null handle, a wrong type or a wrong number of arguments is such an error, with the type
 * System.ArgumentException or one of its like; what managed code throws is one as well, with the exception.
 *
 * Objects. A saki_object is a handle that keeps an object alive, wherever the collector moves it. Functions that give
 * one take a scope: saki_scope_close lets all objects of the scope go. Without a scope (null) the handle is yours,
 * until saki_object_release. Handles are numbers, valid on any thread; one that was released is refused as an error, as
 * a rule: after its number has been used again sixteen times it may be another object's.
 *
 * Assemblies, classes and members live as long as the machine and need not be freed. Texts of functions with a
 * parameter `char **text` are copies: free them with saki_text_free. They end in NUL; `length`, which may be null, gets
 * their bytes without it, since strings of C# may have a NUL inside. All texts are UTF-8, except for paths.
 *
 * Threads. Any thread may call any function, whenever it likes; only a scope is for one thread at a time. The first
 * call attaches the thread, which stays known to the machine until it ends or calls saki_detach. Host code never holds
 * up a collection. A function of the host that managed code calls may be called by several threads at once. Once a
 * thread's own storage is gone (in exit handlers, destructors of globals) its calls are errors, but releasing works.
 *
 * What the machine does to the process: it installs handlers for SIGILL, SIGBUS, SIGFPE and SIGSEGV, which pass on what
 * did not happen in managed code, and gives attached threads an alternate signal stack. Locale, standard streams,
 * working folder, allocator and signal masks stay as they are, until managed code changes them (Console, Process).
 * Variables SAKI_MAX_HEAP, SAKI_THREADS and their like count (saki --help), and more than options. The library is never
 * unloaded. An exception that no managed code catches on a thread of managed code's own ends the process, as in any
 * program.
 */
#ifndef SAKI_H
#define SAKI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SAKI_CHECKED __attribute__((warn_unused_result))
#else
#define SAKI_CHECKED
#endif

/* What went wrong. */
typedef struct saki_error saki_error;
/* What a machine is to be like. */
typedef struct saki_options saki_options;
/* Objects that are let go together. */
typedef struct saki_scope saki_scope;
/* A handle of an object. */
typedef struct saki_object saki_object;
/* An assembly that is loaded. */
typedef struct saki_assembly saki_assembly;
/* A class, interface, struct, enum or delegate. */
typedef struct saki_class saki_class;
/* A method, constructors included. */
typedef struct saki_method saki_method;
/* A field. */
typedef struct saki_field saki_field;
/* A property. */
typedef struct saki_property saki_property;

/* ---------------------------------------------------------------------------------------------------------- values */

/* What a saki_value holds. */
enum saki_kind {
	SAKI_NONE = 0,    /* nothing: the result of a void method */
	SAKI_NULL = 1,    /* the null reference */
	SAKI_BOOL = 2,    /* of.boolean */
	SAKI_CHAR = 3,    /* of.character, a UTF-16 unit */
	SAKI_I8 = 4,      /* of.i8, sbyte */
	SAKI_U8 = 5,      /* of.u8, byte */
	SAKI_I16 = 6,     /* of.i16, short */
	SAKI_U16 = 7,     /* of.u16, ushort */
	SAKI_I32 = 8,     /* of.i32, int */
	SAKI_U32 = 9,     /* of.u32, uint */
	SAKI_I64 = 10,    /* of.i64, long and nint */
	SAKI_U64 = 11,    /* of.u64, ulong and nuint */
	SAKI_F32 = 12,    /* of.f32, float */
	SAKI_F64 = 13,    /* of.f64, double */
	SAKI_OBJECT = 14, /* of.object: a string, an array, any other object, or a struct in a box */
	SAKI_TEXT = 15,   /* of.text: a string to be made, as an argument; results are objects */
	SAKI_PLACE = 16   /* a variable that your function got by reference, while it runs: saki_place_get and _set */
};

/*
 * A value. Numbers must have the type of the parameter, field or element, of an enum its underlying type; they fit
 * places of type object, too, and are boxed there. Results come out of their boxes where the declared type is a number,
 * a character, a bool or an enum. Structs are objects: boxes, whose fields saki_get and saki_set read and write. What
 * is nullable (int?) is null or the value.
 */
typedef struct saki_value {
	uint32_t kind; /* an enum saki_kind */
	union {
		bool boolean;
		uint16_t character;
		int8_t i8;
		uint8_t u8;
		int16_t i16;
		uint16_t u16;
		int32_t i32;
		uint32_t u32;
		int64_t i64;
		uint64_t u64;
		float f32;
		double f64;
		saki_object *object;
		struct {
			const char *data;
			size_t length; /* bytes */
		} text;
	} of;
} saki_value;

/* No value, and the null reference. */
static inline saki_value saki_value_none(void)
{
	saki_value value;
	memset(&value, 0, sizeof value);
	return value;
}
static inline saki_value saki_value_null(void)
{
	saki_value value = saki_value_none();
	value.kind = SAKI_NULL;
	return value;
}
/* Values of the other kinds; a null object is the null reference. */
#define SAKI_DEFINE_VALUE(name, type, number, member) \
	static inline saki_value saki_value_##name(type x) \
	{ \
		saki_value value = saki_value_none(); \
		value.kind = number; \
		value.of.member = x; \
		return value; \
	}
SAKI_DEFINE_VALUE(bool, bool, SAKI_BOOL, boolean)
SAKI_DEFINE_VALUE(char, uint16_t, SAKI_CHAR, character)
SAKI_DEFINE_VALUE(i8, int8_t, SAKI_I8, i8)
SAKI_DEFINE_VALUE(u8, uint8_t, SAKI_U8, u8)
SAKI_DEFINE_VALUE(i16, int16_t, SAKI_I16, i16)
SAKI_DEFINE_VALUE(u16, uint16_t, SAKI_U16, u16)
SAKI_DEFINE_VALUE(i32, int32_t, SAKI_I32, i32)
SAKI_DEFINE_VALUE(u32, uint32_t, SAKI_U32, u32)
SAKI_DEFINE_VALUE(i64, int64_t, SAKI_I64, i64)
SAKI_DEFINE_VALUE(u64, uint64_t, SAKI_U64, u64)
SAKI_DEFINE_VALUE(f32, float, SAKI_F32, f32)
SAKI_DEFINE_VALUE(f64, double, SAKI_F64, f64)
SAKI_DEFINE_VALUE(object, saki_object *, SAKI_OBJECT, object)
#undef SAKI_DEFINE_VALUE
/* A string, from UTF-8 of so many bytes, which is read when the value is used. */
static inline saki_value saki_value_utf8(const char *data, size_t length)
{
	saki_value v = saki_value_none();
	v.kind = SAKI_TEXT;
	v.of.text.data = data;
	v.of.text.length = length;
	return v;
}
/* A string, from UTF-8 that ends in NUL. */
static inline saki_value saki_value_text(const char *text) { return saki_value_utf8(text, strlen(text)); }

/* ---------------------------------------------------------------------------------------------------------- errors */

/*
 * An error of your own, for a function that managed code calls: there it is an exception of this type of the core
 * library, "System.TimeoutException". Never null. If an argument is null, the error is about that.
 */
saki_error *saki_error_new(const char *type, const char *message) SAKI_CHECKED;
/* The error of an exception object, of any class. Never null. If the object is no exception, the error says so. */
saki_error *saki_error_of(saki_object *exception) SAKI_CHECKED;
/* The exception's type, "System.FormatException". This and the next three belong to the error; "" for null. */
const char *saki_error_type(const saki_error *error);
/* The exception's message. */
const char *saki_error_message(const saki_error *error);
/* Type, message and stack, as Exception.ToString gives them. */
const char *saki_error_text(const saki_error *error);
/* The calls between the throw and the host, a line each; "" for what the library itself refused. */
const char *saki_error_stack(const saki_error *error);
/* The exception object; null for what the library itself refused. */
saki_error *saki_error_exception(const saki_error *error, saki_scope *scope, saki_object **exception) SAKI_CHECKED;
/* Frees an error; null is nothing. */
void saki_error_free(saki_error *error);

/* --------------------------------------------------------------------------------------------------------- machine */

/* The library's version, "0.1.0". */
const char *saki_version(void);
/* Options with their defaults. Free them with saki_options_free. */
saki_options *saki_options_new(void);
/* Frees options; null is nothing. They can go once saki_start has returned. */
void saki_options_free(saki_options *options);
/*
 * Sets an option of the command, as it is written there: "threads" ("native", "green", "mn", "mn:4": how managed
 * threads run; those of the host are native), "max-heap" ("512m"), "nursery", "gc-threads", "gc-stress", "io",
 * "hot-stacks", "small-stacks", "no-cache" ("1": compiled code is neither taken from the user's cache nor kept there),
 * "no-simd", "perf". Errors: no option has the name, or the value is wrong.
 */
saki_error *saki_options_set(saki_options *options, const char *name, const char *value) SAKI_CHECKED;
/* Where Mono's class libraries are: the folder that holds 4.5. Without it /usr/lib/mono. */
saki_error *saki_options_class_libraries(saki_options *options, const char *folder) SAKI_CHECKED;
/*
 * Starts the machine, on a thread of its own. `options` may be null, and stay yours.
 * Errors: there was a machine in this process, class libraries are missing, no memory.
 */
saki_error *saki_start(const saki_options *options) SAKI_CHECKED;
/*
 * Ends the machine: waits for calls of other threads and for foreground threads, runs the handlers of ProcessExit and
 * the finalizers. All functions that need a machine give errors afterwards. `exit_code` may be null; it gets
 * Environment.ExitCode. Errors: no machine runs; the caller is a function that managed code called.
 */
saki_error *saki_end(int32_t *exit_code) SAKI_CHECKED;
/* Whether the machine has started and its end has not begun. */
bool saki_is_running(void);
/* Attaches the calling thread, as its first call does. A thread that is attached stays so. */
saki_error *saki_attach(void) SAKI_CHECKED;
/*
 * Ends the attachment of the calling thread, which its next call begins again. Errors: the thread is not attached, or
 * is managed code's and in a function of the host.
 */
saki_error *saki_detach(void) SAKI_CHECKED;
/* Collects all garbage. */
saki_error *saki_collect(void) SAKI_CHECKED;
/* The number of objects that handles, scopes and errors of the host keep alive. Leaks make it grow. 0 after the end. */
size_t saki_live_objects(void);

/* --------------------------------------------------------------------------------------------------------- objects */

/* A new scope. It may be open while others are. Close each. */
saki_scope *saki_scope_open(void);
/* Lets the objects of a scope go, and frees it, unless it is that of a function's call; null is nothing. */
void saki_scope_close(saki_scope *scope);
/* Lets an object go. Null, one of a scope, and one that was released already are nothing. */
void saki_object_release(saki_object *object);
/* Another handle of an object, of a scope or yours: so an object outlives its scope. */
saki_error *saki_object_keep(saki_object *object, saki_scope *scope, saki_object **kept) SAKI_CHECKED;
/* The object's class. */
saki_error *saki_object_class(saki_object *object, saki_class **class_) SAKI_CHECKED;
/* Whether the object can be used as the class. */
saki_error *saki_object_is(saki_object *object, saki_class *class_, bool *result) SAKI_CHECKED;
/* Whether both are the same object, or both null. */
saki_error *saki_object_is_same(saki_object *a, saki_object *b, bool *result) SAKI_CHECKED;
/* What ToString gives. */
saki_error *saki_object_text(saki_object *object, char **text, size_t *length) SAKI_CHECKED;

/* A string from UTF-8 of so many bytes. */
saki_error *saki_string_new(const char *text, size_t length, saki_scope *scope, saki_object **string) SAKI_CHECKED;
/* A string's text. Unpaired surrogates become U+FFFD. Error: it is no string. */
saki_error *saki_string_text(saki_object *string, char **text, size_t *length) SAKI_CHECKED;
/* Frees a text that a function has given; null is nothing. */
void saki_text_free(char *text);

/* A new array of a class's elements, each null or zero. */
saki_error *saki_array_new(saki_class *class_, size_t length, saki_scope *scope, saki_object **array) SAKI_CHECKED;
/* An array's number of elements. */
saki_error *saki_array_length(saki_object *array, size_t *length) SAKI_CHECKED;
/* An element. Error: IndexOutOfRangeException. */
saki_error *saki_array_get(saki_object *array, size_t index, saki_scope *scope, saki_value *result) SAKI_CHECKED;
/* Sets an element. Errors: IndexOutOfRangeException, InvalidCastException, ArgumentException. */
saki_error *saki_array_set(saki_object *array, size_t index, saki_value value) SAKI_CHECKED;
/*
 * Copies elements from `first` on, as many as fill `size` bytes, out of an array of numbers, characters, bools, or
 * structs without references. Error: ArgumentException if there are fewer, or it is another array.
 */
saki_error *saki_array_read(saki_object *array, size_t first, void *bytes, size_t size) SAKI_CHECKED;
/* Copies elements into such an array. */
saki_error *saki_array_write(saki_object *array, size_t first, const void *bytes, size_t size) SAKI_CHECKED;

/* A value in a box of a class, which is a struct or an enum; for a class, a string or the object itself. */
saki_error *saki_box(saki_class *class_, saki_value value, saki_scope *scope, saki_object **object) SAKI_CHECKED;
/* The number, character or bool in a box. Error: it is another object. */
saki_error *saki_unbox(saki_object *object, saki_value *value) SAKI_CHECKED;

/* ------------------------------------------------------------------------------------- assemblies, classes, members */

/* Loads an assembly from a file, as Assembly.LoadFrom. Errors: FileNotFoundException, BadImageFormatException. */
saki_error *saki_load(const char *path, saki_assembly **assembly) SAKI_CHECKED;
/* Loads an assembly by its name, "System.Xml", as Assembly.Load. */
saki_error *saki_load_named(const char *name, saki_assembly **assembly) SAKI_CHECKED;
/* Loads an assembly from memory, which is copied. */
saki_error *saki_load_bytes(const void *bytes, size_t size, saki_assembly **assembly) SAKI_CHECKED;
/* An assembly's simple name. */
saki_error *saki_assembly_name(saki_assembly *assembly, char **name, size_t *length) SAKI_CHECKED;

/*
 * A class by namespace and name: "Some.Thing", nested ones after +, generic definitions with the number of their
 * parameters: "List`1". Error: TypeLoadException.
 */
saki_error *saki_class_find(saki_assembly *assembly, const char *name, saki_class **class_) SAKI_CHECKED;
/* A class of the core library, mscorlib: "System.Int32". */
saki_error *saki_class_core(const char *name, saki_class **class_) SAKI_CHECKED;
/* The instance of a generic definition with so many arguments. */
saki_error *saki_class_generic(saki_class *definition, saki_class *const *arguments, size_t count,
	saki_class **class_) SAKI_CHECKED;
/* The base class; null for System.Object and interfaces. */
saki_error *saki_class_base(saki_class *class_, saki_class **base) SAKI_CHECKED;
/* Namespace and name, as Type.FullName. */
saki_error *saki_class_name(saki_class *class_, char **name, size_t *length) SAKI_CHECKED;

/*
 * The method of a name with so many parameters, of the class or the next base class that has one; constructors are
 * ".ctor". Error: MissingMethodException.
 */
saki_error *saki_method_find(saki_class *class_, const char *name, size_t parameters,
	saki_method **method) SAKI_CHECKED;
/* The method of a name with parameters of these classes. */
saki_error *saki_method_find_with(saki_class *class_, const char *name, saki_class *const *parameters,
	size_t count, saki_method **method) SAKI_CHECKED;
/* A method's name. */
saki_error *saki_method_name(saki_method *method, char **name, size_t *length) SAKI_CHECKED;
/* The class that declares a method. */
saki_error *saki_method_class(saki_method *method, saki_class **class_) SAKI_CHECKED;
/* A method's number of parameters, without `this`. */
saki_error *saki_method_parameters(saki_method *method, size_t *count) SAKI_CHECKED;
/* Whether a method has no `this`. */
saki_error *saki_method_is_static(saki_method *method, bool *result) SAKI_CHECKED;

/* The field of a name, of the class or the next base class that has one. Error: MissingFieldException. */
saki_error *saki_field_find(saki_class *class_, const char *name, saki_field **field) SAKI_CHECKED;
/* A field's value, of an object, or of a static field with a null object. */
saki_error *saki_field_get(saki_field *field, saki_object *object, saki_scope *scope, saki_value *result) SAKI_CHECKED;
/* Sets a field. Error: ArgumentException if object or value do not fit. */
saki_error *saki_field_set(saki_field *field, saki_object *object, saki_value value) SAKI_CHECKED;

/* The property of a name, of the class or the next base class that has one. Error: MissingMemberException. */
saki_error *saki_property_find(saki_class *class_, const char *name, saki_property **property) SAKI_CHECKED;
/* A property's value, of an object, or of a static property with a null object. */
saki_error *saki_property_get(saki_property *property, saki_object *object, saki_scope *scope,
	saki_value *result) SAKI_CHECKED;
/* Sets a property. */
saki_error *saki_property_set(saki_property *property, saki_object *object, saki_value value) SAKI_CHECKED;

/* ----------------------------------------------------------------------------------------------------------- calls */

/*
 * Calls a method, virtually if it is virtual. `object` is null for a static one, and for a constructor, which makes the
 * object then. At most 32 arguments, none of them a reference (saki_invoke_by_ref) or a pointer. `result` may be null;
 * an object in it belongs to the scope, or to you. Errors: ArgumentException, TargetParameterCountException,
 * NullReferenceException; what the method throws.
 */
saki_error *saki_invoke(saki_method *method, saki_object *object, const saki_value *arguments, size_t count,
	saki_scope *scope, saki_value *result) SAKI_CHECKED;
/*
 * As saki_invoke, also with parameters that are references (`ref`, `out`, `in`): each gets a variable with the
 * argument's value (for `out`, saki_value_none () will do), whose value after the call replaces the argument. An object
 * in it belongs to the scope, or to you, and the one that was there stays yours. If the method throws, the arguments
 * stay as they were.
 */
saki_error *saki_invoke_by_ref(saki_method *method, saki_object *object, saki_value *arguments, size_t count,
	saki_scope *scope, saki_value *result) SAKI_CHECKED;
/* Calls the method of a name with so many parameters of the object's class. */
saki_error *saki_call(saki_object *object, const char *name, const saki_value *arguments, size_t count,
	saki_scope *scope, saki_value *result) SAKI_CHECKED;
/* Calls the static method of a name with so many parameters. */
saki_error *saki_call_static(saki_class *class_, const char *name, const saki_value *arguments, size_t count,
	saki_scope *scope, saki_value *result) SAKI_CHECKED;
/* A new object, by the constructor with so many parameters. */
saki_error *saki_new(saki_class *class_, const saki_value *arguments, size_t count, saki_scope *scope,
	saki_object **object) SAKI_CHECKED;
/* The value of an object's property or field of a name. */
saki_error *saki_get(saki_object *object, const char *name, saki_scope *scope, saki_value *result) SAKI_CHECKED;
/* Sets an object's property or field of a name. */
saki_error *saki_set(saki_object *object, const char *name, saki_value value) SAKI_CHECKED;
/* The value of a static property or field of a name. */
saki_error *saki_get_static(saki_class *class_, const char *name, saki_scope *scope, saki_value *result) SAKI_CHECKED;
/* Sets a static property or field of a name. */
saki_error *saki_set_static(saki_class *class_, const char *name, saki_value value) SAKI_CHECKED;

/* ------------------------------------------------------------------------------------------- functions of the host */

/*
 * A function that managed code calls. `scope` ends after it, with its arguments; objects that it makes may belong to
 * it. `*result` is none; set it unless the method is void. An object in it is of a scope, or yours, and then given
 * away; a text in it must outlive the function (a local buffer does not: make a string in the scope). Return null, or
 * an error, which is thrown in managed code and freed: one that another call returned goes on as the same exception. It
 * may do whatever it likes, also call the machine and wait, but must return: neither longjmp nor a C++ exception may
 * leave it.
 */
typedef saki_error *saki_function(void *data, saki_scope *scope, const saki_value *arguments, size_t count,
	saki_value *result);

/* The value of a variable that your function got by reference. An object in it belongs to the scope, or to you. */
saki_error *saki_place_get(saki_value place, saki_scope *scope, saki_value *value) SAKI_CHECKED;
/* Sets such a variable. Error: ArgumentException if the value does not fit. */
saki_error *saki_place_set(saki_value place, saki_value value) SAKI_CHECKED;

/*
 * A function for an internal call, a static or instance method marked `extern` and MethodImplOptions.InternalCall:
 * "Some.Thing::Ask", nested types after /, with "(int,string)" behind it where a name is overloaded. It gets `this` of
 * an instance method as its first argument. It may be added before the machine starts, or later; methods that were
 * called already keep what they had. Function and data must last as long as the machine.
 */
saki_error *saki_add_function(const char *name, saki_function *function, void *data) SAKI_CHECKED;
/*
 * A delegate that calls a function. Function and data must last as long as the machine, or as no call of the delegate
 * is possible any more. Error: ArgumentException if the class is no delegate's.
 */
saki_error *saki_delegate_new(saki_class *class_, saki_function *function, void *data, saki_scope *scope,
	saki_object **delegate) SAKI_CHECKED;
/* What frees the data of a function. */
typedef void saki_release(void *data);
/*
 * The same with data that the delegate owns: `free_data`, unless null, is called with it once, some time after the
 * delegate has been collected (by a thread that makes another delegate of the class), or at once if the call fails. Not
 * for delegates that are alive when the machine ends. It must not wait for other threads of the machine.
 */
saki_error *saki_delegate_new_owning(saki_class *class_, saki_function *function, void *data,
	saki_release *free_data, saki_scope *scope, saki_object **delegate) SAKI_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
