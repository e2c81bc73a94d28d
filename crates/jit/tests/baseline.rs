//! What the baseline compiler's code does beyond the results that it has in common with Cranelift's (`generated`).

mod common;

use common::*;
use saki_abi::stubs::trap;
use saki_abi::{AddressUse, HelperId, Noted, RelocKind};
use saki_il::ir::*;
use saki_jit::{CompilerOptions, RelocTarget};
use std::sync::atomic::Ordering;

const I32: IrType = IrType::I32;
const I64: IrType = IrType::I64;
const F32: IrType = IrType::F32;
const F64: IrType = IrType::F64;

#[test]
fn failed_checks_trap_behind_the_code_at_their_position() {
    let machine = Machine::new();
    let mut ir = Ir::new("checks", &[I32, I32], Some(I32));
    let (a, b) = (ir.get(0), ir.get(1));
    ir.push(Op::BoundsCheck { index: a, length: b }, IrType::Void);
    let sum = ir.bin(BinOp::AddOvf, a, b, I32);
    ir.ret(sum);
    let code = machine.compiler.compile_baseline(&ir.func).expect("covered");
    let traps: Vec<u8> = code.tables.traps.iter().map(|site| site.code).collect();
    assert_eq!(traps, [trap::INDEX_OUT_OF_RANGE, trap::OVERFLOW]);
    for (site, il_offset) in code.tables.traps.iter().zip([2, 3]) {
        assert!(code.bytes[site.offset as usize..].starts_with(TRAP));
        let entry =
            code.tables.il_map.iter().rev().find(|entry| entry.native_offset <= site.offset).expect("a position");
        assert_eq!(entry.il_offset, il_offset);
    }
    assert!(code.tables.il_map.is_sorted_by_key(|entry| entry.native_offset));
}

#[test]
fn overflow_checks_pass_what_fits() {
    let mut machine = Machine::new();
    for (op, a, b, expect) in [(BinOp::AddOvf, 5, 6, 11), (BinOp::SubOvf, 5, 6, -1), (BinOp::MulOvf, -5, 6, -30)] {
        let mut ir = Ir::new("fits", &[I32, I32], Some(I32));
        let (left, right) = (ir.get(0), ir.get(1));
        let result = ir.bin(op, left, right, I32);
        ir.ret(result);
        let code = machine.compiler.compile_baseline(&ir.func).expect("covered");
        let code = machine.place(code);
        let got = machine.run(&ir.func.sig, code, &[a as u32 as u64, b as u32 as u64]);
        assert_eq!(got.map(|r| r as i32), Ok(expect), "{op:?}");
    }
}

#[test]
fn the_first_block_may_be_entered_again() {
    let mut machine = Machine::new();
    let mut ir = Ir::new("loop", &[I32], Some(I32));
    let (value, one) = (ir.get(0), ir.i32(1));
    let less = ir.bin(BinOp::Sub, value, one, I32);
    ir.set(LocalId(0), less);
    let end = ir.block(None);
    ir.end(Terminator::Brif { cond: less, then: BlockId(0), otherwise: end });
    ir.at(end);
    let last = ir.get(0);
    let result = ir.bin(BinOp::Sub, last, one, I32);
    ir.ret(result);
    let code = machine.compiler.compile_baseline(&ir.func).expect("covered");
    let code = machine.place(code);
    assert_eq!(machine.run(&ir.func.sig, code, &[5]).map(|result| result as i32), Ok(-1));
}

