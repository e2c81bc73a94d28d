//! Arithmetic, comparisons and conversions, with folding of constants. ECMA-335 §III.1.5, §III.3.
//!
//! Mixed operands: an int32 beside a native int is sign-extended (zero-extended by add.ovf.un, sub.ovf.un and
//! mul.ovf.un, as in .NET); a float32 beside a float64 is widened; managed pointers and references count as native
//! integers.

use super::builder::conv_type;
use super::emitter::Emitter;
use super::stack::{Note, StackEntry};
use crate::ir::{BinOp, CmpOp, ConvTarget, IrType, LocalKind, Op, UnOp, ValueId};
use saki_abi::HelperId;
use saki_types::{LoadError, LoadResult};

#[derive(Clone, Copy)]
pub(super) struct Comparison(pub CmpOp);

impl Comparison {
    /// `ceq`.
    pub const EQUAL: Comparison = Comparison(CmpOp::Eq);
}

fn is_float(ir: IrType) -> bool {
    matches!(ir, IrType::F32 | IrType::F64)
}

impl Emitter<'_> {
    /// Brings two operands to one type.
    fn unify(&mut self, a: ValueId, b: ValueId) -> LoadResult<(ValueId, ValueId, IrType)> {
        let (ta, tb) = (self.b.ty(a), self.b.ty(b));
        let ir = match (ta, tb) {
            (IrType::I32, IrType::I32) => IrType::I32,
            (IrType::F32, IrType::F32) => IrType::F32,
            _ if is_float(ta) && is_float(tb) => IrType::F64,
            _ if is_float(ta) || is_float(tb) => {
                return Err(LoadError::invalid_program("an integer meets a float in arithmetic"));
            }
            _ => IrType::I64,
        };
        Ok((self.fit(a, ir), self.fit(b, ir), ir))
    }

    /// Zero-extends an int32 operand if the other operand is wider.
    fn zero_extend_mixed(&mut self, a: ValueId, b: ValueId) -> (ValueId, ValueId) {
        match (self.b.ty(a), self.b.ty(b)) {
            (IrType::I32, IrType::I64 | IrType::ByRef | IrType::Ref) => (self.b.conv(a, ConvTarget::U8), b),
            (IrType::I64 | IrType::ByRef | IrType::Ref, IrType::I32) => (a, self.b.conv(b, ConvTarget::U8)),
            _ => (a, b),
        }
    }

    pub(super) fn binary(&mut self, op: BinOp) -> LoadResult<()> {
        let (eb, ea) = (self.pop()?, self.pop()?);
        let (b, a) = (self.value(&eb)?, self.value(&ea)?);
        let is_pointer = |e: &StackEntry| e.ir == IrType::ByRef;
        let (a, b) = match op {
            BinOp::AddOvfUn | BinOp::SubOvfUn | BinOp::MulOvfUn => self.zero_extend_mixed(a, b),
            _ => (a, b),
        };
        let (a, b, mut ir) = self.unify(a, b)?;
        if is_float(ir) {
            let value = match op {
                BinOp::Rem if ir == IrType::F64 => self.b.helper(HelperId::FRem, vec![a, b]),
                BinOp::Rem => self.b.helper(HelperId::FRemSingle, vec![a, b]),
                BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div => self.b.inst(Op::Bin(op, a, b), ir),
                _ => return Err(LoadError::invalid_program("an integer operation on floats")),
            };
            self.push_scalar(value, ir);
            return Ok(());
        }
        let moves_pointer = matches!(op, BinOp::Add | BinOp::Sub | BinOp::AddOvfUn | BinOp::SubOvfUn);
        if moves_pointer && (is_pointer(&ea) != is_pointer(&eb)) {
            ir = IrType::ByRef;
        }
        let value = self.bin(op, a, b, ir);
        self.push_scalar(value, ir);
        Ok(())
    }

    /// Integer operation, folded where both operands are constants.
    pub(super) fn bin(&mut self, op: BinOp, a: ValueId, b: ValueId, ir: IrType) -> ValueId {
        match (self.b.op(a), self.b.op(b)) {
            (Op::ConstI32(x), Op::ConstI32(y)) => {
                if let Some(folded) = fold_i32(op, *x, *y) {
                    return self.b.i32(folded);
                }
            }
            (Op::ConstI64(x), Op::ConstI64(y)) => {
                if let Some(folded) = fold_i64(op, *x, *y) {
                    return self.b.i64(folded);
                }
            }
            (_, Op::ConstI64(0) | Op::ConstI32(0))
                if matches!(op, BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor) =>
            {
                return a;
            }
            (Op::ConstI64(_), _) if op == BinOp::Add && self.b.ty(b) == IrType::ByRef => {
                return self.b.inst(Op::Bin(op, b, a), ir);
            }
            (Op::Bin(BinOp::Add, base, before), Op::ConstI64(more))
                if op == BinOp::Add && self.b.ty(*base) == IrType::ByRef =>
            {
                if let Op::ConstI64(before) = self.b.op(*before) {
                    let (base, total) = (*base, before.wrapping_add(*more));
                    let total = self.b.i64(total);
                    return self.b.inst(Op::Bin(op, base, total), ir);
                }
            }
            _ => {}
        }
        self.b.inst(Op::Bin(op, a, b), ir)
    }

    pub(super) fn shift(&mut self, op: BinOp) -> LoadResult<()> {
        let (amount, value) = (self.pop_int()?, self.pop_value()?);
        let amount = self.fit(amount, IrType::I32);
        let ir = match self.b.ty(value) {
            IrType::I32 => IrType::I32,
            IrType::I64 | IrType::ByRef | IrType::Ref => IrType::I64,
            _ => return Err(LoadError::invalid_program("a shift of something that is no integer")),
        };
        let result = match (self.b.op(value), self.b.op(amount)) {
            (Op::ConstI32(x), Op::ConstI32(n)) if (0..32).contains(n) => {
                let (x, n) = (*x, *n);
                self.b.i32(match op {
                    BinOp::Shl => x << n,
                    BinOp::Shr => x >> n,
                    _ => ((x as u32) >> n) as i32,
                })
            }
            (Op::ConstI64(x), Op::ConstI32(n)) if (0..64).contains(n) => {
                let (x, n) = (*x, *n);
                self.b.i64(match op {
                    BinOp::Shl => x << n,
                    BinOp::Shr => x >> n,
                    _ => ((x as u64) >> n) as i64,
                })
            }
            _ => self.b.inst(Op::Bin(op, value, amount), ir),
        };
        self.push_scalar(result, ir);
        Ok(())
    }

    pub(super) fn unary(&mut self, op: UnOp) -> LoadResult<()> {
        let value = self.pop_value()?;
        let ir = match self.b.ty(value) {
            IrType::ByRef | IrType::Ref => IrType::I64,
            other => other,
        };
        let is_meant = match op {
            UnOp::Not => !is_float(ir),
            UnOp::CheckFinite => is_float(ir),
            _ => true,
        };
        if !is_meant {
            return Err(LoadError::invalid_program(format!("{op:?} of {ir}")));
        }
        let result = match (op, self.b.op(value)) {
            (UnOp::Neg, Op::ConstI32(n)) => {
                let n = n.wrapping_neg();
                self.b.i32(n)
            }
            (UnOp::Neg, Op::ConstI64(n)) => {
                let n = n.wrapping_neg();
                self.b.i64(n)
            }
            (UnOp::Not, Op::ConstI32(n)) => {
                let n = !n;
                self.b.i32(n)
            }
            _ => self.b.inst(Op::Un(op, value), ir),
        };
        self.push_scalar(result, ir);
        Ok(())
    }

    // ---- comparisons

    pub(super) fn compare(&mut self, comparison: Comparison) -> LoadResult<()> {
        let value = self.comparison_value(comparison.0)?;
        self.push_scalar(value, IrType::I32);
        Ok(())
    }

    /// Pops two operands; the value is 1 if the comparison holds, else 0.
    pub(super) fn comparison_value(&mut self, op: CmpOp) -> LoadResult<ValueId> {
        let (eb, ea) = (self.pop()?, self.pop()?);
        if let Some(known) = self.compare_references(op, &ea, &eb) {
            return Ok(self.b.i32(i32::from(known)));
        }
        let (b, a) = (self.value(&eb)?, self.value(&ea)?);
        let is_null = |v: ValueId, i: &Self| matches!(i.b.op(v), Op::Null);
        let (ta, tb) = (self.b.ty(a), self.b.ty(b));
        let (a, b) = match (ta, tb) {
            // References and null, and pointers of any kind, are compared without conversion.
            (IrType::Ref | IrType::ByRef | IrType::I64, IrType::Ref | IrType::ByRef | IrType::I64) => (a, b),
            _ => {
                let (a, b, _) = self.unify(a, b)?;
                (a, b)
            }
        };
        // `x > null` as the compilers' idiom for `x != null`.
        if op == CmpOp::GtUn && is_null(b, self) {
            return Ok(self.b.inst(Op::Cmp(CmpOp::NeUn, a, b), IrType::I32));
        }
        let folded = match (self.b.op(a), self.b.op(b)) {
            (Op::ConstI32(x), Op::ConstI32(y)) => {
                Some(fold_cmp(op, i64::from(*x), i64::from(*y), *x as u32 as u64, *y as u32 as u64))
            }
            (Op::ConstI64(x), Op::ConstI64(y)) => Some(fold_cmp(op, *x, *y, *x as u64, *y as u64)),
            (Op::Null, Op::Null) => Some(fold_cmp(op, 0, 0, 0, 0)),
            _ => None,
        };
        if let Some(folded) = folded {
            return Ok(self.b.i32(i32::from(folded)));
        }
        // (a cmp b) == 0 is the negation, for integers.
        if let (CmpOp::Eq, Op::ConstI32(0), Op::Cmp(inner, x, y)) = (op, self.b.op(b), self.b.op(a)) {
            let (inner, x, y) = (*inner, *x, *y);
            if !is_float(self.b.ty(x)) {
                return Ok(self.b.inst(Op::Cmp(negated(inner), x, y), IrType::I32));
            }
        }
        Ok(self.b.inst(Op::Cmp(op, a, b), IrType::I32))
    }

    /// Whether a comparison of the entry with null is certainly false. `this` does not count, although accesses take it
    /// as non-null: the method may have been called on null, and compare `this` to find out.
    pub(super) fn is_certainly_set(&self, entry: &StackEntry) -> bool {
        let is_this = match entry.val {
            super::stack::Val::Scalar(value) => match self.b.op(value) {
                Op::LocalGet(local) => matches!(self.b.f.locals[local.0 as usize].kind, LocalKind::Param(0)),
                _ => false,
            },
            _ => false,
        };
        entry.is_non_null && !is_this
    }

    /// Comparisons of references whose outcome is known.
    fn compare_references(&self, op: CmpOp, a: &StackEntry, b: &StackEntry) -> Option<bool> {
        if a.ir != IrType::Ref || b.ir != IrType::Ref {
            return None;
        }
        let is_null =
            |e: &StackEntry| matches!(e.val, super::stack::Val::Scalar(v) if matches!(self.b.op(v), Op::Null));
        let differs = match (a.note, b.note) {
            (Note::TypeObject(x), Note::TypeObject(y)) => x.is_same_in_all(y).map(|are_same| !are_same),
            _ if (is_null(b) && self.is_certainly_set(a)) || (is_null(a) && self.is_certainly_set(b)) => Some(true),
            _ => None,
        }?;
        match op {
            CmpOp::Eq => Some(!differs),
            CmpOp::NeUn => Some(differs),
            CmpOp::GtUn if is_null(b) => Some(differs),
            _ => None,
        }
    }

    // ---- conversions

    pub(super) fn convert(&mut self, target: ConvTarget, checked: bool, source_unsigned: bool) -> LoadResult<()> {
        let entry = self.pop()?;
        let value = self.value(&entry)?;
        let ir = conv_type(target);
        let from = self.b.ty(value);
        let is_word = |t: IrType| matches!(t, IrType::I64 | IrType::ByRef | IrType::Ref);
        let keeps = match target {
            ConvTarget::I8 | ConvTarget::I => is_word(from) && !(checked && source_unsigned),
            ConvTarget::U8 | ConvTarget::U => is_word(from) && (!checked || source_unsigned),
            ConvTarget::I4 => from == IrType::I32 && !(checked && source_unsigned),
            ConvTarget::U4 => from == IrType::I32 && (!checked || source_unsigned),
            ConvTarget::R4 => from == IrType::F32,
            ConvTarget::R8 => from == IrType::F64,
            _ => false,
        };
        self.makes_pointers |= from == IrType::ByRef;
        if keeps {
            let mut kept = StackEntry::scalar(value, ir);
            kept.is_non_null = entry.is_non_null;
            kept.note = entry.note;
            self.push(kept);
            return Ok(());
        }
        let folded = match (self.b.op(value), checked) {
            (Op::ConstI32(n), false) => fold_conv(target, i64::from(*n), *n as u32 as u64),
            (Op::ConstI64(n), false) => fold_conv(target, *n, *n as u64),
            _ => None,
        };
        let result = match folded {
            Some(op) => self.b.inst(op, ir),
            None => self.b.inst(Op::Conv { value, target, checked, source_unsigned }, ir),
        };
        self.push_scalar(result, ir);
        Ok(())
    }
}

