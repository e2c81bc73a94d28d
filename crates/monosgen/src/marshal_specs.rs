//! How values are passed to native code: `MonoMarshalSpec` of `mono/metadata/metadata.h`.

use crate::call::{call, load, put};
use crate::classes::element_type;
use crate::machine::end;
use crate::signatures::mono_metadata_decode_value;
use crate::tables::mono_metadata_get_marshal_info;
use crate::text::given;
use saki_metadata::{TableId, Token};
use saki_types::{ElementType, Image, LibraryType, LoadResult, Method, Ty, universe};
use std::ffi::{c_char, c_int};
use std::ptr;

/// `MonoMarshalNative`.
mod native {
    pub(super) const BOOLEAN: i32 = 0x02;
    pub(super) const I1: i32 = 0x03;
    pub(super) const U1: i32 = 0x04;
    pub(super) const U2: i32 = 0x06;
    pub(super) const BSTR: i32 = 0x13;
    pub(super) const LPSTR: i32 = 0x14;
    pub(super) const LPWSTR: i32 = 0x15;
    pub(super) const LPTSTR: i32 = 0x16;
    pub(super) const BYVALTSTR: i32 = 0x17;
    pub(super) const IUNKNOWN: i32 = 0x19;
    pub(super) const IDISPATCH: i32 = 0x1a;
    pub(super) const STRUCT: i32 = 0x1b;
    pub(super) const INTERFACE: i32 = 0x1c;
    pub(super) const SAFEARRAY: i32 = 0x1d;
    pub(super) const BYVALARRAY: i32 = 0x1e;
    pub(super) const INT: i32 = 0x1f;
    pub(super) const UINT: i32 = 0x20;
    pub(super) const ANSIBSTR: i32 = 0x23;
    pub(super) const TBSTR: i32 = 0x24;
    pub(super) const VARIANTBOOL: i32 = 0x25;
    pub(super) const FUNC: i32 = 0x26;
    pub(super) const LPARRAY: i32 = 0x2a;
    pub(super) const CUSTOM: i32 = 0x2c;
    pub(super) const UTF8STR: i32 = 0x30;
}

/// `MonoMarshalConv`.
mod conversion {
    pub(super) const NONE: i32 = 0;
    pub(super) const BOOL_VARIANTBOOL: i32 = 1;
    pub(super) const BOOL_I4: i32 = 2;
    pub(super) const STR_BSTR: i32 = 3;
    pub(super) const STR_LPSTR: i32 = 4;
    pub(super) const STR_LPWSTR: i32 = 7;
    pub(super) const STR_LPTSTR: i32 = 9;
    pub(super) const STR_ANSIBSTR: i32 = 10;
    pub(super) const STR_TBSTR: i32 = 11;
    pub(super) const STR_BYVALSTR: i32 = 12;
    pub(super) const STR_BYVALWSTR: i32 = 13;
    pub(super) const ARRAY_BYVALARRAY: i32 = 20;
    pub(super) const ARRAY_BYVALCHARARRAY: i32 = 21;
    pub(super) const ARRAY_SAFEARRAY: i32 = 22;
    pub(super) const ARRAY_LPARRAY: i32 = 23;
    pub(super) const OBJECT_INTERFACE: i32 = 25;
    pub(super) const OBJECT_IDISPATCH: i32 = 26;
    pub(super) const OBJECT_IUNKNOWN: i32 = 27;
    pub(super) const OBJECT_STRUCT: i32 = 28;
    pub(super) const DELEGATE_FUNCTION: i32 = 29;
    pub(super) const SAFEHANDLE: i32 = 33;
    pub(super) const HANDLEREF: i32 = 34;
    pub(super) const STR_UTF8STR: i32 = 35;
}

