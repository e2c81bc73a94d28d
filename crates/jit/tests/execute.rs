//! Compiled code gives the results that ECMA-335 prescribes.

mod common;

use common::*;
use saki_abi::{HelperId, ObjRef, Object, ThreadAbi};
use saki_il::ir::*;

const I32: IrType = IrType::I32;
const I64: IrType = IrType::I64;
const F64: IrType = IrType::F64;
const F32: IrType = IrType::F32;
const REF: IrType = IrType::Ref;

fn binary(op: BinOp, ty: IrType) -> Ir {
    let mut ir = Ir::new("binary", &[ty, ty], Some(ty));
    let (a, b) = (ir.get(0), ir.get(1));
    let r = ir.bin(op, a, b, ty);
    ir.ret(r);
    ir
}

/// The operation inside a try region whose handler returns the exception.
fn protected(op: BinOp, ty: IrType) -> Ir {
    let mut ir = Ir::new("protected", &[ty, ty], Some(I64));
    let body = ir.block(None);
    let handler = ir.block(None);
    let (region, exception) = ir.region(None, ClauseKind::Fault, handler);
    ir.func.blocks[body.0 as usize].region = Some(region);
    ir.end(Terminator::Jump(body));
    ir.at(body);
    let (a, b) = (ir.get(0), ir.get(1));
    let r = ir.bin(op, a, b, ty);
    let r = ir.push(Op::Conv { value: r, target: ConvTarget::I8, checked: false, source_unsigned: false }, I64);
    ir.ret(r);
    ir.at(handler);
    let e = ir.get(exception.0);
    ir.ret(e);
    ir
}

#[test]
fn integer_arithmetic() {
    let mut m = Machine::new();
    let mut check = |op, a: i32, b: i32, expect: i32| {
        let got = m.eval(&binary(op, I32), &[a as u32 as u64, b as u32 as u64]).map(|v| v as i32);
        assert_eq!(got, Ok(expect), "{op:?} {a} {b}");
    };
    check(BinOp::Add, i32::MAX, 1, i32::MIN);
    check(BinOp::Sub, 3, 5, -2);
    check(BinOp::Mul, -7, 6, -42);
    check(BinOp::Div, -7, 2, -3);
    check(BinOp::DivUn, -1, 2, i32::MAX);
    check(BinOp::Rem, -7, 2, -1);
    check(BinOp::RemUn, -1, 16, 15);
    check(BinOp::Shl, 1, 33, 2);
    check(BinOp::Shr, -8, 1, -4);
    check(BinOp::ShrUn, -8, 28, 15);
    check(BinOp::AddOvf, 1, 2, 3);
    check(BinOp::MulOvfUn, 1 << 15, 1 << 16, i32::MIN);
}

#[test]
fn failed_checks_reach_the_handler_of_their_region() {
    let mut m = Machine::new();
    let mut check = |op, ty, a: i64, b: i64, expect: u64| {
        assert_eq!(m.eval(&protected(op, ty), &[a as u64, b as u64]), Ok(expect), "{op:?} {a} {b}");
    };
    check(BinOp::Div, I32, 7, 2, 3);
    check(BinOp::Div, I32, 7, 0, DIVIDE_BY_ZERO);
    check(BinOp::RemUn, I32, 7, 0, DIVIDE_BY_ZERO);
    check(BinOp::Div, I32, i32::MIN as i64, -1, OVERFLOW);
    check(BinOp::Rem, I32, i32::MIN as i64, -1, OVERFLOW);
    check(BinOp::Div, I64, i64::MIN, -1, OVERFLOW);
    check(BinOp::AddOvf, I32, i32::MAX as i64, 1, OVERFLOW);
    check(BinOp::SubOvfUn, I32, 1, 2, OVERFLOW);
    check(BinOp::MulOvf, I64, i64::MAX, 2, OVERFLOW);
    check(BinOp::MulOvf, I64, 3, -2, -6i64 as u64);
}

fn conversion(from: IrType, to: IrType, target: ConvTarget, checked: bool, source_unsigned: bool) -> Ir {
    let mut ir = Ir::new("conv", &[from], Some(to));
    let body = ir.block(None);
    let handler = ir.block(None);
    let (region, _) = ir.region(None, ClauseKind::Fault, handler);
    ir.func.blocks[body.0 as usize].region = Some(region);
    ir.end(Terminator::Jump(body));
    ir.at(body);
    let value = ir.get(0);
    let r = ir.push(Op::Conv { value, target, checked, source_unsigned }, to);
    ir.ret(r);
    ir.at(handler);
    let marker = match to {
        I32 => ir.i32(0x7eee),
        _ => ir.i64(0x7eee),
    };
    ir.ret(marker);
    ir
}

