//! Reading and writing fields by reflection.
//!
//! Invariant: whatever the class library has checked, a value is stored only in a variable whose type it has
//! (`typed_values`), and a field is looked for only in an object that has it. Serialization, remoting and
//! `SetValueDirect` come here with objects that nobody has looked at.

use crate::constants::{constant_object, constant_of};
use crate::handles::{Handle, field_of, require_field};
use crate::invocation::pointer_object;
use crate::native_memory::StructPlace;
use crate::real_proxy;
use crate::runtime_type::this_type;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_metadata::{TableId, Token};
use saki_runtime::ExceptionType;
use saki_runtime::exec::class_init;
use saki_runtime::object;
use saki_runtime::object::exceptions::{self, Thrown, ToManaged};
use saki_runtime::object::method_tables;
use saki_runtime::object::{statics, typed_values};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, ObjRef, Word};
use saki_types::{Field, LibraryType, Ty, Type, universe};

/// A variable that reflection reads or writes.
///
/// Invariant: a variable of type `ty` lies at `address`: a static field, a field of `holder`, or what a TypedReference
/// leads to.
#[derive(Clone, Copy)]
pub(crate) struct Variable<'t> {
    ty: Ty,
    address: *mut u8,
    /// The object that the variable is known to lie in.
    holder: Option<Obj<'t>>,
}

/// The variable of a field; `target` is the (boxed) object of an instance field.
fn variable_of<'t>(t: CurrentThread, field: &'static Field, ty: Ty, target: Option<Obj<'t>>) -> Managed<Variable<'t>> {
    if field.is_static() {
        if field.owner.is_open {
            let message =
                "Late bound operations cannot be performed on types for which ContainsGenericParameters is true.";
            return Err(exceptions::throw(t, ExceptionType::InvalidOperation, message));
        }
        class_init::ensure(t, field.owner)?;
        let address = match field.is_thread_static {
            true => saki_runtime::exec::thread_statics::thread_static_address(t, field)?,
            false => statics::static_field_address(field).to_managed(t)?,
        };
        return Ok(Variable { ty, address, holder: None });
    }
    let Some(target) = target else {
        return Err(exceptions::throw_default(t, ExceptionType::NullReference));
    };
    let address = address_in(t, field, target)?;
    Ok(Variable { ty, address, holder: Some(target) })
}

fn throw_not_a_field(t: CurrentThread, field: &'static Field, target: Ty) -> Thrown {
    let (name, owner, target) = (field.name, field.owner.full_name(), target.full_name());
    let message = format!(
        "Field '{name}' defined on type '{owner}' is not a field on the target object which is of type '{target}'."
    );
    exceptions::throw(t, ExceptionType::Argument, &message)
}

fn throw_constant(t: CurrentThread) -> Thrown {
    exceptions::throw(t, ExceptionType::FieldAccess, "Cannot set a constant field.")
}

/// The variable of a field of `target`'s class.
pub(crate) fn field_variable<'t>(
    t: CurrentThread<'t>,
    field: &'static Field,
    target: Obj<'t>,
) -> Managed<Variable<'t>> {
    let ty = field.ty().to_managed(t)?;
    variable_of(t, field, ty, Some(target))
}

/// The address of an instance field in its (boxed) object.
///
/// # Errors
/// ArgumentException for an object that does not have the field.
fn address_in(t: CurrentThread, field: &'static Field, target: Obj) -> Managed<*mut u8> {
    let has_field = match field.owner.is_value_type() {
        true => target.ty() == field.owner,
        false => target.is_instance(t, field.owner)? && !is_proxy_without(target, field),
    };
    if !has_field || field.is_static() {
        return Err(throw_not_a_field(t, field, target.ty()));
    }
    let offset = field.offset_bytes().to_managed(t)? as usize;
    let data = target.data();
    // Fields of classes count from the object's start.
    let from_start = if field.owner.is_value_type() { 0 } else { OBJECT_HEADER_BYTES as usize };
    Ok(data.wrapping_add(offset).wrapping_sub(from_start))
}

/// Whether the object is a transparent proxy, which has the fields of TransparentProxy and none of the class that it
/// stands for.
fn is_proxy_without(target: Obj, field: &'static Field) -> bool {
    target.is_proxy() && !field.owner.is(LibraryType::TransparentProxy)
}

impl<'t> Variable<'t> {
    pub(crate) fn ty(&self) -> Ty {
        self.ty
    }