#[derive(Clone, Copy)]
#[repr(C)]
struct ArrayData {
    element: i32,
    count: i32,
    parameter: i16,
    multiplier: i16,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct CustomData {
    /// Texts of the C heap.
    name: *mut c_char,
    cookie: *mut c_char,
    image: Option<&'static Image>,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct SafeArrayData {
    element: i32,
    count: i32,
}

#[repr(C)]
union Data {
    array: ArrayData,
    custom: CustomData,
    safe_array: SafeArrayData,
}

/// `MonoMarshalSpec`, of the C heap.
#[repr(C)]
pub struct MonoMarshalSpec {
    native: i32,
    data: Data,
}

/// The parts of a marshalling blob, up to its end.
struct Parts {
    at: *const u8,
    end: *const u8,
}

impl Parts {
    fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    /// The compressed number that comes next; `absent` behind the end.
    fn number(&mut self, absent: u32) -> u32 {
        if self.is_at_end() {
            return absent;
        }
        // SAFETY: before the end of the host's blob.
        unsafe { mono_metadata_decode_value(self.at, &raw mut self.at) }
    }

    /// A copy of the text that comes next, of the C heap.
    fn text(&mut self) -> *mut c_char {
        let length = self.number(0) as usize;
        let start = self.at;
        self.at = start.wrapping_add(length.min(self.end.addr() - start.addr()));
        // SAFETY: within the host's blob.
        given(unsafe { std::slice::from_raw_parts(start, self.at.addr() - start.addr()) })
    }
}

/// Reads the blob at an address, which has its length before it, for [`mono_metadata_free_marshal_spec`].
///
/// # Safety
/// A marshalling blob lies there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_parse_marshal_spec(
    image: &'static Image,
    blob: *const u8,
) -> *mut MonoMarshalSpec {
    let mut start = blob;
    // SAFETY: the blob's length.
    let length = unsafe { mono_metadata_decode_value(blob, &raw mut start) } as usize;
    let mut parts = Parts { at: start, end: start.wrapping_add(length) };
    let native = parts.number(0) as i32;
    // SAFETY: no preconditions; the zeroes are a value of each part of the union.
    let made = unsafe { libc::calloc(1, size_of::<MonoMarshalSpec>()) }.cast::<MonoMarshalSpec>();
    // SAFETY: null, or zeroes of the right size.
    let Some(spec) = (unsafe { made.as_mut() }) else { return made };
    spec.native = native;
    match native {
        native::LPARRAY => {
            let element = parts.number(0) as i32;
            let parameter = parts.number(u32::MAX) as i16;
            let count = parts.number(u32::MAX) as i32;
            let multiplier = parts.number(u32::MAX) as i16;
            spec.data.array = ArrayData { element, count, parameter, multiplier };
        }
        native::BYVALTSTR | native::BYVALARRAY => {
            spec.data.array = ArrayData { element: 0, count: parts.number(0) as i32, parameter: 0, multiplier: 0 };
        }
        native::CUSTOM => {
            // A GUID and the name of a native type, which nothing uses.
            for _ in 0..2 {
                let unused = parts.text();
                // SAFETY: made by the C heap.
                unsafe { libc::free(unused.cast()) };
            }
            let (name, cookie) = (parts.text(), parts.text());
            spec.data.custom = CustomData { name, cookie, image: Some(image) };
        }
        native::SAFEARRAY => {
            spec.data.safe_array = SafeArrayData { element: parts.number(0) as i32, count: parts.number(0) as i32 };
        }
        _ => {}
    }
    made
}

/// Frees what [`mono_metadata_parse_marshal_spec`] or [`mono_method_get_marshal_info`] has made.
///
/// # Safety
/// `spec` is null or one that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_free_marshal_spec(spec: *mut MonoMarshalSpec) {
    // SAFETY: null or the host's.
    let Some(known) = (unsafe { spec.as_ref() }) else { return };
    if known.native == native::CUSTOM {
        // SAFETY: this variant has texts of the C heap.
        let custom = unsafe { known.data.custom };
        // SAFETY: a text of the C heap, or null.
        unsafe { libc::free(custom.name.cast()) };
        // SAFETY: a text of the C heap, or null.
        unsafe { libc::free(custom.cookie.cast()) };
    }
    // SAFETY: made by the C heap.
    unsafe { libc::free(spec.cast()) };
}