#[test]
fn conversions_from_floats() {
    let mut m = Machine::new();
    let mut check = |value: f64, to, target, expect: i64| {
        let got = m.eval(&conversion(F64, to, target, false, false), &[value.to_bits()]);
        assert_eq!(got, Ok(expect as u64), "{value} {target:?}");
    };
    check(-3.9, I32, ConvTarget::I4, -3);
    check(3e9, I32, ConvTarget::I4, i32::MIN as i64);
    check(f64::NAN, I32, ConvTarget::I4, i32::MIN as i64);
    check(-3e9, I32, ConvTarget::I4, i32::MIN as i64);
    check(3e9, I32, ConvTarget::U4, 3_000_000_000u32 as i32 as i64);
    check(300.0, I32, ConvTarget::U1, 44);
    check(-129.0, I32, ConvTarget::I1, 127);
    check(1e18, I64, ConvTarget::I8, 1_000_000_000_000_000_000);
    check(1e19, I64, ConvTarget::I8, i64::MIN);
    check(f64::NAN, I64, ConvTarget::I8, i64::MIN);
}

#[test]
fn conversions_between_integers() {
    let mut m = Machine::new();
    let mut check = |from, value: i64, to, target, checked, unsigned, expect: i64| {
        let got = m.eval(&conversion(from, to, target, checked, unsigned), &[value as u64]);
        assert_eq!(got, Ok(expect as u64), "{value:#x} {target:?} checked {checked} unsigned {unsigned}");
    };
    const THROWS: i64 = 0x7eee;
    check(I32, -1, I32, ConvTarget::U1, false, false, 255);
    check(I32, 0x1ff, I32, ConvTarget::I1, false, false, -1);
    check(I32, -1, I64, ConvTarget::I8, false, false, -1);
    check(I32, -1, I64, ConvTarget::U8, false, false, 0xffff_ffff);
    check(I64, 0x1_0000_0005, I32, ConvTarget::I4, false, false, 5);
    check(I32, 127, I32, ConvTarget::I1, true, false, 127);
    check(I32, 128, I32, ConvTarget::I1, true, false, THROWS);
    check(I32, -1, I32, ConvTarget::U1, true, false, THROWS);
    check(I32, 255, I32, ConvTarget::U1, true, false, 255);
    check(I32, -1, I32, ConvTarget::U4, true, false, THROWS);
    check(I32, -1, I32, ConvTarget::U4, true, true, -1);
    check(I32, -1, I32, ConvTarget::I4, true, true, THROWS);
    check(I32, -1, I64, ConvTarget::I8, true, true, 0xffff_ffff);
    check(I32, -1, I64, ConvTarget::U8, true, false, THROWS);
    check(I64, i64::MAX, I32, ConvTarget::I4, true, false, THROWS);
    check(I64, -5, I32, ConvTarget::I4, true, false, -5);
    check(I64, -5, I64, ConvTarget::U8, true, false, THROWS);
    check(I64, -5, I64, ConvTarget::I8, true, true, THROWS);
    check(I64, -5, I64, ConvTarget::U8, true, true, -5);
    check(I64, 0xffff_ffff, I32, ConvTarget::U4, true, false, -1);
    check(I64, 0x1_0000_0000, I32, ConvTarget::U4, true, true, THROWS);
}

