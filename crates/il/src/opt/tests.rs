//! Runs the passes on small functions made by hand.

use super::{bounds, checks, dead, owners, promote, unroll};
use crate::ir::{
    AliasClass, BinOp, Block, BlockId, CallSig, CmpOp, Function, IrType, LocalId, MemFlags, MemType, NullCheck, Op,
    Terminator, ValueId,
};
use crate::synth::builder::FunctionBuilder;
use rustc_hash::FxHashMap;

const ARRAY: LocalId = LocalId(0);
const OTHER: LocalId = LocalId(1);

fn builder() -> FunctionBuilder {
    let sig = CallSig { has_this: false, params: vec![IrType::Ref, IrType::Ref], ret: None };
    FunctionBuilder::new(None, "test".to_owned(), sig)
}

fn flags() -> MemFlags {
    MemFlags { null_check: NullCheck::None, alias: AliasClass::Any, volatile: false, unaligned: false }
}

/// The part of the counting loop that a test varies.
#[derive(Clone, Copy, PartialEq)]
enum Twist {
    None,
    StartsNegative,
    ArrayChanges,
    StepsBeforeUse,
    StepsTwice,
    ComparesOther,
    StepOutsideGuard,
}

/// `for (i = 0; i < a.Length; i++) use(a[i])`, with a twist.
fn counting_loop(twist: Twist) -> Function {
    let mut b = builder();
    let index = b.local(IrType::I32);
    let (header, body, done) = (b.new_block(), b.new_block(), b.new_block());
    let start = b.const_i32(if twist == Twist::StartsNegative { -1 } else { 0 });
    b.set(index, start);
    b.jump(header);
    b.switch_to(header);
    if twist == Twist::StepOutsideGuard {
        step(&mut b, index);
    }
    let i = b.get(index);
    let limit_array = b.get(if twist == Twist::ComparesOther { OTHER } else { ARRAY });
    let limit = b.emit(Op::ArrayLen(limit_array), IrType::I32);
    let goes_on = b.cmp(CmpOp::Lt, i, limit);
    b.branch_if(goes_on, body, done);
    b.switch_to(body);
    if twist == Twist::StepsBeforeUse {
        step(&mut b, index);
    }
    if twist == Twist::ArrayChanges {
        let other = b.get(OTHER);
        b.set(ARRAY, other);
    }
    let array = b.get(ARRAY);
    let i = b.get(index);
    let length = b.emit(Op::ArrayLen(array), IrType::I32);
    b.emit(Op::BoundsCheck { index: i, length }, IrType::Void);
    if !matches!(twist, Twist::StepsBeforeUse | Twist::StepOutsideGuard) {
        step(&mut b, index);
    }
    if twist == Twist::StepsTwice {
        step(&mut b, index);
    }
    b.jump(header);
    b.switch_to(done);
    b.ret(None);
    b.finish()
}

fn step(b: &mut FunctionBuilder, index: LocalId) {
    let (i, one) = (b.get(index), b.const_i32(1));
    let next = b.bin(BinOp::Add, i, one);
    b.set(index, next);
}

fn count(function: &Function, wanted: impl Fn(&Op) -> bool) -> usize {
    let values = function.blocks.iter().flat_map(|b| &b.insts);
    values.filter(|v| wanted(&function.insts[v.0 as usize].op)).count()
}

fn check_counting_loop(twist: Twist, bounds_checks: usize) {
    let mut function = counting_loop(twist);
    bounds::run(&mut function);
    function.verify().expect("valid");
    assert_eq!(count(&function, |op| matches!(op, Op::BoundsCheck { .. })), bounds_checks);
}

#[test]
fn a_counting_loop_needs_no_bounds_check() {
    check_counting_loop(Twist::None, 0);
}

#[test]
fn bounds_checks_stay_where_the_index_may_be_outside() {
    for twist in [
        Twist::StartsNegative,
        Twist::ArrayChanges,
        Twist::StepsBeforeUse,
        Twist::StepsTwice,
        Twist::ComparesOther,
        Twist::StepOutsideGuard,
    ] {
        check_counting_loop(twist, 1);
    }
}

