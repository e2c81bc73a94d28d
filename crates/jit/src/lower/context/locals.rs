//! Where locals live: in variables, in stack slots, in the caller's copy of a struct, or in the parent's frame (in
//! filters). A vector parameter arrives in a register, so it has a stack slot of its own.
//!
//! Stack slots of locals carry the local's number as `StackSlotKey`, so that a filter, compiled after its parent, can
//! find them in the parent's frame layout.

use super::super::clif_builder::{ClifBuilder, MemoryKind};
use super::super::parent_frame::{INDIRECT_KEY, ParentFrame};
use crate::error::{CompileError, Lowered};
use crate::signatures::machine_type;
use crate::size::is_huge;
use crate::type_facts::{ValueLayout, value_layout};
use cranelift_codegen::ir::{InstBuilder, StackSlot, StackSlotKey, Type, Value, types};
use cranelift_frontend::Variable;
use saki_il::ir::{Function, IrType, Local, LocalId, LocalKind, MemType};

/// Storage of a local.
#[derive(Clone, Copy, Debug)]
enum LocalStorage {
    Variable(Variable),
    Slot(StackSlot),
    /// Struct parameter: the incoming pointer.
    Pointer(Value),
    /// In a filter or a continuation, whose first parameter is the FP of another frame: that FP plus the offset is the
    /// address; `indirect`: a pointer to the local is there.
    Parent {
        fp_offset: i32,
        indirect: bool,
    },
    /// A local without a value (`Void`).
    Nothing,
}

/// The locals of the function, and the parameters that it was called with.
pub(crate) struct Locals<'a> {
    func: &'a Function,
    parent: Option<&'a ParentFrame>,
    /// Whether scalars are in stack slots, too, since the function has too many blocks and locals for variables
    /// (`crate::size`).
    are_in_memory: bool,
    /// By local.
    storage: Vec<LocalStorage>,
    /// By parameter, without the address for a struct result.
    pub(crate) entry_params: Vec<Value>,
}