#[test]
fn float_arithmetic_and_comparison() {
    let mut m = Machine::new();
    let mut add = Ir::new("single", &[F32, F32], Some(F32));
    let (a, b) = (add.get(0), add.get(1));
    let r = add.bin(BinOp::Add, a, b, F32);
    add.ret(r);
    let got = m.eval(&add, &[u64::from(1.5f32.to_bits()), u64::from(2.25f32.to_bits())]);
    assert_eq!(got.map(|v| f32::from_bits(v as u32)), Ok(3.75));

    let got = m.eval(&binary(BinOp::Rem, F64), &[7.5f64.to_bits(), 2f64.to_bits()]);
    assert_eq!(got, Ok(1.5f64.to_bits()));

    let mut check = |op, a: f64, b: f64, expect: u64| {
        let mut ir = Ir::new("cmp", &[F64, F64], Some(I32));
        let (x, y) = (ir.get(0), ir.get(1));
        let r = ir.push(Op::Cmp(op, x, y), I32);
        ir.ret(r);
        assert_eq!(m.eval(&ir, &[a.to_bits(), b.to_bits()]), Ok(expect), "{op:?} {a} {b}");
    };
    check(CmpOp::Lt, 1.0, 2.0, 1);
    check(CmpOp::Lt, f64::NAN, 2.0, 0);
    check(CmpOp::LtUn, f64::NAN, 2.0, 1);
    check(CmpOp::Eq, f64::NAN, f64::NAN, 0);
    check(CmpOp::NeUn, f64::NAN, f64::NAN, 1);
    check(CmpOp::GeUn, 1.0, 2.0, 0);
}

/// sum of 0..n by a loop over locals, with a poll on the back edge.
fn sum_loop() -> Ir {
    let mut ir = Ir::new("sum", &[I32], Some(I32));
    let (i, sum) = (ir.local(I32, false), ir.local(I32, true));
    let (head, body, done) = (ir.block(None), ir.block(None), ir.block(None));
    ir.end(Terminator::Jump(head));
    ir.at(head);
    let (a, n) = (ir.get(i.0), ir.get(0));
    let cond = ir.push(Op::Cmp(CmpOp::Lt, a, n), I32);
    ir.end(Terminator::Brif { cond, then: body, otherwise: done });
    ir.at(body);
    let (a, s) = (ir.get(i.0), ir.get(sum.0));
    let s = ir.bin(BinOp::Add, s, a, I32);
    ir.set(sum, s);
    let one = ir.i32(1);
    let a = ir.bin(BinOp::Add, a, one, I32);
    ir.set(i, a);
    ir.push(Op::Poll, IrType::Void);
    ir.end(Terminator::Jump(head));
    ir.at(done);
    let s = ir.get(sum.0);
    ir.ret(s);
    ir
}

#[test]
fn loops_and_polls() {
    let mut m = Machine::new();
    let ir = sum_loop();
    assert_eq!(m.eval(&ir, &[10]), Ok(45));
    assert_eq!(m.thread.stub_result, 0);
    *m.thread.poll.get_mut() = 1;
    assert_eq!(m.eval(&ir, &[10]), Ok(45));
    assert_eq!(m.thread.stub_result, 1, "the poll was taken once, then the stub cleared the flag");
}

#[test]
fn switch_goes_to_the_default_beyond_its_table() {
    let mut m = Machine::new();
    let mut ir = Ir::new("switch", &[I32], Some(I32));
    let blocks: Vec<_> = (0..4).map(|_| ir.block(None)).collect();
    let value = ir.get(0);
    ir.end(Terminator::Switch { value, targets: blocks[..3].to_vec(), default: blocks[3] });
    for (index, &block) in blocks.iter().enumerate() {
        ir.at(block);
        let n = ir.i32(index as i32 * 10);
        ir.ret(n);
    }
    let mut check = |value: i32, expect| assert_eq!(m.eval(&ir, &[value as u32 as u64]), Ok(expect), "{value}");
    check(0, 0);
    check(2, 20);
    check(3, 30);
    check(-1, 30);
}

/// try { x = 1; throw 0x555 } finally { … resume } inside try { } fault { return exception + x }.
#[test]
fn an_exception_runs_the_inner_finally_and_then_the_outer_handler() {
    let mut m = Machine::new();
    let mut ir = Ir::new("nested", &[], Some(I64));
    let x = ir.local(I64, false);
    let (body, inner_handler, outer_handler) = (ir.block(None), ir.block(None), ir.block(None));
    let (outer, outer_exception) = ir.region(None, ClauseKind::Fault, outer_handler);
    let (inner, _) = ir.region(Some(outer), ClauseKind::Finally, inner_handler);
    ir.func.blocks[body.0 as usize].region = Some(inner);
    ir.func.blocks[inner_handler.0 as usize].region = Some(outer);
    ir.end(Terminator::Jump(body));
    ir.at(body);
    let one = ir.i64(1);
    ir.set(x, one);
    let exception = ir.i64(0x555);
    ir.end(Terminator::Throw(exception));
    ir.at(inner_handler);
    let v = ir.get(x.0);
    let more = ir.i64(10);
    let v = ir.bin(BinOp::Add, v, more, I64);
    ir.set(x, v);
    ir.end(Terminator::ResumeUnwind { clause: 1 });
    ir.at(outer_handler);
    let (e, v) = (ir.get(outer_exception.0), ir.get(x.0));
    let r = ir.bin(BinOp::Add, e, v, I64);
    ir.ret(r);
    assert_eq!(m.eval(&ir, &[]), Ok(0x555 + 11));
}

