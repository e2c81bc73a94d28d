//! The exception blocks of an ILGenerator, and reading arrays of structs.

use super::builders::EMIT;
use saki_metadata::{EhClause, EhKind};
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::object::{array_length, element_address};
use saki_runtime::{CurrentThread, Managed, ManagedField, ObjRef};
use saki_types::universe;

/// Reads a field of a struct in an array.
///
/// # Safety
/// `at` is the address of such a struct, and the field a `T`.
pub unsafe fn read<T: Copy>(at: *const u8, field: &ManagedField) -> T {
    // SAFETY: the caller's promise; the field lies inside the struct.
    unsafe { at.add(field.offset_bytes()).cast::<T>().read_unaligned() }
}

/// The size in bytes of a struct of this namespace.
///
/// # Errors
/// TypeLoadException when the class library lacks it.
pub fn struct_bytes(t: CurrentThread, name: &str) -> Managed<usize> {
    let ty = universe().corlib_type(EMIT, name).to_managed(t)?;
    Ok(ty.value_size_bytes().to_managed(t)? as usize)
}

/// The exception clauses, inner ones first. `catch` gives the token of a caught type, which may be null.
///
/// # Errors
/// NotSupportedException for a filter without handler; what `catch` throws.
pub fn clauses(
    t: CurrentThread,
    generator: ObjRef,
    catch: &mut dyn FnMut(ObjRef) -> Managed<u32>,
) -> Managed<Vec<EhClause>> {
    static INFOS: ManagedField = ManagedField::corlib(EMIT, "ILGenerator", "ex_handlers");
    static HANDLERS: ManagedField = ManagedField::corlib(EMIT, "ILExceptionInfo", "handlers");
    static TRY_START: ManagedField = ManagedField::corlib(EMIT, "ILExceptionInfo", "start");
    static TRY_LENGTH: ManagedField = ManagedField::corlib(EMIT, "ILExceptionInfo", "len");
    static CAUGHT: ManagedField = ManagedField::corlib(EMIT, "ILExceptionBlock", "extype");
    static KIND: ManagedField = ManagedField::corlib(EMIT, "ILExceptionBlock", "type");
    static START: ManagedField = ManagedField::corlib(EMIT, "ILExceptionBlock", "start");
    static LENGTH: ManagedField = ManagedField::corlib(EMIT, "ILExceptionBlock", "len");
    static FILTER: ManagedField = ManagedField::corlib(EMIT, "ILExceptionBlock", "filter_offset");
    let infos = INFOS.get_ref(generator);
    let mut out = Vec::new();
    if infos.is_null() {
        return Ok(out);
    }
    let (info_bytes, block_bytes) = (struct_bytes(t, "ILExceptionInfo")?, struct_bytes(t, "ILExceptionBlock")?);
    for index in (0..array_length(infos)).rev() {
        let info = element_address(infos, index, info_bytes);
        // SAFETY: an ILExceptionInfo, whose fields have these types.
        let (handlers, try_offset, try_len) =
            unsafe { (read::<ObjRef>(info, &HANDLERS), read::<i32>(info, &TRY_START), read::<i32>(info, &TRY_LENGTH)) };
        if handlers.is_null() {
            continue;
        }
        // A finally block protects the handlers before it too.
        let mut protected_end = try_offset + try_len;
        for block_index in 0..array_length(handlers) {
            let block = element_address(handlers, block_index, block_bytes);
            // SAFETY: an ILExceptionBlock, whose fields have these types.
            let (caught, kind, start, len, filter) = unsafe {
                (
                    read::<ObjRef>(block, &CAUGHT),
                    read::<i32>(block, &KIND),
                    read::<i32>(block, &START),
                    read::<i32>(block, &LENGTH),
                    read::<i32>(block, &FILTER),
                )
            };
            let (kind, operand) = match kind {
                0 => (EhKind::Catch, catch(caught)?),
                1 => (EhKind::Filter, filter as u32),
                2 => (EhKind::Finally, 0),
                4 => (EhKind::Fault, 0),
                _ => {
                    let message = "An exception filter without handler.";
                    return Err(exceptions::throw(t, "System", "NotSupportedException", message));
                }
            };
            let try_end = if kind == EhKind::Finally { protected_end } else { try_offset + try_len };
            out.push(EhClause {
                kind,
                try_offset: try_offset as u32,
                try_len: (try_end - try_offset) as u32,
                handler_offset: start as u32,
                handler_len: len as u32,
                class_token_or_filter_offset: operand,
            });
            protected_end = start + len;
        }
    }
    Ok(out)
}