    /// The value, boxed.
    pub(crate) fn load(&self, t: CurrentThread<'t>) -> Managed<Option<Obj<'t>>> {
        if self.ty.is_value_type() {
            // SAFETY: by the invariant a value of this type lies at the address.
            return unsafe { Obj::boxed(t, self.ty, self.address) };
        }
        if self.ty.is_pointer() {
            // SAFETY: by the invariant a pointer lies at the address.
            return pointer_object(t, self.ty, unsafe { self.address.cast::<usize>().read() });
        }
        // SAFETY: by the invariant a reference lies at the address.
        Ok(unsafe { Obj::from_word(self.address.cast::<ObjRef>().read()) })
    }

    /// Stores a boxed value (for pointers, an IntPtr), if the variable's type allows it. Null stores zeros.
    ///
    /// # Errors
    /// ArgumentException for a value of another type.
    pub(crate) fn store(&self, t: CurrentThread<'t>, value: Option<Obj<'t>>) -> Managed<()> {
        let Variable { ty, address, holder } = *self;
        // .NET's class libraries store a box of the Nullable<T> itself, which other code never sees.
        let is_box_of_nullable = value.is_some_and(|value| ty.is_nullable() && value.ty() == ty);
        let value = match value {
            Some(value) if !is_box_of_nullable => Some(typed_values::converted(t, value, ty)?),
            value => value,
        };
        if !ty.is_value_type() && !ty.is_pointer() {
            match holder {
                // SAFETY: by the invariant the variable lies in the object.
                Some(holder) => unsafe { holder.store(t, address.addr() - holder.address(), value) },
                // SAFETY: by the invariant a reference lies at the address; the barrier finds out in which object, if
                // in any.
                None => unsafe { saki_gc::barrier::store_ref_unknown(t.managed(), address.cast(), value.word()) },
            }
            return Ok(());
        }
        let size = ty.value_size_bytes().to_managed(t)? as usize;
        let Some(value) = value.filter(|_| is_box_of_nullable || !ty.is_nullable()) else {
            // SAFETY: by the invariant the variable has this size; zeros need no barrier.
            unsafe { std::ptr::write_bytes(address, 0, size) };
            return value.map_or(Ok(()), |value| self.store_in_nullable(t, value));
        };
        // SAFETY: by the invariant a value of this type lies at the address; `value` stands for one, by the check.
        unsafe {
            match ty.is_pointer() {
                true => std::ptr::copy_nonoverlapping(value.data(), address, size),
                false => object::copy_struct(t, address, value.data(), ty),
            }
        }
        Ok(())
    }

    /// Makes a zeroed Nullable<T> hold the T in a box.
    fn store_in_nullable(&self, t: CurrentThread, value: Obj) -> Managed<()> {
        let (has_value, at) = object::nullable_offsets(t, self.ty)?;
        // SAFETY: by the invariant a Nullable<T> lies at the address; `value` is a box of T, by the check in `store`.
        unsafe {
            object::copy_struct(t, self.address.add(at), value.data(), self.ty.args[0]);
            self.address.add(has_value).write(1);
        }
        Ok(())
    }
}

/// The value of a field, boxed. Constants come from metadata.
///
/// # Errors
/// NullReferenceException, TypeInitializationException, load errors.
pub fn get_value<'t>(t: CurrentThread<'t>, field: &'static Field, target: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    let ty = field.ty().to_managed(t)?;
    if field.is_literal() {
        let token = Token::new(TableId::Field, field.rid);
        return match constant_of(t, field.image(), token)? {
            Some(value) => constant_object(t, &value, Some(ty)),
            None => Ok(None),
        };
    }
    // A class with a field whose type is missing is unusable as a whole.
    if !field.owner.is_interface() && !field.owner.is_open {
        field.owner.instance_layout().to_managed(t)?;
    }
    if let Some(proxy) = remote(field, target) {
        return real_proxy::get_field(t, proxy, field);
    }
    variable_of(t, field, ty, target)?.load(t)
}

/// The target if it is a transparent proxy, which does not have the fields of its class.
fn remote<'t>(field: &'static Field, target: Option<Obj<'t>>) -> Option<Obj<'t>> {
    let may_be_remote = !field.is_static() && field.owner.is_marshal_by_ref();
    target.filter(|target| may_be_remote && target.is_proxy())
}

/// Sets a field to a value of its type, or to a number of a narrower type.
///
/// # Errors
/// NullReferenceException, TypeInitializationException, load errors; ArgumentException for a value of another type,
/// FieldAccessException for a constant.
pub fn set_value<'t>(
    t: CurrentThread<'t>,
    field: &'static Field,
    target: Option<Obj<'t>>,
    value: Option<Obj<'t>>,
) -> Managed<()> {
    if field.is_literal() {
        return Err(throw_constant(t));
    }
    if let Some(proxy) = remote(field, target) {
        return real_proxy::set_field(t, proxy, field, value);
    }
    let ty = field.ty().to_managed(t)?;
    variable_of(t, field, ty, target)?.store(t, value)
}

