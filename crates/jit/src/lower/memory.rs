//! Loads, stores, null and bounds checks, reference stores with their barrier, block and struct copies.
//!
//! Null checks: outside try regions, an access with a small offset needs no test, since a null base faults at an address below
//! 64 KiB, which the signal handler turns into NullReferenceException. All other accesses test explicitly.
//!
//! Structs that may hold references are copied word by word, so that the collector never sees a torn reference; other structs are
//! copied by vector instructions.

use super::exceptions::Failure;
use super::{Lowered, Lowering, MemoryKind};
use crate::error::CompileError;
use crate::null_area::faults_on_null;
use crate::signatures::machine_type;
use crate::type_facts::{ValueLayout, value_layout};
use crate::vector_memory::{self, VECTOR};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, condcodes::IntCC, types};
use saki_abi::object::{ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET};
use saki_abi::thread::THREAD_STUB_ARG_OFFSET;
use saki_abi::{BitTable, HelperId, StubId};
use saki_il::ir::{AliasClass, BinOp, IrType, MemFlags, MemType, NullCheck, Op, Symbol, ValueId};
use saki_types::Ty;

/// Structs up to this size are copied word by word in line.
const INLINE_COPY_BYTES: u32 = 64;
/// Structs up to this size are zeroed in line.
const INLINE_ZERO_BYTES: u32 = 128;
/// Instructions that `next_access_checks` examines.
const ACCESS_LOOK_AHEAD: usize = 6;
/// Steps of address arithmetic that `destination` follows back.
const ADDRESS_STEPS: usize = 8;

/// The destination of a reference store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Destination {
    /// Memory that every collection scans (this frame, statics), or a store of null: no barrier.
    Root,
    /// This heap object.
    Object(ValueId),
    /// Unknown memory.
    Unknown,
}

/// The flags without the promise of alignment for vectors, which may lie at any address.
fn aligned_as_promised(mem: MemType, flags: MemFlags) -> MemFlags {
    MemFlags { unaligned: flags.unaligned || mem.loaded() == IrType::V128, ..flags }
}

impl Lowering<'_, '_> {
    /// Flags of an access that doubles as null check.
    pub(super) fn faulting(&self, kind: MemoryKind) -> MemFlagsData {
        self.trusted(kind).with_trap_code(Some(Failure::NullReference.trap_code()))
    }

    fn memory_kind(alias: AliasClass) -> MemoryKind {
        match alias {
            AliasClass::Length => MemoryKind::Length,
            AliasClass::VTable => MemoryKind::VTableWord,
            // Words that the runtime's Rust code changes unseen by the code generator are reloaded after every call anyway.
            AliasClass::Any | AliasClass::Field | AliasClass::Element | AliasClass::Static | AliasClass::Runtime => {
                MemoryKind::Program
            }
        }
    }

    /// Does the null check that an access through `id` at `offset` needs; returns the flags for the access itself.
    fn access_flags(&mut self, id: ValueId, address: Value, offset: i32, flags: MemFlags) -> MemFlagsData {
        let kind = Self::memory_kind(flags.alias);
        let mut result = self.trusted(kind);
        if flags.unaligned {
            result = MemFlagsData::new().with_notrap().with_alias_region(result.alias_region());
        }
        if flags.volatile {
            // Without a region a store orders against every other access.
            result = result.with_alias_region(None);
        }
        let deferred = self.take_deferred_null_check(id);
        if (flags.null_check == NullCheck::Needed || deferred) && !self.is_not_null(address) {
            if self.is_protected() || !faults_on_null(offset) {
                self.check_non_zero(address, Failure::NullReference);
            } else {
                result = result.with_trap_code(Some(Failure::NullReference.trap_code()));
            }
            self.note_not_null(address);
        }
        result
    }

