//! System.ValueType: equality and hash codes of structs.
//!
//! Numbers, pointers and strings are dealt with here; the values of all other fields are handed to managed code, which
//! calls their own methods.

use crate::arguments::{non_null, non_null_this};
use saki_abi::ObjRef;
use saki_metadata::ElementType;

use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, ExceptionType, InternalCall, Managed, Obj, RefPlace, Str};
use saki_types::{Field, Ty, universe};

/// How a field is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// By its bits: 1, 2, 4 or 8 bytes.
    Bits(usize),
    Single,
    Double,
    Text,
    /// By managed code.
    Managed,
}

fn comparison(ty: Ty) -> Comparison {
    use ElementType as E;
    if ty.is_pointer() {
        return Comparison::Bits(8);
    }
    match ty.underlying().element_type {
        E::Boolean | E::I1 | E::U1 => Comparison::Bits(1),
        E::Char | E::I2 | E::U2 => Comparison::Bits(2),
        E::I4 | E::U4 => Comparison::Bits(4),
        E::I8 | E::U8 | E::I | E::U => Comparison::Bits(8),
        E::R4 => Comparison::Single,
        E::R8 => Comparison::Double,
        E::String => Comparison::Text,
        _ => Comparison::Managed,
    }
}

fn instance_fields(t: CurrentThread, ty: Ty) -> Managed<impl Iterator<Item = &'static Field>> {
    Ok(ty.fields().to_managed(t)?.iter().copied().filter(|f| !f.is_static()))
}

/// A field of a boxed struct.
#[derive(Clone, Copy)]
struct BoxedField<'t> {
    boxed: Obj<'t>,
    /// Offset from the start of the value.
    offset_bytes: usize,
    ty: Ty,
}

impl<'t> BoxedField<'t> {
    fn of(t: CurrentThread, boxed: Obj<'t>, field: &'static Field) -> Managed<BoxedField<'t>> {
        let offset_bytes = field.offset_bytes().to_managed(t)? as usize;
        Ok(BoxedField { boxed, offset_bytes, ty: field.ty().to_managed(t)? })
    }

    fn address(self) -> *const u8 {
        self.boxed.data().wrapping_add(self.offset_bytes)
    }

    /// The value as an object.
    fn boxed(self, t: CurrentThread<'t>) -> Managed<Option<Obj<'t>>> {
        if self.ty.is_reference_type() {
            return Ok(self.reference());
        }
        // SAFETY: the field lies in the box and has this type.
        unsafe { Obj::boxed(t, self.ty, self.address()) }
    }

    /// The bits of a field of 1, 2, 4 or 8 bytes.
    fn bits(self, size_bytes: usize) -> u64 {
        let mut bits = [0; 8];
        // SAFETY: the field lies in the box and has this size; explicit layout may leave it unaligned.
        unsafe { std::ptr::copy_nonoverlapping(self.address(), bits.as_mut_ptr(), size_bytes) };
        u64::from_le_bytes(bits)
    }

    /// The object in a field of a reference type.
    fn reference(self) -> Option<Obj<'t>> {
        // SAFETY: the field lies in the box and holds a reference; the object is held by the box.
        unsafe { Obj::from_word(self.address().cast::<ObjRef>().read_unaligned()) }
    }

    /// The string in a field of type String.
    fn text(self) -> Option<Str<'t>> {
        self.reference().and_then(Obj::as_str)
    }
}

fn is_same_text(left: Option<Str>, right: Option<Str>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => left == right || left.units() == right.units(),
        (None, None) => true,
        _ => false,
    }
}

/// Inline arrays have no equality unless they define one: their only field is the first element.
fn refuse_inline_array(t: CurrentThread, ty: Ty) -> Managed<()> {
    if ty.inline_array_length().to_managed(t)?.is_none() {
        return Ok(());
    }
    let message = "Calling built-in Equals() or GetHashCode() on type marked as InlineArray is invalid.";
    Err(exceptions::throw(t, ExceptionType::NotSupported, message))
}

