//! A plain interpreter of the IR: the meaning of a function, instruction by instruction, in the order of the list. It
//! shares nothing with the compilers but the IR, so where code differs from it, one of the two is wrong.
//!
//! Covered: what `steps` generates, with what the passes over the IR make of it. Anything else is a panic that names it.
//! Exceptions are the numbers that `common` gives for them.

mod numbers;
mod vectors;

use crate::classes::{Classes, classes};
use crate::common::{INDEX_OUT_OF_RANGE, NULL_REFERENCE};
use numbers::{binary, compare, convert, unary};
use saki_abi::HelperId;
use saki_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET, OBJECT_VTABLE_OFFSET};
use saki_il::ir::*;
use std::ops::Range;

/// The bits of a value of any type; those above its size are zero.
type Bits = u128;

/// What an instruction gives, or the exception that it throws.
type Outcome = Result<Bits, u64>;

/// Instructions after which a function is taken for one that does not end.
const MAX_STEPS: usize = 100_000;

/// Address of the first byte of the memory that `localloc` gives out.
const LOCALLOC: u64 = 1 << 60;

/// Runs functions over a piece of memory.
pub struct Interpreter<'m> {
    /// The memory that functions may read and write besides what they allocate, and its address.
    pub memory: &'m mut [u8],
    pub base: u64,
    pub saturates_conversions: bool,
    /// Functions that may be called, by the addresses of their codes.
    pub callees: &'m [(u64, Function)],
    allocated: Vec<u8>,
    /// Where the next object lies in the memory.
    pub next_object: usize,
}