#[test]
fn repeated_checks_go() {
    let mut b = builder();
    for _ in 0..2 {
        let array = b.get(ARRAY);
        let index = b.const_i32(3);
        b.emit(Op::NullCheck(array), IrType::Void);
        let length = b.emit(Op::ArrayLen(array), IrType::I32);
        b.emit(Op::BoundsCheck { index, length }, IrType::Void);
    }
    b.ret(None);
    let mut function = b.finish();
    let lengths = checks::run(&mut function);
    dead::run(&mut function, &lengths);
    function.verify().expect("valid");
    assert_eq!(count(&function, |op| matches!(op, Op::NullCheck(_))), 1);
    assert_eq!(count(&function, |op| matches!(op, Op::BoundsCheck { .. })), 1);
    assert_eq!(count(&function, |op| matches!(op, Op::ArrayLen(_))), 1);
}

#[test]
fn a_check_does_not_outlive_a_write_of_the_local() {
    let mut b = builder();
    let array = b.get(ARRAY);
    b.emit(Op::NullCheck(array), IrType::Void);
    let other = b.get(OTHER);
    b.set(ARRAY, other);
    let array = b.get(ARRAY);
    b.emit(Op::NullCheck(array), IrType::Void);
    b.ret(None);
    let mut function = b.finish();
    checks::run(&mut function);
    assert_eq!(count(&function, |op| matches!(op, Op::NullCheck(_))), 2);
}

/// A local of type I32, written through its address as I32 and read as `read`.
fn exposed_local(read: MemType) -> Function {
    let mut b = builder();
    let local = b.memory_local(IrType::I32);
    let (addr, value) = (b.address_of(local), b.const_i32(7));
    b.store(addr, 0, value, MemType::I32, flags());
    let (addr, array) = (b.address_of(local), b.get(ARRAY));
    let value = b.load(addr, 0, read, flags());
    b.store(array, 16, value, MemType::I32, flags());
    b.ret(None);
    b.finish()
}

#[test]
fn an_address_used_only_for_access_needs_no_memory() {
    let mut function = exposed_local(MemType::I32);
    promote::run(&mut function, true, &FxHashMap::default());
    function.verify().expect("valid");
    assert!(!function.locals[2].address_exposed);
    assert_eq!(count(&function, |op| matches!(op, Op::LocalAddr(_))), 0);
}

#[test]
fn accesses_of_different_widths_keep_the_memory() {
    let mut function = exposed_local(MemType::U8);
    promote::run(&mut function, true, &FxHashMap::default());
    assert!(function.locals[2].address_exposed);
}

#[test]
fn a_variable_that_nobody_reads_is_not_written() {
    let mut b = builder();
    let (unread, read, kept) = (b.local(IrType::Ref), b.local(IrType::Ref), b.memory_local(IrType::Ref));
    let array = b.get(ARRAY);
    let field = b.load(array, 16, MemType::Ref, flags());
    b.set(unread, field);
    for local in [read, kept] {
        b.set(local, array);
    }
    let value = b.get(read);
    b.emit(Op::NullCheck(value), IrType::Void);
    b.ret(None);
    let mut function = b.finish();
    dead::run(&mut function, &[]);
    function.verify().expect("valid");
    assert_eq!(count(&function, |op| matches!(op, Op::LocalSet(..))), 2);
    assert_eq!(count(&function, |op| matches!(op, Op::Load { .. })), 0);
}

#[test]
fn branches_on_constants_fold() {
    let mut b = builder();
    let (taken, other) = (b.new_block(), b.new_block());
    let one = b.const_i32(1);
    b.branch_if(one, taken, other);
    for block in [taken, other] {
        b.switch_to(block);
        b.emit(Op::Poll, IrType::Void);
        b.ret(None);
    }
    let mut function = b.finish();
    dead::run(&mut function, &[]);
    let insts = |block: BlockId| -> &[ValueId] { &function.blocks[block.0 as usize].insts };
    assert_eq!((insts(taken).len(), insts(other).len()), (1, 0));
}

#[test]
fn a_comparison_stands_for_the_checks_behind_it() {
    let mut b = builder();
    let index = b.local(IrType::I32);
    let (inside, outside) = (b.new_block(), b.new_block());
    let (array, i) = (b.get(ARRAY), b.get(index));
    let length = b.emit(Op::ArrayLen(array), IrType::I32);
    let is_inside = b.cmp(CmpOp::LtUn, i, length);
    b.branch_if(is_inside, inside, outside);
    for block in [inside, outside] {
        b.switch_to(block);
        let (array, index) = (b.get(ARRAY), b.get(index));
        let length = b.emit(Op::ArrayLen(array), IrType::I32);
        b.emit(Op::BoundsCheck { index, length }, IrType::Void);
        b.ret(None);
    }
    let mut function = b.finish();
    checks::run(&mut function);
    let checks_in = |block: BlockId| {
        let insts = &function.blocks[block.0 as usize].insts;
        insts.iter().filter(|v| matches!(function.insts[v.0 as usize].op, Op::BoundsCheck { .. })).count()
    };
    assert_eq!((checks_in(inside), checks_in(outside)), (0, 1));
}