    /// Whether one of the next instructions accesses memory through `id` before anything else can happen, so that the
    /// access can do the null check.
    pub(super) fn next_access_checks(&self, id: ValueId, rest: &[ValueId]) -> bool {
        for next in rest.iter().take(ACCESS_LOOK_AHEAD) {
            let Some(inst) = self.func.insts.get(next.0 as usize) else { return false };
            match &inst.op {
                Op::Load { addr, offset, .. } | Op::Store { addr, offset, .. } if *addr == id => {
                    return faults_on_null(*offset);
                }
                Op::StoreRef { addr, offset, object: Some(_), .. } if *addr == id => {
                    return faults_on_null(*offset);
                }
                Op::ArrayLen(array) if *array == id => return true,
                Op::ConstI32(_) | Op::ConstI64(_) | Op::ConstF32(_) | Op::ConstF64(_) | Op::Null => {}
                Op::SymbolAddr(_) | Op::LocalGet(_) | Op::LocalAddr(_) | Op::Cmp(..) => {}
                Op::Conv { checked: false, .. } => {}
                _ => return false,
            }
        }
        false
    }

    pub(super) fn load(&mut self, addr: ValueId, offset: i32, mem: MemType, flags: MemFlags) -> Lowered<Value> {
        let address = self.value_as(addr, types::I64)?;
        // Only for arrays and strings: the bounds of multi-dimensional arrays have this alias class too, but native addresses.
        let is_length = flags.alias == AliasClass::Length
            && !flags.volatile
            && mem == MemType::I32
            && self.func.insts[addr.0 as usize].ty == IrType::Ref;
        if is_length && let Some(length) = self.known_length(address) {
            return Ok(length);
        }
        let access = self.access_flags(addr, address, offset, aligned_as_promised(mem, flags));
        if flags.volatile {
            return self.atomic_load(address, offset, mem, access);
        }
        let value = self.plain_load(address, offset, mem, access);
        if is_length {
            self.note_length(address, value);
        }
        Ok(value)
    }

    fn plain_load(&mut self, address: Value, offset: i32, mem: MemType, flags: MemFlagsData) -> Value {
        let ins = self.b.ins();
        match mem {
            MemType::I8 => ins.sload8(types::I32, flags, address, offset),
            MemType::U8 => ins.uload8(types::I32, flags, address, offset),
            MemType::I16 => ins.sload16(types::I32, flags, address, offset),
            MemType::U16 => ins.uload16(types::I32, flags, address, offset),
            MemType::I32 => ins.load(types::I32, flags, address, offset),
            MemType::I64 | MemType::Ref | MemType::ByRef => ins.load(types::I64, flags, address, offset),
            MemType::F32 => ins.load(types::F32, flags, address, offset),
            MemType::F64 => ins.load(types::F64, flags, address, offset),
            MemType::V128 | MemType::V64 | MemType::V96 => {
                vector_memory::load(&mut self.b, address, offset, mem, flags)
            }
        }
    }

    fn atomic_load(&mut self, address: Value, offset: i32, mem: MemType, flags: MemFlagsData) -> Lowered<Value> {
        let address = self.displaced(address, offset);
        let loaded = self.b.ins().atomic_load(integer_type(mem), flags, address);
        self.extend_loaded(loaded, mem)
    }

    /// The IR value of an integer just read from memory of type `mem`.
    pub(super) fn extend_loaded(&mut self, loaded: Value, mem: MemType) -> Lowered<Value> {
        Ok(match mem {
            MemType::I8 | MemType::I16 => self.b.ins().sextend(types::I32, loaded),
            MemType::U8 | MemType::U16 => self.b.ins().uextend(types::I32, loaded),
            MemType::F32 => self.b.ins().bitcast(types::F32, MemFlagsData::new(), loaded),
            MemType::F64 => self.b.ins().bitcast(types::F64, MemFlagsData::new(), loaded),
            MemType::I32 | MemType::I64 | MemType::Ref | MemType::ByRef => loaded,
            MemType::V128 | MemType::V64 | MemType::V96 => {
                return Err(CompileError::invalid_ir("a vector is read in one piece"));
            }
        })
    }

