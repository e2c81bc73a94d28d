//! Checks a `Function` against the invariants of the `ir` module header. For tests and debug builds.

use super::dominators::Dominators;
use super::{BlockId, Function, IrType, LocalId, MemType, Op, Terminator, ValueId};

/// Visitors of the values that operations and terminators use, by value or by mutable reference.
macro_rules! operand_visitors {
    (
        $operands:ident, $terminator_operands:ident, $call_target:ident, $value:ty, $iter:ident,
        [$($deref:tt)?], [$($reference:tt)+]
    ) => {
        /// Calls `visit` with every value that an operation uses.
        pub fn $operands(op: $($reference)+ Op, visit: &mut dyn FnMut($value)) {
            match op {
                Op::ConstI32(_)
                | Op::ConstI64(_)
                | Op::ConstF32(_)
                | Op::ConstF64(_)
                | Op::ConstV128(_)
                | Op::Null
                | Op::SymbolAddr(_)
                | Op::LocalGet(_)
                | Op::LocalAddr(_)
                | Op::NewObject(_)
                | Op::ClassInit(_)
                | Op::ClassInitSeen(_)
                | Op::ThreadStaticAddr(_)
                | Op::Poll
                | Op::CountCall
                | Op::CountLoop(_)
                | Op::CountBlock { .. }
                | Op::Fence
                | Op::CurrentThread
                | Op::FramePointer => {}
                Op::LocalSet(_, a)
                | Op::Un(_, a)
                | Op::Conv { value: a, .. }
                | Op::Load { addr: a, .. }
                | Op::InitStruct { addr: a, .. }
                | Op::LocAlloc { bytes: a, .. }
                | Op::NullCheck(a)
                | Op::ArrayLen(a)
                | Op::NewArray(_, a)
                | Op::NewString(a)
                | Op::CastClass(a, _)
                | Op::IsInst(a, _)
                | Op::Unbox(a, _)
                | Op::MonitorEnter(a)
                | Op::MonitorExit(a) => visit($($deref)? a),
                Op::Bin(_, a, b)
                | Op::Cmp(_, a, b)
                | Op::Store { addr: a, value: b, .. }
                | Op::CopyStruct { dst: a, src: b, .. }
                | Op::BoundsCheck { index: a, length: b }
                | Op::ElementAddr { array: a, index: b, .. }
                | Op::AtomicRmw { addr: a, value: b, .. }
                | Op::Note { cell: a, word: b }
                | Op::NoteClass { cell: a, object: b }
                | Op::MonitorTryEnter { object: a, milliseconds: b } => {
                    visit($($deref)? a);
                    visit($($deref)? b);
                }
                Op::Select(a, b, c)
                | Op::CopyBlock { dst: a, src: b, bytes: c }
                | Op::InitBlock { addr: a, value: b, bytes: c }
                | Op::AtomicCas { addr: a, expected: b, new: c, .. } => {
                    visit($($deref)? a);
                    visit($($deref)? b);
                    visit($($deref)? c);
                }
                Op::Vector { a, b, c, .. } => {
                    visit($($deref)? a);
                    b.$iter().chain(c).for_each(|v| visit($($deref)? v));
                }
                Op::StoreRef { object, addr, value, .. } => {
                    object.$iter().for_each(|o| visit($($deref)? o));
                    visit($($deref)? addr);
                    visit($($deref)? value);
                }
                Op::Call { target, args, struct_result, .. } => {
                    $call_target(target, visit);
                    args.$iter().for_each(|a| visit($($deref)? a));
                    struct_result.$iter().for_each(|a| visit($($deref)? a));
                }
            }
        }

        fn $call_target(target: $($reference)+ super::CallTarget, visit: &mut dyn FnMut($value)) {
            if let super::CallTarget::Indirect(value) | super::CallTarget::Native { code: value, .. } = target {
                visit($($deref)? value);
            }
        }

        /// Calls `visit` with every value that a terminator uses.
        pub fn $terminator_operands(terminator: $($reference)+ Terminator, visit: &mut dyn FnMut($value)) {
            match terminator {
                Terminator::Jump(_) | Terminator::Ret(None) | Terminator::ResumeUnwind { .. } | Terminator::Unreachable => {}
                Terminator::Brif { cond: v, .. }
                | Terminator::Switch { value: v, .. }
                | Terminator::Ret(Some(v))
                | Terminator::Throw(v)
                | Terminator::Rethrow(v)
                | Terminator::EndFilter(v) => visit($($deref)? v),
                Terminator::TailCall { target, args, .. } => {
                    $call_target(target, visit);
                    args.$iter().for_each(|a| visit($($deref)? a));
                }
            }
        }
    };
}

