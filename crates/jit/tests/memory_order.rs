//! Which stores are releases where the processor does not order stores.
#![cfg(target_arch = "aarch64")]

mod common;

use common::*;
use saki_il::ir::*;
use saki_jit::{Compiler, CompilerOptions};

fn machine_code(ir: &Ir, options: CompilerOptions) -> String {
    Compiler::new(options).unwrap().dump(&ir.func).unwrap().machine_code
}

/// The instructions of the baseline compiler's code.
fn first_tier(ir: &Ir, options: CompilerOptions) -> Vec<u32> {
    let code = Compiler::new(options).unwrap().compile_baseline(&ir.func).expect("covered");
    code.bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

const BARRIER: u32 = 0xd503_3bbf;

fn is_release(word: u32) -> bool {
    word & 0x3fff_fc00 == 0x089f_fc00
}

/// Stores with release, as many in the code of both compilers.
fn releases(ir: &Ir) -> usize {
    let options = CompilerOptions { host_features: false, ..CompilerOptions::new(HEAP) };
    let releases = machine_code(ir, options.clone()).matches("stlr").count();
    assert_eq!(first_tier(ir, options).into_iter().filter(|&word| is_release(word)).count(), releases);
    releases
}

/// Fences of an exchange and of a compare-and-swap.
fn fences(options: impl Fn() -> CompilerOptions) -> [usize; 2] {
    let count = |op: fn(ValueId) -> Op| {
        let mut ir = Ir::new("atomic", &[IrType::I64], Some(IrType::I64));
        let addr = ir.get(0);
        let old = ir.push(op(addr), IrType::I64);
        ir.end(Terminator::Ret(Some(old)));
        let fences = machine_code(&ir, options()).matches("dmb").count();
        let refused = usize::from(matches!(ir.func.insts[1].op, Op::AtomicCas { .. }) && options().fence_after_atomics);
        // The baseline compiler's own fence behind a refused exchange comes before the one behind all of them.
        let first = first_tier(&ir, options()).into_iter().filter(|&word| word == BARRIER).count();
        assert_eq!(first, fences + refused);
        fences
    };
    [
        count(|addr| Op::AtomicRmw { op: AtomicRmw::Exchange, addr, value: addr, mem: MemType::I64 }),
        count(|addr| Op::AtomicCas { addr, expected: addr, new: addr, mem: MemType::I64 }),
    ]
}

#[test]
fn atomic_operations_are_fences_and_refused_exchanges_too() {
    // A single instruction that stores is a fence; one that compares may store nothing.
    if saki_jit::atomics_are_fences() {
        assert_eq!(fences(|| CompilerOptions::new(HEAP)), [0, 1]);
    }
    let exclusive =
        || CompilerOptions { host_features: false, fence_after_atomics: true, ..CompilerOptions::new(HEAP) };
    assert_eq!(fences(exclusive), [1, 1]);
}

#[test]
fn a_reference_publishes_the_object_that_it_leads_to() {
    let mut ir = Ir::new("store", &[IrType::Ref, IrType::Ref], None);
    let (object, value) = (ir.get(0), ir.get(1));
    let flags = checked(AliasClass::Field);
    let null = ir.push(Op::Null, IrType::Ref);
    ir.push(Op::StoreRef { object: Some(object), addr: object, offset: 24, value: null, flags }, IrType::Void);
    ir.push(Op::Store { addr: object, offset: 32, value, mem: MemType::I64, flags }, IrType::Void);
    ir.end(Terminator::Ret(None));
    assert_eq!(releases(&ir), 0);

    let mut ir = Ir::new("publish", &[IrType::Ref, IrType::Ref], None);
    let (object, value) = (ir.get(0), ir.get(1));
    ir.push(Op::StoreRef { object: Some(object), addr: object, offset: 16, value, flags }, IrType::Void);
    ir.end(Terminator::Ret(None));
    assert_eq!(releases(&ir), 1);
}

/// Stores to statics are plain ones in the IR: no collection has to learn of them.
#[test]
fn a_plain_store_of_a_reference_publishes_too() {
    let store = |value: fn(&mut Ir) -> ValueId, is_in_frame: bool| {
        let mut ir = Ir::new("store", &[IrType::I64, IrType::Ref], None);
        let local = ir.local(IrType::Ref, true);
        let addr = if is_in_frame { ir.push(Op::LocalAddr(local), IrType::ByRef) } else { ir.get(0) };
        let value = value(&mut ir);
        let flags = MemFlags { null_check: NullCheck::None, ..checked(AliasClass::Static) };
        ir.push(Op::Store { addr, offset: 0, value, mem: MemType::Ref, flags }, IrType::Void);
        ir.end(Terminator::Ret(None));
        releases(&ir)
    };
    assert_eq!(store(|ir| ir.get(1), false), 1);
    assert_eq!(store(|ir| ir.get(1), true), 0, "no other thread reads the frame");
    assert_eq!(store(|ir| ir.push(Op::Null, IrType::Ref), false), 0, "null leads to no object");
}

/// `ldar` and `stlr` fault at such addresses.
#[test]
fn unaligned_volatile_accesses_are_plain_ones_with_barriers() {
    let flags = MemFlags { volatile: true, unaligned: true, ..checked(AliasClass::Any) };
    let mut ir = Ir::new("unaligned", &[IrType::I64], None);
    let addr = ir.get(0);
    let value = ir.push(Op::Load { addr, offset: 1, mem: MemType::I32, flags }, IrType::I32);
    ir.push(Op::Store { addr, offset: 7, value, mem: MemType::I32, flags }, IrType::Void);
    ir.end(Terminator::Ret(None));
    assert_eq!(releases(&ir), 0);
    let options = || CompilerOptions { host_features: false, ..CompilerOptions::new(HEAP) };
    assert_eq!(machine_code(&ir, options()).matches("dmb").count(), 2);
    let words = first_tier(&ir, options());
    assert_eq!(words.iter().filter(|&&word| word == BARRIER).count(), 2);
    assert!(words.iter().all(|&word| word & 0x3fff_fc00 != 0x08df_fc00), "{words:x?}");
}

/// `ldar`, `stlr`, and what a program finds by a flag that it has seen.
#[test]
fn volatile_accesses_acquire_and_release() {
    let flags = MemFlags { volatile: true, ..checked(AliasClass::Field) };
    for (mem, ty) in [
        (MemType::I8, IrType::I32),
        (MemType::U16, IrType::I32),
        (MemType::I32, IrType::I32),
        (MemType::I64, IrType::I64),
        (MemType::F32, IrType::F32),
        (MemType::F64, IrType::F64),
    ] {
        let mut ir = Ir::new("volatile", &[IrType::Ref], None);
        let object = ir.get(0);
        let value = ir.push(Op::Load { addr: object, offset: 16, mem, flags }, ty);
        ir.push(Op::Store { addr: object, offset: 24, value, mem, flags }, IrType::Void);
        ir.end(Terminator::Ret(None));
        assert_eq!(releases(&ir), 1, "{mem:?}");
        let words = first_tier(&ir, CompilerOptions::new(HEAP));
        let acquires = words.iter().filter(|&&word| word & 0x3fff_fc00 == 0x08df_fc00);
        assert_eq!(acquires.count(), 1, "{mem:?}: {words:x?}");
    }
}
