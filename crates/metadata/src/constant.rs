//! Values of Constant rows: field, parameter and property defaults. ECMA-335 §II.22.9.

use crate::bytes::ByteCursor;
use crate::element_type::ElementType;
use crate::error::BadImage;
use crate::image::Image;
use crate::rows::ConstantRow;

/// A compile-time constant.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstantValue {
    Boolean(bool),
    /// UTF-16 unit.
    Char(u16),
    I1(i8),
    U1(u8),
    I2(i16),
    U2(u16),
    I4(i32),
    U4(u32),
    I8(i64),
    U8(u64),
    R4(f32),
    R8(f64),
    /// UTF-16 units.
    String(Vec<u16>),
    /// The null reference.
    Null,
}

impl Image {
    /// Decodes the value of a Constant row. Errors: unknown type; the blob is missing or too short.
    pub fn constant_value(&self, row: &ConstantRow) -> Result<ConstantValue, BadImage> {
        let blob = self.blob(row.value)?;
        let element = ElementType::from_u8(row.element_type as u8);
        element.and_then(|element| decode(element, blob)).ok_or_else(|| {
            let what = format!("constant of type {:#x} in {} bytes", row.element_type, blob.len());
            self.bad_image(self.blob_offset(row.value), what)
        })
    }
}

fn decode(element: ElementType, blob: &[u8]) -> Option<ConstantValue> {
    let mut cursor = ByteCursor::new(blob);
    Some(match element {
        ElementType::Boolean => ConstantValue::Boolean(cursor.u8()? != 0),
        ElementType::Char => ConstantValue::Char(cursor.u16()?),
        ElementType::I1 => ConstantValue::I1(cursor.u8()? as i8),
        ElementType::U1 => ConstantValue::U1(cursor.u8()?),
        ElementType::I2 => ConstantValue::I2(cursor.u16()? as i16),
        ElementType::U2 => ConstantValue::U2(cursor.u16()?),
        ElementType::I4 => ConstantValue::I4(cursor.u32()? as i32),
        ElementType::U4 => ConstantValue::U4(cursor.u32()?),
        ElementType::I8 => ConstantValue::I8(cursor.u64()? as i64),
        ElementType::U8 => ConstantValue::U8(cursor.u64()?),
        ElementType::R4 => ConstantValue::R4(f32::from_bits(cursor.u32()?)),
        ElementType::R8 => ConstantValue::R8(f64::from_bits(cursor.u64()?)),
        ElementType::String => {
            ConstantValue::String(blob.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect())
        }
        ElementType::Class | ElementType::Object => ConstantValue::Null,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{ConstantValue, decode};
    use crate::element_type::ElementType;

    #[test]
    fn values() {
        assert_eq!(decode(ElementType::I2, &[0xff, 0xff]), Some(ConstantValue::I2(-1)));
        assert_eq!(decode(ElementType::String, b"a\0b\0"), Some(ConstantValue::String(vec![97, 98])));
        assert_eq!(decode(ElementType::Class, &[0; 4]), Some(ConstantValue::Null));
        assert_eq!(decode(ElementType::I8, &[0; 7]), None);
    }
}
