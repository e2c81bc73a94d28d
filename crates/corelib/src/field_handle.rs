//! System.RuntimeFieldHandle: facts about fields, their values and places, also through a TypedReference.

use crate::arguments::{FieldArgument, ObjectPlace, TypeArgument};
use crate::class_fields::{WordResult, field_of, ty_of};
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_metadata::TableId;
use saki_reflect::field_access::{get_value, load_direct, make_typed_reference, set_value, store_direct};
use saki_reflect::native_memory::StructPlace;
use saki_runtime::exec::thread_statics::thread_static_address;
use saki_runtime::exec::{class_init, invoke};
use saki_runtime::object::{exceptions, method_tables, statics};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Place, Slot, Str, ToManaged};
use saki_types::{ElementType, Field, Ty, universe};

fn get_name<'t>(t: CurrentThread<'t>, field: Option<Obj>) -> Managed<Str<'t>> {
    Str::new(t, field_of(field).name)
}

fn get_utf8_name(_t: CurrentThread, field: FieldArgument) -> *const u8 {
    field.field().name.as_ptr()
}

fn get_attributes(_t: CurrentThread, field: FieldArgument) -> i32 {
    i32::from(field.field().flags)
}

fn get_declaring_type<'t>(t: CurrentThread<'t>, field: FieldArgument) -> Managed<Obj<'t>> {
    Obj::of_type(t, field.field().owner)
}

/// Whether managed code may use the address of the field. Of a static field that is a struct it expects the address of
/// a reference to a boxed value there, where the value itself lies.
fn has_address(_t: CurrentThread, field: Option<Obj>) -> bool {
    let field = field_of(field);
    let is_struct = |ty: Ty| ty.element_type == ElementType::ValueType && !ty.is_enum();
    let is_static_struct = field.is_static() && !field.ty().is_ok_and(|ty| !is_struct(ty));
    !field.is_literal() && !field.is_thread_static && !field.owner.is_open && !is_static_struct
}

/// Bytes from the first field of an object.
fn get_offset(t: CurrentThread, field: Option<Obj>) -> Managed<i32> {
    let field = field_of(field);
    let offset = field.offset_bytes().to_managed(t)? as i32;
    Ok(if field.owner.is_value_type() { offset } else { offset - OBJECT_HEADER_BYTES as i32 })
}

fn get_static_address(t: CurrentThread, field: Option<Obj>) -> Managed<isize> {
    let field = field_of(field);
    class_init::ensure(t, field.owner)?;
    let address = match field.is_thread_static {
        true => thread_static_address(t, field)?,
        false => statics::static_field_address(field).to_managed(t)?,
    };
    Ok(address.addr().cast_signed())
}

fn get_token(_t: CurrentThread, field: Option<Obj>) -> i32 {
    token_of(field_of(field))
}

fn token_at(_t: CurrentThread, field: isize) -> i32 {
    token_of(field_at(field))
}

fn token_of(field: &'static Field) -> i32 {
    field.image().shown_token(TableId::Field, field.rid).0 as i32
}

/// Runs the class constructor before an access to a static field.
///
/// # Errors
/// TargetInvocationException around what class initialisation throws.
fn initialise(t: CurrentThread, field: &'static Field) -> Managed<()> {
    if !field.is_static() || field.is_literal() || class_init::ensure(t, field.owner).is_ok() {
        return Ok(());
    }
    let thrown = t.take_exception();
    let class = universe().corlib().find_type("System.Reflection", "TargetInvocationException").to_managed(t)?;
    let constructor = class.map(|class| class.find_method_sig(".ctor", &[universe().exception()])).transpose();
    match (class, constructor.to_managed(t)?.flatten()) {
        (Some(class), Some(constructor)) => {
            let wrapper = Obj::new(t, class)?;
            invoke::invoke(t, constructor, &[Slot::from_ref(wrapper), Slot::from_ref(thrown)])?;
            Err(t.throw(wrapper))
        }
        _ => Err(t.throw(thrown)),
    }
}

fn get_boxed<'t>(
    t: CurrentThread<'t>,
    field: Option<Obj>,
    target: Option<Obj<'t>>,
    _ty: Option<Obj>,
    _declaring: Option<Obj>,
    is_initialised: Place<u8>,
) -> Managed<Option<Obj<'t>>> {
    let field = field_of(field);
    initialise(t, field)?;
    let value = get_value(t, field, target)?;
    is_initialised.set(1);
    Ok(value)
}