    pub(super) fn displaced(&mut self, address: Value, offset: i32) -> Value {
        if offset == 0 { address } else { self.b.ins().iadd_imm_s(address, i64::from(offset)) }
    }

    pub(super) fn store(
        &mut self,
        addr: ValueId,
        offset: i32,
        value: ValueId,
        mem: MemType,
        flags: MemFlags,
    ) -> Lowered {
        let address = self.value_as(addr, types::I64)?;
        let value = self.value_as(value, value_type(mem))?;
        let access = self.access_flags(addr, address, offset, aligned_as_promised(mem, flags));
        self.plain_store(address, offset, value, mem, access, flags.volatile);
        Ok(())
    }

    fn plain_store(
        &mut self,
        address: Value,
        offset: i32,
        value: Value,
        mem: MemType,
        flags: MemFlagsData,
        volatile: bool,
    ) {
        // x86 stores are releases; Cranelift's own atomic store would add a full fence.
        if volatile && self.is_aarch64() {
            let address = self.displaced(address, offset);
            let ty = integer_type(mem);
            let bits = match mem {
                MemType::F32 | MemType::F64 => self.b.ins().bitcast(ty, MemFlagsData::new(), value),
                _ if self.type_of(value) != ty => self.b.ins().ireduce(ty, value),
                _ => value,
            };
            self.b.ins().atomic_store(flags, bits, address);
            return;
        }
        match mem {
            MemType::I8 | MemType::U8 => _ = self.b.ins().istore8(flags, value, address, offset),
            MemType::I16 | MemType::U16 => _ = self.b.ins().istore16(flags, value, address, offset),
            MemType::V128 | MemType::V64 | MemType::V96 => {
                vector_memory::store(&mut self.b, address, offset, value, mem, flags);
            }
            _ => _ = self.b.ins().store(flags, value, address, offset),
        }
    }

    pub(super) fn store_ref(
        &mut self,
        object: Option<ValueId>,
        addr: ValueId,
        offset: i32,
        value: ValueId,
        flags: MemFlags,
    ) -> Lowered {
        let address = self.value_as(addr, types::I64)?;
        let destination = match object {
            _ if self.constant(value) == Some(0) => Destination::Root,
            Some(object) => Destination::Object(object),
            None => self.destination(addr),
        };
        let value = self.value_as(value, types::I64)?;
        if destination == Destination::Unknown {
            self.explicit_null_check(addr, address, flags);
            let slot = self.displaced(address, offset);
            self.call_helper_nothrow(HelperId::StoreRefUnknown, &[slot, value]);
            return Ok(());
        }
        let access = self.access_flags(addr, address, offset, flags);
        self.plain_store(address, offset, value, MemType::Ref, access, flags.volatile);
        if let Destination::Object(object) = destination {
            let object = self.value_as(object, types::I64)?;
            self.barrier(object);
        }
        Ok(())
    }

    /// The barrier for a reference that was stored at `addr` by other means than `store_ref`.
    pub(super) fn barrier_after(&mut self, addr: ValueId, address: Value, stored: ValueId) -> Lowered {
        if self.constant(stored) == Some(0) {
            return Ok(());
        }
        match self.destination(addr) {
            Destination::Root => {}
            Destination::Object(object) => {
                let object = self.value_as(object, types::I64)?;
                self.barrier(object);
            }
            Destination::Unknown => {
                self.call_helper_nothrow(HelperId::BarrierUnknown, &[address]);
            }
        }
        Ok(())
    }

