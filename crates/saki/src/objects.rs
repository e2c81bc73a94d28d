//! Assemblies, classes and their members, which live as long as the machine; handles of objects.

use crate::values::Thrown;
use crate::{Thread, Value, calls, checks};
use saki_reflect::field_access;
use saki_reflect::members::find_property;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{ExceptionType, Obj, RootedHandle};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_types::Ty;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

/// An assembly that is loaded.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Assembly(&'static saki_types::assembly::Assembly);

/// A class, interface, struct, enum or delegate.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Class(Ty);

/// A method.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Method(&'static saki_types::Method);

/// A field.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Field(&'static saki_types::Field);

/// A property.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Property(&'static saki_reflect::members::Property);

impl PartialEq for Assembly {
    fn eq(&self, other: &Assembly) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Assembly {}

impl Assembly {
    pub(crate) fn new(assembly: &'static saki_types::assembly::Assembly) -> Assembly {
        Assembly(assembly)
    }

    /// The simple name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The file; empty for one that was loaded from memory.
    pub fn path(self) -> &'static Path {
        &self.0.path
    }

    /// A class by its namespace and name: "System.Text.StringBuilder", nested ones after `+`, generic definitions with
    /// the number of their parameters: "List`1".
    ///
    /// # Errors
    /// TypeLoadException if there is none.
    pub fn class<'t>(self, t: Thread<'t>, name: &str) -> Thrown<'t, Class> {
        let found = t.caught(self.0.image.find_type_by_path(name).to_managed(t.inner()))?;
        match found {
            Some(found) => Ok(Class(found)),
            None => {
                let message = format!("Could not load type '{name}' from assembly '{}'.", self.0.display_name());
                t.throw_kind(ExceptionType::TypeLoad, &message)
            }
        }
    }
}

impl Class {
    pub(crate) fn new(ty: Ty) -> Class {
        Class(ty)
    }

    pub(crate) fn ty(self) -> Ty {
        self.0
    }

    /// Namespace and name, as `Type.FullName`.
    pub fn full_name(self) -> String {
        self.0.full_name()
    }