/// A function that folds an operation on two constants; None where it throws, or is none on integers.
macro_rules! fold_integers {
    ($name:ident, $signed:ty, $unsigned:ty) => {
        fn $name(op: BinOp, x: $signed, y: $signed) -> Option<$signed> {
            let (ux, uy) = (x as $unsigned, y as $unsigned);
            Some(match op {
                BinOp::Add => x.wrapping_add(y),
                BinOp::Sub => x.wrapping_sub(y),
                BinOp::Mul => x.wrapping_mul(y),
                BinOp::And => x & y,
                BinOp::Or => x | y,
                BinOp::Xor => x ^ y,
                BinOp::AddOvf => return x.checked_add(y),
                BinOp::SubOvf => return x.checked_sub(y),
                BinOp::MulOvf => return x.checked_mul(y),
                BinOp::AddOvfUn => ux.checked_add(uy)? as $signed,
                BinOp::SubOvfUn => ux.checked_sub(uy)? as $signed,
                BinOp::MulOvfUn => ux.checked_mul(uy)? as $signed,
                BinOp::Div => return x.checked_div(y),
                BinOp::Rem => return x.checked_rem(y),
                BinOp::DivUn => ux.checked_div(uy)? as $signed,
                BinOp::RemUn => ux.checked_rem(uy)? as $signed,
                _ => return None,
            })
        }
    };
}