fn get_value_internal<'t>(
    t: CurrentThread<'t>,
    this: Option<Obj>,
    target: Option<Obj<'t>>,
) -> Managed<Option<Obj<'t>>> {
    let field = require_field(t, this)?;
    if field.image().assembly().reflection_only {
        let message = "It is illegal to get the value on a field on a type loaded using the ReflectionOnly methods.";
        return Err(exceptions::throw(t, ExceptionType::InvalidOperation, message));
    }
    get_value(t, field, target)
}

fn set_value_internal<'t>(
    t: CurrentThread<'t>,
    field: Option<Obj>,
    target: Option<Obj<'t>>,
    value: Option<Obj<'t>>,
) -> Managed<()> {
    let field = require_field(t, field)?;
    if field.image().assembly().reflection_only {
        let message = "It is illegal to set the value on a field on a type loaded using the ReflectionOnly methods.";
        return Err(exceptions::throw(t, ExceptionType::InvalidOperation, message));
    }
    set_value(t, field, target, value)
}

fn get_raw_constant_value<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let field = require_field(t, this)?;
    match constant_of(t, field.image(), Token::new(TableId::Field, field.rid))? {
        Some(value) => constant_object(t, &value, None),
        None => Err(exceptions::throw_default(t, ExceptionType::InvalidOperation)),
    }
}

static TYPED_REFERENCE_TYPE: ManagedField = ManagedField::new(LibraryType::TypedReference, "type");
static TYPED_REFERENCE_VALUE: ManagedField = ManagedField::new(LibraryType::TypedReference, "Value");

/// The type of the variable that a TypedReference refers to; None for a null reference.
fn type_in(reference: StructPlace) -> Option<Ty> {
    if !method_tables::are_wanted() {
        return reference.get::<Handle<Type>>(&TYPED_REFERENCE_TYPE).get();
    }
    let handle = reference.get::<usize>(&TYPED_REFERENCE_TYPE);
    // SAFETY: the field is null or has the handle of a RuntimeType.
    (handle != 0).then(|| unsafe { method_tables::type_of_handle(handle) })
}

/// The variable that a TypedReference refers to.
fn referenced<'t>(t: CurrentThread<'t>, reference: StructPlace) -> Managed<Variable<'t>> {
    let address = reference.get::<*mut u8>(&TYPED_REFERENCE_VALUE);
    match type_in(reference).filter(|_| !address.is_null()) {
        Some(ty) => Ok(Variable { ty, address, holder: None }),
        None => Err(exceptions::throw_default(t, ExceptionType::NullReference)),
    }
}

/// The variable of a field in the variable that a TypedReference refers to.
fn variable_in<'t>(t: CurrentThread<'t>, field: &'static Field, reference: StructPlace) -> Managed<Variable<'t>> {
    let outer = referenced(t, reference)?;
    if field.is_static() {
        return variable_of(t, field, field.ty().to_managed(t)?, None);
    }
    if outer.ty.is_value_type() {
        if outer.ty != field.owner {
            return Err(throw_not_a_field(t, field, outer.ty));
        }
        let offset = field.offset_bytes().to_managed(t)? as usize;
        let address = outer.address.wrapping_add(offset);
        return Ok(Variable { ty: field.ty().to_managed(t)?, address, holder: None });
    }
    let Some(target) = outer.load(t)? else {
        return Err(exceptions::throw_default(t, ExceptionType::NullReference));
    };
    let address = address_in(t, field, target)?;
    Ok(Variable { ty: field.ty().to_managed(t)?, address, holder: Some(target) })
}

/// Defines the two internal calls of `GetValueDirect (field, fieldType, TypedReference*, contextType)` and of its
/// counterpart, which stores, by a function that gives the field of a field's object.
#[macro_export]
macro_rules! direct_field_access {
    ($get:ident, $set:ident, $find:expr) => {
        fn $get<'t>(
            t: CurrentThread<'t>,
            field: Option<Obj>,
            _ty: Option<Obj>,
            reference: StructPlace,
            _context: Option<Obj>,
        ) -> Managed<Option<Obj<'t>>> {
            load_direct(t, $find(t, field)?, reference)
        }

        fn $set<'t>(
            t: CurrentThread<'t>,
            field: Option<Obj>,
            _ty: Option<Obj>,
            reference: StructPlace,
            value: Option<Obj<'t>>,
            _context: Option<Obj>,
        ) -> Managed<()> {
            store_direct(t, $find(t, field)?, reference, value)
        }
    };
}

direct_field_access!(get_value_direct, set_value_direct, require_field);

/// The value of a field of the variable that a TypedReference refers to.
///
/// # Errors
/// NullReferenceException for a null TypedReference; ArgumentException for a variable without the field.
pub fn load_direct<'t>(
    t: CurrentThread<'t>,
    field: &'static Field,
    reference: StructPlace,
) -> Managed<Option<Obj<'t>>> {
    match field.is_literal() {
        true => get_value(t, field, None),
        false => variable_in(t, field, reference)?.load(t),
    }
}

