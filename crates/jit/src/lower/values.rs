//! Machine values: coercion between widths, constants, memory flags, branches to new blocks.

use super::{Lowered, Lowering, MEMORY_KINDS, MemoryKind};
use crate::error::CompileError;
use crate::isa;
use cranelift_codegen::ir::{Block as ClifBlock, InstBuilder, MemFlagsData, TrapCode, Type, Value, types};
use saki_abi::NativeAbi;
use saki_il::ir::{Op, ValueId};

impl Lowering<'_, '_> {
    pub(super) fn type_of(&self, value: Value) -> Type {
        self.b.func.dfg.value_type(value)
    }

    /// `value` as a `ty`: integers sign-extend or truncate, floats change precision. CIL allows operations on a native int and an int32.
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

    /// IR value as machine type `ty`.
    pub(super) fn value_as(&mut self, id: ValueId, ty: Type) -> Lowered<Value> {
        let value = self.value(id)?;
        self.coerce(value, ty)
    }

    /// The value of an integer constant.
    pub(super) fn constant(&self, id: ValueId) -> Option<i64> {
        match self.func.insts.get(id.0 as usize)?.op {
            Op::ConstI32(n) => Some(i64::from(n)),
            Op::ConstI64(n) => Some(n),
            Op::Null => Some(0),
            Op::Conv { value, checked: false, target, .. } => {
                match (target, &self.func.insts.get(value.0 as usize)?.op) {
                    (saki_il::ir::ConvTarget::I | saki_il::ir::ConvTarget::I8, Op::ConstI32(n)) => Some(i64::from(*n)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    pub(super) fn i32_const(&mut self, n: i32) -> Value {
        self.b.ins().iconst(types::I32, i64::from(n))
    }

    pub(super) fn i64_const(&mut self, n: i64) -> Value {
        self.b.ins().iconst(types::I64, n)
    }

    /// Aligned access that cannot fault.
    pub(super) fn trusted(&self, kind: MemoryKind) -> MemFlagsData {
        MemFlagsData::trusted().with_alias_region(Some(self.alias[kind as usize]))
    }

    /// Word of the thread struct or another one that never changes while the function runs.
    pub(super) fn constant_word(&self, kind: MemoryKind) -> MemFlagsData {
        self.trusted(kind).with_readonly().with_can_move()
    }

    /// A block whose only predecessors are the branches about to be emitted. All parts of a cold block are cold.
    pub(super) fn new_block(&mut self, cold: bool) -> ClifBlock {
        let block = self.b.create_block();
        if cold || self.func.blocks[self.current.0 as usize].cold {
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

    pub(super) fn is_aarch64(&self) -> bool {
        self.isa.name() == "aarch64"
    }

    pub(super) fn native_abi(&self) -> &'static NativeAbi {
        isa::native_abi(&**self.isa)
    }
}

const _: () = assert!(MEMORY_KINDS.len() == MemoryKind::SideMetadata as usize + 1);