fold_integers!(fold_i32, i32, u32);
fold_integers!(fold_i64, i64, u64);

fn fold_cmp(op: CmpOp, x: i64, y: i64, ux: u64, uy: u64) -> bool {
    match op {
        CmpOp::Eq => x == y,
        CmpOp::NeUn => x != y,
        CmpOp::Lt => x < y,
        CmpOp::Gt => x > y,
        CmpOp::Le => x <= y,
        CmpOp::Ge => x >= y,
        CmpOp::LtUn => ux < uy,
        CmpOp::GtUn => ux > uy,
        CmpOp::LeUn => ux <= uy,
        CmpOp::GeUn => ux >= uy,
    }
}

fn negated(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Eq => CmpOp::NeUn,
        CmpOp::NeUn => CmpOp::Eq,
        CmpOp::Lt => CmpOp::Ge,
        CmpOp::Ge => CmpOp::Lt,
        CmpOp::Gt => CmpOp::Le,
        CmpOp::Le => CmpOp::Gt,
        CmpOp::LtUn => CmpOp::GeUn,
        CmpOp::GeUn => CmpOp::LtUn,
        CmpOp::GtUn => CmpOp::LeUn,
        CmpOp::LeUn => CmpOp::GtUn,
    }
}

/// Unchecked conversion of an integer constant, given sign- and zero-extended.
fn fold_conv(target: ConvTarget, signed: i64, unsigned: u64) -> Option<Op> {
    use ConvTarget as C;
    Some(match target {
        C::I1 => Op::ConstI32(i32::from(signed as i8)),
        C::U1 => Op::ConstI32(i32::from(signed as u8)),
        C::I2 => Op::ConstI32(i32::from(signed as i16)),
        C::U2 => Op::ConstI32(i32::from(signed as u16)),
        C::I4 | C::U4 => Op::ConstI32(signed as i32),
        C::I8 | C::I => Op::ConstI64(signed),
        C::U8 | C::U => Op::ConstI64(unsigned as i64),
        C::R4 => Op::ConstF32(signed as f32),
        C::R8 => Op::ConstF64(signed as f64),
        C::RUn => Op::ConstF64(unsigned as f64),
    })
}