/// True: equal. False with null `fields`: different. False with `fields`: equal so far; managed code compares the
/// pairs in the array.
fn internal_equals<'t>(
    t: CurrentThread<'t>,
    left: Option<Obj<'t>>,
    right: Option<Obj<'t>>,
    fields: RefPlace,
) -> Managed<bool> {
    fields.set(t, None::<Obj>);
    let left = non_null_this(t, left)?;
    let right = non_null(t, right, "obj")?;
    let ty = left.ty();
    if ty != right.ty() {
        return Ok(false);
    }
    refuse_inline_array(t, ty)?;
    let mut rest = Vec::new();
    for field in instance_fields(t, ty)? {
        let (a, b) = (BoxedField::of(t, left, field)?, BoxedField::of(t, right, field)?);
        let same = match comparison(a.ty) {
            Comparison::Bits(size) => a.bits(size) == b.bits(size),
            Comparison::Single => {
                let (x, y) = (f32::from_bits(a.bits(4) as u32), f32::from_bits(b.bits(4) as u32));
                x == y || x.is_nan() && y.is_nan()
            }
            Comparison::Double => {
                let (x, y) = (f64::from_bits(a.bits(8)), f64::from_bits(b.bits(8)));
                x == y || x.is_nan() && y.is_nan()
            }
            Comparison::Text => is_same_text(a.text(), b.text()),
            Comparison::Managed => {
                rest.push(field);
                true
            }
        };
        if !same {
            return Ok(false);
        }
    }
    if rest.is_empty() {
        return Ok(true);
    }
    let pairs = Array::new(t, universe().object(), rest.len() * 2)?;
    for (index, field) in rest.into_iter().enumerate() {
        pairs.set(t, index * 2, BoxedField::of(t, left, field)?.boxed(t)?);
        pairs.set(t, index * 2 + 1, BoxedField::of(t, right, field)?.boxed(t)?);
    }
    fields.set(t, pairs);
    Ok(false)
}

/// A hash of a text (FNV-1a over UTF-16 units).
fn text_hash(text: Str) -> u32 {
    text.units().iter().fold(0x811c_9dc5, |hash: u32, &unit| (hash ^ u32::from(unit)).wrapping_mul(0x0100_0193))
}

fn internal_get_hash_code<'t>(t: CurrentThread<'t>, this: Option<Obj<'t>>, fields: RefPlace) -> Managed<i32> {
    fields.set(t, None::<Obj>);
    let this = non_null_this(t, this)?;
    refuse_inline_array(t, this.ty())?;
    let mut rest = Vec::new();
    let mut hash: u32 = 0x2d2816fe;
    for field in instance_fields(t, this.ty())? {
        let place = BoxedField::of(t, this, field)?;
        if place.ty.inline_array_length().to_managed(t)?.is_some() {
            // The other fields decide. .NET asks only one field for its hash code.
            continue;
        }
        let part = match comparison(place.ty) {
            Comparison::Bits(size) => {
                let bits = place.bits(size);
                bits as u32 ^ (bits >> 32) as u32
            }
            Comparison::Text => place.text().map_or(0, text_hash),
            // Zeroes of both signs are equal, and all NaNs are: the GetHashCode of the type takes care of that.
            Comparison::Single | Comparison::Double | Comparison::Managed => {
                rest.push(field);
                0
            }
        };
        hash ^= part;
    }
    if !rest.is_empty() {
        let values = Array::new(t, universe().object(), rest.len())?;
        for (index, field) in rest.into_iter().enumerate() {
            values.set(t, index, BoxedField::of(t, this, field)?.boxed(t)?);
        }
        fields.set(t, values);
    }
    Ok(hash as i32)
}

/// The internal calls of `System.ValueType`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.ValueType::InternalEquals", &internal_equals),
    InternalCall::new("System.ValueType::InternalGetHashCode", &internal_get_hash_code),
];
