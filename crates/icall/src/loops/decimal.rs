//! Reading decimal digits as a large integer (`System.Numerics.BigNumber`), nineteen at a time; the class library
//! multiplies by ten for each digit.

use super::slices::{may_decline, rest};
use saki_abi::ObjRef;
use saki_interop::builder_text::builder_units;
use saki_loops::decimal::limbs_of;
use saki_metadata::ElementType;
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::{Array, CurrentThread, Managed, Obj, Place, Word};
use saki_types::{LibraryType, universe};
use std::sync::OnceLock;

/// `BigNumberBuffer`: the digits that were found, with a zero unit behind them.
#[repr(C)]
#[derive(Clone, Copy)]
struct Buffer {
    /// A StringBuilder.
    digits: ObjRef,
    precision: i32,
    /// Digits before the decimal point.
    scale: i32,
    is_negative: u8,
}

/// `BigInteger`: a number of one word alone, or a sign and the magnitude's words without leading zeros.
#[repr(C)]
struct Number {
    sign: i32,
    words: ObjRef,
}

/// Whether the class library's types have their fields as `Buffer` and `Number` have them.
fn has_known_fields() -> bool {
    static IS_KNOWN: OnceLock<bool> = OnceLock::new();
    let is_at = |owner: LibraryType, field: &str, offset_bytes: usize| {
        let ty = universe().find_library_type(owner).ok().flatten();
        let field = ty.and_then(|ty| ty.find_field(field).ok().flatten());
        field.and_then(|field| field.offset_bytes().ok()) == Some(offset_bytes as u32)
    };
    *IS_KNOWN.get_or_init(|| {
        let buffer = LibraryType::BigNumberBuffer;
        is_at(buffer, "digits", std::mem::offset_of!(Buffer, digits))
            && is_at(buffer, "scale", std::mem::offset_of!(Buffer, scale))
            && is_at(buffer, "sign", std::mem::offset_of!(Buffer, is_negative))
            && is_at(LibraryType::BigInteger, "_sign", std::mem::offset_of!(Number, sign))
            && is_at(LibraryType::BigInteger, "_bits", std::mem::offset_of!(Number, words))
    })
}

/// `BigNumber.NumberToBigInteger`: the digits before the point; false if a digit behind the point is not zero.
fn read_digits(t: CurrentThread, buffer: Place<Buffer>, number: Place<Number>) -> Managed<i32> {
    if !has_known_fields() {
        return Ok(DECLINED);
    }
    let buffer = buffer.get();
    // SAFETY: the field holds a StringBuilder or null.
    let Some(digits) = (unsafe { Obj::from_word(buffer.digits) }) else { return Ok(DECLINED) };
    let (units, _) = builder_units(digits);
    let values = units.iter().map_while(|unit| (*unit != 0).then(|| unit.wrapping_sub(u16::from(b'0'))));
    let digits: Vec<u8> = values.map(|value| value.min(10) as u8).collect();
    // The end mark is missing, or a unit is not a digit.
    if digits.len() == units.len() || digits.contains(&10) {
        return Ok(DECLINED);
    }
    let scale = usize::try_from(buffer.scale).unwrap_or(0);
    let (whole, fraction) = digits.split_at(scale.min(digits.len()));
    let limbs = limbs_of(whole, scale - whole.len(), rest(t));
    let is_whole = fraction.iter().all(|digit| *digit == 0);
    let is_negative = is_whole && buffer.is_negative != 0;
    let mut words: Vec<u32> = limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]).collect();
    words.truncate(words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1));
    let sign = if is_negative { -1 } else { 1 };
    let (sign, array) = match words[..] {
        [] => (0, ObjRef::NULL),
        [word] if word <= i32::MAX as u32 => (sign * word as i32, ObjRef::NULL),
        _ => {
            let array = Array::new(t, universe().primitive(ElementType::U4), words.len())?;
            array.set_numbers(0, &words);
            (sign, array.word())
        }
    };
    let number = number.as_ptr();
    // SAFETY: the place has the fields of a `Number`, which was checked.
    unsafe {
        (*number).sign = sign;
        saki_gc::barrier::store_ref_unknown(t.managed(), &raw mut (*number).words, array);
    }
    Ok(i32::from(is_whole))
}

pub(super) const TABLE: &[LoopRow] = &[may_decline(
    "static System.Numerics.BigNumber::NumberToBigInteger(System.Numerics.BigNumber+BigNumberBuffer&,System.Numerics.BigInteger&) System.Boolean",
    &read_digits,
)];