    /// The destination to which an address belongs, as far as its computation shows.
    fn destination(&self, mut addr: ValueId) -> Destination {
        for _ in 0..ADDRESS_STEPS {
            let Some(inst) = self.func.insts.get(addr.0 as usize) else { break };
            addr = match inst.op {
                Op::ElementAddr { array, .. } if self.is_reference(array) => return Destination::Object(array),
                Op::Unbox(object, _) => return Destination::Object(object),
                Op::LocalAddr(local) if self.is_in_frame(local) => return Destination::Root,
                Op::SymbolAddr(Symbol::StaticField(_)) => return Destination::Root,
                Op::Bin(BinOp::Add, base, offset) if self.constant(offset).is_some() => base,
                Op::Bin(BinOp::Add, base, _) if self.is_reference(base) => return Destination::Object(base),
                _ => break,
            };
        }
        if self.is_reference(addr) { Destination::Object(addr) } else { Destination::Unknown }
    }

    /// Whether the value is an object (not a managed pointer).
    fn is_reference(&self, id: ValueId) -> bool {
        self.func.insts.get(id.0 as usize).is_some_and(|inst| inst.ty == IrType::Ref)
    }

    /// After a reference store: objects whose log bit is set must be remembered.
    fn barrier(&mut self, object: Value) {
        let slow = self.new_block(true);
        let next = self.new_block(false);
        if self.options.stress_barrier {
            self.jump_clif(slow, &[]);
        } else {
            let thread = self.thread();
            let (byte_address, bit) = self.bit_of(thread, self.options.heap.unlogged_bits, object);
            let flags = self.trusted(MemoryKind::SideMetadata);
            let byte = self.b.ins().uload8(types::I32, flags, byte_address, 0);
            let shifted = self.b.ins().ushr(byte, bit);
            let logged = self.b.ins().band_imm_s(shifted, 1);
            self.branch(logged, slow, next);
        }
        self.continue_in(slow);
        self.set_thread_word(THREAD_STUB_ARG_OFFSET, object);
        self.call_preserving_stub(StubId::BarrierSlow);
        self.jump_clif(next, &[]);
        self.continue_in(next);
    }

    /// Address of the byte in `table` that has the bit of `object`, and the number of the bit as an I32 (the upper bits of which do not
    /// matter to shifts by it, but do to others: it is masked).
    pub(super) fn bit_of(&mut self, thread: Value, table: BitTable, object: Value) -> (Value, Value) {
        let flags = self.constant_word(MemoryKind::Thread);
        let base = self.b.ins().load(types::I64, flags, thread, table.base_offset);
        let byte_index = self.b.ins().ushr_imm_u(object, i64::from(table.byte_shift()));
        let byte_address = self.b.ins().iadd(base, byte_index);
        let granule = self.b.ins().ushr_imm_u(object, i64::from(table.granule_shift));
        let granule = self.b.ins().ireduce(types::I32, granule);
        (byte_address, self.b.ins().band_imm_s(granule, 7))
    }

    /// An explicit null check, where the following code cannot do it.
    fn explicit_null_check(&mut self, id: ValueId, address: Value, flags: MemFlags) {
        let deferred = self.take_deferred_null_check(id);
        if (flags.null_check == NullCheck::Needed || deferred) && !self.is_not_null(address) {
            self.check_non_zero(address, Failure::NullReference);
            self.note_not_null(address);
        }
    }

