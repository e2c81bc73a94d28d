//! `conv.*` (ECMA-335 §III.3.27 ff.).
//!
//! Unchecked float → integer gives the result of cvttsd2si on x64: the least integer of the *intermediate* type (32
//! bits up to I4, 64 bits for U4 and I8) when the value does not fit, or the nearest one where the class library says
//! so (`CompilerOptions::saturates_conversions`). Checked conversions from floats call the runtime.

use super::context::Lowering;
use super::failure::Failure;
use crate::error::Lowered;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use saki_abi::HelperId;
use saki_il::ir::ConvTarget;

/// Width and signedness of an integer target.
struct IntegerTarget {
    bits: u32,
    signed: bool,
}

pub(super) fn convert(
    cx: &mut Lowering<'_, '_>,
    value: Value,
    target: ConvTarget,
    checked: bool,
    source_unsigned: bool,
) -> Lowered<Value> {
    let from = cx.type_of(value);
    let to_float = match target {
        ConvTarget::R4 => Some(types::F32),
        ConvTarget::R8 | ConvTarget::RUn => Some(types::F64),
        _ => None,
    };
    if let Some(to) = to_float {
        return float_of(cx, value, from, to, source_unsigned || target == ConvTarget::RUn);
    }
    match (from.is_float(), checked) {
        (true, true) => float_checked(cx, value, target),
        (true, false) => Ok(float_to_integer(cx, value, target)),
        (false, true) => {
            range_check(cx, value, target, source_unsigned);
            Ok(integer_to_integer(cx, value, target, source_unsigned))
        }
        (false, false) => Ok(integer_to_integer(cx, value, target, source_unsigned)),
    }
}

fn float_of(cx: &mut Lowering<'_, '_>, value: Value, from: Type, to: Type, unsigned: bool) -> Lowered<Value> {
    if from.is_float() {
        return cx.coerce(value, to);
    }
    Ok(if unsigned { cx.b.ins().fcvt_from_uint(to, value) } else { cx.b.ins().fcvt_from_sint(to, value) })
}

/// Truncates, and extends to the stack type. `unsigned`: a checked conversion of an unsigned source, whose value is in
/// range: it must not be sign-extended on the way up.
fn integer_to_integer(cx: &mut Lowering<'_, '_>, value: Value, target: ConvTarget, unsigned: bool) -> Value {
    let from = cx.type_of(value);
    let low =
        |this: &mut Lowering<'_, '_>| if from == types::I64 { this.b.ins().ireduce(types::I32, value) } else { value };
    match target {
        ConvTarget::I1 | ConvTarget::U1 | ConvTarget::I2 | ConvTarget::U2 => {
            let (narrow, signed) = match target {
                ConvTarget::I1 => (types::I8, true),
                ConvTarget::U1 => (types::I8, false),
                ConvTarget::I2 => (types::I16, true),
                _ => (types::I16, false),
            };
            let narrow = cx.b.ins().ireduce(narrow, value);
            if signed { cx.b.ins().sextend(types::I32, narrow) } else { cx.b.ins().uextend(types::I32, narrow) }
        }
        ConvTarget::I4 | ConvTarget::U4 => low(cx),
        ConvTarget::I8 | ConvTarget::I if from == types::I32 && !unsigned => cx.b.ins().sextend(types::I64, value),
        _ if from == types::I32 => cx.b.ins().uextend(types::I64, value),
        _ => value,
    }
}