operand_visitors!(operands, terminator_operands, call_target, ValueId, iter, [*], [&]);
operand_visitors!(operands_mut, terminator_operands_mut, call_target_mut, &mut ValueId, iter_mut, [], [&mut]);

/// Calls `visit` with every successor block of a terminator.
pub fn successors(terminator: &Terminator, visit: &mut dyn FnMut(BlockId)) {
    match terminator {
        Terminator::Jump(b) => visit(*b),
        Terminator::Brif { then, otherwise, .. } => {
            visit(*then);
            visit(*otherwise);
        }
        Terminator::Switch { targets, default, .. } => {
            targets.iter().for_each(|b| visit(*b));
            visit(*default);
        }
        _ => {}
    }
}

fn same_class(a: IrType, b: IrType) -> bool {
    let is_word = |t| matches!(t, IrType::I64 | IrType::Ref | IrType::ByRef);
    a == b || (is_word(a) && is_word(b))
}

fn mem_class(mem: MemType) -> IrType {
    match mem {
        MemType::I8 | MemType::U8 | MemType::I16 | MemType::U16 | MemType::I32 => IrType::I32,
        MemType::I64 | MemType::Ref | MemType::ByRef => IrType::I64,
        MemType::F32 => IrType::F32,
        MemType::F64 => IrType::F64,
        MemType::V128 | MemType::V64 | MemType::V96 => IrType::V128,
    }
}

impl Function {
    /// # Errors
    /// The first violation found, as text.
    pub fn verify(&self) -> Result<(), String> {
        for filter in &self.filters {
            filter.verify()?;
        }
        let fail = |text: String| Err(format!("{}: {text}", self.title()));
        let mut defined_in: Vec<Option<u32>> = vec![None; self.insts.len()];
        let dominators = Dominators::of(self);
        for (index, block) in self.blocks.iter().enumerate() {
            let index = index as u32;
            let mut problem = None;
            for value in &block.insts {
                let Some(inst) = self.insts.get(value.0 as usize) else {
                    return fail(format!("block {index} lists {value}, which is not there"));
                };
                operands(&inst.op, &mut |used| {
                    if problem.is_none() && !self.is_available(used, index, &defined_in, &dominators) {
                        problem = Some(format!("block {index}: {value} uses {used}, which is not available"));
                    }
                });
                if problem.is_none() {
                    problem = self.check_types(*value).err();
                }
                if defined_in[value.0 as usize].replace(index).is_some() {
                    return fail(format!("{value} stands twice"));
                }
            }
            terminator_operands(&block.terminator, &mut |used| {
                if problem.is_none() && !self.is_available(used, index, &defined_in, &dominators) {
                    problem = Some(format!("block {index}: the terminator uses {used}, which is not available"));
                }
            });
            successors(&block.terminator, &mut |b| {
                if b.0 as usize >= self.blocks.len() {
                    problem = Some(format!("block {index} goes to block {}, which is not there", b.0));
                }
            });
            if let Some(problem) = problem {
                return fail(problem);
            }
        }
        Ok(())
    }

