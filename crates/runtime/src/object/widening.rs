//! The conversions of numbers that assignments by reflection make: a number goes into a variable of a wider type.
//! ECMA-335 §I.12.1 has the sizes; which conversions there are is what .NET documents for `Array.SetValue`.

use crate::references::Obj;
use saki_types::ElementType;

/// A number to be stored in a variable of another primitive type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Signed(i64),
    Unsigned(u64),
    Real(f64),
    Boolean,
}

/// Outcome of a conversion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Widened {
    /// Little-endian bits of the stored value.
    Stores(u64),
    /// Both types are primitive, but a value could be lost.
    TooWide,
    OtherKind,
}

impl Scalar {
    /// The number in a box; None if it holds none that is converted.
    pub fn read(boxed: Obj) -> Option<Scalar> {
        use ElementType as E;
        let ty = boxed.ty();
        if !ty.is_value_type() {
            return None;
        }
        Some(match ty.underlying().element_type {
            E::Boolean => Scalar::Boolean,
            E::U1 => Scalar::Unsigned(u64::from(boxed.number::<u8>())),
            E::U2 | E::Char => Scalar::Unsigned(u64::from(boxed.number::<u16>())),
            E::U4 => Scalar::Unsigned(u64::from(boxed.number::<u32>())),
            E::U8 => Scalar::Unsigned(boxed.number()),
            E::I1 => Scalar::Signed(i64::from(boxed.number::<i8>())),
            E::I2 => Scalar::Signed(i64::from(boxed.number::<i16>())),
            E::I4 => Scalar::Signed(i64::from(boxed.number::<i32>())),
            E::I8 => Scalar::Signed(boxed.number()),
            E::R4 => Scalar::Real(f64::from(boxed.number::<f32>())),
            E::R8 => Scalar::Real(boxed.number()),
            _ => return None,
        })
    }

    /// Converts from primitive `from` to primitive `to`, as the widening rules allow.
    pub fn widen(self, from: ElementType, to: ElementType) -> Widened {
        use ElementType as E;
        let (Some(from_bytes), Some(to_bytes)) = (from.primitive_size_bytes(), to.primitive_size_bytes()) else {
            return Widened::OtherKind;
        };
        match (to, self) {
            (E::Boolean, Scalar::Boolean) => Widened::OtherKind,
            (E::Boolean, _) | (_, Scalar::Boolean) => Widened::TooWide,
            (E::R4, Scalar::Real(value)) if from_bytes <= to_bytes => {
                Widened::Stores(u64::from((value as f32).to_bits()))
            }
            (E::R8, Scalar::Real(value)) => Widened::Stores(value.to_bits()),
            (E::R4, Scalar::Signed(value)) => Widened::Stores(u64::from((value as f32).to_bits())),
            (E::R4, Scalar::Unsigned(value)) => Widened::Stores(u64::from((value as f32).to_bits())),
            (E::R8, Scalar::Signed(value)) => Widened::Stores((value as f64).to_bits()),
            (E::R8, Scalar::Unsigned(value)) => Widened::Stores((value as f64).to_bits()),
            (E::I1 | E::I2 | E::I4 | E::I8, Scalar::Signed(value)) if from_bytes <= to_bytes => {
                Widened::Stores(value as u64)
            }
            (E::I1 | E::I2 | E::I4 | E::I8, Scalar::Unsigned(value)) if from_bytes < to_bytes => Widened::Stores(value),
            (E::U1 | E::U2 | E::U4 | E::U8 | E::Char, Scalar::Unsigned(value)) if from_bytes <= to_bytes => {
                Widened::Stores(value)
            }
            _ => Widened::TooWide,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Scalar, Widened};
    use saki_types::ElementType as E;

    #[test]
    fn widening_follows_size_and_sign() {
        assert_eq!(Scalar::Signed(-1).widen(E::I4, E::I8), Widened::Stores(u64::MAX));
        assert_eq!(Scalar::Signed(1).widen(E::I8, E::I4), Widened::TooWide);
        assert_eq!(Scalar::Signed(1).widen(E::I4, E::U8), Widened::TooWide);
        assert_eq!(Scalar::Unsigned(1).widen(E::U4, E::I4), Widened::TooWide);
        assert_eq!(Scalar::Unsigned(7).widen(E::U2, E::Char), Widened::Stores(7));
        assert_eq!(Scalar::Signed(2).widen(E::I4, E::R8), Widened::Stores(2.0f64.to_bits()));
        assert_eq!(Scalar::Real(1.0).widen(E::R8, E::R4), Widened::TooWide);
        assert_eq!(Scalar::Boolean.widen(E::Boolean, E::I4), Widened::TooWide);
        assert_eq!(Scalar::Signed(1).widen(E::I4, E::I), Widened::OtherKind);
    }
}