/// Throws OverflowException unless the target type can hold the integer.
fn range_check(cx: &mut Lowering<'_, '_>, value: Value, target: ConvTarget, source_unsigned: bool) {
    let from = cx.type_of(value);
    let Some(IntegerTarget { bits, signed }) = integer_target(target) else { return };
    let source_bits = from.bits();
    let bad = match (source_unsigned, signed) {
        (true, false) if bits >= source_bits => return,
        (true, true) if bits > source_bits => return,
        (false, true) if bits >= source_bits => return,
        // Exactly the negative numbers are out of range.
        (false, false) if bits >= source_bits => cx.b.ins().icmp_imm_s(IntCC::SignedLessThan, value, 0),
        (true, true) if bits == source_bits => cx.b.ins().icmp_imm_s(IntCC::SignedLessThan, value, 0),
        (_, false) => {
            let greatest = (1i64 << bits) - 1;
            cx.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, value, greatest)
        }
        (true, true) => {
            let greatest = (1i64 << (bits - 1)) - 1;
            cx.b.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, value, greatest)
        }
        (false, true) => {
            let narrow = Type::int(bits as u16).unwrap_or(types::I32);
            let truncated = cx.b.ins().ireduce(narrow, value);
            let extended = cx.b.ins().sextend(from, truncated);
            cx.b.ins().icmp(IntCC::NotEqual, extended, value)
        }
    };
    cx.check(bad, Failure::Overflow);
}

fn float_checked(cx: &mut Lowering<'_, '_>, value: Value, target: ConvTarget) -> Lowered<Value> {
    let value = cx.coerce(value, types::F64)?;
    let number = cx.i32_const(target.number());
    let result = cx.call_helper(HelperId::ConvR8Checked, &[value, number]).expect("the helper has a result");
    let is_wide = matches!(target, ConvTarget::I8 | ConvTarget::U8 | ConvTarget::I | ConvTarget::U);
    Ok(if is_wide { result } else { cx.b.ins().ireduce(types::I32, result) })
}

fn float_to_integer(cx: &mut Lowering<'_, '_>, value: Value, target: ConvTarget) -> Value {
    if cx.options.saturates_conversions {
        return match target {
            ConvTarget::I8 | ConvTarget::I => cx.b.ins().fcvt_to_sint_sat(types::I64, value),
            ConvTarget::U8 | ConvTarget::U => cx.b.ins().fcvt_to_uint_sat(types::I64, value),
            ConvTarget::U4 => cx.b.ins().fcvt_to_uint_sat(types::I32, value),
            _ => {
                let word = cx.b.ins().fcvt_to_sint_sat(types::I32, value);
                integer_to_integer(cx, word, target, false)
            }
        };
    }
    match target {
        ConvTarget::I8 | ConvTarget::I => truncate_like_x64(cx, value, types::I64),
        ConvTarget::U8 | ConvTarget::U => {
            let value = if cx.type_of(value) == types::F32 { cx.b.ins().fpromote(types::F64, value) } else { value };
            cx.call_helper_nothrow(HelperId::ConvR8ToU8, &[value]).expect("the helper has a result")
        }
        ConvTarget::U4 => {
            let wide = truncate_like_x64(cx, value, types::I64);
            cx.b.ins().ireduce(types::I32, wide)
        }
        _ => {
            let word = truncate_like_x64(cx, value, types::I32);
            integer_to_integer(cx, word, target, false)
        }
    }
}

/// Truncates towards zero; gives the least integer for NaN and values that do not fit.
fn truncate_like_x64(cx: &mut Lowering<'_, '_>, value: Value, to: Type) -> Value {
    let saturated = cx.b.ins().fcvt_to_sint_sat(to, value);
    // Saturation is right but for NaN (0) and values too large (the greatest integer).
    let limit = if to == types::I32 { 2_147_483_648.0 } else { 9_223_372_036_854_775_808.0 };
    let limit =
        if cx.type_of(value) == types::F32 { cx.b.ins().f32const(limit as f32) } else { cx.b.ins().f64const(limit) };
    let fits = cx.b.ins().fcmp(FloatCC::LessThan, value, limit);
    let least = cx.b.ins().iconst(to, if to == types::I32 { i64::from(i32::MIN) } else { i64::MIN });
    cx.b.ins().select(fits, saturated, least)
}

fn integer_target(target: ConvTarget) -> Option<IntegerTarget> {
    target.integer().map(|(bits, signed)| IntegerTarget { bits, signed })
}
