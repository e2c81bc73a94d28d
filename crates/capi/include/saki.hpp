// saki.hpp: saki.h for C++17. Handles free themselves, errors are exceptions of type saki::Error, and functions of the
// host are std::function.
//
// Assembly, Class, Method, Field and Property are copied freely and live as long as the machine; an Object keeps its
// object alive and may go to other threads. One Object is for one thread at a time, as one std::string.
#ifndef SAKI_HPP
#define SAKI_HPP

#include "saki.h"

#include <exception>
#include <functional>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace saki {

class Class;
class Object;
class Value;

using Values = std::vector<Value>;

// A function that managed code calls; what it throws is thrown there. It may run on several threads at once.
using Function = std::function<Value(const Values &arguments)>;

// What went wrong: an exception of managed code, or what the library refuses.
class Error : public std::runtime_error {
public:
	// Takes the error, which is not null.
	explicit Error(saki_error *error)
		: std::runtime_error(std::string(saki_error_type(error)) + ": " + saki_error_message(error)),
		  error_(error, saki_error_free)
	{
	}
	// An error to be thrown in managed code: "System.TimeoutException".
	Error(const std::string &type, const std::string &message)
		: Error(saki_error_new(type.c_str(), message.c_str()))
	{
	}
	std::string type() const { return saki_error_type(error_.get()); }
	std::string message() const { return saki_error_message(error_.get()); }
	// Type, message and stack.
	std::string text() const { return saki_error_text(error_.get()); }
	std::string stack() const { return saki_error_stack(error_.get()); }
	// The exception; a null object for what the library itself refused.
	inline Object exception() const;
	const saki_error *get() const { return error_.get(); }

private:
	std::shared_ptr<saki_error> error_;
};

// Throws the error, if it is one.
inline void check(saki_error *error)
{
	if (error != nullptr)
		throw Error(error);
}

namespace detail {

// The text that a function gives, freed.
template <class Give>
std::string text_of(Give give)
{
	char *text = nullptr;
	size_t length = 0;
	check(give(&text, &length));
	std::unique_ptr<char, void (*)(char *)> freed(text, saki_text_free);
	return std::string(text, length);
}

// A text of C's for a name.
class Name {
public:
	Name(const char *text) : text_(text) {}
	Name(const std::string &text) : copy_(text), text_(copy_.c_str()) {}
	Name(std::string_view text) : copy_(text), text_(copy_.c_str()) {}
	Name(const Name &) = delete;
	Name &operator=(const Name &) = delete;
	operator const char *() const { return text_; }

private:
	std::string copy_;
	const char *text_;
};

} // namespace detail

using Name = const detail::Name &;

