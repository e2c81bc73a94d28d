//! The simulated evaluation stack.
//!
//! Scalars are values, computed when they are pushed. Struct entries only describe where the struct is stored; it is
//! read when the entry is used, so that `ldloc s; ldfld f` copies nothing. Invariant: before anything changes the
//! storage that an entry refers to, the entry is copied to a temp (`spill`). ECMA-335 §III.1.1, §III.1.5, §III.1.6.

use super::builder::plain;
use super::emitter::Emitter;
use super::evaluation_stack::is_in_reach_of_stores;
use super::kinds::{has_references, ir_type, mem_type};
use super::operand_kinds::require_kind;
pub(super) use super::state::{Note, StackEntry, Val};
use crate::ir::{
    AliasClass, CallSig, CallTarget, ConvTarget, IrType, LocalId, MemFlags, MemType, NullCheck, Op, Symbol, ValueId,
};
use saki_abi::HelperId;
use saki_types::{LoadError, LoadResult, Method, Ty};

/// The storage that an instruction is about to change.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// This local variable.
    Local(LocalId),
    /// Anything that has an address.
    Memory,
}

/// Of more entries on the stack that stores may affect, all are copied before a store.
const MAX_UNSETTLED: usize = 64;

impl Emitter<'_> {
    pub(super) fn push(&mut self, entry: StackEntry) {
        self.s.stack.push(entry);
    }

    pub(super) fn push_scalar(&mut self, value: ValueId, ir: IrType) {
        self.push(StackEntry::scalar(value, ir));
    }

    /// # Errors
    /// `InvalidProgram`: the stack is empty.
    pub(super) fn pop(&mut self) -> LoadResult<StackEntry> {
        self.s.stack.pop().ok_or_else(|| LoadError::invalid_program("the evaluation stack is empty"))
    }

    /// Pops a scalar.
    pub(super) fn pop_value(&mut self) -> LoadResult<ValueId> {
        let entry = self.pop()?;
        self.value(&entry)
    }

    /// The entry's value; a struct where a scalar is expected is read as one word.
    pub(super) fn value(&mut self, entry: &StackEntry) -> LoadResult<ValueId> {
        match entry.val {
            Val::Scalar(value) => Ok(value),
            Val::Handle(symbol) => Ok(self.handle_word(symbol, entry.ir)?.0),
            Val::DefaultComparer(getter) => Ok(self.call_getter(getter)),
            _ => Err(LoadError::invalid_program("a value type is on the stack where a scalar is wanted")),
        }
    }

    /// The word that a handle of type `handle` consists of: the address of a record, or in .NET's class libraries an
    /// object that stands for it.
    fn handle_word(&mut self, symbol: Symbol, handle: IrType) -> LoadResult<(ValueId, MemType)> {
        let is_object = matches!(handle, IrType::Struct(ty) if has_references(ty)?);
        if !is_object {
            return Ok((self.b.symbol(symbol), MemType::I64));
        }
        let value = match symbol {
            Symbol::TypeHandle(ty) => {
                let cell = self.b.symbol(Symbol::TypeObject(ty));
                self.b.load(cell, 0, MemType::Ref, plain(AliasClass::Runtime))
            }
            _ => {
                let is_field = matches!(symbol, Symbol::FieldHandle(_));
                let record = self.b.symbol(symbol);
                self.has_calls = true;
                let helper = if is_field { HelperId::FieldHandleObject } else { HelperId::MethodHandleObject };
                self.b.helper(helper, vec![record])
            }
        };
        Ok((value, MemType::Ref))
    }

    /// Calls a static method without parameters that returns an object.
    fn call_getter(&mut self, getter: &'static Method) -> ValueId {
        self.has_calls = true;
        let sig = CallSig { has_this: false, params: Vec::new(), ret: Some(IrType::Ref) };
        let target = CallTarget::Direct(getter);
        self.b.inst(Op::Call { target, sig: Box::new(sig), args: Vec::new(), struct_result: None }, IrType::Ref)
    }

    /// Address of a struct entry's bytes.
    pub(super) fn struct_addr(&mut self, entry: &StackEntry) -> LoadResult<ValueId> {
        Ok(match entry.val {
            Val::Temp(local) => self.b.addr_of(local),
            Val::InLocal(local, offset) => {
                let base = self.b.addr_of(local);
                self.b.offset(base, offset)
            }
            Val::InMemory { addr, offset, .. } => self.b.offset(addr, offset),
            Val::Handle(symbol) => {
                let IrType::Struct(_) = entry.ir else {
                    return Err(LoadError::invalid_program("a handle without a type"));
                };
                let temp = self.b.temp(entry.ir);
                let addr = self.b.addr_of(temp);
                let (value, mem) = self.handle_word(symbol, entry.ir)?;
                self.b.store(addr, 0, value, mem, plain(AliasClass::Any));
                addr
            }
            Val::Scalar(_) | Val::DefaultComparer(_) => {
                return Err(LoadError::invalid_program("a scalar is on the stack where a value type is wanted"));
            }
        })
    }

    /// A local that belongs to the entry alone and holds the struct.
    pub(super) fn own_struct(&mut self, entry: &StackEntry) -> LoadResult<LocalId> {
        if let Val::Temp(local) = entry.val {
            return Ok(local);
        }
        let IrType::Struct(ty) = entry.ir else {
            return Err(LoadError::invalid_program("a scalar is on the stack where a value type is wanted"));
        };
        let temp = self.b.temp(entry.ir);
        let dst = self.b.addr_of(temp);
        self.copy_entry_to(dst, 0, entry, ty, false)?;
        Ok(temp)
    }

    /// Copies a struct entry to memory. `barrier`: the destination may be in the heap.
    pub(super) fn copy_entry_to(
        &mut self,
        dst: ValueId,
        offset: i32,
        entry: &StackEntry,
        ty: Ty,
        barrier: bool,
    ) -> LoadResult<()> {
        require_kind(entry, IrType::Struct(ty))?;
        if let Val::Handle(symbol) = entry.val {
            let (value, mem) = self.handle_word(symbol, entry.ir)?;
            if barrier && mem == MemType::Ref {
                let dst = self.b.offset(dst, offset);
                let src = self.struct_addr(entry)?;
                self.b.effect(Op::CopyStruct { dst, src, ty, barrier, flags: plain(AliasClass::Any) });
            } else {
                self.b.store(dst, offset, value, mem, plain(AliasClass::Any));
            }
            return Ok(());
        }
        let src = self.struct_addr(entry)?;
        let mut flags = plain(AliasClass::Any);
        if let Val::InMemory { flags: source, .. } = entry.val {
            flags.volatile = source.volatile;
            flags.unaligned = source.unaligned;
        }
        let barrier = barrier && has_references(ty)?;
        let dst = self.b.offset(dst, offset);
        self.b.effect(Op::CopyStruct { dst, src, ty, barrier, flags });
        Ok(())
    }

    /// Copies the entries that the coming effect would change to temps. To be called after the instruction's operands
    /// are popped.
    pub(super) fn spill(&mut self, effect: Effect) -> LoadResult<()> {
        let settled = self.s.stack.settled();
        // Structs on a deep stack are copied at once, so that the next stores need not look at them.
        let is_deep = self.s.stack.len() - settled > MAX_UNSETTLED;
        for index in settled..self.s.stack.len() {
            let entry = self.s.stack[index];
            let hit = match (entry.val, effect) {
                (val, _) if is_deep => is_in_reach_of_stores(&val),
                (Val::InLocal(local, _), Effect::Local(written)) => local == written,
                (Val::InLocal(local, _), Effect::Memory) => self.b.is_exposed(local),
                (Val::InMemory { .. }, Effect::Local(written)) => self.b.is_exposed(written),
                (Val::InMemory { .. }, Effect::Memory) => true,
                _ => false,
            };
            if hit {
                let temp = self.own_struct(&entry)?;
                self.s.stack.moved_to_temp(index, temp);
            }
            if index == self.s.stack.settled() {
                self.s.stack.settle_next();
            }
        }
        Ok(())
    }

    // ---- conversions to the type of a location

    /// Implicit conversion between stack types. ECMA-335 §III.1.6.
    pub(super) fn fit(&mut self, value: ValueId, to: IrType) -> ValueId {
        let from = self.b.ty(value);
        match (from, to) {
            (IrType::I32, IrType::I64 | IrType::Ref | IrType::ByRef) => {
                if let Some(n) = self.b.const_i32(value) {
                    return self.b.i64(i64::from(n));
                }
                self.b.conv(value, ConvTarget::I8)
            }
            (IrType::I64 | IrType::Ref | IrType::ByRef, IrType::I32) => self.b.conv(value, ConvTarget::I4),
            (IrType::F32, IrType::F64) => self.b.conv(value, ConvTarget::R8),
            (IrType::F64, IrType::F32) => self.b.conv(value, ConvTarget::R4),
            _ => value,
        }
    }

    /// The operand for a location of type `to`: a value, or the address of a struct.
    pub(super) fn coerce(&mut self, entry: &StackEntry, to: Ty) -> LoadResult<ValueId> {
        let ir = ir_type(to)?;
        require_kind(entry, ir)?;
        if let IrType::Struct(_) = ir {
            return self.struct_addr(entry);
        }
        self.makes_pointers |= entry.ir == IrType::ByRef && ir == IrType::I64;
        let value = self.value(entry)?;
        let value = self.fit(value, ir);
        match mem_type(to)? {
            Some(mem @ (MemType::I8 | MemType::U8 | MemType::I16 | MemType::U16)) => Ok(self.narrow(value, mem)),
            _ => Ok(value),
        }
    }

    /// Truncates an I32 to a small type and extends it again, unless it is known to fit.
    fn narrow(&mut self, value: ValueId, mem: MemType) -> ValueId {
        let (low, high, target) = match mem {
            MemType::I8 => (-0x80, 0x7f, ConvTarget::I1),
            MemType::U8 => (0, 0xff, ConvTarget::U1),
            MemType::I16 => (-0x8000, 0x7fff, ConvTarget::I2),
            _ => (0, 0xffff, ConvTarget::U2),
        };
        if self.fits(value, low, high, 3) {
            return value;
        }
        self.b.conv(value, target)
    }

    /// Whether the value is known to lie in `low..=high`.
    fn fits(&self, value: ValueId, low: i32, high: i32, depth: u32) -> bool {
        let within = |l: i32, h: i32| low <= l && h <= high;
        match self.b.op(value) {
            Op::ConstI32(n) => within(*n, *n),
            Op::Cmp(..) => within(0, 1),
            Op::Conv { target: ConvTarget::I1, .. } | Op::Load { mem: MemType::I8, .. } => within(-0x80, 0x7f),
            Op::Conv { target: ConvTarget::U1, .. } | Op::Load { mem: MemType::U8, .. } => within(0, 0xff),
            Op::Conv { target: ConvTarget::I2, .. } | Op::Load { mem: MemType::I16, .. } => within(-0x8000, 0x7fff),
            Op::Conv { target: ConvTarget::U2, .. } | Op::Load { mem: MemType::U16, .. } => within(0, 0xffff),
            Op::Bin(crate::ir::BinOp::And, a, b) if depth > 0 => {
                low <= 0 && (self.fits(*a, 0, high, depth - 1) || self.fits(*b, 0, high, depth - 1))
            }
            Op::LocalGet(local) => match self.known.narrow_locals.get(local) {
                Some(MemType::I8) => within(-0x80, 0x7f),
                Some(MemType::U8) => within(0, 0xff),
                Some(MemType::I16) => within(-0x8000, 0x7fff),
                Some(MemType::U16) => within(0, 0xffff),
                _ => false,
            },
            // Results of calls are normalised by the callee.
            Op::Call { .. } => self.known.narrow_calls.get(&value).is_some_and(|m| *m == (low, high)),
            _ => false,
        }
    }

    // ---- typed memory

    /// The entry for a value of type `ty` at an address.
    pub(super) fn entry_at(&mut self, addr: ValueId, offset: i32, ty: Ty, flags: MemFlags) -> LoadResult<StackEntry> {
        let (addr, offset) = {
            let (base, already) = self.b.split_offset(addr);
            (base, already + offset)
        };
        match mem_type(ty)? {
            Some(mem) => {
                let value = self.b.load(addr, offset, mem, flags);
                let mut entry = StackEntry::scalar(value, mem.loaded()).with_type(ty);
                entry.is_exact = mem == MemType::Ref && super::kinds::is_exact_class(ty);
                Ok(entry)
            }
            None => {
                if flags.null_check == NullCheck::Needed {
                    self.b.effect(Op::NullCheck(addr));
                }
                let flags = MemFlags { null_check: NullCheck::None, ..flags };
                if let Op::LocalAddr(local) = *self.b.op(addr)
                    && !flags.volatile
                {
                    return Ok(StackEntry::of_struct(Val::InLocal(local, offset), ty));
                }
                let entry = StackEntry::of_struct(Val::InMemory { addr, offset, flags }, ty);
                if flags.volatile {
                    // Now: no later access is done before this one.
                    let copy = self.own_struct(&entry)?;
                    return Ok(StackEntry { val: Val::Temp(copy), ..entry });
                }
                Ok(entry)
            }
        }
    }

    /// Stores an entry as a value of type `ty`. `object`: the heap object that `addr` is (or lies in), if known;
    /// `may_be_heap`: whether reference stores need a barrier.
    pub(super) fn store_at(
        &mut self,
        addr: ValueId,
        offset: i32,
        entry: &StackEntry,
        ty: Ty,
        flags: MemFlags,
        object: Option<ValueId>,
        may_be_heap: bool,
    ) -> LoadResult<()> {
        let (addr, offset) = {
            let (base, already) = self.b.split_offset(addr);
            (base, already + offset)
        };
        let may_be_heap = may_be_heap && !matches!(self.b.op(addr), Op::LocalAddr(_));
        match mem_type(ty)? {
            Some(MemType::Ref) if may_be_heap => {
                let value = self.coerce(entry, ty)?;
                if matches!(self.b.op(value), Op::Null) {
                    self.b.store(addr, offset, value, MemType::Ref, flags);
                } else {
                    self.b.effect(Op::StoreRef { object, addr, offset, value, flags });
                }
            }
            Some(mem) => {
                // The store truncates by itself.
                let value = match entry.val {
                    Val::Scalar(value) if !matches!(self.b.ty(value), IrType::F32 | IrType::F64) => {
                        require_kind(entry, mem.loaded())?;
                        self.fit(value, mem.loaded())
                    }
                    _ => self.coerce(entry, ty)?,
                };
                self.b.store(addr, offset, value, mem, flags);
            }
            None => {
                if flags.null_check == NullCheck::Needed {
                    self.b.effect(Op::NullCheck(addr));
                }
                if flags.volatile {
                    self.b.effect(Op::Fence);
                }
                self.copy_entry_to(addr, offset, entry, ty, may_be_heap)?;
            }
        }
        Ok(())
    }

    pub(super) fn push_i32(&mut self, number: i32) {
        let value = self.b.i32(number);
        self.push_scalar(value, IrType::I32);
    }
}
