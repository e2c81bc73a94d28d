//! The baseline compiler's code gives the same results as Cranelift's.
#![cfg(target_arch = "x86_64")]

mod common;

use common::*;
use proptest::prelude::*;
use saki_abi::stubs::trap;
use saki_abi::{AddressUse, HelperId, RelocKind};
use saki_il::ir::*;
use saki_jit::{CompilerOptions, RelocTarget};

const I32: IrType = IrType::I32;
const I64: IrType = IrType::I64;
const F32: IrType = IrType::F32;
const F64: IrType = IrType::F64;

/// Words of the memory that generated functions read and write: integers below, floats from `FLOATS` on.
const WORDS: usize = 64;
const FLOATS: usize = 32;
/// Parameters of generated functions; the first is the address of the words.
const PARAMS: [IrType; 6] = [I64, I32, I64, I32, F64, F32];

/// Locals of generated functions that steps read and write: the parameters and three more. Counters of loops follow.
const VARIABLES: usize = PARAMS.len() + 3;

/// One step of a generated function; the numbers choose among the existing values.
#[derive(Clone, Debug)]
enum Step {
    Constant(IrType, i64),
    Binary(usize, IrType, usize, usize),
    Unary(usize, IrType, usize),
    Compare(usize, IrType, usize, usize),
    Convert(usize, IrType, usize),
    Load(usize, usize),
    Store(usize, usize, usize),
    Get(usize),
    Set(usize, usize),
    Element(usize, u32),
    CallFRem(usize, usize),
    Poll,
    Divide(usize, IrType, usize, usize),
    ShiftBy(usize, IrType, usize, usize),
    Select(IrType, usize, usize, usize),
    /// if (value) { the next steps } else { none of them }, joined after this many.
    If(usize, usize),
    /// The next steps, so many, are run this often.
    Loop(i32, usize),
}

const INTEGER_OPS: [BinOp; 9] =
    [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Shl, BinOp::Shr, BinOp::ShrUn];
const FLOAT_OPS: [BinOp; 4] = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div];
const COMPARISONS: [CmpOp; 10] = [
    CmpOp::Eq,
    CmpOp::NeUn,
    CmpOp::Lt,
    CmpOp::LtUn,
    CmpOp::Gt,
    CmpOp::GtUn,
    CmpOp::Le,
    CmpOp::LeUn,
    CmpOp::Ge,
    CmpOp::GeUn,
];
const CONVERSIONS: [ConvTarget; 12] = [
    ConvTarget::I1,
    ConvTarget::U1,
    ConvTarget::I2,
    ConvTarget::U2,
    ConvTarget::I4,
    ConvTarget::U4,
    ConvTarget::I8,
    ConvTarget::U8,
    ConvTarget::I,
    ConvTarget::U,
    ConvTarget::R4,
    ConvTarget::R8,
];
const MEMORY: [MemType; 9] = [
    MemType::I8,
    MemType::U8,
    MemType::I16,
    MemType::U16,
    MemType::I32,
    MemType::I64,
    MemType::Ref,
    MemType::F32,
    MemType::F64,
];

fn scalar() -> impl Strategy<Value = IrType> {
    prop_oneof![Just(I32), Just(I64), Just(F32), Just(F64)]
}

