//! System.Runtime.InteropServices: Marshal, and the error code of the last P/Invoke.
//!
//! The bodies of `StructureToPtr`, `PtrToStructureHelper` and `DestroyStructure` call stubs of CoreCLR's; functions of
//! `interop` replace them.

use crate::arguments::{MethodArgument, ObjectPlace, TypeArgument};
use saki_interop::{delegates, structure};
use saki_runtime::ExceptionType;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::object::{exceptions, type_objects};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Thrown, ToManaged};
use saki_types::Field;

fn argument_null(t: CurrentThread, parameter: &str) -> Thrown {
    exceptions::throw_argument_null(t, parameter)
}

fn size_of_type(t: CurrentThread, ty: TypeArgument, _throws: i32) -> Managed<i32> {
    let size = structure::size_of(t, ty.ty())?;
    Ok(i32::try_from(size).unwrap_or(i32::MAX))
}

fn offset_of(t: CurrentThread, field: isize) -> Managed<isize> {
    // SAFETY: managed code passes the handle of a field, the address of its record, which is not null.
    let field = unsafe { &*(field.cast_unsigned() as *const Field) };
    structure::offset_of(t, field.owner, field.name).map(usize::cast_signed)
}

fn structure_to_ptr<'t>(t: CurrentThread<'t>, source: Option<Obj<'t>>, address: isize, deletes: bool) -> Managed<()> {
    if address == 0 {
        return Err(argument_null(t, "ptr"));
    }
    let source = source.ok_or_else(|| argument_null(t, "structure"))?;
    if !source.ty().args.is_empty() {
        let message = "The specified object must not be an instance of a generic type.";
        return Err(exceptions::throw_argument(t, message, "structure"));
    }
    // SAFETY: managed code passes memory for the structure, which holds one if it is to be deleted.
    unsafe { structure::structure_to_ptr(t, source, address.cast_unsigned() as *mut u8, deletes) }
}

fn ptr_to_structure<'t>(
    t: CurrentThread<'t>,
    address: isize,
    target: Option<Obj<'t>>,
    allows_values: bool,
) -> Managed<()> {
    let target = target.ok_or_else(|| argument_null(t, "structure"))?;
    if !allows_values && target.ty().is_value_type() {
        return Err(exceptions::throw_argument(t, "The structure must not be a value class.", "structure"));
    }
    // SAFETY: managed code passes a native structure of the object's type.
    unsafe { structure::fill(t, address.cast_unsigned() as *mut u8, target) }
}

fn destroy_structure(t: CurrentThread, address: isize, class: Option<Obj>) -> Managed<()> {
    if address == 0 {
        return Err(argument_null(t, "ptr"));
    }
    let ty = type_objects::require(t, class, "structureType")?;
    if !ty.args.is_empty() {
        return Err(exceptions::throw_argument(t, "The specified Type must not be a generic type.", "structureType"));
    }
    // SAFETY: managed code passes a native structure of this type.
    unsafe { structure::destroy_structure(t, address.cast_unsigned() as *mut u8, ty) }
}

fn last_error(t: CurrentThread) -> i32 {
    // SAFETY: the current thread's own struct.
    unsafe { (*t.abi()).last_error }
}

fn set_last_error(t: CurrentThread, error: i32) {
    // SAFETY: the current thread's own struct.
    unsafe { (*t.abi()).last_error = error };
}

fn delegate_for_pointer(t: CurrentThread, address: isize, ty: TypeArgument, result: ObjectPlace) -> Managed<()> {
    result.set(t, delegates::delegate_for(t, address.cast_unsigned(), ty.ty())?);
    Ok(())
}

fn pointer_for_delegate(t: CurrentThread, delegate: ObjectPlace) -> Managed<isize> {
    match delegate.get() {
        Some(delegate) if !delegate.ty().args.is_empty() => {
            Err(exceptions::throw_argument(t, "The specified Type must not be a generic type.", "delegate"))
        }
        Some(delegate) => delegates::function_pointer(t, delegate).map(usize::cast_signed),
        None => Err(argument_null(t, "d")),
    }
}

fn prelink(t: CurrentThread, method: MethodArgument) -> Managed<()> {
    match method.find() {
        Some(method) if method.is_pinvoke() => crate::native_libraries::resolve_native(t, method).map(|_| ()),
        _ => Ok(()),
    }
}