/// Stores a value in a field of the variable that a TypedReference refers to.
///
/// # Errors
/// FieldAccessException for a constant; NullReferenceException for a null TypedReference; ArgumentException for a
/// variable without the field, or a value of another type.
pub fn store_direct<'t>(
    t: CurrentThread<'t>,
    field: &'static Field,
    reference: StructPlace,
    value: Option<Obj<'t>>,
) -> Managed<()> {
    if field.is_literal() {
        return Err(throw_constant(t));
    }
    variable_in(t, field, reference)?.store(t, value)
}

/// `TypedReference.InternalMakeTypedReference(void* result, object target, IntPtr[] fields, RuntimeType lastFieldType)`
///
/// # Errors
/// ArgumentNullException without target or fields; ArgumentException for fields that do not lead to such a variable.
pub fn make_typed_reference(
    t: CurrentThread,
    result: StructPlace,
    target: Option<Obj>,
    fields: Option<Array>,
    last_type: Option<Obj>,
) -> Managed<()> {
    static CLASS: ManagedField = ManagedField::new(LibraryType::TypedReference, "Type");
    let (Some(target), Some(fields)) = (target, fields) else {
        return Err(exceptions::throw_argument_null(t, "target"));
    };
    let last_type = this_type(t, last_type)?;
    let mut variable: Option<Variable> = None;
    for index in 0..fields.length() {
        let Some(field) = fields.value::<Handle<Field>>(index).get() else {
            return Err(exceptions::throw_argument_null(t, "flds"));
        };
        let ty = field.ty().to_managed(t)?;
        let address = match variable {
            None => address_in(t, field, target)?,
            Some(outer) if outer.ty == field.owner && outer.ty.is_value_type() && !field.is_static() => {
                outer.address.wrapping_add(field.offset_bytes().to_managed(t)? as usize)
            }
            Some(outer) => return Err(throw_not_a_field(t, field, outer.ty)),
        };
        variable = Some(Variable { ty, address, holder: None });
    }
    let Some(Variable { address: at, .. }) = variable.filter(|variable| variable.ty == last_type) else {
        let message = "The fields do not lead to a variable of the type.";
        return Err(exceptions::throw_argument(t, message, "flds"));
    };
    let handle = match method_tables::are_wanted() {
        true => method_tables::type_handle(last_type).to_managed(t)?,
        false => crate::handles::address(last_type),
    };
    result.set(&TYPED_REFERENCE_TYPE, handle);
    result.set(&TYPED_REFERENCE_VALUE, at);
    // .NET's class libraries have the handle once.
    if CLASS.is_there() {
        result.set(&CLASS, handle);
    }
    Ok(())
}

/// Bytes from the start of the fields; 0 for constants, which have no storage.
fn get_field_offset(t: CurrentThread, this: Option<Obj>) -> Managed<i32> {
    let Some(field) = this.and_then(field_of).filter(|field| !field.is_literal()) else { return Ok(0) };
    let offset = field.offset_bytes().to_managed(t)? as i32;
    let is_from_object_start = !field.is_static() && !field.owner.is_value_type();
    Ok(if is_from_object_start { offset - OBJECT_HEADER_BYTES as i32 } else { offset })
}

/// `TypedReference.InternalToObject(void*)`
fn typed_reference_to_object<'t>(t: CurrentThread<'t>, reference: StructPlace) -> Managed<Option<Obj<'t>>> {
    let variable = referenced(t, reference)?;
    match variable.ty.is_pointer() {
        true => Variable { ty: universe().uintptr(), ..variable }.load(t),
        false => variable.load(t),
    }
}

/// The internal calls of `System.Reflection.RuntimeFieldInfo`, `System.RuntimeFieldHandle` and
/// `System.TypedReference`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.RuntimeFieldInfo::GetValueInternal", &get_value_internal),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::UnsafeGetValue", &get_value_internal),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::SetValueInternal", &set_value_internal),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::GetRawConstantValue", &get_raw_constant_value),
    InternalCall::new("System.Reflection.RuntimeFieldInfo::GetFieldOffset", &get_field_offset),
    InternalCall::new("System.RuntimeFieldHandle::SetValueInternal", &set_value_internal),
    InternalCall::new("System.RuntimeFieldHandle::GetValueDirect", &get_value_direct),
    InternalCall::new("System.RuntimeFieldHandle::SetValueDirect", &set_value_direct),
    InternalCall::new("System.TypedReference::InternalMakeTypedReference", &make_typed_reference),
    InternalCall::new("System.TypedReference::InternalToObject", &typed_reference_to_object),
];
