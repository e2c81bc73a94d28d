//! Objects of types: allocations, boxes, type tests, fields, elements, and the check of array stores.

use super::{Generator, I32, SLOTS, VARIABLES};
use crate::classes::{COUNT, Classes, FIRST_ARRAY, FIRST_BOX, OBJECTS, classes};
use crate::common::*;
use saki_abi::HelperId;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_il::ir::*;

/// Locals that hold objects of any type, or null; they follow those of numbers.
pub const OBJECT_LOCALS: usize = 2;

/// What is known of a reference: the position of its class, if it has one, and whether it is not null.
#[derive(Clone, Copy)]
pub struct Typed {
    class: Option<usize>,
    is_not_null: bool,
}

impl Generator {
    fn add_typed(&mut self, op: Op, class: Option<usize>, is_not_null: bool) -> ValueId {
        let value = self.add(op, IrType::Ref);
        self.typed.insert(value, Typed { class, is_not_null });
        value
    }

    /// A typed reference for which the test holds.
    fn find_typed(&mut self, number: usize, is_wanted: impl Fn(Typed) -> bool) -> Option<(ValueId, Typed)> {
        let typed = |value: &ValueId| self.typed.get(value).map(|typed| (*value, *typed));
        let found: Vec<_> =
            self.known.iter().filter_map(|(value, _)| typed(value)).filter(|(_, typed)| is_wanted(*typed)).collect();
        (!found.is_empty()).then(|| found[found.len() - 1 - number % found.len()])
    }

    fn any_typed(&mut self, all: &Classes, number: usize) -> (ValueId, Typed) {
        self.find_typed(number, |_| true).unwrap_or_else(|| {
            let value = self.new_of(all, number % FIRST_BOX);
            (value, self.typed[&value])
        })
    }

    fn new_of(&mut self, all: &Classes, class: usize) -> ValueId {
        self.add_typed(Op::NewObject(all.all[class].ty), Some(class), true)
    }

    /// Null, or an object.
    fn any_or_null(&mut self, all: &Classes, number: usize) -> ValueId {
        if number.is_multiple_of(7) { self.ir.push(Op::Null, IrType::Ref) } else { self.any_typed(all, number).0 }
    }

    pub(super) fn typed(&mut self, what: usize, a: usize, b: usize) {
        let Some(all) = classes() else { return };
        let can_throw = self.region.is_some();
        match what % 16 {
            0 | 1 => {
                self.new_of(all, a % FIRST_BOX);
            }
            2 => {
                let class = FIRST_ARRAY + a % (COUNT - FIRST_ARRAY);
                let length = if b.is_multiple_of(8) { self.pick(I32, b) } else { self.ir.i32(b as i32 % 7 - 1) };
                self.add_typed(Op::NewArray(all.all[class].ty, length), Some(class), true);
            }
            3 => {
                let class = FIRST_BOX + a % (FIRST_ARRAY - FIRST_BOX);
                let mem = Classes::boxed(class);
                let value = self.pick(mem.loaded(), b);
                let (addr, flags) = (self.new_of(all, class), plain(AliasClass::Field));
                let offset = OBJECT_HEADER_BYTES as i32;
                self.ir.push(Op::Store { addr, offset, value, mem, flags }, IrType::Void);
            }
            4 | 5 => {
                let (object, typed) = self.any_typed(all, a);
                let ty = all.targets[b % all.targets.len()];
                self.add_typed(Op::CastClass(object, ty), all.of_type(ty).or(typed.class), typed.is_not_null);
            }
            6 | 7 => {
                let (object, _) = self.any_typed(all, a);
                let ty = all.targets[b % all.targets.len()];
                let result = self.add_typed(Op::IsInst(object, ty), all.of_type(ty), false);
                let null = self.ir.push(Op::Null, IrType::Ref);
                self.add(Op::Cmp(CmpOp::Eq, result, null), I32);
            }
            8 => {
                let Some((object, _)) = self.find_typed(a, |typed| can_throw || typed.is_not_null) else { return };
                let class = FIRST_BOX + b % (FIRST_ARRAY - FIRST_BOX);
                let addr = self.ir.push(Op::Unbox(object, all.all[class].ty), IrType::ByRef);
                let (mem, flags) = (Classes::boxed(class), plain(AliasClass::Field));
                self.add(Op::Load { addr, offset: 0, mem, flags }, mem.loaded());
            }
            9 | 10 => self.field(all, a, b),
            11 | 12 => self.element(all, a, b),
            13 => {
                let value = self.any_or_null(all, a);
                self.ir.set(LocalId((VARIABLES + b % OBJECT_LOCALS) as u32), value);
            }
            14 => {
                self.add_typed(Op::LocalGet(LocalId((VARIABLES + a % OBJECT_LOCALS) as u32)), None, false);
            }
            _ => {
                let (x, y) = (self.any_or_null(all, a), self.any_or_null(all, b));
                self.add(Op::Cmp(CmpOp::Eq, x, y), I32);
            }
        }
    }

