//! System.ValueType: equality and hash codes of structs.
//!
//! Numbers, pointers and strings are dealt with here; the values of all other fields are handed to managed code, which
//! calls their own methods.

use crate::arguments::{non_null, non_null_this, store_out};
use saki_abi::ObjRef;
use saki_metadata::ElementType;
use saki_runtime::exceptions::ToManaged;
use saki_runtime::{CurrentThread, InternalCall, Managed, object, strings};
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

/// Address of a field of a boxed struct.
fn field_address(t: CurrentThread, boxed: ObjRef, field: &'static Field) -> Managed<*const u8> {
    let offset = field.offset_bytes().to_managed(t)? as usize;
    Ok(object::unboxed(boxed).wrapping_add(offset))
}

/// The value of a field as an object.
fn boxed_field(t: CurrentThread, boxed: ObjRef, field: &'static Field) -> Managed<ObjRef> {
    let ty = field.ty().to_managed(t)?;
    let address = field_address(t, boxed, field)?;
    if ty.is_reference_type() {
        // SAFETY: the field holds a reference.
        return Ok(unsafe { *(address as *const ObjRef) });
    }
    object::box_value(t, ty, address)
}

fn read_bits(address: *const u8, size_bytes: usize) -> u64 {
    let mut bits = [0; 8];
    // SAFETY: a field of this size, which explicit layout may leave unaligned.
    unsafe { std::ptr::copy_nonoverlapping(address, bits.as_mut_ptr(), size_bytes) };
    u64::from_le_bytes(bits)
}

fn text_at(address: *const u8) -> ObjRef {
    // SAFETY: a field of type String.
    unsafe { (address as *const ObjRef).read_unaligned() }
}

fn same_text(left: ObjRef, right: ObjRef) -> bool {
    left == right || !left.is_null() && !right.is_null() && strings::units(left) == strings::units(right)
}

/// False with null `fields`: different. True: equal. False with `fields`: equal so far, and managed code compares the
/// pairs in the array.
fn internal_equals(t: CurrentThread, left: ObjRef, right: ObjRef, fields: *mut ObjRef) -> i32 {
    t.run(|| {
        store_out(t, fields, ObjRef::NULL);
        non_null_this(t, left)?;
        non_null(t, right, "obj")?;
        let ty = object::type_of(left);
        if ty != object::type_of(right) {
            return Ok(0);
        }
        let mut rest = Vec::new();
        for field in instance_fields(t, ty)? {
            let (a, b) = (field_address(t, left, field)?, field_address(t, right, field)?);
            let same = match comparison(field.ty().to_managed(t)?) {
                Comparison::Bits(size) => read_bits(a, size) == read_bits(b, size),
                Comparison::Single => {
                    let (x, y) = (f32::from_bits(read_bits(a, 4) as u32), f32::from_bits(read_bits(b, 4) as u32));
                    x == y || x.is_nan() && y.is_nan()
                }
                Comparison::Double => {
                    let (x, y) = (f64::from_bits(read_bits(a, 8)), f64::from_bits(read_bits(b, 8)));
                    x == y || x.is_nan() && y.is_nan()
                }
                Comparison::Text => same_text(text_at(a), text_at(b)),
                Comparison::Managed => {
                    rest.push(field);
                    true
                }
            };
            if !same {
                return Ok(0);
            }
        }
        if rest.is_empty() {
            return Ok(1);
        }
        let pairs = object::new_array(t, universe().object(), rest.len() * 2)?;
        for (index, field) in rest.into_iter().enumerate() {
            object::set_element_ref(t, pairs, index * 2, boxed_field(t, left, field)?);
            object::set_element_ref(t, pairs, index * 2 + 1, boxed_field(t, right, field)?);
        }
        store_out(t, fields, pairs);
        Ok(0)
    })
}

/// Equal texts give equal numbers; otherwise arbitrary (FNV-1a over UTF-16 units).
fn text_hash(text: ObjRef) -> u32 {
    strings::units(text).iter().fold(0x811c_9dc5, |hash: u32, &unit| (hash ^ u32::from(unit)).wrapping_mul(0x0100_0193))
}

fn internal_get_hash_code(t: CurrentThread, this: ObjRef, fields: *mut ObjRef) -> i32 {
    t.run(|| {
        store_out(t, fields, ObjRef::NULL);
        non_null_this(t, this)?;
        let mut rest = Vec::new();
        let mut hash: u32 = 0x2d2816fe;
        for field in instance_fields(t, object::type_of(this))? {
            let address = field_address(t, this, field)?;
            let part = match comparison(field.ty().to_managed(t)?) {
                Comparison::Bits(size) => {
                    let bits = read_bits(address, size);
                    bits as u32 ^ (bits >> 32) as u32
                }
                Comparison::Text => match text_at(address) {
                    ObjRef::NULL => 0,
                    text => text_hash(text),
                },
                // Zeroes of both signs and all NaNs are equal: their own GetHashCode knows.
                Comparison::Single | Comparison::Double | Comparison::Managed => {
                    rest.push(field);
                    0
                }
            };
            hash ^= part;
        }
        if !rest.is_empty() {
            let values = object::new_array(t, universe().object(), rest.len())?;
            for (index, field) in rest.into_iter().enumerate() {
                object::set_element_ref(t, values, index, boxed_field(t, this, field)?);
            }
            store_out(t, fields, values);
        }
        Ok(hash as i32)
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.ValueType::InternalEquals", &internal_equals),
    InternalCall::new("System.ValueType::InternalGetHashCode", &internal_get_hash_code),
];