#[test]
fn an_exception_without_handler_leaves() {
    let mut m = Machine::new();
    let mut ir = Ir::new("throw", &[REF], None);
    let e = ir.get(0);
    ir.end(Terminator::Throw(e));
    assert_eq!(m.eval(&ir, &[0x999]), Err(0x999));
}

#[test]
fn helpers_get_their_arguments_and_stacked_ones_too() {
    let mut m = Machine::new();
    // callee(a..h) = a - h, eight arguments: two on the stack
    let mut callee = Ir::new("callee", &[I64; 8], Some(I64));
    let (a, h) = (callee.get(0), callee.get(7));
    let r = callee.bin(BinOp::Sub, a, h, I64);
    callee.ret(r);
    let address = m.compile(&callee);
    let mut ir = Ir::new("caller", &[I64], Some(I64));
    let args: Vec<_> = (0..8).map(|n| ir.i64(100 - n)).collect();
    let code = ir.get(0);
    let sig = Box::new(callee.func.sig.clone());
    let r = ir.push(Op::Call { target: CallTarget::Indirect(code), sig, args, struct_result: None }, I64);
    ir.ret(r);
    assert_eq!(m.eval(&ir, &[address as u64]), Ok(7));
    // and as a tail call from a function with fewer parameters
    let mut ir = Ir::new("tail", &[I64], Some(I64));
    let args: Vec<_> = (0..8).map(|n| ir.i64(200 - 2 * n)).collect();
    let code = ir.get(0);
    let sig = Box::new(callee.func.sig.clone());
    ir.end(Terminator::TailCall { target: CallTarget::Indirect(code), sig, args });
    assert_eq!(m.eval(&ir, &[address as u64]), Ok(14));
}

#[test]
fn bounds_checks_and_array_access_in_a_region() {
    let mut m = Machine::new();
    let mut ir = Ir::new("element", &[REF, I32], Some(I64));
    let (body, handler) = (ir.block(None), ir.block(None));
    let (region, exception) = ir.region(None, ClauseKind::Fault, handler);
    ir.func.blocks[body.0 as usize].region = Some(region);
    ir.end(Terminator::Jump(body));
    ir.at(body);
    let (array, index) = (ir.get(0), ir.get(1));
    let length = ir.push(Op::ArrayLen(array), I32);
    ir.push(Op::BoundsCheck { index, length }, IrType::Void);
    let addr = ir.push(Op::ElementAddr { array, index, element_size_bytes: 4 }, IrType::ByRef);
    let v = ir.push(Op::Load { addr, offset: 0, mem: MemType::I32, flags: plain(AliasClass::Element) }, I32);
    let v = ir.push(Op::Conv { value: v, target: ConvTarget::I8, checked: false, source_unsigned: false }, I64);
    ir.ret(v);
    ir.at(handler);
    let e = ir.get(exception.0);
    ir.ret(e);
    let mut array = [0u32; 16];
    array[6] = 3; // length word at byte 24
    array[8..11].copy_from_slice(&[11, 22, 33]);
    let address = array.as_ptr() as u64;
    assert_eq!(m.eval(&ir, &[address, 2]), Ok(33));
    assert_eq!(m.eval(&ir, &[address, 3]), Ok(INDEX_OUT_OF_RANGE));
    assert_eq!(m.eval(&ir, &[address, u32::MAX as u64]), Ok(INDEX_OUT_OF_RANGE));
    assert_eq!(m.eval(&ir, &[0, 0]), Ok(NULL_REFERENCE));
}

