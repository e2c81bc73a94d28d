//! The function under construction: arenas of locals, values and blocks, and the point where code is appended.
//!
//! Invariant: block indices grow in creation order, and a value is only used in its block or in blocks created later
//! that it dominates (see `ir`). Left out: anything about CIL.

use crate::ir::{
    AliasClass, BinOp, Block, BlockId, CallSig, CallTarget, ConvTarget, Function, Inst, IrType, Local, LocalId,
    LocalKind, MemFlags, MemType, NullCheck, Op, RegionId, Symbol, Terminator, ValueId,
};
use saki_abi::{AbiType, HelperId};
use saki_types::Method;
use std::borrow::Cow;

/// Plain access of this alias class to a base that is not null.
pub(super) const fn plain(alias: AliasClass) -> MemFlags {
    MemFlags { null_check: NullCheck::None, alias, volatile: false, unaligned: false }
}

/// IR type of a helper's parameter or result.
fn abi_ir_type(ty: AbiType) -> IrType {
    match ty {
        AbiType::Void => IrType::Void,
        AbiType::I32 => IrType::I32,
        AbiType::I64 | AbiType::Ptr => IrType::I64,
        AbiType::F32 => IrType::F32,
        AbiType::F64 => IrType::F64,
        AbiType::Ref => IrType::Ref,
    }
}

pub(super) struct FnBuilder {
    pub f: Box<Function>,
    /// The block to which instructions are appended; None after a terminator.
    pub current: Option<BlockId>,
    /// Offset in the outermost method.
    pub il_offset: u32,
    /// Whether the block of CIL being imported hardly ever runs.
    pub is_cold: bool,
}

impl FnBuilder {
    /// An empty function; nothing is current.
    pub fn new(method: Option<&'static Method>, name: Cow<'static, str>, sig: CallSig, is_filter: bool) -> FnBuilder {
        let mut f = crate::function_pool::take();
        f.method = method;
        f.name = name;
        f.sig = sig;
        f.is_filter = is_filter;
        FnBuilder { f, current: None, il_offset: 0, is_cold: false }
    }

    /// A new local, of which nothing special is known.
    pub fn local(&mut self, ty: IrType, kind: LocalKind) -> LocalId {
        let id = LocalId(self.f.locals.len() as u32);
        self.f.locals.push(Local { ty, kind, address_exposed: false, zero_init: false, pinned: false });
        id
    }

    /// A local that is written before it is read.
    pub fn temp(&mut self, ty: IrType) -> LocalId {
        self.local(ty, LocalKind::Normal)
    }

    /// A zeroed local in memory that keeps the object into which it points in place.
    pub fn pinned(&mut self, ty: IrType) -> LocalId {
        let id = self.temp(ty);
        let local = &mut self.f.locals[id.0 as usize];
        (local.address_exposed, local.zero_init, local.pinned) = (true, true, true);
        id
    }

    /// Notes that the local's address is taken, so that it lives in memory.
    pub fn expose(&mut self, local: LocalId) {
        self.f.locals[local.0 as usize].address_exposed = true;
    }

    /// Whether the local's address is taken.
    pub fn is_exposed(&self, local: LocalId) -> bool {
        self.f.locals[local.0 as usize].address_exposed
    }

    /// The type that the local was made with.
    pub fn local_type(&self, local: LocalId) -> IrType {
        self.f.locals[local.0 as usize].ty
    }

    /// A new block, protected by this region; it does not become current.
    pub fn block(&mut self, region: Option<RegionId>) -> BlockId {
        let id = BlockId(self.f.blocks.len() as u32);
        self.f.blocks.push(Block {
            insts: Vec::new(),
            terminator: Terminator::Unreachable,
            terminator_il_offset: self.il_offset,
            region,
            cold: false,
            then_is_likely: false,
            few_rounds: false,
        });
        id
    }

    /// The innermost region that protects the current block.
    pub fn region(&self) -> Option<RegionId> {
        self.current.and_then(|b| self.f.blocks[b.0 as usize].region)
    }

    /// Appends an instruction to the current block; without one it is never reached.
    pub fn inst(&mut self, op: Op, ty: IrType) -> ValueId {
        let id = ValueId(self.f.insts.len() as u32);
        self.f.insts.push(Inst { op, ty, il_offset: self.il_offset });
        if let Some(block) = self.current {
            self.f.blocks[block.0 as usize].insts.push(id);
        }
        id
    }

    /// Appends an instruction that defines no value.
    pub fn effect(&mut self, op: Op) {
        self.inst(op, IrType::Void);
    }

    /// Ends the current block; no effect without one.
    pub fn terminate(&mut self, terminator: Terminator) {
        if let Some(block) = self.current.take() {
            let block = &mut self.f.blocks[block.0 as usize];
            block.terminator = terminator;
            block.terminator_il_offset = self.il_offset;
        }
    }

    /// Notes that the current block hardly ever runs.
    pub fn mark_cold(&mut self) {
        if let Some(block) = self.current
            && block.0 != 0
        {
            self.f.blocks[block.0 as usize].cold = true;
        }
    }