// An object, or null.
class Object {
public:
	Object() = default;
	// Takes a handle that belongs to the host.
	explicit Object(saki_object *taken) : handle_(taken) {}
	Object(const Object &other)
	{
		if (other.handle_ != nullptr)
			check(saki_object_keep(other.handle_, nullptr, &handle_));
	}
	Object(Object &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
	Object &operator=(Object other) noexcept
	{
		std::swap(handle_, other.handle_);
		return *this;
	}
	~Object() { saki_object_release(handle_); }

	// An object of a handle that stays who it belongs to.
	static Object of(saki_object *kept)
	{
		Object object;
		if (kept != nullptr)
			check(saki_object_keep(kept, nullptr, &object.handle_));
		return object;
	}
	static inline Object string(std::string_view text);

	explicit operator bool() const { return handle_ != nullptr; }
	saki_object *get() const { return handle_; }
	// Gives the handle away.
	saki_object *release() { return std::exchange(handle_, nullptr); }

	bool operator==(const Object &other) const
	{
		bool is_same = false;
		check(saki_object_is_same(handle_, other.handle_, &is_same));
		return is_same;
	}
	bool operator!=(const Object &other) const { return !(*this == other); }

	inline Class type() const;
	inline bool is(const Class &type) const;
	// What ToString gives.
	std::string to_string() const
	{
		return detail::text_of([&](char **text, size_t *length) { return saki_object_text(handle_, text, length); });
	}
	// The text of a string.
	std::string text() const
	{
		return detail::text_of([&](char **text, size_t *length) { return saki_string_text(handle_, text, length); });
	}

	// Calls a method by its name.
	template <class... Arguments>
	Value call(Name name, const Arguments &...arguments) const;
	// A property or field.
	inline Value get(Name name) const;
	inline void set(Name name, const Value &value) const;
	// The number, character or bool in a box.
	inline Value unboxed() const;

	// Of an array.
	size_t length() const
	{
		size_t length = 0;
		check(saki_array_length(handle_, &length));
		return length;
	}
	inline Value at(size_t index) const;
	inline void set_at(size_t index, const Value &value) const;
	// Copies numbers out of an array of such, from `first` on.
	template <class Number>
	void read(size_t first, Number *numbers, size_t count) const
	{
		static_assert(std::is_trivially_copyable<Number>::value, "numbers, characters, bools or plain structs");
		check(saki_array_read(handle_, first, numbers, count * sizeof(Number)));
	}
	// Copies numbers into an array of such.
	template <class Number>
	void write(size_t first, const Number *numbers, size_t count) const
	{
		static_assert(std::is_trivially_copyable<Number>::value, "numbers, characters, bools or plain structs");
		check(saki_array_write(handle_, first, numbers, count * sizeof(Number)));
	}

private:
	saki_object *handle_ = nullptr;
};

// A value: nothing, null, a bool, a number, a character (char16_t), a string or an object. A number has the type of the
// parameter that it is for: int32_t for int.
class Value {
public:
	Value() : value_(saki_value_none()) {}
	Value(std::nullptr_t) : value_(saki_value_null()) {}
	Value(bool x) : value_(saki_value_bool(x)) {}
	Value(char16_t x) : value_(saki_value_char(static_cast<uint16_t>(x))) {}
	Value(int8_t x) : value_(saki_value_i8(x)) {}
	Value(uint8_t x) : value_(saki_value_u8(x)) {}
	Value(int16_t x) : value_(saki_value_i16(x)) {}
	Value(uint16_t x) : value_(saki_value_u16(x)) {}
	Value(int32_t x) : value_(saki_value_i32(x)) {}
	Value(uint32_t x) : value_(saki_value_u32(x)) {}
	Value(int64_t x) : value_(saki_value_i64(x)) {}
	Value(uint64_t x) : value_(saki_value_u64(x)) {}
	Value(long long x) : Value(static_cast<int64_t>(x)) {}
	Value(unsigned long long x) : Value(static_cast<uint64_t>(x)) {}
	Value(float x) : value_(saki_value_f32(x)) {}
	Value(double x) : value_(saki_value_f64(x)) {}
	Value(std::string text) : text_(std::move(text)) { value_.kind = SAKI_TEXT; }
	Value(std::string_view text) : Value(std::string(text)) {}
	Value(const char *text) : Value(std::string(text)) {}
	Value(Object object) : object_(std::move(object)) { value_.kind = SAKI_OBJECT; }
	// Other pointers would be taken for a bool.
	template <class T, std::enable_if_t<!std::is_same<std::remove_cv_t<T>, char>::value, int> = 0>
	Value(T *) = delete;

	// Takes a result, whose object belongs to the host.
	static Value taken(saki_value result)
	{
		Value value;
		value.value_ = result;
		if (result.kind == SAKI_OBJECT)
			value.object_ = Object(result.of.object);
		return value;
	}

	// For a function of saki.h, as long as this value lives and does not change.
	saki_value get() const
	{
		if (value_.kind == SAKI_TEXT)
			return saki_value_utf8(text_.data(), text_.size());
		return value_.kind == SAKI_OBJECT ? saki_value_object(object_.get()) : value_;
	}

	uint32_t kind() const { return value_.kind; }
	bool is_null() const { return value_.kind == SAKI_NULL || (value_.kind == SAKI_OBJECT && !object_); }