    /// The base class; None for `System.Object` and interfaces.
    ///
    /// # Errors
    /// Load errors.
    pub fn base(self, t: Thread<'_>) -> Thrown<'_, Option<Class>> {
        Ok(t.caught(self.0.parent().to_managed(t.inner()))?.map(Class))
    }

    /// The instance of a generic definition with these arguments.
    ///
    /// # Errors
    /// ArgumentException if the class has another number of parameters; NotSupportedException for arguments that it
    /// cannot have; load errors.
    pub fn generic<'t>(self, t: Thread<'t>, arguments: &[Class]) -> Thrown<'t, Class> {
        if !self.0.is_generic_definition() || self.0.args.len() != arguments.len() {
            let message = format!("{} does not take {} type arguments", self.full_name(), arguments.len());
            return t.throw("System.ArgumentException", &message);
        }
        let arguments: Vec<Ty> = arguments.iter().map(|class| class.0).collect();
        calls::possible(t, checks::no_instance(self.0, &arguments), || self.full_name())?;
        let made = t.caught(self.0.universe().instantiate(self.0, &arguments).to_managed(t.inner()))?;
        Ok(Class(made))
    }

    /// The method of a name with so many parameters, of the class or the next base class that has one.
    ///
    /// # Errors
    /// MissingMethodException if there is none; load errors.
    pub fn method<'t>(self, t: Thread<'t>, name: &str, parameters: usize) -> Thrown<'t, Method> {
        let found = self.find(t, |class| {
            t.caught(class.find_method(name, parameters).to_managed(t.inner())).map(|found| found.map(Method))
        })?;
        found.map_or_else(|| self.missing(t, name), Ok)
    }

    /// The method of a name with these parameters' types.
    ///
    /// # Errors
    /// MissingMethodException if there is none; load errors.
    pub fn method_with<'t>(self, t: Thread<'t>, name: &str, parameters: &[Class]) -> Thrown<'t, Method> {
        let types: Vec<Ty> = parameters.iter().map(|class| class.0).collect();
        let found = self.find(t, |class| {
            t.caught(class.find_method_sig(name, &types).to_managed(t.inner())).map(|found| found.map(Method))
        })?;
        found.map_or_else(|| self.missing(t, name), Ok)
    }

    /// The own method of a name that is not overloaded.
    pub(crate) fn method_named<'t>(self, t: Thread<'t>, name: &str) -> Thrown<'t, &'static saki_types::Method> {
        let found = t.caught(self.0.methods_named(name).to_managed(t.inner()))?;
        found.first().copied().map_or_else(|| self.missing(t, name), Ok)
    }

    fn missing<'t, T>(self, t: Thread<'t>, name: &str) -> Thrown<'t, T> {
        let message = format!("Method '{}.{name}' not found.", self.full_name());
        t.throw("System.MissingMethodException", &message)
    }

    /// The field of a name, of the class or the next base class that has one.
    ///
    /// # Errors
    /// MissingFieldException if there is none; load errors.
    pub fn field<'t>(self, t: Thread<'t>, name: &str) -> Thrown<'t, Field> {
        match self.find_field(t, name)? {
            Some(found) => Ok(found),
            None => {
                let message = format!("Field '{}.{name}' not found.", self.full_name());
                t.throw("System.MissingFieldException", &message)
            }
        }
    }

    /// The property of a name, of the class or the next base class that has one.
    ///
    /// # Errors
    /// MissingMemberException if there is none; load errors.
    pub fn property<'t>(self, t: Thread<'t>, name: &str) -> Thrown<'t, Property> {
        match t.caught(find_property(self.0, name).to_managed(t.inner()))? {
            Some(found) => Ok(Property(found)),
            None => {
                let message = format!("Property '{}.{name}' not found.", self.full_name());
                t.throw("System.MissingMemberException", &message)
            }
        }
    }

    /// A value as an object of the class: a number, a character or a `bool` in a box, a string, or the object itself.
    ///
    /// # Errors
    /// ArgumentException if it does not fit; NotSupportedException if no value of the class can be on the heap;
    /// OutOfMemoryException.
    pub fn boxed<'t>(self, t: Thread<'t>, value: Value<'_>) -> Thrown<'t, Object<'t>> {
        calls::possible(t, checks::no_value(self.0), || self.full_name())?;
        match calls::boxed(t, self.0, value)? {
            Some(made) => Ok(t.keep(made)),
            None => t.throw("System.ArgumentException", "Null is no object."),
        }
    }

    pub(crate) fn find_field<'t>(self, t: Thread<'t>, name: &str) -> Thrown<'t, Option<Field>> {
        self.find(t, |class| t.caught(class.find_field(name).to_managed(t.inner())).map(|found| found.map(Field)))
    }

    pub(crate) fn find_method<'t>(self, t: Thread<'t>, name: &str, parameters: usize) -> Thrown<'t, Option<Method>> {
        self.find(t, |class| {
            t.caught(class.find_method(name, parameters).to_managed(t.inner())).map(|found| found.map(Method))
        })
    }

    /// The first that `look` finds, from this class up.
    fn find<'t, T>(self, t: Thread<'t>, look: impl Fn(Ty) -> Thrown<'t, Option<T>>) -> Thrown<'t, Option<T>> {
        let mut class = Some(self);
        while let Some(looked_at) = class {
            if let Some(found) = look(looked_at.0)? {
                return Ok(Some(found));
            }
            class = looked_at.base(t)?;
        }
        Ok(None)
    }

    /// Calls a static method by its name.
    ///
    /// # Errors
    /// MissingMethodException; what the method throws.
    pub fn call<'t>(self, t: Thread<'t>, name: &str, arguments: &[Value<'_>]) -> Thrown<'t, Value<'t>> {
        self.method(t, name, arguments.len())?.invoke(t, None, arguments)
    }

    /// A new object, by the constructor with so many parameters.
    ///
    /// # Errors
    /// MissingMethodException; what the constructor throws.
    pub fn new_object<'t>(self, t: Thread<'t>, arguments: &[Value<'_>]) -> Thrown<'t, Object<'t>> {
        let constructor = t.caught(self.0.find_method(".ctor", arguments.len()).to_managed(t.inner()))?;
        let Some(constructor) = constructor else { return self.missing(t, ".ctor") };
        match calls::invoke(t, constructor, None, arguments)? {
            Value::Object(made) => Ok(made),
            _ => self.missing(t, ".ctor"),
        }
    }

    /// The value of a static field or property.
    ///
    /// # Errors
    /// MissingFieldException; what the class constructor or the property throws.
    pub fn get<'t>(self, t: Thread<'t>, name: &str) -> Thrown<'t, Value<'t>> {
        match self.find_method(t, &format!("get_{name}"), 0)? {
            Some(getter) => getter.invoke(t, None, &[]),
            None => self.field(t, name)?.get(t, None),
        }
    }

    /// Sets a static field or property.
    ///
    /// # Errors
    /// MissingFieldException; what the class constructor or the property throws.
    pub fn set<'t>(self, t: Thread<'t>, name: &str, value: Value<'_>) -> Thrown<'t, ()> {
        match self.find_method(t, &format!("set_{name}"), 1)? {
            Some(setter) => setter.invoke(t, None, &[value]).map(|_| ()),
            None => self.field(t, name)?.set(t, None, value),
        }
    }
}