#[test]
fn reference_stores_test_the_log_bit() {
    let mut m = Machine::new();
    let mut ir = Ir::new("store", &[REF, REF], None);
    let (object, value) = (ir.get(0), ir.get(1));
    let flags = checked(AliasClass::Field);
    ir.push(Op::StoreRef { object: Some(object), addr: object, offset: 16, value, flags }, IrType::Void);
    ir.end(Terminator::Ret(None));
    let mut object = Box::new([0u64; 8]);
    let address = object.as_mut_ptr() as usize;
    // One byte of log bits per 64 bytes of heap.
    let mut bits = [0u8; 4];
    m.thread.log_bit_base = (bits.as_mut_ptr() as usize).wrapping_sub(address >> 6);
    assert_eq!(m.eval(&ir, &[address as u64, 5]), Ok(0));
    assert_eq!((std::hint::black_box(&object)[2], m.thread.stub_result), (5, 0));
    bits[0] = 1 << ((address >> 3) & 7);
    std::hint::black_box(&bits);
    assert_eq!(m.eval(&ir, &[address as u64, 6]), Ok(0));
    assert_eq!((std::hint::black_box(&object)[2], m.thread.stub_result), (6, 1));
}

/// Runs the operation on an object with this sync word; returns the word afterwards and the number of calls of the
/// runtime.
fn on_sync_word(m: &mut Machine, op: fn(ValueId) -> Op, word: u64) -> (u64, u64) {
    let mut ir = Ir::new("lock", &[REF], None);
    let object = ir.get(0);
    ir.push(op(object), IrType::Void);
    ir.end(Terminator::Ret(None));
    let mut object = Box::new([0, word]);
    m.thread.managed_id = 5;
    m.thread.stub_result = 0;
    assert_eq!(m.eval(&ir, &[object.as_mut_ptr() as u64]), Ok(0));
    (std::hint::black_box(&object)[1], m.thread.stub_result)
}

#[test]
fn locks_that_are_free_or_entered_once_are_taken_and_left_in_line() {
    let mut m = Machine::new();
    for hash in [0, 0x5ead_beef_0000_0000] {
        let mine = 5 << 8 | hash;
        assert_eq!(on_sync_word(&mut m, Op::MonitorEnter, hash), (mine, 0));
        assert_eq!(on_sync_word(&mut m, Op::MonitorExit, mine), (hash, 0));
        for others in [6 << 8 | hash, 6 << 8 | 1 | hash] {
            assert_eq!(on_sync_word(&mut m, Op::MonitorEnter, others), (others, 1), "{others:x}");
            assert_eq!(on_sync_word(&mut m, Op::MonitorExit, others), (others, 1), "{others:x}");
        }
    }
}

#[test]
fn exchanged_references_get_the_barrier() {
    let mut m = Machine::new();
    let mut ir = Ir::new("exchange", &[REF, REF], Some(REF));
    let (object, value) = (ir.get(0), ir.get(1));
    let offset = ir.i64(16);
    let addr = ir.bin(BinOp::Add, object, offset, IrType::ByRef);
    let old = ir.push(Op::AtomicRmw { op: AtomicRmw::Exchange, addr, value, mem: MemType::Ref }, REF);
    let old = ir.push(Op::AtomicCas { addr, expected: value, new: old, mem: MemType::Ref }, REF);
    ir.ret(old);
    let mut object = Box::new([0u64, 0, 7, 0]);
    let address = object.as_mut_ptr() as usize;
    let mut bits = [0u8; 4];
    m.thread.log_bit_base = (bits.as_mut_ptr() as usize).wrapping_sub(address >> 6);
    assert_eq!(m.eval(&ir, &[address as u64, 9]), Ok(9));
    assert_eq!((std::hint::black_box(&object)[2], m.thread.stub_result), (7, 0));
    bits[0] = 1 << ((address >> 3) & 7);
    std::hint::black_box(&bits);
    assert_eq!(m.eval(&ir, &[address as u64, 9]), Ok(9));
    assert_eq!((std::hint::black_box(&object)[2], m.thread.stub_result), (7, 2));
}

/// What an atomic operation returned, and the eight bytes of which it changed those at offset 2.
fn on_narrow_place(
    m: &mut Machine,
    mem: MemType,
    [a, b]: [i32; 2],
    op: fn(ValueId, [ValueId; 2], MemType) -> Op,
) -> (i32, u64) {
    let mut ir = Ir::new("narrow", &[I64, I32, I32], Some(I32));
    let (word, a_value, b_value) = (ir.get(0), ir.get(1), ir.get(2));
    let offset = ir.i64(2);
    let addr = ir.bin(BinOp::Add, word, offset, I64);
    let old = ir.push(op(addr, [a_value, b_value], mem), I32);
    ir.ret(old);
    let mut place = Box::new(0x1234_5678_fffe_9abc_u64);
    let args = [std::ptr::from_mut(&mut *place) as u64, u64::from(a as u32), u64::from(b as u32)];
    let old = m.eval(&ir, &args).expect("no exception");
    (old as i32, std::hint::black_box(*place))
}

