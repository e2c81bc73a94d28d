//! Expected output of the lowering for some functions: Cranelift IR before optimisation, and for one of them machine
//! code.
#![cfg(target_arch = "x86_64")]

mod common;

use common::*;
use expect_test::{Expect, expect};
use saki_abi::HelperId;
use saki_il::ir::*;
use saki_jit::{Compiler, CompilerOptions};

const I32: IrType = IrType::I32;
const REF: IrType = IrType::Ref;

/// The body of the function in Cranelift IR, without the preamble.
fn check(ir: &Ir, expect: Expect) {
    let dump = compiler().dump(&ir.func).unwrap();
    let start = dump.clif.find("\n\n").expect("a blank line ends the preamble");
    let body: Vec<&str> = dump.clif[start..].lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let indent = body.iter().map(|line| line.len() - line.trim_start().len()).filter(|&n| n > 8).min().unwrap_or(0);
    let body: Vec<String> = body
        .iter()
        .map(|line| match line.split_at_checked(indent) {
            Some((position, rest)) => format!("{:6}{rest}", position.trim()).trim_end().to_owned(),
            None => (*line).to_owned(),
        })
        .collect();
    let text = [dump.symbols.join("\n"), body.join("\n")].join("\n");
    expect.assert_eq(&text);
}

fn check_machine_code(ir: &Ir, expect: Expect) {
    let options = CompilerOptions { host_features: false, ..CompilerOptions::new(HEAP) };
    let dump = Compiler::new(options).unwrap().dump(&ir.func).unwrap();
    expect.assert_eq(&dump.machine_code);
}

/// Sum of an int array.
fn sum() -> Ir {
    let mut ir = Ir::new("sum", &[REF], Some(I32));
    let (i, sum) = (ir.local(I32, false), ir.local(I32, false));
    let (head, body, done) = (ir.block(None), ir.block(None), ir.block(None));
    ir.end(Terminator::Jump(head));
    ir.at(head);
    let (a, array) = (ir.get(i.0), ir.get(0));
    let n = ir.push(Op::ArrayLen(array), I32);
    let cond = ir.push(Op::Cmp(CmpOp::Lt, a, n), I32);
    ir.end(Terminator::Brif { cond, then: body, otherwise: done });
    ir.at(body);
    let (s, array, index) = (ir.get(sum.0), ir.get(0), ir.get(i.0));
    let length = ir.push(Op::ArrayLen(array), I32);
    ir.push(Op::BoundsCheck { index, length }, IrType::Void);
    let addr = ir.push(Op::ElementAddr { array, index, element_size_bytes: 4 }, IrType::ByRef);
    let v = ir.push(Op::Load { addr, offset: 0, mem: MemType::I32, flags: plain(AliasClass::Element) }, I32);
    let s = ir.bin(BinOp::Add, s, v, I32);
    ir.set(sum, s);
    let one = ir.i32(1);
    let a = ir.bin(BinOp::Add, index, one, I32);
    ir.set(i, a);
    ir.push(Op::Poll, IrType::Void);
    ir.end(Terminator::Jump(head));
    ir.at(done);
    let s = ir.get(sum.0);
    ir.ret(s);
    ir
}