fn step() -> impl Strategy<Value = Step> {
    let n = 0..1000usize;
    let interesting = prop_oneof![-300i64..300, Just(i64::MAX), Just(i64::MIN), any::<i64>()];
    prop_oneof![
        2 => (scalar(), interesting).prop_map(|(ty, value)| Step::Constant(ty, value)),
        6 => (n.clone(), scalar(), n.clone(), n.clone()).prop_map(|(op, ty, a, b)| Step::Binary(op, ty, a, b)),
        1 => (n.clone(), scalar(), n.clone()).prop_map(|(op, ty, a)| Step::Unary(op, ty, a)),
        3 => (n.clone(), scalar(), n.clone(), n.clone()).prop_map(|(op, ty, a, b)| Step::Compare(op, ty, a, b)),
        3 => (n.clone(), scalar(), n.clone()).prop_map(|(target, ty, a)| Step::Convert(target, ty, a)),
        2 => (n.clone(), n.clone()).prop_map(|(mem, at)| Step::Load(mem, at)),
        2 => (n.clone(), n.clone(), n.clone()).prop_map(|(mem, at, value)| Step::Store(mem, at, value)),
        2 => n.clone().prop_map(Step::Get),
        2 => (n.clone(), n.clone()).prop_map(|(local, value)| Step::Set(local, value)),
        1 => (n.clone(), 1..40u32).prop_map(|(index, size)| Step::Element(index, size)),
        1 => (n.clone(), n.clone()).prop_map(|(a, b)| Step::CallFRem(a, b)),
        1 => Just(Step::Poll),
        1 => (n.clone(), scalar(), n.clone(), n.clone()).prop_map(|(op, ty, a, b)| Step::Divide(op, ty, a, b)),
        1 => (n.clone(), scalar(), n.clone(), n.clone()).prop_map(|(op, ty, a, b)| Step::ShiftBy(op, ty, a, b)),
        1 => (scalar(), n.clone(), n.clone(), n.clone()).prop_map(|(ty, c, a, b)| Step::Select(ty, c, a, b)),
        1 => (n.clone(), 1..6usize).prop_map(|(condition, steps)| Step::If(condition, steps)),
        1 => (0..4i32, 1..6usize).prop_map(|(times, steps)| Step::Loop(times, steps)),
    ]
}

/// Builds the function of some steps.
struct Generator {
    ir: Ir,
    /// Values that may be used here, and their types.
    known: Vec<(ValueId, IrType)>,
    joins: Vec<Join>,
}

/// The end of steps that are run conditionally or again.
struct Join {
    /// Steps until then.
    steps: usize,
    /// The block whose branch leads there.
    branch: BlockId,
    /// Values that were known at the branch.
    known: usize,
    /// The local that counts the rounds of a loop.
    counter: Option<LocalId>,
}

impl Generator {
    fn pick(&mut self, ty: IrType, number: usize) -> ValueId {
        let candidates: Vec<ValueId> = self.known.iter().filter(|(_, t)| *t == ty).map(|(v, _)| *v).collect();
        match candidates.len() {
            0 => self.constant(ty, number as i64),
            // Mostly choose the newest value, so that values depend on each other.
            len => candidates[len - 1 - (number % len).min(number % 4)],
        }
    }

    fn constant(&mut self, ty: IrType, value: i64) -> ValueId {
        let op = match ty {
            IrType::I32 => Op::ConstI32(value as i32),
            IrType::F32 => Op::ConstF32((value % 1000) as f32),
            IrType::F64 => Op::ConstF64((value % 1000) as f64 / 4.0),
            _ => Op::ConstI64(value),
        };
        self.add(op, ty)
    }

    fn add(&mut self, op: Op, ty: IrType) -> ValueId {
        let id = self.ir.push(op, ty);
        if ty != IrType::Void {
            self.known.push((id, ty));
        }
        id
    }

