//! System.Runtime.CompilerServices: RuntimeHelpers, MethodTable, TypeHandle and CastHelpers, as far as managed code
//! other than the machine's own calls them.

use crate::arguments::{MethodArgument, ModuleArgument, ObjectPlace, TypeArgument};
use saki_abi::method_table::MethodTable;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::exec::{class_init, compile, monitors};
use saki_runtime::object::{self, delegates, exceptions, method_tables};
use saki_runtime::{CurrentThread, ExceptionType, InternalCall, Managed, Obj, Place, RefPlace, ToManaged};
use saki_types::{ElementType, Ty, collectible};

/// The stack that `EnsureSufficientExecutionStack` requires to be free: 128 KiB, as .NET on 64-bit systems.
const SUFFICIENT_STACK_BYTES: usize = 128 << 10;

fn ty_of(table: *const MethodTable) -> Ty {
    // SAFETY: managed code passes a table or a type handle, which is not null.
    unsafe { method_tables::type_of_handle(table.addr()) }
}

fn hash_code(_t: CurrentThread, object: Option<Obj>) -> i32 {
    object.map_or(0, monitors::hash_code)
}

fn hash_code_place(t: CurrentThread, object: ObjectPlace) -> i32 {
    hash_code(t, object.get())
}

/// Whether two boxed values of one type have the same bytes.
fn content_equals(t: CurrentThread, left: Option<Obj>, right: Option<Obj>) -> Managed<bool> {
    let (Some(left), Some(right)) = (left, right) else { return Ok(left == right) };
    if left.ty() != right.ty() {
        return Ok(false);
    }
    let bytes = left.ty().value_size_bytes().to_managed(t)? as usize;
    // SAFETY: boxed values of this size.
    let bytes_of = |object: Obj| unsafe { std::slice::from_raw_parts(object.data().cast_const(), bytes) };
    Ok(bytes_of(left) == bytes_of(right))
}

fn has_sufficient_stack(t: CurrentThread) -> bool {
    let here = 0u8;
    let stack = t.managed().stack_bounds();
    // Native code may have made a smaller stack, of which a half is enough.
    let sufficient_bytes = SUFFICIENT_STACK_BYTES.min(stack.len() / 2);
    t.managed().can_grow() || (&raw const here as usize).saturating_sub(stack.start) >= sufficient_bytes
}

fn ensure_sufficient_stack(t: CurrentThread) -> Managed<()> {
    if has_sufficient_stack(t) {
        return Ok(());
    }
    let message = "Insufficient stack to continue executing the program safely. This can happen from having too many \
                   functions on the call stack or function on the stack using too much stack space.";
    let class = saki_types::universe().corlib().find_type("System", "InsufficientExecutionStackException");
    match class.to_managed(t)? {
        Some(class) => Err(t.throw(exceptions::new_exception_of(t, class, Some(message))?)),
        None => Err(exceptions::stack_overflow(t)),
    }
}

fn prepare_method(t: CurrentThread, method: MethodArgument, _arguments: *const isize, _count: i32) -> Managed<()> {
    let method = method.method();
    if method.is_open() || method.is_generic_definition() || method.is_abstract() {
        return Ok(());
    }
    compile::compile_method(t, method).map(|_| ())
}

fn prepare_delegate(t: CurrentThread, delegate: Option<Obj>) -> Managed<()> {
    let Some(delegate) = delegate else { return Err(exceptions::throw_argument_null(t, "d")) };
    match delegates::method_of(delegate) {
        Some(method) if !method.is_abstract() && !method.is_open() => compile::compile_method(t, method).map(|_| ()),
        _ => Ok(()),
    }
}

fn prepare_delegate_place(t: CurrentThread, delegate: ObjectPlace) -> Managed<()> {
    prepare_delegate(t, delegate.get())
}

/// Boxes the value at an address; null for a Nullable without value.
fn box_value<'t>(t: CurrentThread<'t>, table: *const MethodTable, data: Place<u8>) -> Managed<Option<Obj<'t>>> {
    // SAFETY: managed code passes the address of a value of the type.
    unsafe { object::box_value(t, ty_of(table), data.as_ptr()) }
}

/// Fills a Nullable from a box or null.
fn unbox_nullable(t: CurrentThread, place: Place<u8>, table: *const MethodTable, value: Option<Obj>) -> Managed<()> {
    let (ty, place) = (ty_of(table), place.as_ptr());
    let (has_value, at) = object::nullable_offsets(t, ty)?;
    let size_bytes = ty.value_size_bytes().to_managed(t)? as usize;
    let Some(value) = value else {
        // SAFETY: a variable of this type.
        unsafe { std::ptr::write_bytes(place, 0, size_bytes) };
        return Ok(());
    };
    let inner = ty.args[0];
    if value.ty() != inner {
        return Err(throw_invalid_cast(t, value.ty(), ty));
    }
    // SAFETY: the flag lies inside the variable.
    unsafe { place.add(has_value).write(1) };
    // SAFETY: the value lies inside the variable; the box holds a value of the inner type.
    unsafe { object::copy_struct(t, place.add(at), value.data(), inner) };
    Ok(())
}

