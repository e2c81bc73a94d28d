//! Tests of code that depends on types, with the installed class library.

mod common;

use common::*;
use saki_il::ir::*;
use saki_jit::RelocTarget;
use saki_types::{Ty, universe};

/// A vtable stand-in with a display, and the symbols that name it.
struct FakeVTable {
    words: Box<[u64]>,
    _display: Box<[u64]>,
}

impl FakeVTable {
    fn new(m: &mut Machine, ty: Ty) -> FakeVTable {
        let display: Box<[u64]> = ty.supertypes().unwrap().iter().map(|&t| std::ptr::from_ref(t) as u64).collect();
        let mut words = vec![0u64; 32].into_boxed_slice();
        words[saki_abi::vtable::VTABLE_DISPLAY_OFFSET as usize / 8] = display.as_ptr() as u64;
        let depth = saki_abi::vtable::VTABLE_DEPTH_OFFSET as usize;
        words[depth / 8] |= (display.len() as u64) << (8 * (depth % 8));
        m.symbols.insert(format!("{:?}", RelocTarget::Symbol(Symbol::VTable(ty))), words.as_ptr() as usize);
        for &t in ty.supertypes().unwrap() {
            let key = format!("{:?}", RelocTarget::Symbol(Symbol::TypeHandle(t)));
            m.symbols.insert(key, std::ptr::from_ref(t) as usize);
        }
        FakeVTable { words, _display: display }
    }

    fn address(&self) -> u64 {
        self.words.as_ptr() as u64
    }
}

/// Gives the thread an allocation buffer and valid-object bits.
fn allocation_buffer(m: &mut Machine) -> (Box<[u64]>, Box<[u8]>) {
    let heap = vec![0u64; 4096].into_boxed_slice();
    let bits = vec![0u8; 4096 / 8 + 1].into_boxed_slice();
    let start = heap.as_ptr() as usize;
    m.thread.alloc_cursor = start;
    m.thread.alloc_limit = start + 4096 * 8;
    m.thread.vo_bit_base = (bits.as_ptr() as usize).wrapping_sub(start >> 6);
    (heap, bits)
}

#[test]
fn objects_are_allocated_in_line() {
    if !corlib() {
        return;
    }
    let mut m = Machine::new();
    let ty = corlib_type("System", "Version");
    let vtable = FakeVTable::new(&mut m, ty);
    let (heap, bits) = allocation_buffer(&mut m);
    let mut ir = Ir::new("new", &[], Some(IrType::Ref));
    let object = ir.push(Op::NewObject(ty), IrType::Ref);
    ir.ret(object);
    let start = heap.as_ptr() as u64;
    assert_eq!(m.eval(&ir, &[]), Ok(start));
    let size = u64::from(ty.instance_size_bytes().unwrap()).div_ceil(8) * 8;
    assert_eq!(m.thread.alloc_cursor as u64, start + size);
    assert_eq!(std::hint::black_box(&heap)[0], vtable.address());
    assert_eq!(std::hint::black_box(&bits)[0], 1 << ((start >> 3) & 7));
    assert_eq!(m.eval(&ir, &[]), Ok(start + size));
}

#[test]
fn arrays_are_allocated_in_line_when_short() {
    if !corlib() {
        return;
    }
    let mut m = Machine::new();
    let ty = universe().sz_array_of(universe().int32());
    let _vtable = FakeVTable::new(&mut m, ty);
    let (heap, _bits) = allocation_buffer(&mut m);
    let mut ir = Ir::new("new", &[IrType::I32], Some(IrType::Ref));
    let length = ir.get(0);
    let array = ir.push(Op::NewArray(ty, length), IrType::Ref);
    ir.ret(array);
    let start = heap.as_ptr() as u64;
    assert_eq!(m.eval(&ir, &[5]), Ok(start));
    assert_eq!(m.thread.alloc_cursor as u64, start + 32 + 24);
    assert_eq!(std::hint::black_box(&heap)[3], 5);
    // Lengths that are too large or negative are left to the helper (here a counter).
    assert_eq!(m.eval(&ir, &[100_000]), Ok(1));
    assert_eq!(m.eval(&ir, &[u64::from(-1i32 as u32)]), Ok(2));
}

#[test]
fn strings_are_allocated_in_line_when_short() {
    if !corlib() {
        return;
    }
    let mut m = Machine::new();
    let vtable = FakeVTable::new(&mut m, universe().string());
    let (heap, _bits) = allocation_buffer(&mut m);
    let mut ir = Ir::new("new", &[IrType::I32], Some(IrType::Ref));
    let length = ir.get(0);
    let string = ir.push(Op::NewString(length), IrType::Ref);
    ir.ret(string);
    let start = heap.as_ptr() as u64;
    // 20 bytes in front of the characters, and a terminating zero.
    assert_eq!(m.eval(&ir, &[0]), Ok(start));
    assert_eq!(m.thread.alloc_cursor as u64, start + 24);
    assert_eq!(m.eval(&ir, &[2]), Ok(start + 24));
    assert_eq!(m.thread.alloc_cursor as u64, start + 24 + 32);
    assert_eq!(std::hint::black_box(&heap)[3], vtable.address());
    assert_eq!(std::hint::black_box(&heap)[5] as u32, 2);
    // Lengths that are too large or negative are left to the helper (here a counter).
    assert_eq!(m.eval(&ir, &[100_000]), Ok(1));
    assert_eq!(m.eval(&ir, &[u64::from(-1i32 as u32)]), Ok(2));
}