/// Where the managed pointer of `ref T entry = ref array[i]; … entry.field = value` is set.
#[derive(Clone, Copy, PartialEq)]
enum PointerSet {
    Once,
    Twice,
    OnOneWay,
    AfterTheRead,
    AddressTaken,
}

/// The owner that the store through the pointer is given.
fn owner_of_store(set: PointerSet) -> Option<ValueId> {
    let mut b = builder();
    let pointer = if set == PointerSet::AddressTaken { b.memory_local(IrType::ByRef) } else { b.local(IrType::ByRef) };
    let array = b.get(ARRAY);
    let index = b.const_i32(1);
    let element = b.emit(Op::ElementAddr { array, index, element_size_bytes: 24 }, IrType::ByRef);
    let (then, join) = (b.new_block(), b.new_block());
    if set == PointerSet::OnOneWay {
        let cond = b.const_i32(1);
        b.branch_if(cond, then, join);
    } else {
        b.jump(then);
    }
    b.switch_to(then);
    if set != PointerSet::AfterTheRead {
        b.set(pointer, element);
    }
    if set == PointerSet::Twice {
        b.set(pointer, element);
    }
    b.jump(join);
    b.switch_to(join);
    let read = b.get(pointer);
    let addr = b.offset(read, 8);
    let value = b.get(OTHER);
    let store = b.emit(Op::StoreRef { object: None, addr, offset: 0, value, flags: flags() }, IrType::Void);
    if set == PointerSet::AfterTheRead {
        b.set(pointer, element);
    }
    b.ret(None);
    let mut function = b.finish();
    owners::run(&mut function);
    function.verify().expect("valid");
    match function.insts[store.0 as usize].op {
        Op::StoreRef { object, .. } => object.inspect(|owner| assert_eq!(*owner, array)),
        _ => None,
    }
}

#[test]
fn a_store_through_a_pointer_set_once_knows_its_array() {
    assert!(owner_of_store(PointerSet::Once).is_some());
}

#[test]
fn a_store_through_other_pointers_does_not() {
    for set in [PointerSet::Twice, PointerSet::OnOneWay, PointerSet::AfterTheRead, PointerSet::AddressTaken] {
        assert_eq!(owner_of_store(set), None);
    }
}

/// A loop that halves a local until it is 0, with one more use of the quotient: in the loop, or behind it.
fn halving_loop(used_behind: bool) -> Function {
    let mut b = builder();
    let (head, next, end) = (b.new_block(), b.new_block(), b.new_block());
    let (number, last) = (b.local(IrType::I32), b.local(IrType::I32));
    b.jump(head);
    b.switch_to(head);
    b.emit(Op::Poll, IrType::Void);
    let (n, two) = (b.get(number), b.const_i32(2));
    let half = b.bin(BinOp::Div, n, two);
    b.branch_if(half, next, end);
    b.switch_to(next);
    b.set(number, half);
    b.jump(head);
    b.switch_to(end);
    if used_behind {
        b.set(last, half);
    }
    b.ret(None);
    b.finish()
}

#[test]
fn a_small_loop_has_four_bodies_and_one_poll() {
    let mut function = halving_loop(false);
    unroll::run(&mut function, false);
    function.verify().expect("valid");
    assert_eq!(count(&function, |op| matches!(op, Op::Bin(BinOp::Div, ..))), 4);
    assert_eq!(count(&function, |op| matches!(op, Op::Poll)), 1);
    // Each body may leave the loop, and the last one goes back to the head.
    let to = |wanted: u32| {
        let is_to = |block: &&Block| matches!(block.terminator, Terminator::Jump(BlockId(n)) if n == wanted);
        function.blocks.iter().filter(is_to).count()
    };
    let leaves = |block: &&Block| matches!(block.terminator, Terminator::Brif { otherwise: BlockId(3), .. });
    assert_eq!((function.blocks.iter().filter(leaves).count(), to(1)), (4, 2));
}

#[test]
fn a_loop_whose_values_are_used_behind_it_stays() {
    let mut function = halving_loop(true);
    let before = function.clone();
    unroll::run(&mut function, false);
    assert_eq!(function, before);
}