    fn words(&mut self) -> ValueId {
        self.ir.get(0)
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Constant(ty, value) => {
                self.constant(ty, value);
            }
            Step::Binary(op, ty, a, b) => {
                let is_float = matches!(ty, IrType::F32 | IrType::F64);
                let op = if is_float { FLOAT_OPS[op % 4] } else { INTEGER_OPS[op % 9] };
                let left = self.pick(ty, a);
                let right = match op {
                    BinOp::Shl | BinOp::Shr | BinOp::ShrUn => self.ir.i32(b as i32),
                    _ => self.pick(ty, b),
                };
                self.add(Op::Bin(op, left, right), ty);
            }
            Step::Unary(op, ty, a) => {
                let is_float = matches!(ty, IrType::F32 | IrType::F64);
                let op = if op % 2 == 0 || is_float { UnOp::Neg } else { UnOp::Not };
                let a = self.pick(ty, a);
                self.add(Op::Un(op, a), ty);
            }
            Step::Compare(op, ty, a, b) => {
                let (a, b) = (self.pick(ty, a), self.pick(ty, b));
                self.add(Op::Cmp(COMPARISONS[op % 10], a, b), I32);
            }
            Step::Convert(target, ty, a) => {
                let mut target = CONVERSIONS[target % 12];
                if matches!(ty, IrType::F32 | IrType::F64) && !matches!(target, ConvTarget::R4 | ConvTarget::R8) {
                    target = ConvTarget::R8;
                }
                let to = match target {
                    ConvTarget::R4 => F32,
                    ConvTarget::R8 => F64,
                    ConvTarget::I8 | ConvTarget::U8 | ConvTarget::I | ConvTarget::U => I64,
                    _ => I32,
                };
                let value = self.pick(ty, a);
                self.add(Op::Conv { value, target, checked: false, source_unsigned: false }, to);
            }
            Step::Load(mem, at) => {
                let (mem, ty, offset) = place(mem, at);
                let addr = self.words();
                self.add(Op::Load { addr, offset, mem, flags: checked(AliasClass::Any) }, ty);
            }
            Step::Store(mem, at, value) => {
                let (mem, ty, offset) = place(mem, at);
                let value = self.pick(ty, value);
                let addr = self.words();
                self.add(Op::Store { addr, offset, value, mem, flags: plain(AliasClass::Any) }, IrType::Void);
            }
            Step::Get(local) => {
                let local = 1 + local % (VARIABLES - 1);
                let value = self.ir.get(local as u32);
                self.known.push((value, self.ir.func.locals[local].ty));
            }
            Step::Set(local, value) => {
                let local = 1 + local % (VARIABLES - 1);
                let value = self.pick(self.ir.func.locals[local].ty, value);
                self.ir.set(LocalId(local as u32), value);
            }
            Step::Element(index, element_size_bytes) => {
                let array = self.words();
                let index = self.pick(I32, index);
                let mask = self.ir.i32(0xFFFF);
                let index = self.ir.bin(BinOp::And, index, mask, I32);
                let address = self.ir.push(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef);
                // The distance is the same in every run, the address is not.
                let base = self.words();
                self.add(Op::Bin(BinOp::Sub, address, base), I64);
            }
            Step::CallFRem(a, b) => {
                let (a, b) = (self.pick(F64, a), self.pick(F64, b));
                let result = self.ir.helper(HelperId::FRem, &[F64, F64], Some(F64), &[a, b]);
                self.known.push((result, F64));
            }
            Step::Poll => {
                self.ir.push(Op::Poll, IrType::Void);
            }
            Step::If(condition, steps) => {
                let cond = self.pick(I32, condition);
                let then = self.ir.block(None);
                self.ir.end(Terminator::Brif { cond, then, otherwise: BlockId(u32::MAX) });
                let from = self.ir.current;
                self.ir.at(then);
                // The number of the join's block is known only after the steps in between.
                let (branch, known) = (BlockId(from as u32), self.known.len());
                self.joins.push(Join { steps: steps + 1, branch, known, counter: None });
            }
            Step::Divide(op, ty, a, b) => {
                let ty = if ty == I32 || ty == F32 { I32 } else { I64 };
                let (dividend, divisor) = (self.pick(ty, a), self.pick(ty, b));
                let (mask, one) = (self.constant(ty, 0x7FFF), self.constant(ty, 1));
                let divisor = self.ir.bin(BinOp::And, divisor, mask, ty);
                let divisor = self.ir.bin(BinOp::Or, divisor, one, ty);
                let op = [BinOp::Div, BinOp::DivUn, BinOp::Rem, BinOp::RemUn][op % 4];
                self.add(Op::Bin(op, dividend, divisor), ty);
            }
            Step::ShiftBy(op, ty, a, b) => {
                let ty = if ty == I32 || ty == F32 { I32 } else { I64 };
                let (value, count) = (self.pick(ty, a), self.pick(I32, b));
                self.add(Op::Bin([BinOp::Shl, BinOp::Shr, BinOp::ShrUn][op % 3], value, count), ty);
            }
            Step::Select(ty, condition, a, b) => {
                let (condition, a, b) = (self.pick(I32, condition), self.pick(ty, a), self.pick(ty, b));
                self.add(Op::Select(condition, a, b), ty);
            }
            Step::Loop(times, steps) => {
                let counter = self.ir.local(I32, false);
                let (zero, limit) = (self.ir.i32(0), self.ir.i32(times));
                self.ir.set(counter, zero);
                let head = self.ir.block(None);
                self.ir.end(Terminator::Jump(head));
                self.ir.at(head);
                let round = self.ir.get(counter.0);
                let cond = self.ir.push(Op::Cmp(CmpOp::Lt, round, limit), I32);
                let then = self.ir.block(None);
                self.ir.end(Terminator::Brif { cond, then, otherwise: BlockId(u32::MAX) });
                self.ir.at(then);
                let known = self.known.len();
                self.joins.push(Join { steps: steps + 1, branch: head, known, counter: Some(counter) });
            }
        }
        self.join();
    }

    fn join(&mut self) {
        self.joins.iter_mut().for_each(|join| join.steps = join.steps.saturating_sub(1));
        while let Some(&Join { steps: 0, branch, known, counter }) = self.joins.last() {
            self.joins.pop();
            self.known.truncate(known);
            let back = counter.map(|counter| {
                let (round, one) = (self.ir.get(counter.0), self.ir.i32(1));
                let next = self.ir.bin(BinOp::Add, round, one, I32);
                self.ir.set(counter, next);
                self.ir.end(Terminator::Jump(branch));
            });
            let join = self.ir.block(None);
            if back.is_none() {
                self.ir.end(Terminator::Jump(join));
            }
            if let Terminator::Brif { otherwise, .. } = &mut self.ir.func.blocks[branch.0 as usize].terminator {
                *otherwise = join;
            }
            self.ir.at(join);
        }
    }
}