/// Operands count by their low bits alone; what was in memory is extended by the type's sign.
#[test]
fn narrow_places_are_exchanged_without_their_neighbours() {
    let mut m = Machine::new();
    let exchange = |addr, [value, _]: [ValueId; 2], mem| Op::AtomicRmw { op: AtomicRmw::Exchange, addr, value, mem };
    let and = |addr, [value, _]: [ValueId; 2], mem| Op::AtomicRmw { op: AtomicRmw::And, addr, value, mem };
    let add = |addr, [value, _]: [ValueId; 2], mem| Op::AtomicRmw { op: AtomicRmw::Add, addr, value, mem };
    let compare = |addr, [expected, new]: [ValueId; 2], mem| Op::AtomicCas { addr, expected, new, mem };
    for (mem, old) in [(MemType::I8, -2), (MemType::U8, 0xfe), (MemType::I16, -2), (MemType::U16, 0xfffe)] {
        let bits = 8 * mem.bytes();
        let mask = (1u64 << bits) - 1;
        let holding = |value: u64| 0x1234_5678_fffe_9abc & !(mask << 16) | (value & mask) << 16;
        let mut check = |args, op, after| {
            assert_eq!(on_narrow_place(&mut m, mem, args, op), (old, holding(after)), "{mem:?} {args:x?}")
        };
        check([0x7777_7703, 0], exchange, 0x7703);
        check([-5, 0], exchange, -5i64 as u64);
        check([0x7777_7706, 0], and, 0x7706);
        check([3, 0], add, 1);
        // The same low bits, extended by zeros, by ones, and with others above.
        for above in [0, -1, 0x5555_5555] {
            check([above << bits | (0xfffe & mask as i32), 0x4444_4441], compare, 0x4441);
        }
        check([0xfffd & mask as i32, 7], compare, 0xfffe);
        check([0x7ffe & (mask as i32 >> 1), 7], compare, 0xfffe);
    }
}

/// Floats are compared by their bits: a NaN equals itself, and zeros differ by their signs.
#[test]
fn floats_are_exchanged_by_their_bits() {
    let mut m = Machine::new();
    let nan = 0x7ff0_0000_0000_0123_u64;
    for (mem, ty, place, expected, new, after) in [
        (MemType::F64, F64, nan, nan, 2.5f64.to_bits(), 2.5f64.to_bits()),
        (MemType::F64, F64, 0, (-0.0f64).to_bits(), 7, 0),
        (MemType::F32, F32, 0x7fc0_0123, 0x7fc0_0123, 0x3fc0_0000, 0x3fc0_0000),
        (MemType::F32, F32, 0x8000_0000, 0, 7, 0x8000_0000),
    ] {
        let mut ir = Ir::new("floats", &[I64, ty, ty], Some(ty));
        let (addr, expected_value, new_value) = (ir.get(0), ir.get(1), ir.get(2));
        let old = ir.push(Op::AtomicCas { addr, expected: expected_value, new: new_value, mem }, ty);
        let again = ir.push(Op::AtomicRmw { op: AtomicRmw::Exchange, addr, value: old, mem }, ty);
        ir.ret(again);
        let mut word = Box::new(place);
        let got = m.eval(&ir, &[std::ptr::from_mut(&mut *word) as u64, expected, new]);
        assert_eq!((got, std::hint::black_box(*word)), (Ok(after), place), "{mem:?} {place:x}");
    }
}

