//! Runs the pass on loops made by hand.

use super::run;
use crate::ir::{
    AliasClass, BinOp, CallSig, CmpOp, Function, IrType, LocalId, MemFlags, MemType, NullCheck, Op, Terminator, ValueId,
};
use crate::synth::builder::FunctionBuilder;

const ARRAY: LocalId = LocalId(0);
const ROWS: LocalId = LocalId(1);
const START: LocalId = LocalId(2);
const LIMIT: LocalId = LocalId(3);

/// What a test varies of `for (i = start; i < limit; i++) use(a[i])`.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Twist {
    None,
    /// From 0 to this number.
    To(i32),
    UpToLimit,
    Down,
    Shifted,
    /// `rows[0][i]`.
    Row,
    /// As `Row`, with a store of a reference to an array.
    RowWritten,
    ArrayChanges,
    LimitChanges,
    StepsTwice,
    StepsBeforeUse,
    ComparesUnequal,
    ValueUsedBehind,
}

fn flags(alias: AliasClass) -> MemFlags {
    MemFlags { null_check: NullCheck::None, alias, volatile: false, unaligned: false }
}

fn element(b: &mut FunctionBuilder, array: ValueId, index: ValueId, mem: MemType) -> ValueId {
    let length = b.emit(Op::ArrayLen(array), IrType::I32);
    b.emit(Op::BoundsCheck { index, length }, IrType::Void);
    let element_size_bytes = mem.bytes();
    let addr = b.emit(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef);
    b.load(addr, 0, mem, flags(AliasClass::Element))
}

fn step(b: &mut FunctionBuilder, index: LocalId, by: i32) {
    let (i, by) = (b.get(index), b.const_i32(by));
    let next = b.bin(BinOp::Add, i, by);
    b.set(index, next);
}

fn counting_loop(twist: Twist) -> Function {
    let params = vec![IrType::Ref, IrType::Ref, IrType::I32, IrType::I32];
    let mut b = FunctionBuilder::new(None, "loop".to_owned(), CallSig { has_this: false, params, ret: None });
    let (index, sum) = (b.local(IrType::I32), b.local(IrType::I32));
    let by = if twist == Twist::Down { -1 } else { 1 };
    let (header, body, done) = (b.new_block(), b.new_block(), b.new_block());
    let start = match twist {
        Twist::To(_) => b.const_i32(0),
        _ => b.get(START),
    };
    b.set(index, start);
    b.jump(header);
    b.switch_to(header);
    let i = b.get(index);
    let limit = match twist {
        Twist::To(limit) => b.const_i32(limit),
        _ => b.get(LIMIT),
    };
    let goes_on = match twist {
        Twist::UpToLimit => b.cmp(CmpOp::Le, i, limit),
        Twist::Down => b.cmp(CmpOp::Gt, i, limit),
        Twist::ComparesUnequal => b.cmp(CmpOp::NeUn, i, limit),
        _ => b.cmp(CmpOp::Lt, i, limit),
    };
    b.branch_if(goes_on, body, done);
    b.switch_to(body);
    if twist == Twist::StepsBeforeUse {
        step(&mut b, index, by);
    }
    let array = match twist {
        Twist::Row | Twist::RowWritten => {
            let (rows, zero) = (b.get(ROWS), b.const_i32(0));
            element(&mut b, rows, zero, MemType::Ref)
        }
        _ => b.get(ARRAY),
    };
    let mut i = b.get(index);
    if twist == Twist::Shifted {
        let by = b.get(START);
        i = b.bin(BinOp::Sub, i, by);
    }
    let value = element(&mut b, array, i, MemType::I32);
    b.set(sum, value);
    match twist {
        Twist::RowWritten => {
            let (rows, array) = (b.get(ROWS), b.get(ARRAY));
            let flags = flags(AliasClass::Element);
            b.emit(Op::StoreRef { object: Some(rows), addr: rows, offset: 16, value: array, flags }, IrType::Void);
        }
        Twist::ArrayChanges => {
            let other = b.get(ROWS);
            b.set(ARRAY, other);
        }
        Twist::LimitChanges => step(&mut b, LIMIT, 1),
        Twist::StepsTwice => step(&mut b, index, by),
        _ => {}
    }
    if twist != Twist::StepsBeforeUse {
        step(&mut b, index, by);
    }
    b.emit(Op::Poll, IrType::Void);
    b.jump(header);
    b.switch_to(done);
    if twist == Twist::ValueUsedBehind {
        b.set(sum, goes_on);
    }
    b.ret(None);
    b.finish()
}

/// The checks of indices in blocks that are cold, and in others.
fn checks(function: &Function) -> (usize, usize) {
    let count = |cold: bool| {
        let values = function.blocks.iter().filter(|block| block.cold == cold).flat_map(|block| &block.insts);
        values.filter(|value| matches!(function.insts[value.0 as usize].op, Op::BoundsCheck { .. })).count()
    };
    (count(true), count(false))
}

fn conditions(function: &Function) -> usize {
    let leads_to_loop =
        |t: &Terminator| matches!(t, Terminator::Brif { otherwise, .. } if function.blocks[otherwise.0 as usize].cold);
    function.blocks.iter().filter(|block| !block.cold && leads_to_loop(&block.terminator)).count()
}

#[test]
fn a_loop_to_a_limit_has_a_version_without_checks() {
    for (twist, tested) in [
        // There is a round; the array is there; the first index is not negative; the last one is inside.
        (Twist::None, 4),
        // The limit is not the largest number.
        (Twist::UpToLimit, 5),
        (Twist::To(6), 4),
        (Twist::Down, 4),
        (Twist::Shifted, 4),
        // The rows are there, and one of them is; and the four.
        (Twist::Row, 6),
    ] {
        let mut function = counting_loop(twist);
        let before = checks(&function).1;
        run(&mut function, false);
        function.verify().unwrap_or_else(|problem| panic!("{twist:?}: {problem}\n{function}"));
        assert_eq!(checks(&function), (before, 0), "{twist:?}\n{function}");
        assert_eq!(conditions(&function), tested, "{twist:?}\n{function}");
    }
}

#[test]
fn a_loop_of_few_rounds_has_one_version() {
    for limit in [-1, 0, 1, 3, 5] {
        let mut function = counting_loop(Twist::To(limit));
        let before = checks(&function);
        run(&mut function, false);
        assert_eq!(checks(&function), before, "up to {limit}\n{function}");
    }
}

#[test]
fn a_loop_that_had_few_rounds_has_one_version() {
    for block in [1, 2] {
        let mut function = counting_loop(Twist::None);
        let before = checks(&function);
        function.blocks[block].few_rounds = true;
        run(&mut function, false);
        assert_eq!(checks(&function), before, "{function}");
    }
}

#[test]
fn a_loop_stays_where_a_test_before_it_would_not_do() {
    for twist in [
        Twist::RowWritten,
        Twist::ArrayChanges,
        Twist::LimitChanges,
        Twist::StepsTwice,
        Twist::StepsBeforeUse,
        Twist::ComparesUnequal,
        Twist::ValueUsedBehind,
    ] {
        let mut function = counting_loop(twist);
        let before = checks(&function);
        run(&mut function, false);
        function.verify().unwrap_or_else(|problem| panic!("{twist:?}: {problem}\n{function}"));
        if twist == Twist::RowWritten {
            // The check of the row's number alone goes: the row is read in each round, and so is its length.
            assert_eq!(checks(&function), (2, 1), "{function}");
        } else {
            assert_eq!(checks(&function), before, "{twist:?}\n{function}");
        }
    }
}