impl Method {
    /// The name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Whether it has no `this`.
    pub fn is_static(self) -> bool {
        self.0.is_static()
    }

    /// The number of its parameters, without `this`.
    ///
    /// # Errors
    /// Load errors.
    pub fn parameter_count(self, t: Thread<'_>) -> Thrown<'_, usize> {
        Ok(t.caught(self.0.sig().to_managed(t.inner()))?.params.len())
    }

    /// Whether the parameter is a reference: `ref`, `out` or `in`.
    ///
    /// # Errors
    /// Load errors.
    pub fn is_by_ref(self, t: Thread<'_>, parameter: usize) -> Thrown<'_, bool> {
        let sig = t.caught(self.0.sig().to_managed(t.inner()))?;
        Ok(sig.params.get(parameter).is_some_and(|ty| ty.is_byref()))
    }

    /// The class that declares it.
    pub fn class(self) -> Class {
        Class(self.0.owner)
    }

    /// Calls the method, virtually if it is virtual. Numbers must have the parameters' types; structs are boxed
    /// objects.
    ///
    /// # Errors
    /// ArgumentException for arguments that do not fit, TargetParameterCountException; NotSupportedException for
    /// methods with open type parameters, any number of arguments, or an address as result; what the method throws.
    pub fn invoke<'t>(self, t: Thread<'t>, this: Option<Object<'_>>, arguments: &[Value<'_>]) -> Thrown<'t, Value<'t>> {
        calls::invoke(t, self.0, this, arguments)
    }
}

impl Method {
    /// Calls the method like [`Method::invoke`], also with parameters that are references (`ref`, `out`, `in`): each
    /// gets a variable with the argument's value, whose value after the call replaces the argument. For `out`,
    /// [`Value::Unit`] will do. If the method throws, the arguments stay as they were.
    ///
    /// # Errors
    /// Those of [`Method::invoke`].
    pub fn invoke_by_ref<'t>(
        self,
        t: Thread<'t>,
        this: Option<Object<'_>>,
        arguments: &mut [Value<'t>],
    ) -> Thrown<'t, Value<'t>> {
        calls::invoke_by_ref(t, self.0, this, arguments)
    }
}

impl Field {
    /// The name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The value of a static field (without object), or that of an object.
    ///
    /// # Errors
    /// ArgumentException if the object is of another class; what the class constructor throws.
    pub fn get<'t>(self, t: Thread<'t>, object: Option<Object<'_>>) -> Thrown<'t, Value<'t>> {
        let target = calls::target(t, self.0.owner, self.0.is_static(), object)?;
        let ty = t.caught(self.0.ty().to_managed(t.inner()))?;
        let value = t.caught(field_access::get_value(t.inner(), self.0, target))?;
        Ok(calls::unboxed(t, ty, value))
    }

    /// Sets a static field (without object), or that of an object.
    ///
    /// # Errors
    /// ArgumentException if the object or the value does not fit; what the class constructor throws.
    pub fn set<'t>(self, t: Thread<'t>, object: Option<Object<'_>>, value: Value<'_>) -> Thrown<'t, ()> {
        let target = calls::target(t, self.0.owner, self.0.is_static(), object)?;
        let ty = t.caught(self.0.ty().to_managed(t.inner()))?;
        let boxed = calls::boxed(t, ty, value)?;
        t.caught(field_access::set_value(t.inner(), self.0, target, boxed))
    }
}

impl Property {
    /// The name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The method that gets its value; None for one that can only be set.
    pub fn getter(self) -> Option<Method> {
        self.0.getter.map(Method)
    }

    /// The method that sets its value; None for one that can only be read.
    pub fn setter(self) -> Option<Method> {
        self.0.setter.map(Method)
    }

