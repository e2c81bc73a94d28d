//! Which stores are releases where the processor does not order stores.
#![cfg(target_arch = "aarch64")]

mod common;

use common::*;
use saki_il::ir::*;
use saki_jit::{Compiler, CompilerOptions};

fn machine_code(ir: &Ir, options: CompilerOptions) -> String {
    Compiler::new(options).unwrap().dump(&ir.func).unwrap().machine_code
}

fn releases(ir: &Ir) -> usize {
    let options = CompilerOptions { host_features: false, ..CompilerOptions::new(HEAP) };
    machine_code(ir, options).matches("stlr").count()
}

/// Fences of an exchange and of a compare-and-swap.
fn fences(options: impl Fn() -> CompilerOptions) -> [usize; 2] {
    let count = |op: fn(ValueId) -> Op| {
        let mut ir = Ir::new("atomic", &[IrType::I64], Some(IrType::I64));
        let addr = ir.get(0);
        let old = ir.push(op(addr), IrType::I64);
        ir.end(Terminator::Ret(Some(old)));
        machine_code(&ir, options()).matches("dmb").count()
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