#[test]
fn array_loop() {
    check(
        &sum(),
        expect![[r#"
            ; u0:0 = Stub(Poll)
            ; u0:1 = Stub(ThrowPending)
                  block4(v0: i64):
                      v4 -> v0
                      v26 -> v4
                      v1 = iconst.i32 0
                      v2 = iconst.i32 0
                      jump block0
                  block0:
            @0001     jump block1(v1, v2)  ; v1 = 0, v2 = 0
                  block1(v3: i32, v9: i32):
            @0003     v5 = load.i32 user1 aligned region1 v4+24
            @0004     v6 = icmp slt v3, v5
            @0004     v7 = uextend.i32 v6
            @0001     v8 = icmp sge v3, v5
            @0001     brif v8, block2, block3
                  block2:
            @0001     return v9
                  block3:
            @0009     v10 = icmp.i32 uge v3, v5
            @0009     trapnz v10, user2
            @000a     v11 = uextend.i64 v3
            @000a     v12 = iconst.i64 2
            @000a     v13 = ishl v11, v12  ; v12 = 2
            @000a     v14 = iadd.i64 v4, v13
            @000a     v15 = iconst.i64 32
            @000a     v16 = iadd v14, v15  ; v15 = 32
            @000b     v17 = load.i32 notrap aligned region0 v16
            @000c     v18 = iadd.i32 v9, v17
                      v27 -> v18
            @000e     v19 = iconst.i32 1
            @000f     v20 = iadd.i32 v3, v19  ; v19 = 1
                      v25 -> v20
            @0011     v21 = get_pinned_reg.i64
            @0011     v22 = atomic_load.i32 notrap aligned region4 v21
            @0011     brif v22, block5, block6
                  block5 cold:
            @0011     call fn0()
            @0011     v23 = get_pinned_reg.i64
            @0011     v24 = load.i64 notrap aligned region4 v23+8
            @0011     brif v24, block7, block8
                  block7 cold:
            @0011     call fn1()
            @0011     trap user7
                  block8 cold:
            @0011     jump block6
                  block6:
            @0001     jump block1(v20, v18)
            }"#]],
    );
    check_machine_code(
        &sum(),
        expect![[r#"
              pushq %rbp
              unwind PushFrameRegs { offset_upward_to_caller_sp: 16 }
              movq %rsp, %rbp
              unwind DefineNewFrame { offset_upward_to_caller_sp: 16, offset_downward_to_clobbers: 0 }
            block0:
              jmp     label1
            block1:
              uninit  %rsi
              xorl %esi, %esi
              movq %rsi, %rax
              jmp     label2
            block2:
              movl 0x18(%rdi), %ecx
              cmpl %ecx, %esi
              jnl     label9; j label3
            block3:
              cmpl %ecx, %esi
              jnb #trap=user2
              movl %esi, %ecx
              movl 0x20(%rdi, %rcx, 4), %ecx
              movq    %r15, %rdx
              movl (%rdx), %edx
              testl %edx, %edx
              jnz     label5; j label4
            block4:
              jmp     label7
            block7:
              leal 1(%rsi), %esi
              leal (%rax, %rcx), %eax
              jmp     label2
            block9:
              movq %rbp, %rsp
              popq %rbp
              retq
            block5:
              call    User(userextname0)
              movq    %r15, %rdx
              movq 8(%rdx), %rdx
              testq %rdx, %rdx
              jnz     label8; j label6
            block6:
              jmp     label7
            block8:
              call    User(userextname1)
              ud2"#]],
    );
}

#[test]
fn protected_call_and_access() {
    let mut ir = Ir::new("protected", &[REF], Some(I32));
    let (body, handler) = (ir.block(None), ir.block(None));
    let (region, _) = ir.region(None, ClauseKind::Finally, handler);
    ir.func.blocks[body.0 as usize].region = Some(region);
    ir.end(Terminator::Jump(body));
    ir.at(body);
    let object = ir.get(0);
    let flags = checked(AliasClass::Field);
    let v = ir.push(Op::Load { addr: object, offset: 16, mem: MemType::U8, flags }, I32);
    let w = ir.push(Op::Load { addr: object, offset: 20, mem: MemType::I32, flags }, I32);
    let v = ir.bin(BinOp::Add, v, w, I32);
    ir.helper(HelperId::MonitorEnter, &[REF], None, &[object]);
    ir.ret(v);
    ir.at(handler);
    ir.end(Terminator::ResumeUnwind { clause: 0 });
    check(
        &ir,
        expect![[r#"
            ; u0:0 = Symbol(Helper(MonitorEnter))
            ; u0:1 = Stub(ResumeUnwind)
            ; u0:2 = Symbol(Helper(ThrowNullReference))
                  block3(v0: i64):
                      v1 = iconst.i64 0
                      v2 = iconst.i64 0
                      jump block0
                  block0:
            @0001     jump block1
                  block1:
            @0002     brif.i64 v0, block5, block4
                  block5:
            @0002     v3 = uload8.i32 notrap aligned region0 v0+16
            @0003     v4 = load.i32 notrap aligned region0 v0+20
            @0004     v5 = iadd v3, v4
            @0005     try_call fn1(v0), sig1, block6, [ tag0: block7(exn0, exn1) ]
                  block6:
            @0001     return v5
                  block2:
            @0001     call fn2(v8, v9)
            @0001     trap user7
                  block4 cold:
            @0002     try_call fn4(), sig4, block8, [ tag0: block7(exn0, exn1) ]
                  block8 cold:
            @0002     trap user7
                  block7(v6: i64, v7: i64) cold:
                      v8 -> v6
                      v9 -> v7
                      jump block2
            }"#]],
    );
}

#[test]
fn a_null_check_is_left_to_the_access_that_follows() {
    let mut ir = Ir::new("access", &[REF], Some(I32));
    let object = ir.get(0);
    ir.push(Op::NullCheck(object), IrType::Void);
    let flags = plain(AliasClass::Field);
    let v = ir.push(Op::Load { addr: object, offset: 16, mem: MemType::I32, flags }, I32);
    ir.push(Op::NullCheck(object), IrType::Void);
    ir.ret(v);
    check(
        &ir,
        expect![[r#"

              block1(v0: i64):
                  jump block0
              block0:
        @0003     v1 = load.i32 user1 aligned region0 v0+16
        @0001     return v1
        }"#]],
    );
}

#[test]
fn reference_store() {
    let mut ir = Ir::new("store", &[REF, REF], None);
    let (object, value) = (ir.get(0), ir.get(1));
    let flags = checked(AliasClass::Field);
    ir.push(Op::StoreRef { object: Some(object), addr: object, offset: 16, value, flags }, IrType::Void);
    let null = ir.push(Op::Null, REF);
    ir.push(Op::StoreRef { object: Some(object), addr: object, offset: 24, value: null, flags }, IrType::Void);
    ir.end(Terminator::Ret(None));
    check(
        &ir,
        expect![[r#"
            ; u0:0 = Stub(BarrierSlow)
                  block1(v0: i64, v1: i64):
                      jump block0
                  block0:
            @0003     store.i64 user1 aligned region0 v1, v0+16
            @0003     v2 = get_pinned_reg.i64
            @0003     v3 = load.i64 notrap aligned readonly can_move region4 v2+104
            @0003     v4 = iconst.i64 6
            @0003     v5 = ushr.i64 v0, v4  ; v4 = 6
            @0003     v6 = iadd v3, v5
            @0003     v7 = iconst.i64 3
            @0003     v8 = ushr.i64 v0, v7  ; v7 = 3
            @0003     v9 = ireduce.i32 v8
            @0003     v10 = iconst.i32 7
            @0003     v11 = band v9, v10  ; v10 = 7
            @0003     v12 = uload8.i32 notrap aligned region5 v6
            @0003     brif v12, block4, block3
                  block4 cold:
            @0003     v13 = ushr.i32 v12, v11
            @0003     v14 = iconst.i32 1
            @0003     v15 = band v13, v14  ; v14 = 1
            @0003     brif v15, block2, block3
                  block2 cold:
            @0003     v16 = get_pinned_reg.i64
            @0003     store.i64 notrap aligned region4 v0, v16+40
            @0003     call fn0()
            @0003     jump block3
                  block3:
            @0004     v17 = iconst.i64 0
            @0005     store notrap aligned region0 v17, v0+24  ; v17 = 0
            @0001     return
            }"#]],
    );
}

#[test]
fn a_fence_follows_locked_instructions_where_the_processor_needs_it() {
    let mut ir = Ir::new("add", &[IrType::ByRef, I32], Some(I32));
    let (addr, value) = (ir.get(0), ir.get(1));
    let old = ir.push(Op::AtomicRmw { op: AtomicRmw::Add, addr, value, mem: MemType::I32 }, I32);
    let old = ir.push(Op::AtomicCas { addr, expected: old, new: value, mem: MemType::I32 }, I32);
    ir.end(Terminator::Ret(Some(old)));
    let fences = |fence_after_atomics| {
        let options = CompilerOptions { host_features: false, fence_after_atomics, ..CompilerOptions::new(HEAP) };
        Compiler::new(options).unwrap().dump(&ir.func).unwrap().machine_code.matches("fence").count()
    };
    assert_eq!((fences(false), fences(true)), (0, 2));
}