#[test]
fn thread_statics_are_found_in_the_thread_s_table() {
    if !corlib() {
        return;
    }
    let mut m = Machine::new();
    let field: &'static saki_types::Field =
        corlib_type("System", "Version").fields().unwrap().iter().find(|f| !f.is_static()).unwrap();
    let place = 2 | 40 << 32;
    m.symbols.insert(format!("{:?}", RelocTarget::Symbol(Symbol::ThreadStaticPlace(field))), place);
    m.symbols.insert(format!("{:?}", RelocTarget::Symbol(Symbol::FieldHandle(field))), 0);
    let mut ir = Ir::new("place", &[], Some(IrType::I64));
    let address = ir.push(Op::ThreadStaticAddr(field), IrType::I64);
    ir.ret(address);
    // No table, a table that is too short, and a table without the block are left to the helper.
    assert_eq!(m.eval(&ir, &[]), Ok(1));
    let mut table = [std::ptr::null_mut::<u8>(); 3];
    m.thread.thread_statics = table.as_mut_ptr();
    m.thread.thread_statics_len = 2;
    assert_eq!(m.eval(&ir, &[]), Ok(2));
    m.thread.thread_statics_len = 3;
    assert_eq!(m.eval(&ir, &[]), Ok(3));
    table[2] = std::ptr::without_provenance_mut(1000);
    std::hint::black_box(&mut table);
    assert_eq!(m.eval(&ir, &[]), Ok(1040));
}

fn test_cast(op: fn(ValueId, Ty) -> Op, target: Ty) -> Ir {
    let mut ir = Ir::new("cast", &[IrType::Ref], Some(IrType::Ref));
    let object = ir.get(0);
    let result = ir.push(op(object, target), IrType::Ref);
    ir.ret(result);
    ir
}

#[test]
fn class_tests_use_the_display_and_sealed_classes_the_vtable() {
    if !corlib() {
        return;
    }
    let mut m = Machine::new();
    let system = |name| corlib_type("System", name);
    let derived = FakeVTable::new(&mut m, system("ArgumentNullException"));
    let other = FakeVTable::new(&mut m, system("Version"));
    let string = FakeVTable::new(&mut m, system("String"));
    let object_of = |vtable: &FakeVTable| Box::new([vtable.address(), 0, 0, 0]);
    let [derived, other, string] = [object_of(&derived), object_of(&other), object_of(&string)];
    let address = |object: &[u64; 4]| object.as_ptr() as u64;
    let mut check = |target, object: u64, expect: u64| {
        assert_eq!(m.eval(&test_cast(Op::IsInst, target), &[object]), Ok(expect), "{target:?}");
    };
    check(system("ArgumentException"), address(&derived), address(&derived));
    check(system("ArgumentException"), address(&other), 0);
    check(system("ArgumentException"), 0, 0);
    check(system("Object"), address(&other), address(&other));
    check(system("String"), address(&string), address(&string));
    check(system("String"), address(&derived), 0);
    // A failed cast asks the helper (a counter here); its result is not used, the object is.
    let calls = m.thread.stub_result;
    let cast = test_cast(Op::CastClass, system("ArgumentException"));
    assert_eq!(m.eval(&cast, &[address(&derived)]), Ok(address(&derived)));
    assert_eq!(m.thread.stub_result, calls);
    assert_eq!(m.eval(&cast, &[address(&other)]), Ok(address(&other)));
    assert_eq!(m.thread.stub_result, calls + 1);
}