#[test]
fn a_cell_notes_the_last_two_words_and_how_often_they_changed() {
    let mut machine = Machine::new();
    let mut ir = Ir::new("note", &[I64, I64], Some(I64));
    let (cell, word) = (ir.get(0), ir.get(1));
    ir.push(Op::Note { cell, word }, IrType::Void);
    // Both are there afterwards.
    let sum = ir.bin(BinOp::Add, cell, word, I64);
    ir.ret(sum);
    let code = machine.compiler.compile_baseline(&ir.func).expect("covered");
    let code = machine.place(code);
    let cell = Noted::default();
    let address = std::ptr::from_ref(&cell).addr() as u64;
    for (word, other, changes, misses) in
        [(7, 0, 1, 1), (7, 0, 1, 1), (9, 7, 2, 2), (9, 7, 2, 2), (7, 9, 3, 2), (5, 7, 4, 3), (9, 5, 5, 4), (5, 9, 6, 4)]
    {
        assert_eq!(machine.run(&ir.func.sig, code, &[address, word]), Ok(address + word));
        let words = [&cell.word, &cell.other].map(|word| word.load(Ordering::Relaxed));
        let counts = [&cell.changes, &cell.misses].map(|count| count.load(Ordering::Relaxed));
        assert_eq!((words, counts), ([word as usize, other], [changes, misses]));
    }
}

/// `ret` has 16 bits for the bytes of arguments that it gives back.
#[test]
fn more_arguments_than_a_return_can_give_back_are_taken() {
    let machine = Machine::new();
    for count in [8000, 8300] {
        let mut ir = Ir::new("many", &vec![I64; count], Some(I64));
        let last = ir.get(count as u32 - 1);
        ir.ret(last);
        assert!(machine.compiler.compile_baseline(&ir.func).is_some(), "{count}");
    }
}

/// A function that calls itself with other arguments in place of its own, as long as the first one is not 0.
fn tail_caller(params: &[IrType], callee_params: &[IrType], code: bool) -> Ir {
    let mut ir = Ir::new("tail", params, Some(I64));
    let sum = (1..params.len() as u32).fold(ir.i64(0), |sum, number| {
        let value = ir.get(number);
        ir.bin(BinOp::Add, sum, value, I64)
    });
    if !code {
        ir.ret(sum);
        return ir;
    }
    let target = ir.get(0);
    let args: Vec<ValueId> = (0..callee_params.len() as i64)
        .map(|number| {
            let number = ir.i64(number);
            ir.bin(BinOp::Add, sum, number, I64)
        })
        .collect();
    let sig = Box::new(CallSig { has_this: false, params: callee_params.to_vec(), ret: Some(I64) });
    ir.end(Terminator::TailCall { target: CallTarget::Indirect(target), sig, args });
    ir
}

/// The callee's arguments in memory may need more room than the caller's, less, or as much.
#[test]
fn tail_calls_pass_arguments_in_memory() {
    let mut machine = Machine::new();
    for own in [1, 4, 8, 9, 15] {
        for others in [1, 7, 8, 12, 30, 700] {
            let callee = tail_caller(&vec![I64; others], &[], false);
            let caller = tail_caller(&vec![I64; own], &vec![I64; others], true);
            for is_baseline in [(true, true), (true, false), (false, true)] {
                let mut compile = |ir: &Ir, is_baseline: bool| {
                    let code = match is_baseline {
                        true => machine.compiler.compile_baseline(&ir.func).expect("covered"),
                        false => machine.compiler.compile(&ir.func).expect("compiled"),
                    };
                    machine.place(code)
                };
                let (callee, code) = (compile(&callee, is_baseline.0), compile(&caller, is_baseline.1));
                let args: Vec<u64> = std::iter::once(callee as u64).chain(1..own as u64).collect();
                let sum: u64 = (1..own as u64).sum();
                let expected = (1..others as u64).map(|number| sum + number).sum();
                // Twice, since a wrong stack pointer shows in the caller.
                for _ in 0..2 {
                    let got = machine.run(&caller.func.sig, code, &args);
                    assert_eq!(got, Ok(expected), "{own} {others} {is_baseline:?}");
                }
            }
        }
    }
}

extern "C" fn native_sum(a: i64, b: f64, c: i64, d: f32, e: i64, f: i64, g: i64, h: i64, i: f64, j: i64) -> f64 {
    [a, c, e, f, g, h, j].iter().enumerate().map(|(at, &n)| n as f64 * (at + 1) as f64).sum::<f64>()
        + b
        + f64::from(d)
        + i
}

#[test]
fn native_functions_get_arguments_in_registers_and_in_memory() {
    TRANSITIONS.into_iter().for_each(native_sums);
}