#[test]
fn filters_reach_their_parents_locals() {
    let mut m = Machine::new();
    let mut ir = Ir::new("parent", &[], Some(I64));
    let x = ir.local(I64, true);
    let n = ir.i64(1234);
    ir.set(x, n);
    let fp = ir.push(Op::FramePointer, I64);
    // The filter is called by hand, with this frame.
    let mut filter = Ir::new("filter", &[I64, REF], Some(I32));
    filter.func.is_filter = true;
    filter.func.locals.push(Local {
        ty: I64,
        kind: LocalKind::ParentSlot(x),
        address_exposed: true,
        zero_init: false,
        pinned: false,
    });
    let v = filter.get(2);
    let one = filter.i64(1);
    let w = filter.bin(BinOp::Add, v, one, I64);
    filter.set(LocalId(2), w);
    let v = filter.push(Op::Conv { value: v, target: ConvTarget::I4, checked: false, source_unsigned: false }, I32);
    filter.end(Terminator::EndFilter(v));
    ir.func.filters.push(filter.func);
    let code_local = ir.local(I64, false);
    let _ = code_local;
    ir.func.sig.params.push(I64);
    ir.func.locals.push(Local {
        ty: I64,
        kind: LocalKind::Param(0),
        address_exposed: false,
        zero_init: false,
        pinned: false,
    });
    let param = ir.func.locals.len() as u32 - 1;
    let code = ir.get(param);
    let null = ir.push(Op::Null, REF);
    let sig = Box::new(CallSig { has_this: false, params: vec![I64, REF], ret: Some(I32) });
    let target = CallTarget::Indirect(code);
    let r = ir.push(Op::Call { target, sig, args: vec![fp, null], struct_result: None }, I32);
    let r = ir.push(Op::Conv { value: r, target: ConvTarget::I8, checked: false, source_unsigned: false }, I64);
    let x = ir.get(x.0);
    let r = ir.bin(BinOp::Add, r, x, I64);
    ir.ret(r);
    let mut code = m.compiler.compile(&ir.func).unwrap();
    let filter = code.filters.pop().unwrap();
    let filter = m.place(filter);
    let parent = m.place(code);
    assert_eq!(m.run(&ir.func.sig.clone(), parent, &[filter as u64]), Ok(1234 + 1235));
}

#[test]
fn localloc_of_a_known_size_is_zeroed_stack() {
    let mut m = Machine::new();
    let mut ir = Ir::new("localloc", &[], Some(I64));
    let bytes = ir.i64(40);
    let p = ir.push(Op::LocAlloc { bytes, zero: true }, I64);
    let v = ir.push(Op::Load { addr: p, offset: 32, mem: MemType::I64, flags: plain(AliasClass::Any) }, I64);
    let mask = ir.i64(15);
    let low = ir.bin(BinOp::And, p, mask, I64);
    let r = ir.bin(BinOp::Or, v, low, I64);
    ir.ret(r);
    assert_eq!(m.eval(&ir, &[]), Ok(0));
}

#[test]
fn localloc_of_another_size_is_in_the_frame_when_small() {
    let mut m = Machine::new();
    let mut ir = Ir::new("localloc", &[I64], Some(I64));
    let bytes = ir.get(0);
    let p = ir.push(Op::LocAlloc { bytes, zero: true }, I64);
    ir.ret(p);
    let here = std::ptr::from_ref(&m).addr() as u64;
    assert_eq!(m.eval(&ir, &[0]), Ok(0));
    for small in [1, 128] {
        let address = m.eval(&ir, &[small]).unwrap();
        assert!(address.abs_diff(here) < 1 << 20 && address.is_multiple_of(16), "{address:#x}");
    }
    // Left to the helper (here a counter, which the call that frees the memory at the return increments as well).
    assert_eq!(m.eval(&ir, &[129]), Ok(1));
    assert_eq!(m.eval(&ir, &[u64::MAX]), Ok(3));
}

#[test]
fn native_calls_pass_scalars_and_record_the_exit_frame() {
    /// # Safety
    /// None needed; unsafe only by its type.
    unsafe extern "C" fn native(a: i32, b: f64, c: i64) -> f64 {
        a as f64 + b + c as f64
    }
    for transition in TRANSITIONS {
        let mut m = Machine::new();
        let mut ir = Ir::new("native", &[I64], Some(F64));
        let code = ir.get(0);
        let (a, b, c) = (ir.i32(-1), ir.push(Op::ConstF64(0.5), F64), ir.i64(10));
        let sig = Box::new(CallSig { has_this: false, params: vec![I32, F64, I64], ret: Some(F64) });
        let target = CallTarget::Native { code, transition };
        let r = ir.push(Op::Call { target, sig, args: vec![a, b, c], struct_result: None }, F64);
        ir.ret(r);
        assert_eq!(m.eval(&ir, &[native as *const () as u64]), Ok(9.5f64.to_bits()));
        // The stub records its own frame: here a jump stands in for it.
        assert_eq!(m.thread.exit_frame != 0, transition == Transition::None);
    }
}