    /// The value of a static property (without object), or that of an object.
    ///
    /// # Errors
    /// ArgumentException if it has no getter or the object is of another class; what the getter throws.
    pub fn get<'t>(self, t: Thread<'t>, object: Option<Object<'_>>) -> Thrown<'t, Value<'t>> {
        match self.getter() {
            Some(getter) => getter.invoke(t, object, &[]),
            None => t.throw("System.ArgumentException", &format!("{self:?} has no getter.")),
        }
    }

    /// Sets a static property (without object), or that of an object.
    ///
    /// # Errors
    /// ArgumentException if it has no setter or the object or the value does not fit; what the setter throws.
    pub fn set<'t>(self, t: Thread<'t>, object: Option<Object<'_>>, value: Value<'_>) -> Thrown<'t, ()> {
        match self.setter() {
            Some(setter) => setter.invoke(t, object, &[value]).map(|_| ()),
            None => t.throw("System.ArgumentException", &format!("{self:?} has no setter.")),
        }
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.full_name())
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.owner.full_name(), self.0.name)
    }
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.owner.full_name(), self.0.name)
    }
}

impl fmt::Debug for Assembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.display_name())
    }
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full_name())
    }
}

/// An object, as long as the run or scope lasts that made the handle.
#[derive(Clone, Copy)]
pub struct Object<'t> {
    handle: Handle,
    /// Bound to the scope, and to its thread.
    scope: PhantomData<(&'t (), *const ())>,
}

/// An object that lives until this is dropped, on any thread.
pub struct Rooted(RootedHandle);

impl<'t> Object<'t> {
    pub(crate) fn new(handle: Handle) -> Object<'t> {
        Object { handle, scope: PhantomData }
    }

    /// The object itself, for the time that the calling frame holds it.
    pub(crate) fn obj<'c>(self, t: Thread<'c>) -> Obj<'c> {
        match Obj::of_handle(t.inner(), self.handle) {
            Ok(Some(object)) => object,
            _ => panic!("an object of a domain that is unloaded"),
        }
    }

    /// Its class.
    pub fn class(self, t: Thread<'_>) -> Class {
        Class::new(self.obj(t).ty())
    }

    /// Whether it can be used as the class.
    ///
    /// # Errors
    /// TypeLoadException.
    pub fn is<'c>(self, t: Thread<'c>, class: Class) -> Thrown<'c, bool> {
        t.caught(self.obj(t).is_instance(t.inner(), class.ty()))
    }

    /// Whether both are the same object.
    pub fn is_same(self, t: Thread<'_>, other: Object<'_>) -> bool {
        self.obj(t).address() == other.obj(t).address()
    }

    /// Calls a method of its class by name, virtually.
    ///
    /// # Errors
    /// MissingMethodException; ArgumentException for arguments that do not fit; what the method throws.
    pub fn call<'c>(self, t: Thread<'c>, name: &str, arguments: &[Value<'_>]) -> Thrown<'c, Value<'c>> {
        let method = self.class(t).method(t, name, arguments.len())?;
        method.invoke(t, if method.is_static() { None } else { Some(self) }, arguments)
    }

    /// The value of a property, or a field.
    ///
    /// # Errors
    /// MissingFieldException if there is neither; what the property throws.
    pub fn get<'c>(self, t: Thread<'c>, name: &str) -> Thrown<'c, Value<'c>> {
        let class = self.class(t);
        match class.find_method(t, &format!("get_{name}"), 0)? {
            Some(getter) => getter.invoke(t, Some(self), &[]),
            None => class.field(t, name)?.get(t, Some(self)),
        }
    }

    /// Sets a property, or a field.
    ///
    /// # Errors
    /// MissingFieldException if there is neither; ArgumentException for a value that does not fit; what the property
    /// throws.
    pub fn set<'c>(self, t: Thread<'c>, name: &str, value: Value<'_>) -> Thrown<'c, ()> {
        let class = self.class(t);
        match class.find_method(t, &format!("set_{name}"), 1)? {
            Some(setter) => setter.invoke(t, Some(self), &[value]).map(|_| ()),
            None => class.field(t, name)?.set(t, Some(self), value),
        }
    }

    /// The text of a string; None for other objects. Unpaired surrogates are replaced.
    pub fn text(self, t: Thread<'_>) -> Option<String> {
        self.obj(t).as_str().map(saki_runtime::Str::to_rust)
    }

    /// `ToString ()`.
    ///
    /// # Errors
    /// What the method throws.
    pub fn to_text<'c>(self, t: Thread<'c>) -> Thrown<'c, String> {
        Ok(self.call(t, "ToString", &[])?.as_text(t).unwrap_or_default())
    }

    /// The value in the box of a number, character or `bool`; the object itself otherwise.
    pub fn value<'c>(self, t: Thread<'c>) -> Value<'c> {
        let object = self.obj(t);
        calls::unboxed(t, object.ty(), Some(object))
    }

    /// The number of elements of an array; None for other objects.
    pub fn len(self, t: Thread<'_>) -> Option<usize> {
        self.obj(t).as_array().map(saki_runtime::Array::length)
    }

    /// An element of an array, as `Array.GetValue`.
    ///
    /// # Errors
    /// IndexOutOfRangeException; MissingMethodException if it is no array.
    pub fn element<'c>(self, t: Thread<'c>, index: usize) -> Thrown<'c, Value<'c>> {
        let class = t.core_class("System.Array")?;
        let int = t.core_class("System.Int32")?;
        let method = class.method_with(t, "GetValue", &[int])?;
        let value = method.invoke(t, Some(self), &[Value::I32(i32::try_from(index).unwrap_or(i32::MAX))])?;
        Ok(value.as_object().map_or(value, |boxed| boxed.value(t)))
    }

    /// Sets an element of an array, as `Array.SetValue`.
    ///
    /// # Errors
    /// IndexOutOfRangeException; InvalidCastException for a value that does not fit.
    pub fn set_element<'c>(self, t: Thread<'c>, index: usize, value: Value<'_>) -> Thrown<'c, ()> {
        let element = self.obj(t).ty().element().map_or(t.core_class("System.Object")?, Class::new);
        let boxed = calls::boxed(t, element.ty(), value)?.map(|boxed| t.keep(boxed));
        let class = t.core_class("System.Array")?;
        let (object, int) = (t.core_class("System.Object")?, t.core_class("System.Int32")?);
        let method = class.method_with(t, "SetValue", &[object, int])?;
        let index = Value::I32(i32::try_from(index).unwrap_or(i32::MAX));
        method.invoke(t, Some(self), &[boxed.into(), index]).map(|_| ())
    }

    /// Copies elements of an array of numbers, characters, `bool`s or structs without references, from `first` on,
    /// as many as fill `bytes`.
    ///
    /// # Errors
    /// ArgumentException if it is no such array, `bytes` is no multiple of an element's size, or there are fewer.
    pub fn read_elements<'c>(self, t: Thread<'c>, first: usize, bytes: &mut [u8]) -> Thrown<'c, ()> {
        let array = self.obj(t);
        let start = elements_at(t, array, first, bytes.len())?;
        // SAFETY: so many bytes of elements lie there, by the check, in an array that `array` keeps in place.
        unsafe { start.copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    /// Sets elements of an array, as [`Object::read_elements`] reads them.
    ///
    /// # Errors
    /// As there.
    pub fn write_elements<'c>(self, t: Thread<'c>, first: usize, bytes: &[u8]) -> Thrown<'c, ()> {
        let array = self.obj(t);
        let start = elements_at(t, array, first, bytes.len())?;
        // SAFETY: so many bytes of elements lie there, which have no references: any bytes are a value of theirs.
        unsafe { start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    /// Keeps the object beyond the scope.
    pub fn root(self, t: Thread<'_>) -> Rooted {
        let object = self.obj(t);
        match RootedHandle::try_new(t.inner(), HandleKind::Normal, Some(object)) {
            Some(handle) => Rooted(handle),
            None => panic!("all handles are in use"),
        }
    }
}

