//! The native representation of a managed value: one `NativeType` per parameter, field or array element.
//!
//! A native type describes a *native slot*: the bytes of a struct field, or the word of a parameter (for `ref`
//! parameters the slot is the memory at which the word points). Invariant: a combination that cannot be marshalled is a
//! `Refused` with the message of the later exception, not an error: the program fails when it uses the method, not when
//! it is loaded. Left out: converting (`saki-interop`) and the offsets inside structs (`layout`).

use super::layout::native_layout;
use saki_metadata::NativeTypeRaw;
use saki_metadata::native_type::native;
use saki_types::{ElementType, LibraryType, LoadResult, Ty};

/// `CharSet` after defaults: on this platform `Auto` is ANSI, and ANSI is UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CharSet {
    Ansi,
    Unicode,
}

/// The characters of a string, and how native code finds their end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StringForm {
    /// NUL-terminated UTF-8.
    Utf8,
    /// NUL-terminated UTF-16.
    Utf16,
    /// UTF-16 preceded by its byte length (u32).
    Bstr,
    /// UTF-8 bytes preceded by their length (u32).
    AnsiBstr,
}

/// Native forms of `bool`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BoolForm {
    /// 4 bytes, 0 or 1.
    Int32,
    /// 1 byte, 0 or 1.
    Byte,
    /// 2 bytes, 0 or −1.
    Variant,
}

impl BoolForm {
    /// The size of the native value.
    pub fn size_bytes(self) -> u32 {
        match self {
            BoolForm::Int32 => 4,
            BoolForm::Byte => 1,
            BoolForm::Variant => 2,
        }
    }
}

/// Number of elements of an array that native code passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ArrayCount {
    /// `SizeConst`.
    pub constant: Option<u32>,
    /// `SizeParamIndex`, 0-based.
    pub param: Option<u16>,
}

/// What native code sees of a value, after all descriptors and defaults. ECMA-335 §II.7.4, §II.23.4.
#[derive(Clone, PartialEq, Debug)]
pub enum NativeType {
    Void,
    /// The same bits on both sides: numbers, pointers, blittable structs.
    Same {
        size_bytes: u32,
        align_bytes: u32,
    },
    Bool(BoolForm),
    /// A `char` as one byte.
    AnsiChar,
    /// Pointer to characters.
    String(StringForm),
    /// Pointer to a buffer of the builder's capacity; copied in and out.
    StringBuilder(StringForm),
    /// Characters in place, NUL-terminated within `units` (of 1 byte, or 2 if `wide`).
    FixedString {
        units: u32,
        wide: bool,
    },
    /// The `char`s of a fixed-size buffer, one byte each, in place.
    FixedChars {
        count: u32,
    },
    /// Elements in place.
    FixedArray {
        element: Box<NativeType>,
        element_type: Ty,
        count: u32,
    },
    /// Pointer to elements.
    Array {
        element: Box<NativeType>,
        element_type: Ty,
        count: ArrayCount,
    },
    /// A struct whose native layout differs from the managed one, in place.
    Struct(Ty),
    /// A class with layout, its fields in place (struct fields of class type).
    ClassInline(Ty),
    /// Pointer to a class's fields.
    ClassPointer(Ty),
    /// Function pointer. Also for the base classes Delegate and MulticastDelegate, where the object's own type is used.
    Delegate(Ty),
    /// The handle value of a SafeHandle (or CriticalHandle).
    SafeHandle(Ty),
    CriticalHandle(Ty),
    /// `HandleRef`: its handle.
    HandleRef(Ty),
    /// A pointer made by an `ICustomMarshaler`.
    Custom {
        marshaler_type: String,
        cookie: String,
    },
    /// A field for a COM object or VARIANT: it takes up its space, and can only be null.
    NullObject {
        size_bytes: u32,
    },
    /// Pointer to a native copy of the object, by its run-time type (`AsAny`).
    AnyObject(CharSet),
    /// A DateTime parameter: days since 1899-12-30 as a double.
    Date,
    /// Cannot be marshalled, and why.
    Refused(String),
}