	bool boolean() const { return of(SAKI_BOOL).boolean; }
	char16_t character() const { return static_cast<char16_t>(of(SAKI_CHAR).character); }
	int8_t i8() const { return of(SAKI_I8).i8; }
	uint8_t u8() const { return of(SAKI_U8).u8; }
	int16_t i16() const { return of(SAKI_I16).i16; }
	uint16_t u16() const { return of(SAKI_U16).u16; }
	int32_t i32() const { return of(SAKI_I32).i32; }
	uint32_t u32() const { return of(SAKI_U32).u32; }
	int64_t i64() const { return of(SAKI_I64).i64; }
	uint64_t u64() const { return of(SAKI_U64).u64; }
	float f32() const { return of(SAKI_F32).f32; }
	double f64() const { return of(SAKI_F64).f64; }
	// The object; a null object if the value is null.
	Object object() const
	{
		if (!is_null())
			of(SAKI_OBJECT);
		return object_;
	}
	// The text of a string.
	std::string text() const
	{
		return value_.kind == SAKI_TEXT ? text_ : object().text();
	}

private:
	const decltype(saki_value::of) &of(uint32_t kind) const
	{
		if (value_.kind != kind) {
			throw Error("System.InvalidCastException", "the value is of kind " + std::to_string(value_.kind)
				+ ", not " + std::to_string(kind));
		}
		return value_.of;
	}

	saki_value value_ = saki_value_none();
	Object object_;
	std::string text_;
};

namespace detail {

// Arguments for a function of saki.h, as long as the values live.
class Arguments {
public:
	explicit Arguments(const Values &values)
	{
		plain_.reserve(values.size());
		for (const Value &value : values)
			plain_.push_back(value.get());
	}
	const saki_value *data() const { return plain_.data(); }
	size_t size() const { return plain_.size(); }

private:
	std::vector<saki_value> plain_;
};

template <class Give>
Value value_of(Give give)
{
	saki_value result = saki_value_none();
	check(give(&result));
	return Value::taken(result);
}

template <class Give>
Object object_of(Give give)
{
	saki_object *made = nullptr;
	check(give(&made));
	return Object(made);
}

// Destroys a Function, whose address `data` is.
inline void free_function(void *data)
{
	delete static_cast<Function *>(data);
}

// Calls a Function, whose address `data` is.
inline saki_error *call_function(void *data, saki_scope *scope, const saki_value *arguments, size_t count,
	saki_value *result) noexcept
{
	try {
		Values values;
		values.reserve(count);
		for (size_t i = 0; i < count; i++) {
			const saki_value &argument = arguments[i];
			values.push_back(argument.kind == SAKI_OBJECT ? Value(Object::of(argument.of.object))
				: Value::taken(argument));
		}
		Value made = (*static_cast<Function *>(data))(values);
		*result = made.get();
		if (result->kind == SAKI_TEXT) {
			// The text ends with `made`.
			saki_object *string = nullptr;
			std::string text = made.text();
			check(saki_string_new(text.data(), text.size(), scope, &string));
			*result = saki_value_object(string);
		} else if (result->kind == SAKI_OBJECT && result->of.object != nullptr) {
			saki_object *kept = nullptr;
			check(saki_object_keep(result->of.object, scope, &kept));
			*result = saki_value_object(kept);
		}
		return nullptr;
	} catch (const Error &error) {
		*result = saki_value_none();
		Object exception;
		try {
			exception = error.exception();
		} catch (...) {
		}
		return exception ? saki_error_of(exception.get())
			: saki_error_new(error.type().c_str(), error.message().c_str());
	} catch (const std::exception &error) {
		*result = saki_value_none();
		return saki_error_new("System.InvalidOperationException", error.what());
	} catch (...) {
		*result = saki_value_none();
		return saki_error_new("System.InvalidOperationException", "A function of the host threw.");
	}
}

} // namespace detail

// A method, to be looked up once and called often.
class Method {
public:
	explicit Method(saki_method *method) : method_(method) {}
	saki_method *get() const { return method_; }
	std::string name() const
	{
		return detail::text_of([&](char **text, size_t *length) { return saki_method_name(method_, text, length); });
	}
	bool is_static() const
	{
		bool result = false;
		check(saki_method_is_static(method_, &result));
		return result;
	}
	size_t parameters() const
	{
		size_t count = 0;
		check(saki_method_parameters(method_, &count));
		return count;
	}
	// Calls it; a null object for a static method.
	Value invoke(const Object &object, const Values &arguments = {}) const
	{
		detail::Arguments plain(arguments);
		return detail::value_of([&](saki_value *result) {
			return saki_invoke(method_, object.get(), plain.data(), plain.size(), nullptr, result);
		});
	}

private:
	saki_method *method_;
};

// A field.
class Field {
public:
	explicit Field(saki_field *field) : field_(field) {}
	saki_field *get() const { return field_; }
	Value value(const Object &object = {}) const
	{
		return detail::value_of([&](saki_value *result) {
			return saki_field_get(field_, object.get(), nullptr, result);
		});
	}
	void set(const Object &object, const Value &value) const
	{
		check(saki_field_set(field_, object.get(), value.get()));
	}

private:
	saki_field *field_;
};

// A property.
class Property {
public:
	explicit Property(saki_property *property) : property_(property) {}
	saki_property *get() const { return property_; }
	Value value(const Object &object = {}) const
	{
		return detail::value_of([&](saki_value *result) {
			return saki_property_get(property_, object.get(), nullptr, result);
		});
	}
	void set(const Object &object, const Value &value) const
	{
		check(saki_property_set(property_, object.get(), value.get()));
	}

private:
	saki_property *property_;
};

// A class, interface, struct, enum or delegate.
class Class {
public:
	explicit Class(saki_class *type) : class_(type) {}
	// A class of the core library: "System.Int32".
	static Class core(Name name)
	{
		saki_class *found = nullptr;
		check(saki_class_core(name, &found));
		return Class(found);
	}
	saki_class *get() const { return class_; }
	bool operator==(const Class &other) const { return class_ == other.class_; }
	bool operator!=(const Class &other) const { return class_ != other.class_; }

