//! Ranges of integers that are seen from the instruction that defines them, so that checks of overflow can be cheaper
//! or be left out.
//!
//! Left out: what the way to an instruction says about a value, and values of locals.

use super::context::Lowering;
use saki_il::ir::{BinOp, ConvTarget, MemType, Op, ValueId};
use std::ops::RangeInclusive;

/// The values that the integer may have, as signed numbers of its width. None: any.
pub(super) fn range(cx: &Lowering<'_, '_>, id: ValueId) -> Option<RangeInclusive<i64>> {
    let small = |mem: MemType| match mem {
        MemType::I8 => Some(i64::from(i8::MIN)..=i64::from(i8::MAX)),
        MemType::U8 => Some(0..=i64::from(u8::MAX)),
        MemType::I16 => Some(i64::from(i16::MIN)..=i64::from(i16::MAX)),
        MemType::U16 => Some(0..=i64::from(u16::MAX)),
        _ => None,
    };
    match cx.inst(id)?.op {
        Op::ConstI32(n) => Some(i64::from(n)..=i64::from(n)),
        Op::ConstI64(n) => Some(n..=n),
        Op::Bin(BinOp::And, a, b) => {
            let mask = cx.constant(a).into_iter().chain(cx.constant(b)).filter(|&mask| mask >= 0).min()?;
            Some(0..=mask)
        }
        Op::Cmp(..) => Some(0..=1),
        Op::ArrayLen(_) => Some(0..=i64::from(i32::MAX)),
        Op::Load { mem, .. } => small(mem),
        Op::Conv { target: ConvTarget::I1, .. } => small(MemType::I8),
        Op::Conv { target: ConvTarget::U1, .. } => small(MemType::U8),
        Op::Conv { target: ConvTarget::I2, .. } => small(MemType::I16),
        Op::Conv { target: ConvTarget::U2, .. } => small(MemType::U16),
        _ => None,
    }
}

/// Whether every value that the integer may have fits the target, so that a checked conversion is a plain one.
pub(super) fn fits(cx: &Lowering<'_, '_>, id: ValueId, target: ConvTarget) -> bool {
    let Some(range) = range(cx, id) else { return false };
    let (least, greatest) = match target {
        ConvTarget::I1 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        ConvTarget::U1 => (0, i64::from(u8::MAX)),
        ConvTarget::I2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        ConvTarget::U2 => (0, i64::from(u16::MAX)),
        ConvTarget::I4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        ConvTarget::U4 => (0, i64::from(u32::MAX)),
        ConvTarget::I8 | ConvTarget::I => (i64::MIN, i64::MAX),
        ConvTarget::U8 | ConvTarget::U => (0, i64::MAX),
        ConvTarget::R4 | ConvTarget::R8 | ConvTarget::RUn => return false,
    };
    // Negative numbers of an unsigned source are great ones.
    *range.start() >= least.max(0) && *range.end() <= greatest
}