    /// Reads or writes a field of an object.
    fn field(&mut self, all: &Classes, a: usize, b: usize) {
        let can_throw = self.region.is_some();
        let has_fields = |typed: Typed| typed.class.is_some_and(|class| !all.all[class].fields.is_empty());
        let usable = |typed: Typed| has_fields(typed) && (can_throw || typed.is_not_null);
        let Some((addr, typed)) = self.find_typed(a, usable) else { return };
        let fields = &all.all[typed.class.expect("it has fields")].fields;
        let (offset, mem) = fields[b % fields.len()];
        let flags = if typed.is_not_null { plain(AliasClass::Field) } else { checked(AliasClass::Field) };
        match (a.is_multiple_of(2), mem) {
            (true, MemType::Ref) => {
                self.add_typed(Op::Load { addr, offset, mem, flags }, None, false);
            }
            (true, _) => {
                self.add(Op::Load { addr, offset, mem, flags }, I32);
            }
            (false, MemType::Ref) => {
                let value = self.any_or_null(all, b);
                self.ir.push(Op::StoreRef { object: Some(addr), addr, offset, value, flags }, IrType::Void);
            }
            (false, _) => {
                let value = self.pick(I32, b);
                self.ir.push(Op::Store { addr, offset, value, mem, flags }, IrType::Void);
            }
        }
    }

    /// The array of objects outside the function.
    fn slots(&mut self) -> ValueId {
        let (addr, flags) = (self.words(), plain(AliasClass::Any));
        let offset = (SLOTS * 8) as i32;
        self.add_typed(Op::Load { addr, offset, mem: MemType::Ref, flags }, Some(OBJECTS), true)
    }

    /// Reads or writes an element of an array.
    fn element(&mut self, all: &Classes, a: usize, b: usize) {
        let is_array = |typed: Typed| typed.class.is_some_and(|class| class >= FIRST_ARRAY);
        // Where a failed check is a fault, the array is a new one, and the index inside.
        let must_pass = self.region.is_none();
        let found = if must_pass { None } else { self.find_typed(a / 2, is_array) };
        let array = match found {
            Some((array, _)) if !a.is_multiple_of(3) => array,
            _ if !must_pass && a.is_multiple_of(5) => self.slots(),
            _ => {
                let (class, length) = (FIRST_ARRAY + b % (COUNT - FIRST_ARRAY), self.ir.i32(6));
                self.add_typed(Op::NewArray(all.all[class].ty, length), Some(class), true)
            }
        };
        let class = self.typed[&array].class.expect("an array has a class");
        let is_variable = b.is_multiple_of(5) && !must_pass;
        let index = if is_variable { self.pick(I32, b) } else { self.ir.i32(b as i32 % 6) };
        let length = self.ir.push(Op::ArrayLen(array), I32);
        let flags = plain(AliasClass::Element);
        let element_size_bytes = all.all[class].element_bytes().expect("an array") as u32;
        let is_number = class == FIRST_ARRAY;
        let value = (!a.is_multiple_of(2) && !is_number).then(|| self.any_or_null(all, a / 2));
        self.ir.push(Op::BoundsCheck { index, length }, IrType::Void);
        let addr = self.ir.push(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef);
        match (a.is_multiple_of(2), value) {
            (true, _) if is_number => {
                self.add(Op::Load { addr, offset: 0, mem: MemType::I32, flags }, I32);
            }
            (true, _) => {
                let class = [None, Some(0), Some(1)][class - OBJECTS];
                self.add_typed(Op::Load { addr, offset: 0, mem: MemType::Ref, flags }, class, false);
            }
            (false, Some(value)) => {
                let params = [IrType::Ref, IrType::Ref];
                self.ir.helper(HelperId::CheckArrayStore, &params, None, &[array, value]);
                self.ir.push(Op::StoreRef { object: Some(array), addr, offset: 0, value, flags }, IrType::Void);
            }
            (false, None) => {
                let value = self.pick(I32, b);
                self.ir.push(Op::Store { addr, offset: 0, value, mem: MemType::I32, flags }, IrType::Void);
            }
        }
    }

    /// Writes the locals with objects where they can be compared.
    pub(super) fn keep_objects(&mut self) {
        if classes().is_none() {
            return;
        }
        let (object, flags) = (self.slots(), plain(AliasClass::Element));
        for number in 0..OBJECT_LOCALS {
            let (value, index) = (self.ir.get((VARIABLES + number) as u32), self.ir.i32(number as i32));
            let addr = Op::ElementAddr { array: object, index, element_size_bytes: 8 };
            let addr = self.ir.push(addr, IrType::ByRef);
            self.ir.push(Op::StoreRef { object: Some(object), addr, offset: 0, value, flags }, IrType::Void);
        }
    }
}