fn throw_invalid_cast(t: CurrentThread, from: Ty, to: Ty) -> saki_runtime::Thrown {
    let message = format!("Unable to cast object of type '{}' to type '{}'.", from.message_name(), to.message_name());
    exceptions::throw(t, ExceptionType::InvalidCast, &message)
}

/// Memory that is freed with the records beside which it is kept.
struct MemoryOfType(*mut libc::c_void);

impl Drop for MemoryOfType {
    fn drop(&mut self) {
        // SAFETY: `type_associated_memory` allocated it for this value alone.
        unsafe { libc::free(self.0) };
    }
}

/// Memory that lives as long as the type.
fn type_associated_memory(t: CurrentThread, ty: TypeArgument, size_bytes: u32) -> Managed<isize> {
    // SAFETY: plain allocation.
    let memory = unsafe { libc::calloc(1, (size_bytes as usize).max(1)) };
    if memory.is_null() {
        return Err(exceptions::out_of_memory(t));
    }
    if let Some(owner) = collectible::owner_of(ty.ty()) {
        collectible::keep_with(Some(owner), MemoryOfType(memory));
    }
    Ok(memory.addr().cast_signed())
}

fn size_of_type(t: CurrentThread, ty: TypeArgument) -> Managed<i32> {
    let Some(ty) = ty.find() else { return Err(exceptions::throw_argument_null(t, "type")) };
    if ty.is_open || ty.element_type == ElementType::Void {
        let message = "Type must not be void or contain generic parameters.";
        return Err(exceptions::throw_argument(t, message, "type"));
    }
    let size = if ty.is_reference_type() || ty.is_byref() { 8 } else { ty.value_size_bytes().to_managed(t)? };
    Ok(size.cast_signed())
}

/// No types count as equivalent that are not the same.
fn are_equivalent(_t: CurrentThread, left: *const MethodTable, right: *const MethodTable) -> i32 {
    i32::from(left == right)
}

fn is_instance<'t>(t: CurrentThread<'t>, to: *const MethodTable, object: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    let Some(object) = object else { return Ok(None) };
    let is_one = object.is_instance(t, ty_of(to))?;
    Ok(Some(object).filter(|_| is_one))
}

fn check_cast<'t>(t: CurrentThread<'t>, to: *const MethodTable, object: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    let Some(value) = object else { return Ok(None) };
    match value.is_instance(t, ty_of(to))? {
        true => Ok(object),
        false => Err(throw_invalid_cast(t, value.ty(), ty_of(to))),
    }
}

fn is_instance_place(t: CurrentThread, to: *const MethodTable, throws: i32, object: ObjectPlace) -> Managed<i32> {
    let Some(value) = object.get() else { return Ok(1) };
    let is_one = value.is_instance(t, ty_of(to))?;
    if !is_one && throws != 0 {
        return Err(throw_invalid_cast(t, value.ty(), ty_of(to)));
    }
    Ok(i32::from(is_one))
}

fn throw_cast(t: CurrentThread, from: *const MethodTable, to: *const MethodTable) -> Managed<()> {
    Err(throw_invalid_cast(t, ty_of(from), ty_of(to)))
}

fn write_barrier(t: CurrentThread, place: RefPlace, value: Option<Obj>) {
    place.set(t, value);
}

fn instance_field_bytes(t: CurrentThread, table: *const MethodTable) -> Managed<u32> {
    let ty = ty_of(table);
    if ty.is_value_type() {
        return ty.value_size_bytes().to_managed(t);
    }
    Ok(ty.instance_size_bytes().to_managed(t)?.saturating_sub(saki_abi::object::OBJECT_HEADER_BYTES))
}

fn primitive_element_type(_t: CurrentThread, table: *const MethodTable) -> u8 {
    ty_of(table).underlying().element_type as u8
}

fn element_type_of_handle(_t: CurrentThread, handle: *const MethodTable) -> i32 {
    i32::from(ty_of(handle).element_type as u8)
}

fn run_class_constructor(t: CurrentThread, ty: TypeArgument) -> Managed<()> {
    class_init::ensure(t, ty.ty())
}

fn run_module_constructor(t: CurrentThread, module: ModuleArgument) -> Managed<()> {
    class_init::ensure_module(t, module.image())
}

/// A box of a Nullable, which `Activator` makes, as the box of its value or null.
fn rebox_from_nullable<'t>(
    t: CurrentThread<'t>,
    table: *const MethodTable,
    holder: Option<Obj<'t>>,
) -> Managed<Option<Obj<'t>>> {
    let Some(holder) = holder else { return Err(exceptions::throw_null_reference(t)) };
    // SAFETY: the box holds a value of the type.
    unsafe { object::box_value(t, ty_of(table), holder.data()) }
}

fn is_nullable_of(_t: CurrentThread, nullable: *const MethodTable, value: *const MethodTable) -> bool {
    let ty = ty_of(nullable);
    ty.is_nullable() && ty.args.first() == Some(&ty_of(value))
}