	std::string name() const
	{
		return detail::text_of([&](char **text, size_t *length) { return saki_class_name(class_, text, length); });
	}
	// The instance of a generic definition.
	Class generic(const std::vector<Class> &arguments) const
	{
		std::vector<saki_class *> plain = plain_of(arguments);
		saki_class *made = nullptr;
		check(saki_class_generic(class_, plain.data(), plain.size(), &made));
		return Class(made);
	}
	Method method(Name name, size_t parameters) const
	{
		saki_method *found = nullptr;
		check(saki_method_find(class_, name, parameters, &found));
		return Method(found);
	}
	Method method(Name name, const std::vector<Class> &parameters) const
	{
		std::vector<saki_class *> plain = plain_of(parameters);
		saki_method *found = nullptr;
		check(saki_method_find_with(class_, name, plain.data(), plain.size(), &found));
		return Method(found);
	}
	Field field(Name name) const
	{
		saki_field *found = nullptr;
		check(saki_field_find(class_, name, &found));
		return Field(found);
	}
	Property property(Name name) const
	{
		saki_property *found = nullptr;
		check(saki_property_find(class_, name, &found));
		return Property(found);
	}

	// A new object.
	template <class... Arguments>
	Object make(const Arguments &...arguments) const
	{
		Values values{Value(arguments)...};
		detail::Arguments plain(values);
		return detail::object_of([&](saki_object **made) {
			return saki_new(class_, plain.data(), plain.size(), nullptr, made);
		});
	}
	// Calls a static method by its name.
	template <class... Arguments>
	Value call(Name name, const Arguments &...arguments) const
	{
		Values values{Value(arguments)...};
		detail::Arguments plain(values);
		return detail::value_of([&](saki_value *result) {
			return saki_call_static(class_, name, plain.data(), plain.size(), nullptr, result);
		});
	}
	// A static property or field.
	Value get(Name name) const
	{
		return detail::value_of([&](saki_value *result) { return saki_get_static(class_, name, nullptr, result); });
	}
	void set(Name name, const Value &value) const { check(saki_set_static(class_, name, value.get())); }
	// A new array of elements of this class.
	Object array(size_t length) const
	{
		return detail::object_of([&](saki_object **made) { return saki_array_new(class_, length, nullptr, made); });
	}
	// A value in a box of this class.
	Object box(const Value &value) const
	{
		return detail::object_of([&](saki_object **made) { return saki_box(class_, value.get(), nullptr, made); });
	}
	// A delegate of this class. Its function is destroyed some time after the delegate has been collected.
	Object delegate(Function function) const
	{
		auto *kept = new Function(std::move(function));
		return detail::object_of([&](saki_object **delegate) {
			return saki_delegate_new_owning(class_, detail::call_function, kept, detail::free_function, nullptr, delegate);
		});
	}

private:
	static std::vector<saki_class *> plain_of(const std::vector<Class> &classes)
	{
		std::vector<saki_class *> plain;
		for (const Class &each : classes)
			plain.push_back(each.get());
		return plain;
	}

