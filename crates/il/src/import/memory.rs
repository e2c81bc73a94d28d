//! Access through pointers: ldind, stind, ldobj, stobj, cpobj, initobj, cpblk, initblk, localloc. ECMA-335 §III.3–4.
//!
//! Outside try regions managed pointers count as non-null: an access through null faults anyway, and nothing in the
//! method can observe at which instruction. `Emitter::null_check_of` tells when an explicit check is needed.

use super::builder::plain;
use super::emitter::Emitter;
use super::kinds::{has_references, mem_type};
use super::operand_kinds::require_kind;
use super::stack::{Effect, StackEntry, Val};
use crate::ir::{AliasClass, ConvTarget, IrType, MemFlags, MemType, NullCheck, Op, ValueId};
use saki_abi::object::NULL_AREA_BYTES;
use saki_types::{LoadError, LoadResult, Ty};

/// A managed pointer is checked before it moves by this many bytes or more. Smaller steps, sixteen nested fields added
/// up, stay within the area where a fault counts as a null reference. (`jit` asks of each single access whether it
/// does.)
const FAR_OFFSET: i32 = (NULL_AREA_BYTES / 16) as i32;

impl Emitter<'_> {
    /// Pops an address, with the flags of an access through it.
    pub(super) fn pop_address(&mut self) -> LoadResult<(ValueId, MemFlags, StackEntry)> {
        let entry = self.pop()?;
        let value = match entry.ir {
            IrType::Struct(_) => return Err(LoadError::invalid_program("a value type is used as an address")),
            IrType::F32 | IrType::F64 | IrType::Void | IrType::Block(_) => {
                return Err(LoadError::invalid_program("a float is used as an address"));
            }
            _ => self.value(&entry)?,
        };
        let value = self.fit(value, IrType::I64);
        let flags = MemFlags {
            null_check: self.null_check_of(&entry, value),
            alias: AliasClass::Any,
            volatile: self.s.prefixes.volatile,
            unaligned: self.s.prefixes.unaligned,
        };
        Ok((value, flags, entry))
    }

    /// Whether an access through `entry`, an address whose value is `addr`, checks for null. Managed pointers are
    /// usually not null, and if one is, the fault is thrown to the callers; but a handler in this method is found only
    /// by an explicit check.
    pub(super) fn null_check_of(&self, entry: &StackEntry, addr: ValueId) -> NullCheck {
        let may_skip = entry.ir == IrType::ByRef && self.b.region().is_none();
        match entry.is_non_null || may_skip || self.b.local_at(addr).is_some() {
            true => NullCheck::None,
            false => NullCheck::Needed,
        }
    }

    /// Emits an explicit null check for an access with a large offset, whose fault would not be recognised as a null
    /// reference.
    pub(super) fn check_far_access(&mut self, entry: &StackEntry, addr: ValueId, offset: i32) {
        let is_far = !(0..FAR_OFFSET).contains(&offset);
        if is_far && entry.ir == IrType::ByRef && !entry.is_non_null && self.b.local_at(addr).is_none() {
            self.b.effect(Op::NullCheck(addr));
        }
    }

    /// Pops an address and loads from it without using the value: the load may fault.
    pub(super) fn discard(&mut self) -> LoadResult<()> {
        let entry = self.pop()?;
        let addr = match entry.val {
            Val::Scalar(value) => match *self.b.op(value) {
                Op::Load { addr, flags, .. } if flags.null_check == NullCheck::None => addr,
                _ => return Ok(()),
            },
            Val::InMemory { addr, .. } => addr,
            _ => return Ok(()),
        };
        let (base, _) = self.b.split_offset(addr);
        if self.b.ty(base) == IrType::ByRef && matches!(self.b.op(base), Op::LocalGet(_)) {
            self.b.effect(Op::NullCheck(base));
        }
        Ok(())
    }

    pub(super) fn load_indirect(&mut self, mem: MemType) -> LoadResult<()> {
        let (addr, flags, entry) = self.pop_address()?;
        let (addr, offset) = self.b.split_offset(addr);
        let value = self.b.load(addr, offset, mem, flags);
        let mut loaded = StackEntry::scalar(value, mem.loaded());
        if mem == MemType::Ref {
            loaded.ty = entry.ty.filter(|t| t.is_byref()).and_then(|t| t.element());
        }
        self.push(loaded);
        Ok(())
    }

    pub(super) fn store_indirect(&mut self, mem: MemType) -> LoadResult<()> {
        let entry = self.pop()?;
        require_kind(&entry, mem.loaded())?;
        let value = self.value(&entry)?;
        let value = self.fit(value, mem.loaded());
        let (addr, flags, _) = self.pop_address()?;
        self.spill(Effect::Memory)?;
        let (addr, offset) = self.b.split_offset(addr);
        let is_local = matches!(self.b.op(addr), Op::LocalAddr(_));
        if mem == MemType::Ref && !is_local && !matches!(self.b.op(value), Op::Null) {
            self.b.effect(Op::StoreRef { object: None, addr, offset, value, flags });
        } else {
            self.b.store(addr, offset, value, mem, flags);
        }
        Ok(())
    }

    pub(super) fn load_object(&mut self, ty: Ty) -> LoadResult<()> {
        let (addr, flags, _) = self.pop_address()?;
        let entry = self.entry_at(addr, 0, ty, flags)?;
        self.push(entry);
        Ok(())
    }

    pub(super) fn store_object(&mut self, ty: Ty) -> LoadResult<()> {
        let entry = self.pop()?;
        let (addr, flags, _) = self.pop_address()?;
        self.spill(Effect::Memory)?;
        self.store_at(addr, 0, &entry, ty, flags, None, true)
    }

    pub(super) fn copy_object(&mut self, ty: Ty) -> LoadResult<()> {
        let (src, src_flags, _) = self.pop_address()?;
        let entry = self.entry_at(src, 0, ty, src_flags)?;
        let (dst, flags, _) = self.pop_address()?;
        self.spill(Effect::Memory)?;
        self.store_at(dst, 0, &entry, ty, flags, None, true)
    }

    pub(super) fn init_object(&mut self, ty: Ty) -> LoadResult<()> {
        let (addr, flags, _) = self.pop_address()?;
        self.spill(Effect::Memory)?;
        self.zero_at(addr, ty, flags)
    }

    /// Writes the zero value of `ty`.
    pub(super) fn zero_at(&mut self, addr: ValueId, ty: Ty, flags: MemFlags) -> LoadResult<()> {
        match mem_type(ty)? {
            None => {
                if flags.null_check == NullCheck::Needed {
                    self.b.effect(Op::NullCheck(addr));
                }
                self.b.effect(Op::InitStruct { addr, ty });
            }
            Some(mem) => {
                let zero = self.zero_of(mem.loaded());
                let (addr, offset) = self.b.split_offset(addr);
                self.b.store(addr, offset, zero, mem, flags);
            }
        }
        Ok(())
    }

    /// The zero of a scalar type.
    pub(super) fn zero_of(&mut self, ir: IrType) -> ValueId {
        match ir {
            IrType::I32 => self.b.i32(0),
            IrType::F32 => self.b.inst(Op::ConstF32(0.0), ir),
            IrType::F64 => self.b.inst(Op::ConstF64(0.0), ir),
            IrType::Ref => self.b.inst(Op::Null, ir),
            _ => self.b.i64(0),
        }
    }

    /// Pops a byte count as I32.
    fn pop_count(&mut self) -> LoadResult<ValueId> {
        let value = self.pop_word()?;
        Ok(match self.b.ty(value) {
            IrType::I32 => value,
            _ => self.b.conv(value, ConvTarget::U4),
        })
    }

    pub(super) fn copy_block(&mut self) -> LoadResult<()> {
        let bytes = self.pop_count()?;
        let (src, _, _) = self.pop_address()?;
        let (dst, _, _) = self.pop_address()?;
        self.spill(Effect::Memory)?;
        self.b.effect(Op::CopyBlock { dst, src, bytes });
        Ok(())
    }

    pub(super) fn init_block(&mut self) -> LoadResult<()> {
        let bytes = self.pop_count()?;
        let value = self.pop_word()?;
        let value = self.fit(value, IrType::I32);
        let (addr, _, _) = self.pop_address()?;
        self.spill(Effect::Memory)?;
        self.b.effect(Op::InitBlock { addr, value, bytes });
        Ok(())
    }

    pub(super) fn local_alloc(&mut self) -> LoadResult<()> {
        let bytes = self.pop_int()?;
        if self.s.is_in_handler() {
            return Err(LoadError::invalid_program("localloc in an exception handler"));
        }
        if !self.s.stack.is_empty() {
            return Err(LoadError::invalid_program("localloc with more than the size on the stack"));
        }
        let bytes = match (self.b.op(bytes), self.b.ty(bytes)) {
            (&Op::ConstI32(bytes), _) => self.b.i64(i64::from(bytes as u32)),
            (_, IrType::I32) => self.b.conv(bytes, ConvTarget::U8),
            _ => bytes,
        };
        let zero = self.s.body.init_locals;
        // A `localloc` of zero bytes gives null, as in .NET.
        let is_some = match *self.b.op(bytes) {
            Op::ConstI64(0) => {
                self.push(StackEntry::scalar(bytes, IrType::I64));
                return Ok(());
            }
            Op::ConstI64(_) => true,
            _ => false,
        };
        let value = self.b.inst(Op::LocAlloc { bytes, zero }, IrType::I64);
        let entry = StackEntry::scalar(value, IrType::I64);
        self.push(if is_some { entry.non_null() } else { entry });
        Ok(())
    }

    /// Copies `ty`'s bytes from one address to another, both non-null.
    pub(super) fn copy_value(&mut self, dst: ValueId, src: ValueId, ty: Ty, may_be_heap: bool) -> LoadResult<()> {
        let entry = self.entry_at(src, 0, ty, plain(AliasClass::Any))?;
        let barrier = may_be_heap && has_references(ty)?;
        self.store_at(dst, 0, &entry, ty, plain(AliasClass::Any), None, barrier)
    }

    /// Address operand and the flags of an access through it.
    pub(super) fn address_arg(&mut self, entry: &StackEntry) -> LoadResult<(ValueId, i32, MemFlags)> {
        let value = self.value(entry)?;
        let mut flags = plain(AliasClass::Any);
        if entry.ir != IrType::ByRef && !entry.is_non_null {
            flags.null_check = NullCheck::Needed;
        }
        let (base, offset) = self.b.split_offset(value);
        Ok((base, offset, flags))
    }
}
