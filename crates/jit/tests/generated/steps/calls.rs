//! Calls of functions that keep values in registers of their own, and throw for odd numbers.

use super::{CALLEES, Generator, I32, I64, VARIABLES, variable};
use crate::common::*;
use saki_il::ir::*;

/// Parameters of the functions: the code of another one, and two numbers.
const PARAMS: [IrType; 3] = [I64; 3];
/// Values that they keep over their calls: more than there are registers for them.
const KEPT: usize = 7;

/// The functions that generated ones call: the first calls none itself.
pub fn callees() -> [Ir; 3] {
    [thrower(), keeper(), catcher()]
}

/// Throws an exception with the low byte of an odd number.
fn thrower() -> Ir {
    let mut ir = Ir::new("thrower", &PARAMS, Some(I64));
    let (throws, returns) = (ir.block(None), ir.block(None));
    let (number, one) = (ir.get(1), ir.i64(1));
    let cond = ir.bin(BinOp::And, number, one, I64);
    ir.end(Terminator::Brif { cond, then: throws, otherwise: returns });
    ir.at(throws);
    let (number, mask) = (ir.get(1), ir.i64(0xFF));
    let exception = ir.bin(BinOp::And, number, mask, I64);
    ir.end(Terminator::Throw(exception));
    ir.at(returns);
    let (number, other) = (ir.get(1), ir.get(2));
    let sum = ir.bin(BinOp::Add, number, other, I64);
    ir.ret(sum);
    ir
}

fn kept_value(ir: &mut Ir, index: usize) -> ValueId {
    let (a, b, factor) = (ir.get(1), ir.get(2), ir.i64(index as i64 * 0x1_0001 + 3));
    let product = ir.bin(BinOp::Mul, a, factor, I64);
    ir.bin(BinOp::Xor, product, b, I64)
}

fn mixed(ir: &mut Ir, values: &[ValueId]) -> ValueId {
    let mut sum = ir.i64(1);
    for &value in values {
        let factor = ir.i64(31);
        let product = ir.bin(BinOp::Mul, sum, factor, I64);
        sum = ir.bin(BinOp::Add, product, value, I64);
    }
    sum
}

fn call_of(ir: &mut Ir, code: ValueId, args: Vec<ValueId>) -> ValueId {
    let sig = Box::new(CallSig { has_this: false, params: PARAMS.to_vec(), ret: Some(I64) });
    ir.push(Op::Call { target: CallTarget::Indirect(code), sig, args, struct_result: None }, I64)
}

/// Keeps values over a call that may throw, whose exceptions pass it.
fn keeper() -> Ir {
    let mut ir = Ir::new("keeper", &PARAMS, Some(I64));
    let mut values: Vec<_> = (0..KEPT).map(|index| kept_value(&mut ir, index)).collect();
    let args = (0..3).map(|param| ir.get(param)).collect::<Vec<_>>();
    let result = call_of(&mut ir, args[0], args);
    values.push(result);
    let sum = mixed(&mut ir, &values);
    ir.ret(sum);
    ir
}

/// Keeps values over a call whose exceptions it handles: some are thrown again.
fn catcher() -> Ir {
    let mut ir = Ir::new("catcher", &PARAMS, Some(I64));
    let locals: Vec<_> = (0..=KEPT).map(|_| ir.local(I64, false)).collect();
    for (index, &local) in locals[..KEPT].iter().enumerate() {
        let value = kept_value(&mut ir, index);
        ir.set(local, value);
    }
    let handler = ir.block(None);
    let (region, exception) = ir.region(None, ClauseKind::Fault, handler);
    let (body, done, again) = (ir.block(Some(region)), ir.block(None), ir.block(None));
    ir.end(Terminator::Jump(body));
    ir.at(body);
    let args = (0..3).map(|param| ir.get(param)).collect::<Vec<_>>();
    let result = call_of(&mut ir, args[0], args);
    ir.set(locals[KEPT], result);
    ir.end(Terminator::Jump(done));
    ir.at(handler);
    let (number, mask) = (ir.get(1), ir.i64(2));
    let cond = ir.bin(BinOp::And, number, mask, I64);
    ir.end(Terminator::Brif { cond, then: again, otherwise: done });
    ir.at(again);
    // The exception that goes on depends on all values.
    let values: Vec<_> = locals.iter().map(|local| ir.get(local.0)).collect();
    let (sum, caught, one) = (mixed(&mut ir, &values), ir.get(exception.0), ir.i64(1));
    let sum = ir.bin(BinOp::Add, sum, caught, I64);
    let exception = ir.bin(BinOp::Or, sum, one, I64);
    ir.end(Terminator::Throw(exception));
    ir.at(done);
    let values: Vec<_> = locals.iter().map(|local| ir.get(local.0)).collect();
    let sum = mixed(&mut ir, &values);
    ir.ret(sum);
    ir
}

impl Generator {
    /// One of the functions, by its code from one of the compilers.
    pub(super) fn call(&mut self, which: usize, [a, b]: [usize; 2]) {
        let (a, b) = (self.pick(I64, a), self.pick(I64, b));
        let (flags, mem) = (plain(AliasClass::Any), MemType::I64);
        let [code, inner] = [which % 6, which / 6 % 2].map(|number| {
            let addr = self.words();
            self.ir.push(Op::Load { addr, offset: ((CALLEES + number) * 8) as i32, mem, flags }, I64)
        });
        let result = call_of(&mut self.ir, code, vec![inner, a, b]);
        self.known.push((result, I64));
    }

    /// A number that depends on the integers of all variables, so that these live on everywhere.
    pub(super) fn with_all_integers(&mut self, first: ValueId) -> ValueId {
        let mut values = vec![first];
        for number in 0..VARIABLES - 3 {
            let local = variable(number) as u32;
            match self.ir.func.locals[local as usize].ty {
                I64 => values.push(self.ir.get(local)),
                I32 => {
                    let value = self.ir.get(local);
                    let conversion = Op::Conv { value, target: ConvTarget::I8, checked: false, source_unsigned: false };
                    values.push(self.ir.push(conversion, I64));
                }
                _ => {}
            }
        }
        mixed(&mut self.ir, &values)
    }
}