#[test]
fn native_calls_throw_what_waits_for_their_return() {
    /// # Safety
    /// `thread` is the test's.
    unsafe extern "C" fn native(thread: *mut ThreadAbi) -> i64 {
        // SAFETY: the test's thread.
        unsafe { (*thread).pending_exception = ObjRef(0x1230 as *mut Object) };
        7
    }
    for (transition, expected) in TRANSITIONS.into_iter().zip([Ok(7), Err(0x1230), Err(0x1230)]) {
        let mut m = Machine::new();
        let mut ir = Ir::new("native", &[I64, I64], Some(I64));
        let (code, thread) = (ir.get(0), ir.get(1));
        let sig = Box::new(CallSig { has_this: false, params: vec![I64], ret: Some(I64) });
        let target = CallTarget::Native { code, transition };
        let r = ir.push(Op::Call { target, sig, args: vec![thread], struct_result: None }, I64);
        ir.ret(r);
        let thread = &raw mut *m.thread as u64;
        assert_eq!(m.eval(&ir, &[native as *const () as u64, thread]), expected, "{transition:?}");
    }
}

#[test]
fn traps_and_positions_are_in_the_tables() {
    let m = Machine::new();
    let mut ir = Ir::new("tables", &[REF, I32, I32], Some(I32));
    let (object, a, b) = (ir.get(0), ir.get(1), ir.get(2));
    let v = ir.push(Op::Load { addr: object, offset: 16, mem: MemType::I32, flags: checked(AliasClass::Field) }, I32);
    let s = ir.bin(BinOp::AddOvf, v, a, I32);
    let d = ir.bin(BinOp::Div, s, b, I32);
    ir.ret(d);
    let code = m.compiler.compile(&ir.func).unwrap();
    let codes: Vec<u8> = code.tables.traps.iter().map(|t| t.code).collect();
    use saki_abi::stubs::trap;
    let is_first = m.compiler.options().tiers == saki_jit::Tiers::First;
    // The baseline compiler's faulting accesses have no entry.
    assert!(is_first || codes.contains(&trap::NULL_REFERENCE), "{codes:?}");
    assert!(codes.contains(&trap::OVERFLOW), "{codes:?}");
    let is_division = |code: &u8| [trap::CRANELIFT_DIVISION_BY_ZERO, trap::DIVIDE_BY_ZERO].contains(code);
    assert!(codes.iter().any(is_division), "{codes:?}");
    assert!(code.tables.il_map.iter().any(|e| e.il_offset == 5), "{:?}", code.tables.il_map);
    assert!(code.relocs.is_empty());
    let _ = HelperId::ALL;
}

#[test]
fn large_switches_and_many_blocks_compile() {
    const CASES: usize = 20_000;
    let mut m = Machine::new();
    let mut ir = Ir::new("large", &[I32], Some(I32));
    let x = ir.local(I32, false);
    let cases: Vec<_> = (0..CASES).map(|_| ir.block(None)).collect();
    let done = ir.block(None);
    let value = ir.get(0);
    ir.end(Terminator::Switch { value, targets: cases.clone(), default: done });
    for (index, &case) in cases.iter().enumerate() {
        ir.at(case);
        let n = ir.i32(index as i32 * 3);
        ir.set(x, n);
        ir.end(Terminator::Jump(done));
    }
    ir.at(done);
    let r = ir.get(x.0);
    ir.ret(r);
    let code = m.compiler.compile(&ir.func).unwrap();
    assert!(code.bytes.len() > CASES * 4);
    // A chain of blocks, each a diamond.
    let mut ir = Ir::new("chain", &[I32], Some(I32));
    let x = ir.local(I32, false);
    for n in 0..3_000 {
        let (yes, no, join) = (ir.block(None), ir.block(None), ir.block(None));
        let (value, n) = (ir.get(0), ir.i32(n));
        let cond = ir.push(Op::Cmp(CmpOp::Lt, n, value), I32);
        ir.end(Terminator::Brif { cond, then: yes, otherwise: no });
        ir.at(yes);
        let (old, one) = (ir.get(x.0), ir.i32(1));
        let new = ir.bin(BinOp::Add, old, one, I32);
        ir.set(x, new);
        ir.end(Terminator::Jump(join));
        ir.at(no);
        ir.end(Terminator::Jump(join));
        ir.at(join);
    }
    let r = ir.get(x.0);
    ir.ret(r);
    assert_eq!(m.eval(&ir, &[1000]), Ok(1000));
}