/// There is no structured exception handling.
fn exception_pointers(_t: CurrentThread) -> isize {
    0
}

fn exception_code(_t: CurrentThread) -> i32 {
    0
}

/// The exception types that have HRESULTs of their own.
fn exception_of(code: i32) -> Option<ExceptionType> {
    Some(match code.cast_unsigned() {
        0x8000_4001 => ExceptionType::NotImplemented,
        0x8000_4002 => ExceptionType::InvalidCast,
        0x8000_4003 => ExceptionType::NullReference,
        0x8007_000E => ExceptionType::OutOfMemory,
        0x8007_0057 => ExceptionType::Argument,
        0x8007_0002 => ExceptionType::FileNotFound,
        0x8007_000B => ExceptionType::BadImageFormat,
        0x8007_03E9 => ExceptionType::StackOverflow,
        0x8013_1501 => ExceptionType::System,
        0x8013_1502 => ExceptionType::ArgumentOutOfRange,
        0x8013_1503 => ExceptionType::ArrayTypeMismatch,
        0x8013_1508 => ExceptionType::IndexOutOfRange,
        0x8013_1509 => ExceptionType::InvalidOperation,
        0x8013_1515 => ExceptionType::NotSupported,
        0x8013_1516 => ExceptionType::Overflow,
        0x8013_1522 => ExceptionType::TypeLoad,
        0x8013_1523 => ExceptionType::EntryPointNotFound,
        0x8013_1524 => ExceptionType::DllNotFound,
        0x8013_1537 => ExceptionType::Format,
        0x8002_0012 => ExceptionType::DivideByZero,
        _ => return None,
    })
}

fn exception_for_result(t: CurrentThread, code: i32, _information: isize, result: ObjectPlace) -> Managed<()> {
    static HRESULT: saki_runtime::ManagedField =
        saki_runtime::ManagedField::new(saki_types::LibraryType::Exception, "_HResult");
    let exception = match exception_of(code) {
        Some(exception) => exceptions::new_exception(t, exception, None)?,
        None => {
            let class = saki_types::universe().corlib().find_type("System.Runtime.InteropServices", "COMException");
            let message = format!("Exception from HRESULT: 0x{code:08X}");
            let class = class.to_managed(t)?.unwrap_or_else(|| ExceptionType::System.ty());
            exceptions::new_exception_of(t, class, Some(&message))?
        }
    };
    HRESULT.set(exception, code);
    result.set(t, exception);
    Ok(())
}

/// See the module header.
pub const LOOPS: &[LoopRow] = &[
    LoopRow::new(
        "static System.Runtime.InteropServices.Marshal::StructureToPtr(System.Object,System.IntPtr,System.Boolean) System.Void",
        &structure_to_ptr,
    )
    .correcting(),
    LoopRow::new(
        "static System.Runtime.InteropServices.Marshal::PtrToStructureHelper(System.IntPtr,System.Object,System.Boolean) System.Void",
        &ptr_to_structure,
    )
    .correcting(),
    LoopRow::new(
        "static System.Runtime.InteropServices.Marshal::DestroyStructure(System.IntPtr,System.Type) System.Void",
        &destroy_structure,
    )
    .correcting(),
];

/// The internal calls of `Marshal`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::MarshalNative_SizeOfHelper", &size_of_type),
    InternalCall::new("@net QCall::MarshalNative_OffsetOf", &offset_of),
    InternalCall::new("@net System.Runtime.InteropServices.Marshal::GetLastPInvokeError", &last_error),
    InternalCall::new("@net System.Runtime.InteropServices.Marshal::SetLastPInvokeError", &set_last_error),
    InternalCall::new("@net QCall::MarshalNative_GetDelegateForFunctionPointerInternal", &delegate_for_pointer),
    InternalCall::new("@net QCall::MarshalNative_GetFunctionPointerForDelegateInternal", &pointer_for_delegate),
    InternalCall::new("@net QCall::MarshalNative_Prelink", &prelink),
    InternalCall::new("@net System.Runtime.InteropServices.Marshal::GetExceptionPointers", &exception_pointers),
    InternalCall::new("@net System.Runtime.InteropServices.Marshal::GetExceptionCode", &exception_code),
    InternalCall::new("@net QCall::MarshalNative_GetExceptionForHR", &exception_for_result),
];
