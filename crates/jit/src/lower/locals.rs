//! Where locals live: in variables, in stack slots, in the caller's copy of a struct, or in the parent's frame (in filters). A vector parameter arrives in a
//! register, so it has a stack slot of its own.
//!
//! Stack slots of locals carry the local's number as `StackSlotKey`, so that a filter, compiled after its parent, can
//! find them in the parent's frame layout.

use super::state::{INDIRECT_KEY, Place};
use super::{Lowered, Lowering, MemoryKind};
use crate::error::CompileError;
use crate::signatures::machine_type;
use crate::type_facts::{ValueLayout, value_layout};
use cranelift_codegen::ir::{InstBuilder, StackSlot, StackSlotData, StackSlotKey, StackSlotKind, Type, Value, types};
use saki_il::ir::{IrType, Local, LocalId, LocalKind, MemType};

impl Lowering<'_, '_> {
    /// Creates the places of all locals and initialises them with parameters and zeroes.
    pub(super) fn declare_locals(&mut self) -> Lowered {
        let func = self.func;
        for (index, local) in func.locals.iter().enumerate() {
            let place = self.declare_local(index as u32, local)?;
            self.places.push(place);
        }
        for (index, local) in func.locals.iter().enumerate() {
            self.initialize_local(index, local)?;
        }
        Ok(())
    }

    fn declare_local(&mut self, index: u32, local: &Local) -> Lowered<Place> {
        if let LocalKind::ParentSlot(parent_local) = local.kind {
            return self.parent_place(parent_local);
        }
        let in_memory = local.address_exposed;
        let key = StackSlotKey::new(u64::from(index));
        Ok(match (local.ty, local.kind) {
            (IrType::Void, _) => Place::Nothing,
            (IrType::Struct(_), LocalKind::Param(param)) if local.ty.vector().is_none() => {
                let pointer = self.entry_param(param)?;
                if in_memory && !self.func.filters.is_empty() {
                    let key = StackSlotKey::new(u64::from(index) | INDIRECT_KEY);
                    let slot = self.keyed_slot(ValueLayout { size_bytes: 8, align_bytes: 8 }, key);
                    self.store_slot(slot, pointer);
                }
                Place::Pointer(pointer)
            }
            (IrType::Struct(ty), _) => Place::Slot(self.keyed_slot(value_layout(ty)?, key)),
            (IrType::Block(size_bytes), _) => {
                Place::Slot(self.keyed_slot(ValueLayout { size_bytes, align_bytes: 8 }, key))
            }
            (ty, _) => {
                let ty = scalar_type(ty)?;
                if in_memory {
                    Place::Slot(self.keyed_slot(scalar_layout(ty), key))
                } else {
                    Place::Variable(self.b.declare_var(ty))
                }
            }
        })
    }

    fn parent_place(&self, local: LocalId) -> Lowered<Place> {
        let slot = self.parent.and_then(|parent| parent.slots.get(&local.0));
        let Some(&(fp_offset, indirect)) = slot else {
            return Err(CompileError::invalid_ir(format!("local {} of the parent is not in its frame", local.0)));
        };
        Ok(Place::Parent { fp_offset, indirect })
    }

