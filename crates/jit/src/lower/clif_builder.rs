//! The machine level of lowering: Cranelift's builder, and what can be written with it alone.
//!
//! Memory that the program can reach by a managed pointer is one alias region: Cranelift requires that an address
//! belongs to one region only, and fields, elements and statics can all be reached through byrefs.
//!
//! Invariant: nothing here knows an instruction, a value, a block, a local or a region of the IR.

mod calls;
mod copies;
mod memory_types;
mod references;
mod slots;

pub(super) use calls::Callee;
pub(super) use memory_types::{integer_type, value_type};

use super::failure::Failure;
use crate::error::{CompileError, Lowered};
use crate::isa;
use crate::options::CompilerOptions;
use crate::symbols::{RelocTarget, SymbolTable};
use crate::type_facts::ValueLayout;
use crate::vector_memory::{self, VECTOR};
use cranelift_codegen::ir::immediates::V128Imm;
use cranelift_codegen::ir::{
    self as clif, AliasRegion, AliasRegionData, Block as ClifBlock, ConstantData, FuncRef, InstBuilder, MemFlagsData,
    SigRef, SourceLoc, StackSlot, StackSlotKey, TrapCode, Type, Value, types,
};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use references::References;
use saki_abi::{BitTable, NativeAbi};
use saki_il::ir::Symbol;
use slots::ArgumentSlots;

/// Kinds of memory that cannot overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryKind {
    /// All memory whose address the program can take, and the stack.
    Program,
    /// Length words of arrays and strings.
    Length,
    /// The first word of objects.
    VTableWord,
    /// Vtables, class flags, cells that are written once.
    ClassData,
    /// The thread struct.
    Thread,
    /// Valid-object and log bits of the collector.
    SideMetadata,
}

const MEMORY_KINDS: [(MemoryKind, &str); 6] = [
    (MemoryKind::Program, "program"),
    (MemoryKind::Length, "length"),
    (MemoryKind::VTableWord, "vtable word"),
    (MemoryKind::ClassData, "class data"),
    (MemoryKind::Thread, "thread"),
    (MemoryKind::SideMetadata, "side metadata"),
];

const _: () = assert!(MEMORY_KINDS.len() == MemoryKind::SideMetadata as usize + 1);

/// The function that is being written.
pub(super) struct ClifBuilder<'a, 'b> {
    pub(super) b: FunctionBuilder<'b>,
    pub(super) options: &'a CompilerOptions,
    isa: &'a OwnedTargetIsa,
    alias: [AliasRegion; MEMORY_KINDS.len()],
    references: References<'a>,
    argument_slots: ArgumentSlots,
    /// Whether all new blocks are cold.
    is_cold: bool,
    il_offset: u32,
}

impl<'a, 'b> ClifBuilder<'a, 'b> {
    /// Begins the body of `target`, whose signature is set.
    pub(super) fn new(
        target: &'b mut clif::Function,
        builder_context: &'b mut FunctionBuilderContext,
        symbols: &'a mut SymbolTable,
        isa: &'a OwnedTargetIsa,
        options: &'a CompilerOptions,
    ) -> ClifBuilder<'a, 'b> {
        let alias = MEMORY_KINDS.map(|(kind, name)| {
            target.dfg.alias_regions.insert(AliasRegionData { user_id: kind as u32, description: name.into() })
        });
        ClifBuilder {
            b: FunctionBuilder::new(target, builder_context),
            options,
            isa,
            alias,
            references: References::new(symbols),
            argument_slots: ArgumentSlots::default(),
            is_cold: false,
            il_offset: 0,
        }
    }

    /// Ends the function, all of whose blocks are written.
    pub(super) fn finish(mut self) {
        self.b.seal_all_blocks();
        let config = self.isa.frontend_config();
        self.b.finalize(config);
    }

    pub(super) fn set_il_offset(&mut self, il_offset: u32) {
        self.il_offset = il_offset;
        // 0 means "no position" (and u32::MAX is Cranelift's default), hence + 1.
        self.b.set_srcloc(SourceLoc::new(il_offset.wrapping_add(1)));
    }

    pub(super) fn il_offset(&self) -> u32 {
        self.il_offset
    }