fn set_boxed<'t>(
    t: CurrentThread<'t>,
    field: Option<Obj>,
    target: Option<Obj<'t>>,
    value: Option<Obj<'t>>,
    _ty: Option<Obj>,
    _declaring: Option<Obj>,
    is_initialised: Place<u8>,
) -> Managed<()> {
    let field = field_of(field);
    initialise(t, field)?;
    set_value(t, field, target, value)?;
    is_initialised.set(1);
    Ok(())
}

saki_reflect::direct_field_access!(get_direct, set_direct, |_t, field| Ok(field_of(field)));

/// .NET 10: the place of a field in an object, for a TypedReference.
fn data_reference(t: CurrentThread, field: isize, target: ObjectPlace, result: *const *mut *mut u8) -> Managed<()> {
    let field = field_at(field);
    let Some(target) = target.get() else { return Err(exceptions::throw_null_reference(t)) };
    let header_bytes = if field.owner.is_value_type() { OBJECT_HEADER_BYTES as usize } else { 0 };
    let address = target.field_address::<u8>(field.offset_bytes().to_managed(t)? as usize + header_bytes);
    // SAFETY: managed code passes a ByteRefOnStack, whose word is the address of a reference among its locals.
    unsafe { result.read().write(address) };
    Ok(())
}

/// .NET 10.
fn get_direct_place(
    t: CurrentThread,
    field: isize,
    reference: StructPlace,
    _ty: TypeArgument,
    _context: TypeArgument,
    result: ObjectPlace,
) -> Managed<()> {
    if let Some(value) = load_direct(t, field_at(field), reference)? {
        result.set(t, value);
    }
    Ok(())
}

/// .NET 10.
fn set_direct_place(
    t: CurrentThread,
    field: isize,
    reference: StructPlace,
    value: ObjectPlace,
    _ty: TypeArgument,
    _context: TypeArgument,
) -> Managed<()> {
    store_direct(t, field_at(field), reference, value.get())
}

/// The field of an exact type.
fn on_type(t: CurrentThread, result: WordResult, field: FieldArgument, ty: Option<Obj>) -> Managed<()> {
    on_type_of(t, result, field, ty_of(ty))
}

fn on_type_of_table(t: CurrentThread, result: WordResult, field: FieldArgument, table: *const ()) -> Managed<()> {
    // SAFETY: managed code passes the table of a RuntimeType.
    on_type_of(t, result, field, unsafe { method_tables::type_of_handle(table.addr()) })
}

fn on_type_of(t: CurrentThread, result: WordResult, field: FieldArgument, ty: Ty) -> Managed<()> {
    let mut field = field.field();
    if field.owner != ty && field.owner.generic_definition() == ty.generic_definition() {
        field = ty.field_by_rid(field.rid).to_managed(t)?;
    }
    // SAFETY: compiled code passes the address of a variable for the result.
    unsafe { result.write(std::ptr::from_ref::<Field>(field).addr()) };
    Ok(())
}

/// Types are exact, so that no field needs an object to know its type.
fn needs_object(_t: CurrentThread, _field: FieldArgument) -> bool {
    false
}

fn no_loader_allocator<'t>(_t: CurrentThread<'t>, _field: FieldArgument) -> Option<Obj<'t>> {
    None
}

fn get_data(t: CurrentThread, field: FieldArgument, address: *mut usize, size_bytes: *mut u32) -> Managed<i32> {
    let Some(data) = field.field().rva_data().to_managed(t)? else { return Ok(0) };
    // SAFETY: managed code passes the addresses of locals, which live as long as the call.
    unsafe {
        address.write(data.as_ptr().addr());
        size_bytes.write(data.len() as u32);
    }
    Ok(1)
}

/// The field of a handle that managed code passes as a native word.
fn field_at(handle: isize) -> &'static Field {
    // SAFETY: managed code passes the handle of an RtFieldInfo, the address of a field's record.
    unsafe { (handle.cast_unsigned() as *const Field).as_ref() }
        .unwrap_or_else(|| saki_base::bug!("a null field handle"))
}