    pub(super) fn bounds_check(&mut self, index: ValueId, length: ValueId) -> Lowered {
        let (mut index, mut length) = (self.value(index)?, self.value(length)?);
        if self.is_in_bounds(index, length) {
            return Ok(());
        }
        let facts = (index, length);
        if self.type_of(index) != self.type_of(length) {
            index = self.coerce(index, types::I64)?;
            length = self.coerce(length, types::I64)?;
        }
        let bad = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, length);
        self.check(bad, Failure::IndexOutOfRange);
        self.note_in_bounds(facts.0, facts.1);
        Ok(())
    }

    pub(super) fn array_length(&mut self, id: ValueId) -> Lowered<Value> {
        let array = self.value(id)?;
        if let Some(length) = self.known_length(array) {
            self.take_deferred_null_check(id);
            return Ok(length);
        }
        let flags =
            MemFlags { null_check: NullCheck::Needed, alias: AliasClass::Length, volatile: false, unaligned: false };
        let access = self.access_flags(id, array, ARRAY_LENGTH_OFFSET, flags);
        let length = self.b.ins().load(types::I32, access, array, ARRAY_LENGTH_OFFSET);
        self.note_length(array, length);
        Ok(length)
    }

    pub(super) fn element_address(
        &mut self,
        array: ValueId,
        index: ValueId,
        element_size_bytes: u32,
    ) -> Lowered<Value> {
        let array = self.value_as(array, types::I64)?;
        if let Some(index) = self.constant(index)
            && let Some(offset) =
                index.checked_mul(i64::from(element_size_bytes)).filter(|&o| (0..1 << 31).contains(&o))
        {
            return Ok(self.b.ins().iadd_imm_s(array, offset + i64::from(ARRAY_DATA_OFFSET)));
        }
        let mut index = self.value(index)?;
        if self.type_of(index) == types::I32 {
            // Checked against a length before, hence not negative.
            index = self.b.ins().uextend(types::I64, index);
        }
        let scaled = if element_size_bytes.is_power_of_two() {
            self.b.ins().ishl_imm_u(index, i64::from(element_size_bytes.trailing_zeros()))
        } else {
            self.b.ins().imul_imm_s(index, i64::from(element_size_bytes))
        };
        let base = self.b.ins().iadd(array, scaled);
        Ok(self.b.ins().iadd_imm_s(base, i64::from(ARRAY_DATA_OFFSET)))
    }

    pub(super) fn copy_struct(
        &mut self,
        dst: ValueId,
        src: ValueId,
        ty: Ty,
        barrier: bool,
        flags: MemFlags,
    ) -> Lowered {
        let (destination, source) = (self.value_as(dst, types::I64)?, self.value_as(src, types::I64)?);
        self.explicit_null_check(src, source, flags);
        self.explicit_null_check(dst, destination, flags);
        if flags.volatile {
            self.b.ins().fence();
        }
        match if barrier { self.destination(dst) } else { Destination::Root } {
            Destination::Unknown => {
                let ty = self.symbol_address(Symbol::TypeHandle(ty));
                self.call_helper_nothrow(HelperId::CopyStructBarrier, &[destination, source, ty]);
            }
            Destination::Root => {
                let layout = value_layout(ty)?;
                self.copy_memory(destination, source, layout);
            }
            Destination::Object(object) => {
                let layout = value_layout(ty)?;
                self.copy_memory(destination, source, layout);
                let object = self.value_as(object, types::I64)?;
                self.barrier(object);
            }
        }
        if flags.volatile {
            self.b.ins().fence();
        }
        Ok(())
    }

    /// memmove without barrier.
    pub(super) fn copy_memory(&mut self, destination: Value, source: Value, layout: ValueLayout) {
        if destination == source {
            return;
        }
        if layout.size_bytes > INLINE_COPY_BYTES {
            let bytes = self.i64_const(i64::from(layout.size_bytes));
            self.call_helper_nothrow(HelperId::MemMove, &[destination, source, bytes]);
            return;
        }
        let flags = self.struct_flags(layout);
        let words: Vec<(u32, Value)> =
            chunks(layout).map(|(offset, ty)| (offset, self.b.ins().load(ty, flags, source, offset as i32))).collect();
        for (offset, word) in words {
            self.b.ins().store(flags, word, destination, offset as i32);
        }
    }

    fn struct_flags(&self, layout: ValueLayout) -> MemFlagsData {
        let flags = self.trusted(MemoryKind::Program);
        if layout.align_bytes >= 8 {
            flags
        } else {
            MemFlagsData::new().with_notrap().with_alias_region(flags.alias_region())
        }
    }

    pub(super) fn zero_memory(&mut self, address: Value, layout: ValueLayout) {
        if layout.size_bytes > INLINE_ZERO_BYTES {
            let zero = self.i32_const(0);
            let bytes = self.i64_const(i64::from(layout.size_bytes));
            self.call_helper_nothrow(HelperId::MemSet, &[address, zero, bytes]);
            return;
        }
        let flags = self.struct_flags(layout);
        for (offset, ty) in chunks(layout) {
            let zero = self.zero(ty);
            self.b.ins().store(flags, zero, address, offset as i32);
        }
    }

    pub(super) fn init_struct(&mut self, addr: ValueId, ty: Ty) -> Lowered {
        let address = self.value_as(addr, types::I64)?;
        self.take_deferred_null_check(addr);
        let layout = value_layout(ty)?;
        self.zero_memory(address, layout);
        Ok(())
    }

    pub(super) fn copy_block(&mut self, dst: ValueId, src: ValueId, bytes: ValueId) -> Lowered {
        let (destination, source) = (self.value_as(dst, types::I64)?, self.value_as(src, types::I64)?);
        let bytes = self.byte_count(bytes)?;
        self.call_helper(HelperId::MemMove, &[destination, source, bytes]);
        Ok(())
    }

    pub(super) fn init_block(&mut self, addr: ValueId, value: ValueId, bytes: ValueId) -> Lowered {
        let address = self.value_as(addr, types::I64)?;
        let value = self.value_as(value, types::I32)?;
        let bytes = self.byte_count(bytes)?;
        self.call_helper(HelperId::MemSet, &[address, value, bytes]);
        Ok(())
    }

    /// Counts of cpblk and initblk are unsigned 32-bit numbers.
    fn byte_count(&mut self, bytes: ValueId) -> Lowered<Value> {
        let bytes = self.value(bytes)?;
        if self.type_of(bytes) == types::I32 {
            return Ok(self.b.ins().uextend(types::I64, bytes));
        }
        Ok(bytes)
    }

    /// Vtable of a receiver; throws when it is null.
    pub(super) fn vtable_of(&mut self, id: Option<ValueId>, object: Value) -> Value {
        let deferred = id.is_some_and(|id| self.take_deferred_null_check(id));
        let mut flags = self.trusted(MemoryKind::VTableWord);
        if deferred || !self.is_not_null(object) {
            if self.is_protected() {
                self.check_non_zero(object, Failure::NullReference);
            } else {
                flags = self.faulting(MemoryKind::VTableWord);
            }
            self.note_not_null(object);
        }
        self.b.ins().load(types::I64, flags, object, saki_abi::object::OBJECT_VTABLE_OFFSET)
    }
}