/// Fills the array with what the method's result and its parameters say, each for
/// [`mono_metadata_free_marshal_spec`]; null where nothing is said.
///
/// # Safety
/// `specs` has room for one more than the method has parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_method_get_marshal_info(method: &'static Method, specs: *mut *mut MonoMarshalSpec) {
    load("mono_method_get_marshal_info", || {
        let count = method.sig()?.params.len() + 1;
        for index in 0..count {
            // SAFETY: the host's room.
            unsafe { specs.add(index).write(ptr::null_mut()) };
        }
        let Some(rid) = method.rid() else { return Ok(()) };
        let image = method.image();
        for param in image.meta.method_params(rid)? {
            let sequence = usize::from(image.meta.param(param)?.sequence);
            let has_spec = image.meta.field_marshal(Token::new(TableId::Param, param))?.is_some();
            if has_spec && sequence < count {
                let blob = mono_metadata_get_marshal_info(image, param - 1, 0);
                // SAFETY: a blob of the image.
                let spec = unsafe { mono_metadata_parse_marshal_spec(image, blob) };
                // SAFETY: the host's room.
                unsafe { specs.add(sequence).write(spec) };
            }
        }
        Ok(())
    });
}

/// What a value that is no reference becomes, and by which conversion; None for types that are handled elsewhere.
fn of_simple(ty: Ty, wanted: Option<i32>, is_unicode: bool) -> Option<(i32, i32)> {
    use ElementType as E;
    let fixed = match element_type(ty) {
        E::Boolean => {
            return Some(match wanted {
                Some(native::VARIANTBOOL) => (native::VARIANTBOOL, conversion::BOOL_VARIANTBOOL),
                Some(small @ (native::I1 | native::U1)) => (small, conversion::NONE),
                Some(native::BOOLEAN) | None => (native::BOOLEAN, conversion::BOOL_I4),
                Some(_) => return None,
            });
        }
        E::Char => match wanted {
            Some(wanted @ (native::U1 | native::U2)) => wanted,
            None if is_unicode => native::U2,
            None => native::U1,
            Some(_) => return None,
        },
        // The numbers of these types follow one another in both counts.
        E::I1 | E::U1 | E::I2 | E::U2 | E::I4 | E::U4 | E::I8 | E::U8 | E::R4 | E::R8 => {
            native::I1 + (element_type(ty) as i32 - E::I1 as i32)
        }
        E::Ptr | E::U => native::UINT,
        E::I => native::INT,
        E::FnPtr => native::FUNC,
        _ => return None,
    };
    Some((fixed, conversion::NONE))
}

fn of_string(wanted: Option<i32>, is_unicode: bool) -> Option<(i32, i32)> {
    let usual = if is_unicode { native::LPWSTR } else { native::LPSTR };
    let native = wanted.unwrap_or(usual);
    let conversion = match native {
        native::BSTR => conversion::STR_BSTR,
        native::LPSTR => conversion::STR_LPSTR,
        native::LPWSTR => conversion::STR_LPWSTR,
        native::LPTSTR => conversion::STR_LPTSTR,
        native::ANSIBSTR => conversion::STR_ANSIBSTR,
        native::TBSTR => conversion::STR_TBSTR,
        native::UTF8STR => conversion::STR_UTF8STR,
        native::BYVALTSTR if is_unicode => conversion::STR_BYVALWSTR,
        native::BYVALTSTR => conversion::STR_BYVALSTR,
        _ => return None,
    };
    Some((native, conversion))
}

