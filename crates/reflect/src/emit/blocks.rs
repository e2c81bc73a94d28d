//! The exception blocks of an ILGenerator, and reading arrays of structs.

use saki_metadata::{EhClause, EhKind};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::{Array, CurrentThread, Managed, ManagedField, Obj};
use saki_types::LibraryType;

/// An element of an array of structs of the class library, whose fields are known by name.
#[derive(Clone, Copy)]
pub struct Element<'t> {
    array: Array<'t>,
    index: usize,
}

/// The elements of an array of structs; none for null.
pub fn structs<'t>(array: Option<Array<'t>>) -> impl DoubleEndedIterator<Item = Element<'t>> {
    array.into_iter().flat_map(|array| (0..array.length()).map(move |index| Element { array, index }))
}

impl<'t> Element<'t> {
    /// Reads a field that is no reference.
    pub fn get<T: Copy>(self, field: &ManagedField) -> T {
        let offset_bytes = field.offset_bytes();
        assert!(offset_bytes + size_of::<T>() <= self.array.element_size_bytes(), "field {} of a struct", field.name());
        // SAFETY: the field lies inside the element, by the check, and the element inside the array.
        unsafe { self.array.element_address(self.index).add(offset_bytes).cast::<T>().read_unaligned() }
    }

    /// Reads a field of a reference type.
    pub fn obj(self, field: &ManagedField) -> Option<Obj<'t>> {
        self.get(field)
    }
}

/// The exception clauses, inner ones first. `catch` gives the token of a caught type, which may be null.
///
/// # Errors
/// NotSupportedException for a filter without handler; what `catch` throws.
pub fn clauses(
    t: CurrentThread,
    generator: Obj,
    catch: &mut dyn FnMut(Option<Obj>) -> Managed<u32>,
) -> Managed<Vec<EhClause>> {
    static INFOS: ManagedField = ManagedField::new(LibraryType::ILGenerator, "ex_handlers");
    static HANDLERS: ManagedField = ManagedField::new(LibraryType::ILExceptionInfo, "handlers");
    static TRY_START: ManagedField = ManagedField::new(LibraryType::ILExceptionInfo, "start");
    static TRY_LENGTH: ManagedField = ManagedField::new(LibraryType::ILExceptionInfo, "len");
    static CAUGHT: ManagedField = ManagedField::new(LibraryType::ILExceptionBlock, "extype");
    static KIND: ManagedField = ManagedField::new(LibraryType::ILExceptionBlock, "type");
    static START: ManagedField = ManagedField::new(LibraryType::ILExceptionBlock, "start");
    static LENGTH: ManagedField = ManagedField::new(LibraryType::ILExceptionBlock, "len");
    static FILTER: ManagedField = ManagedField::new(LibraryType::ILExceptionBlock, "filter_offset");
    let mut out = Vec::new();
    for info in structs(INFOS.array(generator)).rev() {
        let Some(handlers) = info.obj(&HANDLERS).and_then(Obj::as_array) else { continue };
        let (try_offset, try_len) = (info.get::<i32>(&TRY_START), info.get::<i32>(&TRY_LENGTH));
        // A finally block protects the handlers before it too.
        let mut protected_end = try_offset + try_len;
        for block in structs(Some(handlers)) {
            let (start, len) = (block.get::<i32>(&START), block.get::<i32>(&LENGTH));
            let (caught, kind, filter) = (block.obj(&CAUGHT), block.get::<i32>(&KIND), block.get::<i32>(&FILTER));
            let (kind, operand) = match kind {
                0 => (EhKind::Catch, catch(caught)?),
                1 => (EhKind::Filter, filter as u32),
                2 => (EhKind::Finally, 0),
                4 => (EhKind::Fault, 0),
                _ => {
                    let message = "An exception filter without handler.";
                    return Err(exceptions::throw(t, ExceptionType::NotSupported, message));
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