    fn initialize_local(&mut self, index: usize, local: &Local) -> Lowered {
        let place = self.places[index];
        match (local.kind, place) {
            (LocalKind::Param(param), Place::Slot(slot)) if local.ty.vector().is_some() => {
                let mem = local.ty.vector().unwrap_or(MemType::V128);
                let value = self.entry_param(param)?;
                let address = self.b.ins().stack_addr(types::I64, slot, 0);
                self.store_vector(address, value, mem);
                Ok(())
            }
            (LocalKind::Param(param), Place::Variable(_) | Place::Slot(_)) => {
                let value = self.entry_param(param)?;
                self.set_place(place, value)
            }
            (LocalKind::Normal, Place::Variable(variable)) => {
                // Unset variables read as zero in any case; defining them here keeps `use_var` from searching far.
                let ty = scalar_type(local.ty)?;
                let zero = self.zero(ty);
                self.b.def_var(variable, zero);
                Ok(())
            }
            (LocalKind::Normal, Place::Slot(slot)) if local.zero_init => {
                let address = self.b.ins().stack_addr(types::I64, slot, 0);
                match local.ty {
                    IrType::Struct(ty) => {
                        let layout = value_layout(ty)?;
                        self.zero_memory(address, layout);
                    }
                    IrType::Block(size_bytes) => {
                        self.zero_memory(address, ValueLayout { size_bytes, align_bytes: 8 });
                    }
                    ty => {
                        let layout = scalar_layout(scalar_type(ty)?);
                        self.zero_memory(address, layout);
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn entry_param(&self, index: u32) -> Lowered<Value> {
        self.entry_params
            .get(index as usize)
            .copied()
            .ok_or_else(|| CompileError::invalid_ir(format!("parameter {index} does not exist")))
    }

    pub(super) fn zero(&mut self, ty: Type) -> Value {
        match ty {
            types::F32 => self.b.ins().f32const(0.0),
            types::F64 => self.b.ins().f64const(0.0),
            ty if ty.is_vector() => self.vector_const(0),
            ty => self.b.ins().iconst(ty, 0),
        }
    }

    fn keyed_slot(&mut self, layout: ValueLayout, key: StackSlotKey) -> StackSlot {
        self.b.create_sized_stack_slot(StackSlotData::new_with_key(
            StackSlotKind::ExplicitSlot,
            layout.size_bytes.max(1).next_multiple_of(8),
            align_shift(layout),
            key,
        ))
    }

    /// A new stack slot without a key.
    pub(super) fn slot(&mut self, layout: ValueLayout) -> StackSlot {
        self.b.create_sized_stack_slot(StackSlotData::new(
            StackSlotKind::ExplicitSlot,
            layout.size_bytes.max(1).next_multiple_of(8),
            align_shift(layout),
        ))
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

    fn place(&self, local: LocalId) -> Lowered<(Place, IrType)> {
        match (self.places.get(local.0 as usize), self.func.locals.get(local.0 as usize)) {
            (Some(&place), Some(local)) => Ok((place, local.ty)),
            _ => Err(CompileError::invalid_ir(format!("local {} does not exist", local.0))),
        }
    }

    pub(super) fn local_get(&mut self, local: LocalId) -> Lowered<Value> {
        let (place, ty) = self.place(local)?;
        if matches!(ty, IrType::Struct(_)) {
            return self.local_address(local);
        }
        if let Place::Variable(variable) = place {
            return Ok(self.b.use_var(variable));
        }
        let address = self.local_address(local)?;
        let flags = self.trusted(MemoryKind::Program);
        Ok(self.b.ins().load(scalar_type(ty)?, flags, address, 0))
    }

    pub(super) fn local_set(&mut self, local: LocalId, value: Value) -> Lowered {
        let (place, ty) = self.place(local)?;
        let value = self.coerce(value, scalar_type(ty)?)?;
        if let Place::Parent { .. } = place {
            let address = self.local_address(local)?;
            let flags = self.trusted(MemoryKind::Program);
            self.b.ins().store(flags, value, address, 0);
            return Ok(());
        }
        self.set_place(place, value)
    }

    fn set_place(&mut self, place: Place, value: Value) -> Lowered {
        match place {
            Place::Variable(variable) => {
                self.b.def_var(variable, value);
                Ok(())
            }
            Place::Slot(slot) => {
                self.store_slot(slot, value);
                Ok(())
            }
            _ => Err(CompileError::invalid_ir("a local that cannot be assigned")),
        }
    }

    pub(super) fn local_address(&mut self, local: LocalId) -> Lowered<Value> {
        match self.place(local)?.0 {
            Place::Slot(slot) => Ok(self.b.ins().stack_addr(types::I64, slot, 0)),
            Place::Pointer(pointer) => Ok(pointer),
            Place::Parent { fp_offset, indirect } => {
                let parent_fp = self.entry_param(0)?;
                if indirect {
                    let flags = self.trusted(MemoryKind::Program);
                    return Ok(self.b.ins().load(types::I64, flags, parent_fp, fp_offset));
                }
                Ok(self.b.ins().iadd_imm_s(parent_fp, i64::from(fp_offset)))
            }
            Place::Variable(_) | Place::Nothing => Err(CompileError::invalid_ir(format!(
                "the address of local {} is taken, which is not in memory",
                local.0
            ))),
        }
    }

    /// Whether the local's memory is part of a frame of this method. (A struct parameter's may be anywhere.)
    pub(super) fn is_in_frame(&self, local: LocalId) -> bool {
        matches!(self.places.get(local.0 as usize), Some(Place::Slot(_) | Place::Parent { indirect: false, .. }))
    }

    /// A slot for a copy of a struct argument; see `release_temps`.
    pub(super) fn struct_temp(&mut self, layout: ValueLayout) -> StackSlot {
        let fits = |known: &ValueLayout| {
            known.align_bytes >= layout.align_bytes
                && known.size_bytes.next_multiple_of(8) == layout.size_bytes.next_multiple_of(8)
        };
        let found = self.temps.free.iter().position(|(known, _)| fits(known));
        let temp = match found {
            Some(index) => self.temps.free.swap_remove(index),
            None => (layout, self.slot(layout)),
        };
        self.temps.used.push(temp);
        temp.1
    }

    /// Frees the temporaries after the call that used them.
    pub(super) fn release_temps(&mut self) {
        self.temps.free.append(&mut self.temps.used);
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
    ValueLayout { size_bytes: ty.bytes(), align_bytes: ty.bytes() }
}

fn align_shift(layout: ValueLayout) -> u8 {
    // References on the stack must be on word boundaries: conservative scanning looks there only.
    layout.align_bytes.next_power_of_two().max(8).trailing_zeros() as u8
}