fn of_array(ty: Ty, wanted: Option<i32>, is_unicode: bool) -> Option<(i32, i32)> {
    let native = wanted.unwrap_or(native::LPARRAY);
    let is_text = ty.element() == Some(universe().char_()) && !is_unicode;
    let conversion = match native {
        native::BYVALARRAY if is_text => conversion::ARRAY_BYVALCHARARRAY,
        native::BYVALARRAY => conversion::ARRAY_BYVALARRAY,
        native::SAFEARRAY => conversion::ARRAY_SAFEARRAY,
        native::LPARRAY => conversion::ARRAY_LPARRAY,
        _ => return None,
    };
    Some((native, conversion))
}

/// Whether the type says which kind of interface of COM it is.
fn is_of_com(ty: Ty) -> LoadResult<bool> {
    let Some(def) = ty.def() else { return Ok(false) };
    let token = Token::new(TableId::TypeDef, def.rid);
    saki_types::has_attribute(def.image, token, "System.Runtime.InteropServices", "InterfaceTypeAttribute")
}

fn of_object(ty: Ty, wanted: Option<i32>) -> LoadResult<Option<(i32, i32)>> {
    let is_delegate = ty.is_delegate() || ty == universe().delegate() || ty == universe().multicast_delegate();
    Ok(Some(match wanted {
        Some(native::STRUCT) => (native::STRUCT, conversion::OBJECT_STRUCT),
        Some(native::CUSTOM) => (native::CUSTOM, conversion::NONE),
        Some(native::INTERFACE) => (native::INTERFACE, conversion::OBJECT_INTERFACE),
        Some(native::IDISPATCH) => (native::IDISPATCH, conversion::OBJECT_IDISPATCH),
        Some(native::IUNKNOWN) => (native::IUNKNOWN, conversion::OBJECT_IUNKNOWN),
        Some(native::FUNC) | None if is_delegate => (native::FUNC, conversion::DELEGATE_FUNCTION),
        Some(_) => return Ok(None),
        None if ty.is_subclass_of(universe().library_type(LibraryType::SafeHandle)?)? => {
            (native::INT, conversion::SAFEHANDLE)
        }
        None if is_of_com(ty)? => (native::INTERFACE, conversion::OBJECT_INTERFACE),
        None => (native::STRUCT, conversion::OBJECT_STRUCT),
    }))
}

/// What the type becomes in native code, with its spec if there is one, and the conversion. Combinations that Mono
/// cannot convert end the process, as under Mono.
///
/// # Safety
/// `conversion` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_type_to_unmanaged(
    ty: Ty,
    spec: Option<&MonoMarshalSpec>,
    _is_field: c_int,
    is_unicode: c_int,
    conversion: *mut c_int,
) -> c_int {
    const FUNCTION: &str = "mono_type_to_unmanaged";
    use ElementType as E;
    let (wanted, is_unicode) = (spec.map(|spec| spec.native), is_unicode != 0);
    let found = call(FUNCTION, |_| {
        let ty = if ty.is_enum() { ty.underlying() } else { ty };
        if ty.element_type == E::ByRef {
            return Ok(Some((native::UINT, conversion::NONE)));
        }
        if let Some(simple) = of_simple(ty, wanted, is_unicode) {
            return Ok(Some(simple));
        }
        match ty.element_type {
            E::String => Ok(of_string(wanted, is_unicode)),
            E::SzArray | E::Array => Ok(of_array(ty, wanted, is_unicode)),
            E::ValueType if Some(ty) == universe().library_type(LibraryType::HandleRef).ok() => {
                Ok(Some((native::INT, conversion::HANDLEREF)))
            }
            E::ValueType => Ok(Some((native::STRUCT, conversion::NONE))),
            E::Class | E::Object => of_object(ty, wanted),
            _ => Ok(None),
        }
    });
    let found: LoadResult<Option<(i32, i32)>> = found;
    match found {
        Ok(Some((native, by))) => {
            // SAFETY: null or the host's variable.
            unsafe { put(conversion, by) };
            native
        }
        _ => end(FUNCTION, &format!("cannot pass {} so", ty.full_name())),
    }
}