/// Where the elements from `first` on lie that have so many bytes, in an array without references.
fn elements_at<'t>(t: Thread<'t>, object: Obj<'_>, first: usize, size_bytes: usize) -> Thrown<'t, *mut u8> {
    let Some(array) = object.as_array().filter(|array| array.element_references().is_empty()) else {
        let message = format!("{} is no array of values without references.", object.ty().full_name());
        return t.throw("System.ArgumentException", &message);
    };
    let count = size_bytes / array.element_size_bytes().max(1);
    if count * array.element_size_bytes() != size_bytes
        || first.checked_add(count).is_none_or(|end| end > array.length())
    {
        let message = format!(
            "{size_bytes} bytes from element {first} on, of {} elements of {} bytes.",
            array.length(),
            array.element_size_bytes()
        );
        return t.throw("System.ArgumentException", &message);
    }
    Ok(array.element_address(first))
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({:#x})", self.handle.bits())
    }
}

impl Rooted {
    /// The object, in a run or scope.
    pub fn get<'t>(&self, t: Thread<'t>) -> Object<'t> {
        match self.0.target(t.inner()) {
            Some(object) => t.keep(object),
            None => panic!("an object of a domain that is unloaded"),
        }
    }
}

impl fmt::Debug for Rooted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rooted")
    }
}