impl<'m> Interpreter<'m> {
    /// Objects are made in the memory, from the byte `heap` on, which is zero from there on.
    pub fn new(
        memory: &'m mut [u8],
        heap: usize,
        base: u64,
        saturates_conversions: bool,
        callees: &'m [(u64, Function)],
    ) -> Interpreter<'m> {
        Interpreter { memory, base, saturates_conversions, callees, allocated: Vec::new(), next_object: heap }
    }

    /// The function's result (0 if it has none), or the exception that leaves it.
    pub fn run(&mut self, function: &Function, args: &[u64]) -> Result<u64, u64> {
        let mut frame = Frame { function, values: vec![0; function.insts.len()], locals: Vec::new() };
        for local in &function.locals {
            let first = match local.kind {
                LocalKind::Param(number) => Bits::from(args[number as usize]),
                _ => 0,
            };
            frame.locals.push(numbers::cut(first, local.ty));
        }
        let mut block = BlockId(0);
        let mut steps = 0;
        loop {
            steps += 1 + function.blocks[block.0 as usize].insts.len();
            assert!(steps < MAX_STEPS, "it does not end: {function}");
            match self.run_block(&mut frame, block) {
                Ok(Next::Block(next)) => block = next,
                Ok(Next::Result(result)) => return Ok(result),
                Err(exception) => match frame.handler_of(block) {
                    Some(clause) => {
                        frame.locals[clause.exception_local.0 as usize] = Bits::from(exception);
                        block = clause.handler;
                    }
                    None => return Err(exception),
                },
            }
        }
    }

    fn run_block(&mut self, frame: &mut Frame, number: BlockId) -> Result<Next, u64> {
        let function = frame.function;
        let block = &function.blocks[number.0 as usize];
        for &id in &block.insts {
            let inst = &function.insts[id.0 as usize];
            let result = self.execute(frame, inst)?;
            frame.values[id.0 as usize] = numbers::cut(result, inst.ty);
        }
        Ok(match &block.terminator {
            Terminator::Jump(to) => Next::Block(*to),
            Terminator::Brif { cond, then, otherwise } => {
                Next::Block(if frame.get(*cond) != 0 { *then } else { *otherwise })
            }
            Terminator::Ret(value) => Next::Result(value.map_or(0, |value| frame.get(value) as u64)),
            Terminator::Throw(exception) => return Err(frame.get(*exception) as u64),
            other => panic!("no meaning for {other:?}"),
        })
    }

    fn execute(&mut self, frame: &mut Frame, inst: &Inst) -> Outcome {
        let get = |value: ValueId| frame.get(value);
        let ty_of = |value: ValueId| frame.function.insts[value.0 as usize].ty;
        Ok(match inst.op {
            Op::ConstI32(n) => Bits::from(n.cast_unsigned()),
            Op::ConstI64(n) => Bits::from(n.cast_unsigned()),
            Op::ConstF32(n) => Bits::from(n.to_bits()),
            Op::ConstF64(n) => Bits::from(n.to_bits()),
            Op::ConstV128(n) => n,
            Op::Null => 0,
            Op::LocalGet(local) => frame.locals[local.0 as usize],
            Op::LocalSet(local, value) => {
                frame.locals[local.0 as usize] = get(value);
                0
            }
            Op::Bin(op, a, b) => return binary(op, inst.ty, get(a), get(b)),
            Op::Un(op, a) => unary(op, ty_of(a), get(a)),
            Op::Cmp(op, a, b) => Bits::from(compare(op, ty_of(a), get(a), get(b))),
            Op::Conv { value, target, checked, source_unsigned } => {
                let from = (ty_of(value), get(value));
                return convert(from, target, checked, source_unsigned, self.saturates_conversions);
            }
            Op::Select(condition, a, b) => get(if get(condition) != 0 { a } else { b }),
            Op::Vector { op, lanes, a, b, c } => vectors::apply(op, lanes, [Some(a), b, c].map(|v| v.map_or(0, get))),
            Op::Load { addr, offset, mem, flags } => {
                let addr = get(addr) as u64;
                if addr == 0 && flags.null_check == NullCheck::Needed {
                    return Err(NULL_REFERENCE);
                }
                self.load(addr.wrapping_add_signed(i64::from(offset)), mem)
            }
            Op::Store { addr, offset, value, mem, flags } => {
                let addr = get(addr) as u64;
                if addr == 0 && flags.null_check == NullCheck::Needed {
                    return Err(NULL_REFERENCE);
                }
                self.store(addr.wrapping_add_signed(i64::from(offset)), mem, get(value));
                0
            }
            Op::StoreRef { addr, offset, value, flags, .. } => {
                let addr = get(addr) as u64;
                if addr == 0 && flags.null_check == NullCheck::Needed {
                    return Err(NULL_REFERENCE);
                }
                self.store(addr.wrapping_add_signed(i64::from(offset)), MemType::Ref, get(value));
                0
            }
            Op::Call { target: CallTarget::Indirect(code), ref args, .. } => {
                let (callees, code) = (self.callees, get(code) as u64);
                let (_, callee) = callees.iter().find(|(address, _)| *address == code).expect("a function's code");
                let args: Vec<u64> = args.iter().map(|&arg| get(arg) as u64).collect();
                Bits::from(self.run(callee, &args)?)
            }
            Op::LocAlloc { bytes, zero } => {
                assert!(zero, "memory without contents");
                let start = self.allocated.len().next_multiple_of(16);
                self.allocated.resize(start + get(bytes) as usize, 0);
                Bits::from(LOCALLOC + start as u64)
            }
            Op::NullCheck(value) if get(value) == 0 => return Err(NULL_REFERENCE),
            Op::BoundsCheck { index, length } if get(index) >= get(length) => return Err(INDEX_OUT_OF_RANGE),
            Op::ArrayLen(array) if get(array) == 0 => return Err(NULL_REFERENCE),
            Op::ArrayLen(array) => {
                self.load((get(array) as u64).wrapping_add_signed(ARRAY_LENGTH_OFFSET.into()), MemType::I32)
            }
            Op::ElementAddr { array, index, element_size_bytes } => {
                let offset = get(index) * Bits::from(element_size_bytes) + ARRAY_DATA_OFFSET as Bits;
                get(array).wrapping_add(offset)
            }
            Op::Call { target: CallTarget::Helper(HelperId::FRem), ref args, .. } => {
                let [a, b] = [args[0], args[1]].map(|arg| f64::from_bits(get(arg) as u64));
                Bits::from((a % b).to_bits())
            }
            Op::AtomicRmw { op, addr, value, mem } => {
                let (addr, value) = (get(addr) as u64, get(value));
                let old = self.load(addr, mem);
                let new = match op {
                    AtomicRmw::Add => old.wrapping_add(value),
                    AtomicRmw::And => old & value,
                    AtomicRmw::Or => old | value,
                    AtomicRmw::Xor => old ^ value,
                    AtomicRmw::Exchange => value,
                };
                self.store(addr, mem, new);
                old
            }
            Op::AtomicCas { addr, expected, new, mem } => {
                let addr = get(addr) as u64;
                let old = self.load(addr, mem);
                let mask = Bits::MAX >> (128 - 8 * mem.bytes());
                if old & mask == get(expected) & mask {
                    self.store(addr, mem, get(new));
                }
                old
            }
            Op::NewObject(ty) => {
                let class = &types().all[types().of_type(ty).expect("a known type")];
                self.allocate(class.vtable, class.size_bytes(0))
            }
            Op::NewArray(ty, length) => {
                let class = &types().all[types().of_type(ty).expect("a known type")];
                let number = match ty_of(length) {
                    IrType::I32 => i64::from(get(length) as i32),
                    _ => get(length) as i64,
                };
                let bytes = types().array_bytes(class, number)?;
                let array = self.allocate(class.vtable, bytes);
                self.store((array as u64).wrapping_add_signed(ARRAY_LENGTH_OFFSET.into()), MemType::I32, get(length));
                array
            }
            Op::CastClass(object, ty) => {
                types().cast(self.vtable(get(object)), ty)?;
                get(object)
            }
            Op::IsInst(object, ty) if types().test(self.vtable(get(object)), ty) => get(object),
            Op::IsInst(..) => 0,
            Op::Unbox(object, ty) => get(object) + Bits::from(types().unbox(self.vtable(get(object)), ty)?),
            Op::Call { target: CallTarget::Helper(HelperId::CheckArrayStore), ref args, .. } => {
                let [array, value] = [args[0], args[1]].map(|arg| self.vtable(get(arg)));
                types().store(array, value)?;
                0
            }
            Op::SymbolAddr(Symbol::VTable(ty)) => {
                Bits::from(types().all[types().of_type(ty).expect("a known type")].vtable)
            }
            Op::NullCheck(_) | Op::BoundsCheck { .. } | Op::Poll | Op::Fence => 0,
            ref other => panic!("no meaning for {other:?}"),
        })
    }

    fn allocate(&mut self, vtable: u64, bytes: u64) -> Bits {
        let object = self.base + self.next_object as u64;
        self.next_object += bytes as usize;
        self.store(object, MemType::I64, vtable.into());
        object.into()
    }

    /// The vtable of an object that is not null.
    fn vtable(&mut self, object: Bits) -> Option<u64> {
        let object = object as u64;
        (object != 0).then(|| self.load(object.wrapping_add_signed(OBJECT_VTABLE_OFFSET.into()), MemType::I64) as u64)
    }

    /// Where an access lies in the memory, or in what was allocated.
    fn bytes(&mut self, addr: u64, len: u32) -> &mut [u8] {
        let (memory, first) = match addr {
            LOCALLOC.. => (&mut *self.allocated, addr - LOCALLOC),
            _ => (&mut *self.memory, addr.wrapping_sub(self.base)),
        };
        let place = usize::try_from(first).ok().and_then(|first| Some(first..first.checked_add(len as usize)?));
        let place: Range<usize> = place.filter(|place| place.end <= memory.len()).expect("an access to foreign memory");
        &mut memory[place]
    }

    fn load(&mut self, addr: u64, mem: MemType) -> Bits {
        let bytes = self.bytes(addr, mem.bytes());
        let mut wide = [0; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = Bits::from_le_bytes(wide);
        match mem {
            MemType::I8 => Bits::from(i32::from(bits as i8).cast_unsigned()),
            MemType::I16 => Bits::from(i32::from(bits as i16).cast_unsigned()),
            _ => bits,
        }
    }

    fn store(&mut self, addr: u64, mem: MemType, value: Bits) {
        let bytes = self.bytes(addr, mem.bytes());
        bytes.copy_from_slice(&value.to_le_bytes()[..bytes.len()]);
    }
}

fn types() -> &'static Classes {
    classes().expect("functions with types are made where there are some")
}

/// Where a block leads.
enum Next {
    Block(BlockId),
    Result(u64),
}

struct Frame<'f> {
    function: &'f Function,
    values: Vec<Bits>,
    locals: Vec<Bits>,
}

impl<'f> Frame<'f> {
    fn get(&self, value: ValueId) -> Bits {
        self.values[value.0 as usize]
    }

    /// The clause that is entered by an exception in the block: handlers here take every exception.
    fn handler_of(&self, block: BlockId) -> Option<&'f Clause> {
        let region = self.function.blocks[block.0 as usize].region?;
        let clause = self.function.regions[region.0 as usize].clauses[0];
        Some(&self.function.clauses[clause as usize])
    }
}