/// Size of a VARIANT: 8 bytes of tag, 8 of value.
const VARIANT_BYTES: u32 = 16;

const WORD: NativeType = NativeType::Same { size_bytes: 8, align_bytes: 8 };

impl NativeType {
    /// Bytes of the native slot.
    ///
    /// # Errors
    /// The errors of a nested struct's layout.
    pub fn size_bytes(&self) -> LoadResult<u32> {
        Ok(match self {
            NativeType::Void | NativeType::Refused(_) => 0,
            NativeType::Same { size_bytes, .. } => *size_bytes,
            NativeType::Bool(form) => form.size_bytes(),
            NativeType::AnsiChar => 1,
            NativeType::FixedString { units, wide } => units * if *wide { 2 } else { 1 },
            NativeType::FixedChars { count } => *count,
            NativeType::NullObject { size_bytes } => *size_bytes,
            NativeType::FixedArray { element, count, .. } => element.size_bytes()? * count,
            NativeType::Struct(ty) | NativeType::ClassInline(ty) => native_layout(ty)?.size_bytes,
            _ => 8,
        })
    }

    /// Alignment of the native slot.
    ///
    /// # Errors
    /// The errors of a nested struct's layout.
    pub fn align_bytes(&self) -> LoadResult<u32> {
        Ok(match self {
            NativeType::Same { align_bytes, .. } => *align_bytes,
            NativeType::FixedString { wide: true, .. } => 2,
            NativeType::NullObject { .. } => 8,
            NativeType::FixedString { .. }
            | NativeType::FixedChars { .. }
            | NativeType::Void
            | NativeType::Refused(_) => 1,
            NativeType::FixedArray { element, .. } => element.align_bytes()?,
            NativeType::Struct(ty) | NativeType::ClassInline(ty) => native_layout(ty)?.align_bytes,
            other => other.size_bytes()?,
        })
    }

    /// Whether managed and native bits are the same.
    pub fn is_same(&self) -> bool {
        matches!(self, NativeType::Same { .. })
    }

    /// Whether a converted slot owns memory that must be freed.
    pub fn owns_memory(&self) -> LoadResult<bool> {
        Ok(match self {
            NativeType::String(_)
            | NativeType::StringBuilder(_)
            | NativeType::Array { .. }
            | NativeType::ClassPointer(_) => true,
            NativeType::FixedArray { element, .. } => element.owns_memory()?,
            NativeType::Struct(ty) | NativeType::ClassInline(ty) => {
                let layout = native_layout(ty)?;
                let mut owns = false;
                for field in &layout.fields {
                    owns |= field.native.owns_memory()?;
                }
                owns
            }
            _ => false,
        })
    }
}

/// Whether a value is a parameter or a field; some forms exist only as fields, some only as parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarshalPosition {
    Param,
    Return,
    Field,
    Element,
}