/// A memory type, its stack type, and the offset of a slot of that type.
fn place(mem: usize, at: usize) -> (MemType, IrType, i32) {
    let mem = MEMORY[mem % MEMORY.len()];
    let (ty, base) = match mem {
        MemType::F32 => (F32, FLOATS),
        MemType::F64 => (F64, FLOATS + FLOATS / 2),
        MemType::I64 | MemType::Ref => (I64, 0),
        _ => (I32, 0),
    };
    (mem, ty, ((base + at % (FLOATS / 2)) * 8) as i32)
}

fn function(steps: &[Step]) -> Ir {
    let mut ir = Ir::new("generated", &PARAMS, Some(I64));
    for ty in [I32, I64, F64] {
        ir.local(ty, false);
    }
    let mut generator = Generator { ir, known: Vec::new(), joins: Vec::new() };
    for (param, &ty) in PARAMS.iter().enumerate().skip(1) {
        let value = generator.ir.get(param as u32);
        generator.known.push((value, ty));
    }
    steps.iter().for_each(|step| generator.step(step));
    while let Some(last) = generator.joins.last_mut() {
        last.steps = 0;
        generator.join();
    }
    // Remaining values are stored to memory, where they can be compared.
    for (number, (mem, ty)) in
        [(MemType::I32, I32), (MemType::I64, I64), (MemType::F64, F64), (MemType::F32, F32)].into_iter().enumerate()
    {
        let value = generator.pick(ty, 0);
        let base = match ty {
            IrType::F64 => FLOATS + FLOATS / 2,
            IrType::F32 => FLOATS,
            _ => 0,
        };
        let addr = generator.words();
        let offset = ((base + 15 - number) * 8) as i32;
        generator.ir.push(Op::Store { addr, offset, value, mem, flags: plain(AliasClass::Any) }, IrType::Void);
    }
    let result = generator.pick(I64, 1);
    generator.ir.ret(result);
    generator.ir
}