fn native_sums(transition: Transition) {
    let mut machine = Machine::new();
    let types = [I64, F64, I32, F32, I64, I32, I64, I32, F64, I32];
    let mut params = vec![I64];
    params.extend(types);
    let mut ir = Ir::new("native", &params, Some(F64));
    let code = ir.get(0);
    let args: Vec<ValueId> = (1..params.len() as u32).map(|number| ir.get(number)).collect();
    let sig = Box::new(CallSig { has_this: false, params: types.to_vec(), ret: Some(F64) });
    let target = CallTarget::Native { code, transition };
    let result = ir.push(Op::Call { target, sig, args, struct_result: None }, F64);
    ir.ret(result);
    let code = machine.compiler.compile_baseline(&ir.func).expect("covered");
    let code = machine.place(code);
    let args = [
        native_sum as *const () as u64,
        1,
        2.5f64.to_bits(),
        -3i32 as u32 as u64,
        u64::from(4.5f32.to_bits()),
        5,
        -6i32 as u32 as u64,
        7,
        -8i32 as u32 as u64,
        9.25f64.to_bits(),
        -10i32 as u32 as u64,
    ];
    let expected = native_sum(1, 2.5, -3, 4.5, 5, -6, 7, -8, 9.25, -10);
    assert_eq!(machine.run(&ir.func.sig, code, &args).map(f64::from_bits), Ok(expected));
}

/// Frames that do not fit into a page touch each of their pages.
#[test]
fn a_large_frame_is_probed() {
    let mut machine = Machine::new();
    let mut ir = Ir::new("large frame", &[I32], Some(I64));
    let number = ir.get(0);
    let values: Vec<_> = (0..1500)
        .map(|n| {
            let n = ir.i32(n);
            let sum = ir.bin(BinOp::Add, number, n, I32);
            ir.push(Op::Conv { value: sum, target: ConvTarget::I8, checked: false, source_unsigned: false }, I64)
        })
        .collect();
    let next = ir.block(None);
    ir.end(Terminator::Jump(next));
    ir.at(next);
    let sum = values.into_iter().reduce(|a, b| ir.bin(BinOp::Add, a, b, I64)).expect("values");
    ir.ret(sum);
    let code = machine.compiler.compile_baseline(&ir.func).expect("covered");
    assert!(code.tables.frame_size_bytes > 2 * 4096, "{}", code.tables.frame_size_bytes);
    let code = machine.place(code);
    let expected = (0..1500u64).map(|n| n + 7).sum();
    assert_eq!(machine.run(&ir.func.sig, code, &[7]), Ok(expected));
}

#[test]
fn an_exception_thrown_leaves_the_function() {
    let mut machine = Machine::new();
    let mut ir = Ir::new("throws", &[I64], Some(I32));
    let exception = ir.get(0);
    ir.end(Terminator::Throw(exception));
    let code = machine.compiler.compile_baseline(&ir.func).expect("covered");
    let code = machine.place(code);
    assert_eq!(machine.run(&ir.func.sig, code, &[0x1234]), Err(0x1234));
}

/// Holds for both compilers: a called target may be replaced by a method's code, an address that is taken may not.
#[test]
fn a_load_of_a_near_address_is_no_call() {
    let machine = Machine::new();
    let mut ir = Ir::new("address", &[I64], Some(I64));
    let argument = ir.get(0);
    let symbol = Symbol::Helper(HelperId::ThrowNullReference);
    let address = ir.push(Op::SymbolAddr(symbol), I64);
    ir.helper(HelperId::MonitorExit, &[I64], None, &[argument]);
    ir.ret(address);
    let baseline = machine.compiler.compile_baseline(&ir.func).expect("covered");
    let cranelift = machine.compiler.compile(&ir.func).expect("compiled");
    for code in [baseline, cranelift] {
        let use_of = |named: Symbol| {
            let target = RelocTarget::Symbol(named);
            let reloc = code.relocs.iter().find(|reloc| reloc.target == target)?;
            assert_ne!(reloc.kind, RelocKind::Absolute8);
            Some(reloc.usage)
        };
        assert_eq!(use_of(symbol), Some(AddressUse::AddressTaken), "{:?}", code.relocs);
        assert_eq!(use_of(Symbol::Helper(HelperId::MonitorExit)), Some(AddressUse::Called), "{:?}", code.relocs);
    }
}