/// Integer type as wide as `mem`.
pub(super) fn integer_type(mem: MemType) -> Type {
    match mem {
        MemType::I8 | MemType::U8 => types::I8,
        MemType::I16 | MemType::U16 => types::I16,
        MemType::I32 | MemType::F32 => types::I32,
        MemType::I64 | MemType::F64 | MemType::Ref | MemType::ByRef | MemType::V64 => types::I64,
        MemType::V96 | MemType::V128 => types::I128,
    }
}

/// Machine type of the IR values that memory of type `mem` holds.
pub(super) fn value_type(mem: MemType) -> Type {
    machine_type(mem.loaded()).expect("memory holds values")
}

/// Splits a struct into words and a tail of smaller pieces. A struct whose fields have at most four bytes is split into vectors
/// first: it has no references, and no field that was just written as a word.
fn chunks(layout: ValueLayout) -> impl Iterator<Item = (u32, Type)> {
    let has_small_fields = layout.align_bytes <= 4;
    let mut offset = 0;
    std::iter::from_fn(move || {
        let ty = match layout.size_bytes - offset {
            16.. if has_small_fields => VECTOR,
            0 => return None,
            1 => types::I8,
            2..=3 => types::I16,
            4..=7 => types::I32,
            _ => types::I64,
        };
        let here = offset;
        offset += ty.bytes();
        Some((here, ty))
    })
}
