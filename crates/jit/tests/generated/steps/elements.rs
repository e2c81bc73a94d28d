//! Loops over the elements of an array, up to a limit that may lie outside.

use super::{ARRAY_PARAM, Generator, I32};
use crate::common::*;
use proptest::prelude::*;
use saki_il::ir::*;

/// `for (i = start; i OP limit; i += step) { use array[i + offset] }`
#[derive(Clone, Debug)]
pub struct Elements {
    /// A number, or one that the function has.
    start: Result<i32, usize>,
    limit: Result<i32, usize>,
    step: i32,
    is_inclusive: bool,
    offset: i32,
    /// Elements are written, with this value, rather than read.
    stored: Option<usize>,
    /// The length is asked for in each round, or once before the loop.
    asks_again: bool,
}

/// Loops of all shapes, most of which stay inside the array.
pub fn elements() -> impl Strategy<Value = Elements> {
    let number = || prop_oneof![3 => (-2..16i32).prop_map(Ok), 1 => (0..1000usize).prop_map(Err)];
    let step = prop_oneof![5 => Just(1), 2 => Just(-1), 1 => Just(2), 1 => Just(-3)];
    let stored = prop::option::of(0..1000usize);
    (number(), number(), step, any::<bool>(), -2..3i32, stored, any::<bool>()).prop_map(
        |(start, limit, step, is_inclusive, offset, stored, asks_again)| {
            let (start, limit) = if step < 0 { (limit, start) } else { (start, limit) };
            Elements { start, limit, step, is_inclusive, offset, stored, asks_again }
        },
    )
}

impl Generator {
    fn number(&mut self, number: Result<i32, usize>) -> ValueId {
        match number {
            Ok(number) => self.ir.i32(number),
            Err(value) => self.pick(I32, value),
        }
    }

    pub(super) fn elements(&mut self, elements: &Elements) {
        let Elements { start, limit, step, is_inclusive, offset, stored, asks_again } = *elements;
        self.has_loop = true;
        let (index, sum, bound) = (self.ir.local(I32, false), self.ir.local(I32, false), self.ir.local(I32, false));
        let (start, limit) = (self.number(start), self.number(limit));
        self.ir.set(index, start);
        self.ir.set(bound, limit);
        let stored = stored.map(|value| self.pick(I32, value));
        let length_before = (!asks_again).then(|| {
            let array = self.ir.get(ARRAY_PARAM);
            self.ir.push(Op::ArrayLen(array), I32)
        });
        let (head, body) = (self.ir.block(self.region), self.ir.block(self.region));
        let done = self.ir.block(self.region);
        self.ir.end(Terminator::Jump(head));
        self.ir.at(head);
        let (i, limit) = (self.ir.get(index.0), self.ir.get(bound.0));
        let op = match (step > 0, is_inclusive) {
            (true, false) => CmpOp::Lt,
            (true, true) => CmpOp::Le,
            (false, false) => CmpOp::Gt,
            (false, true) => CmpOp::Ge,
        };
        let cond = self.ir.push(Op::Cmp(op, i, limit), I32);
        self.ir.end(Terminator::Brif { cond, then: body, otherwise: done });
        self.ir.at(body);
        let mut i = self.ir.get(index.0);
        if offset != 0 {
            let offset = self.ir.i32(offset);
            i = self.ir.bin(BinOp::Add, i, offset, I32);
        }
        let array = self.ir.get(ARRAY_PARAM);
        let length = length_before.unwrap_or_else(|| self.ir.push(Op::ArrayLen(array), I32));
        self.ir.push(Op::BoundsCheck { index: i, length }, IrType::Void);
        let addr = self.ir.push(Op::ElementAddr { array, index: i, element_size_bytes: 4 }, IrType::ByRef);
        let (flags, mem) = (plain(AliasClass::Element), MemType::I32);
        match stored {
            Some(value) => {
                self.ir.push(Op::Store { addr, offset: 0, value, mem, flags }, IrType::Void);
            }
            None => {
                let element = self.ir.push(Op::Load { addr, offset: 0, mem, flags }, I32);
                let (before, three) = (self.ir.get(sum.0), self.ir.i32(3));
                let before = self.ir.bin(BinOp::Mul, before, three, I32);
                let after = self.ir.bin(BinOp::Add, before, element, I32);
                self.ir.set(sum, after);
            }
        }
        let (i, step) = (self.ir.get(index.0), self.ir.i32(step));
        let next = self.ir.bin(BinOp::Add, i, step, I32);
        self.ir.set(index, next);
        self.ir.push(Op::Poll, IrType::Void);
        self.ir.end(Terminator::Jump(head));
        self.ir.at(done);
        for local in [sum, index] {
            let value = self.ir.get(local.0);
            self.known.push((value, I32));
        }
    }
}