#[test]
fn struct_arguments_are_copies_and_struct_results_go_to_their_place() {
    if !corlib() {
        return;
    }
    let mut m = Machine::new();
    let guid = IrType::Struct(corlib_type("System", "Guid"));
    // callee(Guid g) -> Guid: changes its argument's first word, returns it
    let mut callee = Ir::new("callee", &[guid], Some(guid));
    let addr = callee.push(Op::LocalAddr(LocalId(0)), IrType::ByRef);
    let n = callee.i64(7);
    let flags = plain(AliasClass::Any);
    callee.push(Op::Store { addr, offset: 0, value: n, mem: MemType::I64, flags }, IrType::Void);
    callee.ret(addr);
    let callee_code = m.compile(&callee);
    // caller(ptr source, ptr code): result = callee(*source); returns result.first + result.second * 100
    let mut caller = Ir::new("caller", &[IrType::I64, IrType::I64], Some(IrType::I64));
    let result = caller.local(guid, false);
    let (source, code) = (caller.get(0), caller.get(1));
    let place = caller.push(Op::LocalAddr(result), IrType::ByRef);
    let sig = Box::new(callee.func.sig.clone());
    let target = CallTarget::Indirect(code);
    caller.push(Op::Call { target, sig, args: vec![source], struct_result: Some(place) }, IrType::Void);
    let a = caller.push(Op::Load { addr: place, offset: 0, mem: MemType::I64, flags }, IrType::I64);
    let b = caller.push(Op::Load { addr: place, offset: 8, mem: MemType::I64, flags }, IrType::I64);
    let hundred = caller.i64(100);
    let b = caller.bin(BinOp::Mul, b, hundred, IrType::I64);
    let r = caller.bin(BinOp::Add, a, b, IrType::I64);
    caller.ret(r);
    let source = [1u64, 2];
    let args = [source.as_ptr() as u64, callee_code as u64];
    assert_eq!(m.eval(&caller, &args), Ok(207));
    assert_eq!(std::hint::black_box(source), [1, 2], "the caller's struct is unchanged");
}

#[test]
fn array_stores_of_the_element_type_pass_in_line() {
    if !corlib() {
        return;
    }
    let mut m = Machine::new();
    let string = corlib_type("System", "String");
    let strings = FakeVTable::new(&mut m, string);
    let others = FakeVTable::new(&mut m, corlib_type("System", "Version"));
    let mut array_vtable = [0u64; 32];
    let element_type = saki_abi::vtable::VTABLE_ELEMENT_TYPE_OFFSET as usize / 8;
    array_vtable[element_type] = std::ptr::from_ref(string) as u64;
    let mut string_words = strings.words.clone();
    string_words[saki_abi::vtable::VTABLE_TYPE_OFFSET as usize / 8] = std::ptr::from_ref(string) as u64;
    let array = [array_vtable.as_ptr() as u64, 0, 0, 1, 0];
    let value = [string_words.as_ptr() as u64, 0, 0];
    let other = [others.address(), 0, 0];
    let mut ir = Ir::new("check", &[IrType::Ref, IrType::Ref], None);
    let (a, v) = (ir.get(0), ir.get(1));
    ir.helper(saki_abi::HelperId::CheckArrayStore, &[IrType::Ref, IrType::Ref], None, &[a, v]);
    ir.end(Terminator::Ret(None));
    let mut calls = |value: u64| {
        m.thread.stub_result = 0;
        m.eval(&ir, &[array.as_ptr() as u64, value]).unwrap();
        m.thread.stub_result
    };
    assert_eq!(calls(0), 0);
    assert_eq!(calls(value.as_ptr() as u64), 0);
    assert_eq!(calls(other.as_ptr() as u64), 1);
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes16(u64, u64);

extern "C" fn native_struct(a: i32, g: Bytes16, b: i64, c: i64, d: i64, h: Bytes16, e: i64) -> Bytes16 {
    Bytes16(a as u64 + g.0 * 10 + h.1, b as u64 + c as u64 + d as u64 + e as u64)
}

#[test]
fn native_calls_pass_structs_in_registers_or_on_the_stack() {
    if corlib() {
        TRANSITIONS.into_iter().for_each(native_structs);
    }
}

fn native_structs(transition: Transition) {
    let mut m = Machine::new();
    let guid = IrType::Struct(corlib_type("System", "Guid"));
    let i64 = IrType::I64;
    let mut ir = Ir::new("native", &[i64, i64], Some(i64));
    let place = ir.local(guid, false);
    let (code, source) = (ir.get(0), ir.get(1));
    let place = ir.push(Op::LocalAddr(place), IrType::ByRef);
    let a = ir.i32(3);
    let numbers: Vec<_> = (1..=4).map(|n| ir.i64(n)).collect();
    let args = vec![a, source, numbers[0], numbers[1], numbers[2], source, numbers[3]];
    let params = vec![IrType::I32, guid, i64, i64, i64, guid, i64];
    let sig = Box::new(CallSig { has_this: false, params, ret: Some(guid) });
    let target = CallTarget::Native { code, transition };
    ir.push(Op::Call { target, sig, args, struct_result: Some(place) }, IrType::Void);
    let flags = plain(AliasClass::Any);
    let x = ir.push(Op::Load { addr: place, offset: 0, mem: MemType::I64, flags }, i64);
    let y = ir.push(Op::Load { addr: place, offset: 8, mem: MemType::I64, flags }, i64);
    let shift = ir.i32(32);
    let y = ir.bin(BinOp::Shl, y, shift, i64);
    let r = ir.bin(BinOp::Add, x, y, i64);
    ir.ret(r);
    let source = [5u64, 6];
    let got = m.eval(&ir, &[native_struct as *const () as u64, source.as_ptr() as u64]);
    assert_eq!(got, Ok((3 + 50 + 6) + (10 << 32)));
}