    fn is_available(&self, used: ValueId, block: u32, defined_in: &[Option<u32>], dominators: &Dominators) -> bool {
        let Some(Some(def)) = defined_in.get(used.0 as usize) else { return false };
        self.insts[used.0 as usize].ty != IrType::Void && dominators.dominates(*def, block)
    }

    fn check_types(&self, value: ValueId) -> Result<(), String> {
        let ty = |v: ValueId| self.insts[v.0 as usize].ty;
        let local = |l: LocalId| -> Result<&super::Local, String> {
            self.locals.get(l.0 as usize).ok_or_else(|| format!("{l} is not there"))
        };
        let inst = &self.insts[value.0 as usize];
        let expect = |v: ValueId, wanted: IrType| {
            let wanted = if matches!(wanted, IrType::Struct(_)) { IrType::ByRef } else { wanted };
            if same_class(ty(v), wanted) {
                return Ok(());
            }
            Err(format!("{value} = {:?}: {v} is {} and should be {wanted}", inst.op, ty(v)))
        };
        match &inst.op {
            Op::LocalGet(l) if !same_class(inst.ty, local(*l)?.ty) => Err(format!("{value}: type of {l}")),
            Op::LocalSet(l, v) => expect(*v, local(*l)?.ty),
            Op::LocalAddr(l) => {
                let local = local(*l)?;
                let is_memory = matches!(local.ty, IrType::Struct(_) | IrType::Block(_)) || local.address_exposed;
                if is_memory || local.kind.is_elsewhere() {
                    Ok(())
                } else {
                    Err(format!("{value}: {l} is not exposed"))
                }
            }
            Op::Store { addr, value: v, mem, .. } => {
                expect(*addr, IrType::I64)?;
                expect(*v, mem_class(*mem))
            }
            Op::Load { addr, .. } => expect(*addr, IrType::I64),
            Op::Bin(op, a, b) => match op {
                super::BinOp::Shl | super::BinOp::Shr | super::BinOp::ShrUn => {
                    expect(*a, inst.ty)?;
                    expect(*b, IrType::I32)
                }
                _ => {
                    expect(*a, inst.ty)?;
                    expect(*b, inst.ty)
                }
            },
            Op::Vector { op, lanes, a, b, c } => {
                use super::VectorOp as V;
                if inst.ty != op.result(*lanes) {
                    return Err(format!("{value}: type of {op:?}"));
                }
                expect(*a, if *op == V::Splat { lanes.scalar() } else { IrType::V128 })?;
                let second = match op {
                    V::Insert(_) => lanes.scalar(),
                    V::ShiftLeft | V::ShiftRight | V::ShiftRightLogical => IrType::I32,
                    _ => IrType::V128,
                };
                b.iter().try_for_each(|b| expect(*b, second))?;
                c.iter().try_for_each(|c| expect(*c, IrType::V128))
            }
            Op::Cmp(_, a, b) => expect(*a, ty(*b)),
            Op::BoundsCheck { index, length } => expect(*index, ty(*length)),
            Op::Call { target, sig, args, struct_result } => {
                if sig.params.len() != args.len() {
                    return Err(format!("{value}: {} arguments for {} parameters", args.len(), sig.params.len()));
                }
                let is_vector = |t: IrType| target.is_managed() && t.vector().is_some();
                let returns_vector = sig.ret.is_some_and(is_vector) && struct_result.is_none();
                if returns_vector != (inst.ty == IrType::V128) {
                    return Err(format!("{value}: vector result"));
                }
                if !returns_vector && matches!(sig.ret, Some(IrType::Struct(_))) != struct_result.is_some() {
                    return Err(format!("{value}: struct result"));
                }
                args.iter().zip(&sig.params).try_for_each(|(a, p)| match ty(*a) {
                    IrType::V128 if is_vector(*p) => Ok(()),
                    _ => expect(*a, *p),
                })
            }
            _ => Ok(()),
        }
    }
}