/// The native type of a managed type (no byref) with its descriptor.
///
/// # Errors
/// The errors of loading the types involved.
pub fn native_type(
    ty: Ty,
    raw: Option<&NativeTypeRaw>,
    charset: CharSet,
    place: MarshalPosition,
) -> LoadResult<NativeType> {
    if let Some(NativeTypeRaw::Custom { marshaler_type, cookie, .. }) = raw {
        return Ok(NativeType::Custom { marshaler_type: marshaler_type.clone(), cookie: cookie.clone() });
    }
    use ElementType as E;
    let simple = match raw {
        Some(NativeTypeRaw::Simple(number) | NativeTypeRaw::Interface { kind: number, .. }) => Some(*number),
        _ => None,
    };
    Ok(match ty.underlying().element_type {
        E::Void => NativeType::Void,
        E::Boolean => match simple {
            None | Some(native::BOOLEAN | native::I4 | native::U4) => NativeType::Bool(BoolForm::Int32),
            Some(native::I1 | native::U1) => NativeType::Bool(BoolForm::Byte),
            Some(native::VARIANTBOOL) => NativeType::Bool(BoolForm::Variant),
            Some(other) => refuse(ty, &format!("bool cannot be marshalled as native type 0x{other:02x}")),
        },
        E::Char => match simple {
            Some(native::I1 | native::U1) => NativeType::AnsiChar,
            Some(native::I2 | native::U2) => NativeType::Same { size_bytes: 2, align_bytes: 2 },
            _ if charset == CharSet::Ansi => NativeType::AnsiChar,
            _ => NativeType::Same { size_bytes: 2, align_bytes: 2 },
        },
        E::I1 | E::U1 | E::I2 | E::U2 | E::I4 | E::U4 | E::I8 | E::U8 | E::R4 | E::R8 | E::I | E::U => {
            let size_bytes = ty.value_size_bytes()?;
            NativeType::Same { size_bytes, align_bytes: size_bytes }
        }
        E::Ptr | E::FnPtr => WORD,
        E::String => string_type(ty, raw, charset, place),
        E::SzArray | E::Array => array_type(ty, raw, charset, place)?,
        E::ValueType if place == MarshalPosition::Param && ty.is(LibraryType::DateTime) => NativeType::Date,
        E::ValueType => value_type(ty)?,
        E::Class | E::Object | E::GenericInst => class_type(ty, simple, charset, place)?,
        E::TypedByRef => refuse(ty, "TypedReference cannot be marshalled"),
        E::ByRef => refuse(ty, "a by-reference type cannot be marshalled here"),
        _ => refuse(ty, "the type cannot be marshalled"),
    })
}

fn refuse(ty: Ty, why: &str) -> NativeType {
    NativeType::Refused(format!("Cannot marshal '{}': {why}.", ty.full_name()))
}

fn charset_form(charset: CharSet) -> StringForm {
    match charset {
        CharSet::Ansi => StringForm::Utf8,
        CharSet::Unicode => StringForm::Utf16,
    }
}

/// The pointer form that a simple native type names; `None` = not a string form.
fn pointer_form(simple: Option<u8>, charset: CharSet) -> Option<StringForm> {
    Some(match simple {
        None => charset_form(charset),
        Some(native::LPSTR | native::LPTSTR | native::LPUTF8STR) => StringForm::Utf8,
        Some(native::LPWSTR) => StringForm::Utf16,
        Some(native::BSTR) => StringForm::Bstr,
        Some(native::ANSIBSTR | native::TBSTR) => StringForm::AnsiBstr,
        Some(_) => return None,
    })
}

fn string_type(ty: Ty, raw: Option<&NativeTypeRaw>, charset: CharSet, place: MarshalPosition) -> NativeType {
    match raw {
        None => NativeType::String(charset_form(charset)),
        Some(NativeTypeRaw::FixedString { char_count }) if place == MarshalPosition::Field => {
            NativeType::FixedString { units: *char_count, wide: charset == CharSet::Unicode }
        }
        Some(NativeTypeRaw::Simple(number)) => match pointer_form(Some(*number), charset) {
            Some(form) => NativeType::String(form),
            None => refuse(
                ty,
                "invalid managed/unmanaged type combination (strings must be paired with LPStr, LPWStr, BStr or ByValTStr)",
            ),
        },
        Some(_) => refuse(ty, "invalid managed/unmanaged type combination"),
    }
}