    /// Whether the branch that is about to end the current block usually goes to `then`.
    pub fn set_likely_then(&mut self, is_likely: bool) {
        if let Some(block) = self.current {
            self.f.blocks[block.0 as usize].then_is_likely = is_likely;
        }
    }

    /// Ends the block after a call that never returns.
    pub fn unreachable(&mut self) {
        self.mark_cold();
        self.terminate(Terminator::Unreachable);
    }

    /// The operation that defines a value.
    pub fn op(&self, value: ValueId) -> &Op {
        &self.f.insts[value.0 as usize].op
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> IrType {
        self.f.insts[value.0 as usize].ty
    }

    /// The instruction emitted last in the current block.
    pub fn last_inst(&self) -> Option<ValueId> {
        self.f.blocks[self.current?.0 as usize].insts.last().copied()
    }

    // ---- shorthands

    /// A constant of type I32.
    pub fn i32(&mut self, value: i32) -> ValueId {
        self.inst(Op::ConstI32(value), IrType::I32)
    }

    /// A constant of type I64.
    pub fn i64(&mut self, value: i64) -> ValueId {
        self.inst(Op::ConstI64(value), IrType::I64)
    }

    /// The address that the symbol stands for, as I64.
    pub fn symbol(&mut self, symbol: Symbol) -> ValueId {
        self.inst(Op::SymbolAddr(symbol), IrType::I64)
    }

    /// The current value of a scalar local.
    pub fn get(&mut self, local: LocalId) -> ValueId {
        let ty = self.local_type(local);
        self.inst(Op::LocalGet(local), ty)
    }

    /// Writes a scalar local.
    pub fn set(&mut self, local: LocalId, value: ValueId) {
        self.effect(Op::LocalSet(local, value));
    }

    /// The address of a local.
    pub fn addr_of(&mut self, local: LocalId) -> ValueId {
        self.inst(Op::LocalAddr(local), IrType::ByRef)
    }

    /// Loads a scalar; narrow integers are extended to I32.
    pub fn load(&mut self, addr: ValueId, offset: i32, mem: MemType, flags: MemFlags) -> ValueId {
        let ty = mem.loaded();
        self.inst(Op::Load { addr, offset, mem, flags }, ty)
    }

    /// Stores a scalar, truncated to the memory type. No write barrier.
    pub fn store(&mut self, addr: ValueId, offset: i32, value: ValueId, mem: MemType, flags: MemFlags) {
        self.effect(Op::Store { addr, offset, value, mem, flags });
    }

    /// `base + bytes`, folded with a constant that `base` already adds.
    pub fn offset(&mut self, base: ValueId, bytes: i32) -> ValueId {
        if bytes == 0 {
            return base;
        }
        let (root, already) = self.split_offset(base);
        let total = self.i64(i64::from(already) + i64::from(bytes));
        self.inst(Op::Bin(BinOp::Add, root, total), IrType::ByRef)
    }

    /// The base and constant offset of an address.
    pub fn split_offset(&self, addr: ValueId) -> (ValueId, i32) {
        if let Op::Bin(BinOp::Add, base, amount) = *self.op(addr)
            && let Op::ConstI64(amount) = *self.op(amount)
            && let Ok(amount) = i32::try_from(amount)
            && matches!(self.ty(base), IrType::ByRef | IrType::Ref)
        {
            return (base, amount);
        }
        (addr, 0)
    }

    /// The local and byte offset that an address is known to point at.
    pub fn local_at(&self, addr: ValueId) -> Option<(LocalId, i32)> {
        let (base, offset) = self.split_offset(addr);
        match *self.op(base) {
            Op::LocalAddr(local) => Some((local, offset)),
            _ => None,
        }
    }

    /// Unchecked conversion of a signed number.
    pub fn conv(&mut self, value: ValueId, target: ConvTarget) -> ValueId {
        self.inst(Op::Conv { value, target, checked: false, source_unsigned: false }, conv_type(target))
    }

    /// Calls a helper of the runtime; the result has the type that the helper's signature says.
    pub fn helper(&mut self, helper: HelperId, args: Vec<ValueId>) -> ValueId {
        let (params, ret) = helper.signature();
        debug_assert_eq!(params.len(), args.len(), "arguments of {}", helper.name());
        let ret = abi_ir_type(ret);
        let sig = CallSig {
            params: params.iter().map(|p| abi_ir_type(*p)).collect(),
            ret: (ret != IrType::Void).then_some(ret),
            has_this: false,
        };
        self.inst(Op::Call { target: CallTarget::Helper(helper), sig: Box::new(sig), args, struct_result: None }, ret)
    }

    /// The constant that an I32 value is, if known.
    pub fn const_i32(&self, value: ValueId) -> Option<i32> {
        match *self.op(value) {
            Op::ConstI32(n) => Some(n),
            _ => None,
        }
    }
}

/// Type of a conversion's result on the stack.
pub(super) fn conv_type(target: ConvTarget) -> IrType {
    use ConvTarget as C;
    match target {
        C::I1 | C::U1 | C::I2 | C::U2 | C::I4 | C::U4 => IrType::I32,
        C::I8 | C::U8 | C::I | C::U => IrType::I64,
        C::R4 => IrType::F32,
        C::R8 | C::RUn => IrType::F64,
    }
}