/// What compiled code of CoreCLR's calls for casts and boxes, with a cache that CoreCLR makes.
pub const LOOPS: &[LoopRow] = &[
    LoopRow::new(
        "static System.Runtime.CompilerServices.CastHelpers::IsInstanceOfAny(System.Void*,System.Object) System.Object",
        &is_instance,
    )
    .correcting(),
    LoopRow::new(
        "static System.Runtime.CompilerServices.CastHelpers::ChkCastAny(System.Void*,System.Object) System.Object",
        &check_cast,
    )
    .correcting(),
    LoopRow::new(
        "static System.Runtime.CompilerServices.CastHelpers::Unbox_Nullable(System.Byte&,System.Runtime.CompilerServices.MethodTable*,System.Object) System.Void",
        &unbox_nullable,
    )
    .correcting(),
    LoopRow::new(
        "static System.Runtime.CompilerServices.CastHelpers::Box(System.Runtime.CompilerServices.MethodTable*,System.Byte&) System.Object",
        &box_value,
    )
    .correcting(),
    LoopRow::new(
        "static System.Runtime.CompilerServices.CastHelpers::Box_Nullable(System.Runtime.CompilerServices.MethodTable*,System.Byte&) System.Object",
        &box_value,
    )
    .correcting(),
    LoopRow::new(
        "static System.Runtime.CompilerServices.CastHelpers::ReboxFromNullable(System.Runtime.CompilerServices.MethodTable*,System.Object) System.Object",
        &rebox_from_nullable,
    )
    .correcting(),
    LoopRow::new(
        "static System.Runtime.CompilerServices.CastHelpers::IsNullableForType(System.Runtime.CompilerServices.MethodTable*,System.Runtime.CompilerServices.MethodTable*) System.Boolean",
        &is_nullable_of,
    )
    .correcting(),
];

/// The internal calls of `RuntimeHelpers` and its neighbours.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::ReflectionInvocation_RunClassConstructor", &run_class_constructor),
    InternalCall::new("@net QCall::ReflectionInvocation_RunModuleConstructor", &run_module_constructor),
    InternalCall::new("@net9 System.Runtime.CompilerServices.RuntimeHelpers::GetHashCode", &hash_code),
    InternalCall::new("@net System.Runtime.CompilerServices.RuntimeHelpers::TryGetHashCode", &hash_code),
    InternalCall::new("@net10 QCall::ObjectNative_GetHashCodeSlow", &hash_code_place),
    InternalCall::new("@net System.Runtime.CompilerServices.RuntimeHelpers::ContentEquals", &content_equals),
    InternalCall::new(
        "@net9 System.Runtime.CompilerServices.RuntimeHelpers::EnsureSufficientExecutionStack",
        &ensure_sufficient_stack,
    ),
    InternalCall::new(
        "@net System.Runtime.CompilerServices.RuntimeHelpers::TryEnsureSufficientExecutionStack",
        &has_sufficient_stack,
    ),
    InternalCall::new("@net QCall::ReflectionInvocation_PrepareMethod", &prepare_method),
    InternalCall::new("@net9 System.Runtime.CompilerServices.RuntimeHelpers::PrepareDelegate", &prepare_delegate),
    InternalCall::new("@net10 QCall::ReflectionInvocation_PrepareDelegate", &prepare_delegate_place),
    InternalCall::new("@net9 System.Runtime.CompilerServices.RuntimeHelpers::Box", &box_value),
    InternalCall::new("@net9 System.Runtime.CompilerServices.RuntimeHelpers::Unbox_Nullable", &unbox_nullable),
    InternalCall::new("@net QCall::RuntimeTypeHandle_AllocateTypeAssociatedMemory", &type_associated_memory),
    InternalCall::new("@net QCall::ReflectionInvocation_SizeOf", &size_of_type),
    InternalCall::new("@net9 QCall::MethodTable_AreTypesEquivalent", &are_equivalent),
    InternalCall::new("@net10 QCall::TypeHandle_GetCorElementType", &element_type_of_handle),
    InternalCall::new("@net9 System.Runtime.CompilerServices.CastHelpers::IsInstanceOfAny_NoCacheLookup", &is_instance),
    InternalCall::new("@net9 System.Runtime.CompilerServices.CastHelpers::ChkCastAny_NoCacheLookup", &check_cast),
    InternalCall::new("@net10 QCall::IsInstanceOf_NoCacheLookup", &is_instance_place),
    InternalCall::new("@net10 QCall::ThrowInvalidCastException", &throw_cast),
    InternalCall::new("@net9 System.Runtime.CompilerServices.CastHelpers::WriteBarrier", &write_barrier),
    InternalCall::new(
        "@net System.Runtime.CompilerServices.MethodTable::GetNumInstanceFieldBytes",
        &instance_field_bytes,
    ),
    InternalCall::new(
        "@net System.Runtime.CompilerServices.MethodTable::GetPrimitiveCorElementType",
        &primitive_element_type,
    ),
];