fn is_same_word(index: usize, a: u64, b: u64) -> bool {
    let both_nan = if index >= FLOATS + FLOATS / 2 {
        f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan()
    } else {
        index >= FLOATS && f32::from_bits(a as u32).is_nan() && f32::from_bits(b as u32).is_nan()
    };
    a == b || both_nan
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_functions_give_what_cranelift_s_code_gives(
        steps in prop::collection::vec(step(), 0..18),
        a in any::<i32>(), b in any::<i64>(), c in -5..5i32, d in -100.0..100.0f64, poll in any::<bool>(),
    ) {
        let ir = function(&steps);
        let mut machine = Machine::with_options(CompilerOptions { stress_poll: poll, ..CompilerOptions::new(HEAP) });
        let Some(code) = machine.compiler.compile_baseline(&ir.func) else {
            prop_assert!(false, "not covered: {}", ir.func);
            return Ok(());
        };
        let baseline = machine.place(code);
        let optimised = machine.compile(&ir);
        let run = |machine: &mut Machine, code| {
            let mut words: Vec<u64> = (0..WORDS as u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7).collect();
            for (index, word) in words.iter_mut().enumerate().skip(FLOATS) {
                let number = index as f64 / 2.0;
                *word = if index >= FLOATS + FLOATS / 2 { number.to_bits() } else { u64::from((number as f32).to_bits()) };
            }
            let args = [
                words.as_mut_ptr() as u64, a as u32 as u64, b as u64, c as u32 as u64, d.to_bits(),
                u64::from((d as f32).to_bits()),
            ];
            let result = machine.run(&ir.func.sig, code, &args);
            (result, words)
        };
        let expected = run(&mut machine, optimised);
        let got = run(&mut machine, baseline);
        prop_assert_eq!(&expected.0, &got.0, "{}", ir.func);
        for (index, (&e, &g)) in expected.1.iter().zip(&got.1).enumerate() {
            prop_assert!(is_same_word(index, e, g), "word {}: {:#x} wanted, {:#x} found\n{}", index, e, g, ir.func);
        }
    }
}

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
        assert_eq!(code.bytes[site.offset as usize..][..2], [0x0F, 0x0B]);
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
fn locks_and_a_first_block_that_is_entered_again_are_left_to_cranelift() {
    let machine = Machine::new();
    let mut ir = Ir::new("loop", &[I32], Some(I32));
    ir.end(Terminator::Jump(BlockId(0)));
    assert!(machine.compiler.compile_baseline(&ir.func).is_none());
    let mut ir = Ir::new("lock", &[I64], None);
    let object = ir.get(0);
    ir.push(Op::MonitorEnter(object), IrType::Void);
    ir.end(Terminator::Ret(None));
    assert!(machine.compiler.compile_baseline(&ir.func).is_none());
}

/// `ret` has 16 bits for the bytes of arguments that it gives back.
#[test]
fn more_arguments_than_a_return_can_give_back_are_left_to_cranelift() {
    let machine = Machine::new();
    for (count, is_covered) in [(8000, true), (8300, false)] {
        let mut ir = Ir::new("many", &vec![I64; count], Some(I64));
        let last = ir.get(count as u32 - 1);
        ir.ret(last);
        assert_eq!(machine.compiler.compile_baseline(&ir.func).is_some(), is_covered, "{count}");
    }
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
            assert_eq!(reloc.kind, RelocKind::X86PcRelative4);
            Some(reloc.usage)
        };
        assert_eq!(use_of(symbol), Some(AddressUse::AddressTaken), "{:?}", code.relocs);
        assert_eq!(use_of(Symbol::Helper(HelperId::MonitorExit)), Some(AddressUse::Called), "{:?}", code.relocs);
    }
}