fn array_type(ty: Ty, raw: Option<&NativeTypeRaw>, charset: CharSet, place: MarshalPosition) -> LoadResult<NativeType> {
    let Some(element_type) = ty.element() else { return Ok(refuse(ty, "not an array")) };
    let element_of = |number: Option<u8>| {
        let raw = number.filter(|n| *n != native::MAX).map(NativeTypeRaw::Simple);
        native_type(element_type, raw.as_ref(), charset, MarshalPosition::Element)
    };
    let checked = |element: NativeType, make: &dyn Fn(Box<NativeType>) -> NativeType| match element {
        NativeType::Refused(why) => NativeType::Refused(why),
        element => make(Box::new(element)),
    };
    Ok(match raw {
        Some(NativeTypeRaw::FixedArray { elem_count, elem }) if place == MarshalPosition::Field => {
            let element = element_of(*elem)?;
            checked(element, &|element| NativeType::FixedArray { element, element_type, count: *elem_count })
        }
        None | Some(NativeTypeRaw::Array { .. }) => {
            let (elem, count) = match raw {
                Some(NativeTypeRaw::Array { elem, size_param, size_const, flags }) => {
                    let param_is_real = flags.is_none_or(|flags| flags & 1 != 0);
                    let param = size_param.filter(|_| param_is_real);
                    (*elem, ArrayCount { constant: *size_const, param })
                }
                _ => (None, ArrayCount::default()),
            };
            let element = element_of(elem)?;
            checked(element, &|element| NativeType::Array { element, element_type, count })
        }
        Some(NativeTypeRaw::SafeArray { .. }) => refuse(ty, "SAFEARRAY needs COM"),
        Some(_) => refuse(ty, "invalid managed/unmanaged type combination for an array"),
    })
}

fn value_type(ty: Ty) -> LoadResult<NativeType> {
    if ty.is(LibraryType::HandleRef) {
        return Ok(NativeType::HandleRef(ty));
    }
    let layout = native_layout(ty)?;
    Ok(match &layout.refused {
        Some(why) => NativeType::Refused(why.clone()),
        None if layout.blittable => NativeType::Same { size_bytes: layout.size_bytes, align_bytes: layout.align_bytes },
        None => NativeType::Struct(ty),
    })
}

fn class_type(ty: Ty, simple: Option<u8>, charset: CharSet, place: MarshalPosition) -> LoadResult<NativeType> {
    if ty.is_delegate() || ty.is(LibraryType::Delegate) || ty.is(LibraryType::MulticastDelegate) {
        return Ok(NativeType::Delegate(ty));
    }
    if ty.is(LibraryType::StringBuilder) {
        return Ok(match pointer_form(simple, charset) {
            Some(_) if !matches!(place, MarshalPosition::Param | MarshalPosition::Element) => {
                refuse(ty, "a StringBuilder can only be a parameter")
            }
            Some(form) => NativeType::StringBuilder(form),
            None => refuse(ty, "invalid managed/unmanaged type combination"),
        });
    }
    if let Some(base) = handle_class(ty)? {
        return Ok(if base.is(LibraryType::SafeHandle) {
            NativeType::SafeHandle(ty)
        } else {
            NativeType::CriticalHandle(ty)
        });
    }
    if ty.element_type == ElementType::Object || ty.is_interface() || ty.is(LibraryType::Object) {
        return Ok(match simple {
            Some(native::INTERFACE | native::IUNKNOWN | native::IDISPATCH) if place == MarshalPosition::Field => {
                NativeType::NullObject { size_bytes: 8 }
            }
            Some(native::ASANY) if place == MarshalPosition::Param => NativeType::AnyObject(charset),
            Some(native::STRUCT) if place == MarshalPosition::Field => {
                NativeType::NullObject { size_bytes: VARIANT_BYTES }
            }
            _ => refuse(ty, "objects and interfaces need COM"),
        });
    }
    let layout = native_layout(ty)?;
    if let Some(why) = &layout.refused {
        return Ok(NativeType::Refused(why.clone()));
    }
    Ok(if place == MarshalPosition::Field { NativeType::ClassInline(ty) } else { NativeType::ClassPointer(ty) })
}

/// SafeHandle or CriticalHandle, whichever `ty` derives from.
///
/// # Errors
/// The errors of loading the base classes.
pub fn handle_class(ty: Ty) -> LoadResult<Option<Ty>> {
    let mut next = Some(ty);
    while let Some(current) = next {
        if current.is(LibraryType::SafeHandle) || current.is(LibraryType::CriticalHandle) {
            return Ok(Some(current));
        }
        next = current.parent()?;
    }
    Ok(None)
}