	saki_class *class_;
};

// An assembly.
class Assembly {
public:
	explicit Assembly(saki_assembly *assembly) : assembly_(assembly) {}
	// From a file.
	static Assembly load(Name path)
	{
		saki_assembly *loaded = nullptr;
		check(saki_load(path, &loaded));
		return Assembly(loaded);
	}
	// By its name.
	static Assembly named(Name name)
	{
		saki_assembly *loaded = nullptr;
		check(saki_load_named(name, &loaded));
		return Assembly(loaded);
	}
	saki_assembly *get() const { return assembly_; }
	std::string name() const
	{
		return detail::text_of([&](char **text, size_t *length) {
			return saki_assembly_name(assembly_, text, length);
		});
	}
	// A class by namespace and name.
	Class type(Name name) const
	{
		saki_class *found = nullptr;
		check(saki_class_find(assembly_, name, &found));
		return Class(found);
	}

private:
	saki_assembly *assembly_;
};

// What a machine is to be like.
class Options {
public:
	Options() : options_(saki_options_new(), saki_options_free) {}
	// An option of the command: "threads", "max-heap".
	Options &set(Name name, Name value)
	{
		check(saki_options_set(options_.get(), name, value));
		return *this;
	}
	Options &class_libraries(Name folder)
	{
		check(saki_options_class_libraries(options_.get(), folder));
		return *this;
	}
	const saki_options *get() const { return options_.get(); }

private:
	std::unique_ptr<saki_options, void (*)(saki_options *)> options_;
};

// The machine, from here on. Let it go without `end` and it runs as long as the process.
class Machine {
public:
	explicit Machine(const Options &options = Options()) { check(saki_start(options.get())); }
	Machine(const Machine &) = delete;
	Machine &operator=(const Machine &) = delete;
	// Ends it; the exit code.
	int32_t end()
	{
		int32_t code = 0;
		check(saki_end(&code));
		return code;
	}
};

// Ends the calling thread's attachment with its scope.
class Attachment {
public:
	Attachment() { check(saki_attach()); }
	Attachment(const Attachment &) = delete;
	Attachment &operator=(const Attachment &) = delete;
	~Attachment() { saki_error_free(saki_detach()); }
};

// A function for an internal call, "Some.Thing::Ask", as long as the process lives.
inline void add_function(Name name, Function function)
{
	auto kept = std::make_unique<Function>(std::move(function));
	check(saki_add_function(name, detail::call_function, kept.get()));
	(void) kept.release();
}

inline void collect() { check(saki_collect()); }

inline Object Error::exception() const
{
	return detail::object_of([&](saki_object **exception) {
		return saki_error_exception(error_.get(), nullptr, exception);
	});
}

inline Object Object::string(std::string_view text)
{
	return detail::object_of([&](saki_object **made) {
		return saki_string_new(text.data(), text.size(), nullptr, made);
	});
}

inline Class Object::type() const
{
	saki_class *found = nullptr;
	check(saki_object_class(handle_, &found));
	return Class(found);
}

inline bool Object::is(const Class &type) const
{
	bool result = false;
	check(saki_object_is(handle_, type.get(), &result));
	return result;
}

template <class... Arguments>
Value Object::call(Name name, const Arguments &...arguments) const
{
	Values values{Value(arguments)...};
	detail::Arguments plain(values);
	return detail::value_of([&](saki_value *result) {
		return saki_call(handle_, name, plain.data(), plain.size(), nullptr, result);
	});
}

// What ToString gives.
inline std::ostream &operator<<(std::ostream &stream, const Object &object) { return stream << object.to_string(); }

inline Value Object::get(Name name) const
{
	return detail::value_of([&](saki_value *result) { return saki_get(handle_, name, nullptr, result); });
}

inline void Object::set(Name name, const Value &value) const { check(saki_set(handle_, name, value.get())); }

inline Value Object::unboxed() const
{
	return detail::value_of([&](saki_value *result) { return saki_unbox(handle_, result); });
}

inline Value Object::at(size_t index) const
{
	return detail::value_of([&](saki_value *result) { return saki_array_get(handle_, index, nullptr, result); });
}

inline void Object::set_at(size_t index, const Value &value) const
{
	check(saki_array_set(handle_, index, value.get()));
}

} // namespace saki

#endif
