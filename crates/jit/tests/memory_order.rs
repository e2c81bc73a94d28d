//! Which stores are releases where the processor does not order stores.
#![cfg(target_arch = "aarch64")]

mod common;

use common::*;
use saki_il::ir::*;
use saki_jit::{Compiler, CompilerOptions};

fn releases(ir: &Ir) -> usize {
    let options = CompilerOptions { host_features: false, ..CompilerOptions::new(HEAP) };
    Compiler::new(options).unwrap().dump(&ir.func).unwrap().machine_code.matches("stlr").count()
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
