//! Objects: fields of numbers and references, and an array of references.

use super::{Generator, I32, OBJECT_PARAM, OBJECT_WORDS, REFERENCES};
use crate::common::*;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_il::ir::*;

/// Offsets of an object's fields.
const NUMBER: i32 = OBJECT_HEADER_BYTES as i32;
pub const REFERENCE: i32 = NUMBER + 8;
const _: () = assert!(REFERENCE as usize + 8 == OBJECT_WORDS * 8);

impl Generator {
    /// An object; where exceptions are handled, perhaps null.
    fn object(&mut self, number: usize) -> ValueId {
        let is_plain = |(value, ty): &&(ValueId, IrType)| *ty == IrType::Ref && !self.typed.contains_key(value);
        let candidates: Vec<ValueId> = self.known.iter().filter(is_plain).map(|(value, _)| *value).collect();
        match candidates.len() {
            1.. if self.region.is_some() => candidates[number % candidates.len()],
            _ => self.ir.get(OBJECT_PARAM),
        }
    }

    /// A reference that is stored: an object, or null.
    fn stored(&mut self, number: usize) -> ValueId {
        if number.is_multiple_of(5) { self.ir.push(Op::Null, IrType::Ref) } else { self.object(number) }
    }

    /// The address of an element of the array of references, which is checked, with the array.
    fn reference(&mut self, index: usize) -> (ValueId, ValueId) {
        let (addr, mem, flags) = (self.words(), MemType::Ref, plain(AliasClass::Any));
        let array = self.ir.push(Op::Load { addr, offset: (REFERENCES * 8) as i32, mem, flags }, IrType::Ref);
        let index = if index.is_multiple_of(2) { self.ir.i32(index as i32 % 11 / 2) } else { self.pick(I32, index) };
        let length = self.ir.push(Op::ArrayLen(array), I32);
        self.ir.push(Op::BoundsCheck { index, length }, IrType::Void);
        (array, self.ir.push(Op::ElementAddr { array, index, element_size_bytes: 8 }, IrType::ByRef))
    }

    pub(super) fn access(&mut self, what: usize, object: usize, value: usize) {
        let flags = checked(AliasClass::Field);
        let element = plain(AliasClass::Element);
        match what % 8 {
            0 => {
                let addr = self.object(object);
                self.add(Op::Load { addr, offset: NUMBER, mem: MemType::I32, flags }, I32);
            }
            1 => {
                let (addr, value) = (self.object(object), self.pick(I32, value));
                self.add(Op::Store { addr, offset: NUMBER, value, mem: MemType::I32, flags }, IrType::Void);
            }
            2 | 3 => {
                let addr = self.object(object);
                self.add(Op::Load { addr, offset: REFERENCE, mem: MemType::Ref, flags }, IrType::Ref);
            }
            4 | 5 => {
                let (addr, value) = (self.object(object), self.stored(value));
                let object = Some(addr);
                self.add(Op::StoreRef { object, addr, offset: REFERENCE, value, flags }, IrType::Void);
            }
            // Elsewhere a failed check is a fault.
            _ if self.region.is_none() => {}
            6 => {
                let (_, addr) = self.reference(object);
                self.add(Op::Load { addr, offset: 0, mem: MemType::Ref, flags: element }, IrType::Ref);
            }
            _ => {
                let (array, addr) = self.reference(object);
                let (object, value) = (Some(array), self.stored(value));
                self.add(Op::StoreRef { object, addr, offset: 0, value, flags: element }, IrType::Void);
            }
        }
    }

    /// Whether two references are the same.
    pub(super) fn compare_objects(&mut self, a: usize, b: usize) {
        let (a, b) = (self.object(a), self.stored(b));
        self.add(Op::Cmp(CmpOp::Eq, a, b), I32);
    }
}