fn value_place(
    t: CurrentThread,
    field: isize,
    target: ObjectPlace,
    _ty: TypeArgument,
    _declaring: TypeArgument,
    is_initialised: *mut i32,
    result: ObjectPlace,
) -> Managed<()> {
    let field = field_at(field);
    initialise(t, field)?;
    result.set(t, get_value(t, field, target.get())?);
    // SAFETY: managed code passes the address of a local, which lives as long as the call.
    unsafe { is_initialised.write(1) };
    Ok(())
}

fn set_value_place(
    t: CurrentThread,
    field: isize,
    target: ObjectPlace,
    value: ObjectPlace,
    _ty: TypeArgument,
    _declaring: TypeArgument,
    is_initialised: *mut i32,
) -> Managed<()> {
    let field = field_at(field);
    initialise(t, field)?;
    set_value(t, field, target.get(), value.get())?;
    // SAFETY: managed code passes the address of a local, which lives as long as the call.
    unsafe { is_initialised.write(1) };
    Ok(())
}

fn declaring_table(t: CurrentThread, field: FieldArgument) -> Managed<*const ()> {
    method_tables::method_table(field.field().owner).to_managed(t).map(<*const _>::cast)
}

/// The internal calls of `System.RuntimeFieldHandle`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net9 System.RuntimeFieldHandle::GetName", &get_name),
    InternalCall::new("@net9 System.RuntimeFieldHandle::_GetUtf8Name", &get_utf8_name),
    InternalCall::new("@net System.RuntimeFieldHandle::GetAttributes", &get_attributes),
    InternalCall::new("@net9 System.RuntimeFieldHandle::GetApproxDeclaringType", &get_declaring_type),
    InternalCall::new("@net System.RuntimeFieldHandle::IsFastPathSupported", &has_address),
    InternalCall::new("@net System.RuntimeFieldHandle::GetInstanceFieldOffset", &get_offset),
    InternalCall::new("@net System.RuntimeFieldHandle::GetStaticFieldAddress", &get_static_address),
    InternalCall::new("@net9 System.RuntimeFieldHandle::GetToken", &get_token),
    InternalCall::new("@net10 System.RuntimeFieldHandle::GetToken", &token_at),
    InternalCall::new("@net9 System.RuntimeFieldHandle::GetValue", &get_boxed),
    InternalCall::new("@net9 System.RuntimeFieldHandle::SetValue", &set_boxed),
    InternalCall::new("@net9 System.RuntimeFieldHandle::GetValueDirect", &get_direct),
    InternalCall::new("@net10 QCall::RuntimeFieldHandle_GetFieldDataReference", &data_reference),
    InternalCall::new("@net10 QCall::RuntimeFieldHandle_GetValueDirect", &get_direct_place),
    InternalCall::new("@net10 QCall::RuntimeFieldHandle_SetValueDirect", &set_direct_place),
    InternalCall::new("@net9 System.RuntimeFieldHandle::SetValueDirect", &set_direct),
    InternalCall::new("@net9 System.TypedReference::InternalMakeTypedReference", &make_typed_reference),
    InternalCall::new("@net9 System.RuntimeFieldHandle::GetStaticFieldForGenericType", &on_type),
    InternalCall::new("@net10 System.RuntimeFieldHandle::GetStaticFieldForGenericType", &on_type_of_table),
    InternalCall::new("@net System.RuntimeFieldHandle::AcquiresContextFromThis", &needs_object),
    InternalCall::new("@net9 System.RuntimeFieldHandle::GetLoaderAllocator", &no_loader_allocator),
    InternalCall::new("@net QCall::RuntimeFieldHandle_GetRVAFieldInfo", &get_data),
    InternalCall::new("@net10 QCall::RuntimeFieldHandle_GetValue", &value_place),
    InternalCall::new("@net10 QCall::RuntimeFieldHandle_SetValue", &set_value_place),
    InternalCall::new("@net10 System.RuntimeFieldHandle::GetUtf8NameInternal", &get_utf8_name),
    InternalCall::new("@net10 System.RuntimeFieldHandle::GetApproxDeclaringMethodTable", &declaring_table),
    InternalCall::new("@net10 System.RuntimeFieldHandle::GetLoaderAllocatorInternal", &no_loader_allocator),
];