impl<'a> Locals<'a> {
    pub(crate) fn new(func: &'a Function, parent: Option<&'a ParentFrame>) -> Locals<'a> {
        let storage = Vec::with_capacity(func.locals.len());
        Locals { func, parent, are_in_memory: is_huge(func), storage, entry_params: Vec::new() }
    }

    /// Makes the storage of all locals and initialises them with parameters and zeroes.
    pub(crate) fn declare(&mut self, clif: &mut ClifBuilder<'_, '_>) -> Lowered {
        let func = self.func;
        for (index, local) in func.locals.iter().enumerate() {
            let storage = self.declare_local(clif, index as u32, local)?;
            self.storage.push(storage);
        }
        for (index, local) in func.locals.iter().enumerate() {
            self.initialize_local(clif, index, local)?;
        }
        Ok(())
    }

    fn declare_local(&self, clif: &mut ClifBuilder<'_, '_>, index: u32, local: &Local) -> Lowered<LocalStorage> {
        if let LocalKind::ParentSlot(parent_local) = local.kind {
            return self.parent_storage(parent_local);
        }
        if let LocalKind::FrameSlot { offset_bytes, is_indirect } = local.kind {
            return Ok(LocalStorage::Parent { fp_offset: offset_bytes, indirect: is_indirect });
        }
        let in_memory = local.address_exposed;
        let key = StackSlotKey::new(u64::from(index));
        Ok(match (local.ty, local.kind) {
            (IrType::Void, _) => LocalStorage::Nothing,
            (IrType::Struct(_), LocalKind::Param(param)) if local.ty.vector().is_none() => {
                let pointer = self.entry_param(param)?;
                if in_memory && !self.func.filters.is_empty() {
                    let key = StackSlotKey::new(u64::from(index) | INDIRECT_KEY);
                    let slot = clif.keyed_slot(ValueLayout::plain(8, 8), key);
                    clif.store_slot(slot, pointer);
                }
                LocalStorage::Pointer(pointer)
            }
            (IrType::Struct(ty), _) => LocalStorage::Slot(clif.keyed_slot(value_layout(ty)?, key)),
            (IrType::Block(size_bytes), _) => {
                LocalStorage::Slot(clif.keyed_slot(ValueLayout::plain(size_bytes, 8), key))
            }
            (ty, _) => {
                let ty = scalar_type(ty)?;
                if in_memory || self.are_in_memory {
                    LocalStorage::Slot(clif.keyed_slot(scalar_layout(ty), key))
                } else {
                    LocalStorage::Variable(clif.b.declare_var(ty))
                }
            }
        })
    }

    fn parent_storage(&self, local: LocalId) -> Lowered<LocalStorage> {
        let slot = self.parent.and_then(|parent| parent.slots.get(&local.0));
        let Some(&(fp_offset, indirect)) = slot else {
            return Err(CompileError::invalid_ir(format!("local {} of the parent is not in its frame", local.0)));
        };
        Ok(LocalStorage::Parent { fp_offset, indirect })
    }

    fn initialize_local(&self, clif: &mut ClifBuilder<'_, '_>, index: usize, local: &Local) -> Lowered {
        let storage = self.storage[index];
        match (local.kind, storage) {
            (LocalKind::Param(param), LocalStorage::Slot(slot)) if local.ty.vector().is_some() => {
                let mem = local.ty.vector().unwrap_or(MemType::V128);
                let value = self.entry_param(param)?;
                let address = clif.b.ins().stack_addr(types::I64, slot, 0);
                clif.store_vector(address, value, mem);
                Ok(())
            }
            (LocalKind::Param(param), LocalStorage::Variable(_) | LocalStorage::Slot(_)) => {
                let value = self.entry_param(param)?;
                self.assign(clif, storage, value)
            }
            (LocalKind::Normal, LocalStorage::Variable(variable)) => {
                // Unset variables read as zero in any case; defining them here keeps `use_var` from searching far.
                let ty = scalar_type(local.ty)?;
                let zero = clif.zero(ty);
                clif.b.def_var(variable, zero);
                Ok(())
            }
            (LocalKind::Normal, LocalStorage::Slot(slot)) if local.zero_init => {
                let address = clif.b.ins().stack_addr(types::I64, slot, 0);
                match local.ty {
                    IrType::Struct(ty) => {
                        let layout = value_layout(ty)?;
                        clif.zero_memory(address, layout);
                    }
                    IrType::Block(size_bytes) => {
                        clif.zero_memory(address, ValueLayout::plain(size_bytes, 8));
                    }
                    ty => {
                        let layout = scalar_layout(scalar_type(ty)?);
                        clif.zero_memory(address, layout);
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn entry_param(&self, index: u32) -> Lowered<Value> {
        self.entry_params
            .get(index as usize)
            .copied()
            .ok_or_else(|| CompileError::invalid_ir(format!("parameter {index} does not exist")))
    }

    fn storage_of(&self, local: LocalId) -> Lowered<(LocalStorage, IrType)> {
        match (self.storage.get(local.0 as usize), self.func.locals.get(local.0 as usize)) {
            (Some(&storage), Some(local)) => Ok((storage, local.ty)),
            _ => Err(CompileError::invalid_ir(format!("local {} does not exist", local.0))),
        }
    }

    pub(crate) fn get(&self, clif: &mut ClifBuilder<'_, '_>, local: LocalId) -> Lowered<Value> {
        let (storage, ty) = self.storage_of(local)?;
        if matches!(ty, IrType::Struct(_)) {
            return self.address(clif, local);
        }
        if let LocalStorage::Variable(variable) = storage {
            return Ok(clif.b.use_var(variable));
        }
        let address = self.address(clif, local)?;
        let flags = clif.trusted(MemoryKind::Program);
        Ok(clif.b.ins().load(scalar_type(ty)?, flags, address, 0))
    }

    pub(crate) fn set(&self, clif: &mut ClifBuilder<'_, '_>, local: LocalId, value: Value) -> Lowered {
        let (storage, ty) = self.storage_of(local)?;
        let value = clif.coerce(value, scalar_type(ty)?)?;
        if let LocalStorage::Parent { .. } = storage {
            let address = self.address(clif, local)?;
            let flags = clif.trusted(MemoryKind::Program);
            clif.b.ins().store(flags, value, address, 0);
            return Ok(());
        }
        self.assign(clif, storage, value)
    }

    fn assign(&self, clif: &mut ClifBuilder<'_, '_>, storage: LocalStorage, value: Value) -> Lowered {
        match storage {
            LocalStorage::Variable(variable) => {
                clif.b.def_var(variable, value);
                Ok(())
            }
            LocalStorage::Slot(slot) => {
                clif.store_slot(slot, value);
                Ok(())
            }
            _ => Err(CompileError::invalid_ir("a local that cannot be assigned")),
        }
    }

    pub(crate) fn address(&self, clif: &mut ClifBuilder<'_, '_>, local: LocalId) -> Lowered<Value> {
        match self.storage_of(local)?.0 {
            LocalStorage::Slot(slot) => Ok(clif.b.ins().stack_addr(types::I64, slot, 0)),
            LocalStorage::Pointer(pointer) => Ok(pointer),
            LocalStorage::Parent { fp_offset, indirect } => {
                let parent_fp = self.entry_param(0)?;
                if indirect {
                    let flags = clif.trusted(MemoryKind::Program);
                    return Ok(clif.b.ins().load(types::I64, flags, parent_fp, fp_offset));
                }
                Ok(clif.b.ins().iadd_imm_s(parent_fp, i64::from(fp_offset)))
            }
            LocalStorage::Variable(_) | LocalStorage::Nothing => Err(CompileError::invalid_ir(format!(
                "the address of local {} is taken, which is not in memory",
                local.0
            ))),
        }
    }

    /// Whether the local's memory is part of a frame of this method. (A struct parameter's may be anywhere.)
    pub(crate) fn is_in_frame(&self, local: LocalId) -> bool {
        matches!(
            self.storage.get(local.0 as usize),
            Some(LocalStorage::Slot(_) | LocalStorage::Parent { indirect: false, .. })
        )
    }

    /// Whether no local is a variable.
    pub(crate) fn are_in_memory(&self) -> bool {
        self.are_in_memory
    }

    /// The local's Cranelift variable, if it is one.
    pub(crate) fn variable(&self, local: u32) -> Option<Variable> {
        match self.storage[local as usize] {
            LocalStorage::Variable(variable) => Some(variable),
            _ => None,
        }
    }

    pub(crate) fn machine_type(&self, local: u32) -> Option<Type> {
        machine_type(self.func.locals[local as usize].ty)
    }
}

/// Machine type of a scalar local.
fn scalar_type(ty: IrType) -> Lowered<Type> {
    match ty {
        IrType::Struct(_) => Err(CompileError::invalid_ir("a struct local is used as a scalar")),
        ty => machine_type(ty).ok_or_else(|| CompileError::invalid_ir("a void local is used")),
    }
}

fn scalar_layout(ty: Type) -> ValueLayout {
    ValueLayout::plain(ty.bytes(), ty.bytes())
}