/// Branches on conditions may not reach so far, nor the frame's slots lie near the frame pointer.
#[test]
fn large_functions_branch_and_throw() {
    let mut machine = Machine::new();
    let mut ir = Ir::new("large", &[I32, I32], Some(I32));
    let sum = ir.local(I32, false);
    // while (a != 0) { sum += b, some thousand times; a--; } b % sum
    let (head, body, end) = (ir.block(None), ir.block(None), ir.block(None));
    ir.end(Terminator::Jump(head));
    ir.at(head);
    let (count, zero) = (ir.get(0), ir.i32(0));
    let is_more = ir.push(Op::Cmp(CmpOp::NeUn, count, zero), I32);
    ir.end(Terminator::Brif { cond: is_more, then: body, otherwise: end });
    ir.at(body);
    for _ in 0..3000 {
        let (total, other) = (ir.get(sum.0), ir.get(1));
        let total = ir.bin(BinOp::AddOvf, total, other, I32);
        ir.set(sum, total);
    }
    let (count, one) = (ir.get(0), ir.i32(1));
    let less = ir.bin(BinOp::Sub, count, one, I32);
    ir.set(LocalId(0), less);
    ir.end(Terminator::Jump(head));
    ir.at(end);
    let (total, other) = (ir.get(sum.0), ir.get(1));
    let rest = ir.bin(BinOp::Rem, total, other, I32);
    let result = ir.bin(BinOp::Add, total, rest, I32);
    ir.ret(result);
    let code = machine.compiler.compile_baseline(&ir.func).expect("covered");
    let code = machine.place(code);
    assert_eq!(machine.run(&ir.func.sig, code, &[5, 3]), Ok(45_000));
}

/// Atomic operations, whether or not the processor has instructions for them beyond the baseline.
#[test]
fn atomic_operations_give_the_old_value() {
    for host_features in [true, false] {
        let mut machine = Machine::with_options(CompilerOptions { host_features, ..CompilerOptions::new(HEAP) });
        for (mem, ty) in [(MemType::U8, I32), (MemType::I16, I32), (MemType::I32, I32), (MemType::I64, I64)] {
            let operation = |op: fn(MemType, [ValueId; 3]) -> Op| {
                let mut ir = Ir::new("atomic", &[I64, ty, ty], Some(ty));
                let args = [0, 1, 2].map(|number| ir.get(number));
                let old = ir.push(op(mem, args), ty);
                ir.ret(old);
                ir
            };
            let add = operation(|mem, [addr, value, _]| Op::AtomicRmw { op: AtomicRmw::Add, addr, value, mem });
            let or = operation(|mem, [addr, value, _]| Op::AtomicRmw { op: AtomicRmw::Or, addr, value, mem });
            let exchange =
                operation(|mem, [addr, value, _]| Op::AtomicRmw { op: AtomicRmw::Exchange, addr, value, mem });
            let compare = operation(|mem, [addr, expected, new]| Op::AtomicCas { addr, expected, new, mem });
            for (ir, args, after) in [(&add, [5, 0], 45), (&or, [7, 0], 47), (&exchange, [9, 0], 9)]
                .into_iter()
                .chain([(&compare, [40, 11], 11), (&compare, [41, 11], 40)])
            {
                let code = machine.compiler.compile_baseline(&ir.func).expect("covered");
                let code = machine.place(code);
                let mut word = Box::new(40u64);
                let got = machine.run(&ir.func.sig, code, &[std::ptr::from_mut(&mut *word) as u64, args[0], args[1]]);
                assert_eq!((got, std::hint::black_box(*word)), (Ok(40), after), "{mem:?} {args:?} {}", ir.func);
            }
        }
    }
}