    /// From here on new blocks are cold, or as cold as `new_block` is told.
    pub(super) fn set_cold(&mut self, is_cold: bool) {
        self.is_cold = is_cold;
    }

    pub(super) fn is_aarch64(&self) -> bool {
        self.isa.name() == "aarch64"
    }

    pub(super) fn native_abi(&self) -> &'static NativeAbi {
        isa::native_abi(&**self.isa)
    }

    pub(super) fn type_of(&self, value: Value) -> Type {
        self.b.func.dfg.value_type(value)
    }

    /// `value` as a `ty`: integers sign-extend or truncate, floats change precision. CIL allows operations on a native
    /// int and an int32.
    pub(super) fn coerce(&mut self, value: Value, ty: Type) -> Lowered<Value> {
        let from = self.type_of(value);
        if from == ty {
            return Ok(value);
        }
        Ok(match (from.is_int(), ty.is_int()) {
            (true, true) if from.bits() < ty.bits() => self.b.ins().sextend(ty, value),
            (true, true) => self.b.ins().ireduce(ty, value),
            (false, false) if from.bits() < ty.bits() => self.b.ins().fpromote(ty, value),
            (false, false) => self.b.ins().fdemote(ty, value),
            _ => return Err(CompileError::invalid_ir(format!("a value of type {from} where {ty} is expected"))),
        })
    }
    pub(super) fn i32_const(&mut self, n: i32) -> Value {
        self.b.ins().iconst(types::I32, i64::from(n))
    }

    pub(super) fn i64_const(&mut self, n: i64) -> Value {
        self.b.ins().iconst(types::I64, n)
    }

    pub(super) fn zero(&mut self, ty: Type) -> Value {
        match ty {
            types::F32 => self.b.ins().f32const(0.0),
            types::F64 => self.b.ins().f64const(0.0),
            ty if ty.is_vector() => self.vector_const(0),
            ty => self.b.ins().iconst(ty, 0),
        }
    }

    pub(super) fn vector_const(&mut self, bits: u128) -> Value {
        let data = ConstantData::from(V128Imm(bits.to_le_bytes()).0.as_slice());
        let constant = self.b.func.dfg.constants.insert(data);
        self.b.ins().vconst(VECTOR, constant)
    }

    /// The same bits as a vector with other lanes.
    pub(super) fn as_lanes(&mut self, value: Value, ty: Type) -> Value {
        vector_memory::as_lanes(&mut self.b, value, ty)
    }

    /// A block whose only predecessors are the branches about to be emitted. All parts of a cold block are cold.
    pub(super) fn new_block(&mut self, cold: bool) -> ClifBlock {
        let block = self.b.create_block();
        if cold || self.is_cold {
            self.b.set_cold_block(block);
        }
        block
    }

    /// Continues in `block`, all of whose predecessors exist.
    pub(super) fn continue_in(&mut self, block: ClifBlock) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }

    pub(super) fn branch(&mut self, condition: Value, then: ClifBlock, otherwise: ClifBlock) {
        self.b.ins().brif(condition, then, &[], otherwise, &[]);
    }

    pub(super) fn jump_clif(&mut self, block: ClifBlock, args: &[Value]) {
        let args: Vec<_> = args.iter().map(|&v| v.into()).collect();
        self.b.ins().jump(block, &args);
    }

    pub(super) fn unreachable(&mut self) {
        self.b.ins().trap(TrapCode::unwrap_user(saki_abi::stubs::trap::UNREACHABLE));
    }
    /// `*ThreadAbi`.
    pub(super) fn thread(&mut self) -> Value {
        self.b.ins().get_pinned_reg(types::I64)
    }

    /// Loads a word of the thread struct.
    pub(super) fn thread_word(&mut self, offset: i32) -> Value {
        let thread = self.thread();
        let flags = self.trusted(MemoryKind::Thread);
        self.b.ins().load(types::I64, flags, thread, offset)
    }

    /// Stores a word of the thread struct.
    pub(super) fn set_thread_word(&mut self, offset: i32, value: Value) {
        let thread = self.thread();
        let flags = self.trusted(MemoryKind::Thread);
        self.b.ins().store(flags, value, thread, offset);
    }
    /// Aligned access that cannot fault.
    pub(super) fn trusted(&self, kind: MemoryKind) -> MemFlagsData {
        MemFlagsData::trusted().with_alias_region(Some(self.alias[kind as usize]))
    }

    /// Word of the thread struct or another one that never changes while the function runs.
    pub(super) fn constant_word(&self, kind: MemoryKind) -> MemFlagsData {
        self.trusted(kind).with_readonly().with_can_move()
    }

    /// Flags of an access that doubles as null check.
    pub(super) fn faulting(&self, kind: MemoryKind) -> MemFlagsData {
        self.trusted(kind).with_trap_code(Some(Failure::NullReference.trap_code()))
    }

    /// Flags of an access that cannot fault and need not be aligned.
    pub(super) fn unaligned(&self) -> MemFlagsData {
        let region = self.trusted(MemoryKind::Program).alias_region();
        MemFlagsData::new().with_notrap().with_alias_region(region)
    }
    pub(super) fn displaced(&mut self, address: Value, offset: i32) -> Value {
        if offset == 0 { address } else { self.b.ins().iadd_imm_s(address, i64::from(offset)) }
    }

    /// Address of the byte in `table` that has the bit of `object`, and the number of the bit as an I32 (the upper bits
    /// of which do not matter to shifts by it, but do to others: it is masked).
    pub(super) fn bit_of(&mut self, thread: Value, table: BitTable, object: Value) -> (Value, Value) {
        let flags = self.constant_word(MemoryKind::Thread);
        let base = self.b.ins().load(types::I64, flags, thread, table.base_offset);
        let byte_index = self.b.ins().ushr_imm_u(object, i64::from(table.byte_shift()));
        let byte_address = self.b.ins().iadd(base, byte_index);
        let granule = self.b.ins().ushr_imm_u(object, i64::from(table.granule_shift));
        let granule = self.b.ins().ireduce(types::I32, granule);
        (byte_address, self.b.ins().band_imm_s(granule, 7))
    }

    /// See `CompilerOptions::fence_after_atomics`.
    pub(super) fn fence_after_atomic(&mut self) {
        if self.options.fence_after_atomics {
            self.b.ins().fence();
        }
    }

    /// Address of a symbol.
    pub(super) fn symbol_address(&mut self, symbol: Symbol) -> Value {
        self.references.address(&mut self.b, RelocTarget::Symbol(symbol))
    }

    /// A callable reference to `target` with this signature.
    pub(super) fn function(&mut self, target: RelocTarget, signature: clif::Signature) -> FuncRef {
        self.references.function(&mut self.b, target, signature)
    }

    pub(super) fn sig_ref(&mut self, signature: clif::Signature) -> SigRef {
        self.references.signature(&mut self.b, signature)
    }

    /// A stack slot that the frame's layout lists under `key`.
    pub(super) fn keyed_slot(&mut self, layout: ValueLayout, key: StackSlotKey) -> StackSlot {
        slots::with_key(&mut self.b, layout, key)
    }

    /// A new stack slot without a key.
    pub(super) fn slot(&mut self, layout: ValueLayout) -> StackSlot {
        slots::without_key(&mut self.b, layout)
    }

    pub(super) fn load_slot(&mut self, slot: StackSlot) -> Value {
        let address = self.b.ins().stack_addr(types::I64, slot, 0);
        let flags = self.trusted(MemoryKind::Program);
        self.b.ins().load(types::I64, flags, address, 0)
    }

    pub(super) fn store_slot(&mut self, slot: StackSlot, value: Value) {
        let address = self.b.ins().stack_addr(types::I64, slot, 0);
        let flags = self.trusted(MemoryKind::Program);
        self.b.ins().store(flags, value, address, 0);
    }

    /// A slot for a copy of a struct argument; see `release_temps`.
    pub(super) fn struct_temp(&mut self, layout: ValueLayout) -> StackSlot {
        self.argument_slots.take(&mut self.b, layout)
    }

    /// Frees the temporaries after the call that used them.
    pub(super) fn release_temps(&mut self) {
        self.argument_slots.release();
    }
}
