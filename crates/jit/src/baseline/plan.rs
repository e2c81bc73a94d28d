//! The first pass, before any code is emitted: which values are equal, how often each is used, and which must be in
//! memory.

use super::coverage::{self, Covers};
use super::places;
use super::types::{is_by_address, machine_type};
use crate::destination::{self, Destination, store_destination};
use saki_code::masm::{MachineType, MacroAssembler};
use saki_il::ir::verify::{operands, terminator_operands};
use saki_il::ir::{ConvTarget, Function, IrType, LocalId, LocalKind, MemType, Op, Terminator, ValueId};

/// A value: that of an instruction, or (numbers behind those of the instructions) that of a local at the function's
/// entry.
pub(super) type Value = u32;

#[derive(Default)]
pub(super) struct Plan {
    /// By instruction: the value to which its result is equal, its own or an earlier one.
    pub same: Vec<Value>,
    /// By value: uses that need it.
    pub uses: Vec<u32>,
    /// By value: whether it is used in another block than its own.
    pub crosses: Vec<bool>,
    /// By value: whether it is a comparison that is fused into its block's branch.
    pub fused: Vec<bool>,
    /// By local: whether some block reads it before it writes it, or its address is taken.
    pub in_memory: Vec<bool>,
    /// Whether some block leads to the first one, which then does not know what the locals hold.
    pub enters_again: bool,
    /// Whether there is a `localloc`.
    pub has_localloc: bool,
    /// Bytes by which the frame is lowered, to make room for the arguments of tail calls.
    pub lowered_bytes: u32,
    /// By region: the clauses whose handlers protect its code, innermost first.
    pub handlers: Vec<Vec<u32>>,
    defined_in: Vec<u32>,
    /// By local: the block that named it last, and the value that it holds there.
    current: Vec<(u32, Value)>,
}

impl Plan {
    /// Makes the plan; returns false if the function is not covered.
    pub(super) fn make<M: MacroAssembler>(&mut self, func: &Function, covers: Covers) -> bool {
        if !coverage::is_covered(func, covers) {
            return false;
        }
        let count = func.insts.len() + func.locals.len();
        self.same.clear();
        self.same.extend(0..func.insts.len() as u32);
        self.in_memory.clear();
        self.in_memory.extend(func.locals.iter().map(|local| local.address_exposed || local.kind.is_elsewhere()));
        self.enters_again = func.clauses.iter().any(|clause| clause.handler.0 == 0);
        self.has_localloc = false;
        self.lowered_bytes = 0;
        self.handlers.clear();
        self.handlers.extend((0..func.regions.len()).map(|region| handlers_of(func, region)));
        for (list, fill) in [(&mut self.uses, 0), (&mut self.defined_in, 0)] {
            list.clear();
            list.resize(count, fill);
        }
        for list in [&mut self.crosses, &mut self.fused] {
            list.clear();
            list.resize(count, false);
        }
        self.note_ends::<M>(func);
        self.find_same(func);
        self.count_uses(func);
        true
    }

    fn note_ends<M: MacroAssembler>(&mut self, func: &Function) {
        for block in &func.blocks {
            match &block.terminator {
                Terminator::TailCall { sig, .. } => {
                    self.lowered_bytes = self.lowered_bytes.max(places::missing_bytes::<M>(func, sig));
                }
                Terminator::Jump(target) => self.enters_again |= target.0 == 0,
                Terminator::Brif { then, otherwise, .. } => self.enters_again |= then.0 == 0 || otherwise.0 == 0,
                Terminator::Switch { targets, default, .. } => {
                    self.enters_again |= default.0 == 0 || targets.iter().any(|target| target.0 == 0);
                }
                _ => {}
            }
        }
    }

    pub(super) fn entry_value(func: &Function, local: LocalId) -> Value {
        func.insts.len() as u32 + local.0
    }

    /// Finds equal values, block by block, by following locals and conversions that change nothing.
    fn find_same(&mut self, func: &Function) {
        self.current.clear();
        let known_in = if self.enters_again { u32::MAX } else { 0 };
        let at_entry = (0..func.locals.len() as u32).map(|local| (known_in, Plan::entry_value(func, LocalId(local))));
        self.current.extend(at_entry);
        for (number, block) in func.blocks.iter().enumerate() {
            let number = number as u32;
            for &id in &block.insts {
                self.defined_in[id.0 as usize] = number;
                match func.insts[id.0 as usize].op {
                    Op::LocalGet(local) if is_followed(func, local) => {
                        let (named_in, held) = &mut self.current[local.0 as usize];
                        if *named_in != number {
                            self.in_memory[local.0 as usize] = true;
                            (*named_in, *held) = (number, id.0);
                        }
                        self.same[id.0 as usize] = *held;
                    }
                    Op::LocalSet(local, value) => {
                        self.current[local.0 as usize] = (number, self.same[value.0 as usize]);
                    }
                    Op::Conv { value, target, checked: false, .. } if changes_nothing(func, value, target) => {
                        self.same[id.0 as usize] = self.same[value.0 as usize];
                    }
                    _ => {}
                }
            }
        }
    }

    fn count_uses(&mut self, func: &Function) {
        for (number, block) in func.blocks.iter().enumerate() {
            for &id in &block.insts {
                let inst = &func.insts[id.0 as usize];
                if self.same[id.0 as usize] != id.0 {
                    continue;
                }
                if let Op::LocalSet(local, _) = inst.op
                    && !self.in_memory[local.0 as usize]
                {
                    continue;
                }
                self.has_localloc |= matches!(inst.op, Op::LocAlloc { .. });
                operands(&inst.op, &mut |value| self.note_use(value, number));
                if let Some(object) = barrier_object(func, &inst.op).filter(|_| !names_object(&inst.op)) {
                    self.note_use(object, number);
                }
            }
            terminator_operands(&block.terminator, &mut |value| self.note_use(value, number));
            if let Terminator::Brif { cond, .. } = &block.terminator {
                let condition = self.same[cond.0 as usize] as usize;
                // Nothing else may use the comparison as a value; a later use in another block resets this below.
                self.fused[condition] = condition < func.insts.len()
                    && matches!(func.insts[condition].op, Op::Cmp(..))
                    && self.defined_in[condition] == number as u32;
            }
        }
        for value in 0..self.fused.len() {
            self.fused[value] &= self.uses[value] == 1;
        }
    }

    fn note_use(&mut self, value: ValueId, block: usize) {
        let value = self.same[value.0 as usize] as usize;
        self.uses[value] += 1;
        self.crosses[value] |= self.defined_in[value] != block as u32;
    }
}

/// Whether a local's value is followed within a block: not that of a struct, nor one whose address is taken.
fn is_followed(func: &Function, local: LocalId) -> bool {
    let local = &func.locals[local.0 as usize];
    !local.address_exposed && !matches!(local.ty, IrType::Struct(_)) && !local.kind.is_elsewhere()
}

fn handlers_of(func: &Function, region: usize) -> Vec<u32> {
    let mut clauses = Vec::new();
    let mut current = Some(&func.regions[region]);
    while let Some(region) = current {
        clauses.extend(&region.clauses);
        current = region.parent.map(|parent| &func.regions[parent.0 as usize]);
    }
    clauses
}

/// The heap object whose barrier a store needs, which need not be one of its operands.
pub(super) fn barrier_object(func: &Function, op: &Op) -> Option<ValueId> {
    let destination = match *op {
        Op::StoreRef { object, addr, value, .. } => {
            store_destination(func, object, addr, value, |l| is_in_frame(func, l))
        }
        Op::CopyStruct { dst, barrier: true, .. } => {
            crate::destination::of_address(func, dst, |local| is_in_frame(func, local))
        }
        Op::AtomicRmw { addr, value, mem: MemType::Ref, .. }
        | Op::AtomicCas { addr, new: value, mem: MemType::Ref, .. } => exchange_destination(func, addr, value),
        _ => return None,
    };
    match destination {
        Destination::Object(object) => Some(object),
        Destination::Private | Destination::Root | Destination::Unknown => None,
    }
}

/// The destination of a reference that an atomic operation stores.
pub(super) fn exchange_destination(func: &Function, addr: ValueId, value: ValueId) -> Destination {
    match destination::constant(func, value) {
        Some(0) => Destination::Private,
        _ => destination::of_address(func, addr, |local| is_in_frame(func, local)),
    }
}

/// Whether the object that a store goes to is one of its operands.
pub(super) fn names_object(op: &Op) -> bool {
    matches!(op, Op::StoreRef { object: Some(_), .. })
}

/// Whether the local's memory is in this function's frame. (A struct parameter's may be anywhere.)
pub(super) fn is_in_frame(func: &Function, local: LocalId) -> bool {
    let local = &func.locals[local.0 as usize];
    match local.kind {
        LocalKind::Param(_) => !is_by_address(local.ty),
        LocalKind::Normal | LocalKind::Argument => true,
        LocalKind::ParentSlot(_) | LocalKind::FrameSlot { .. } => false,
    }
}

/// Whether the conversion's result has the same bits as its operand.
fn changes_nothing(func: &Function, value: ValueId, target: ConvTarget) -> bool {
    let from = machine_type(func.insts[value.0 as usize].ty);
    match target {
        ConvTarget::I4 | ConvTarget::U4 => from == Some(MachineType::I32),
        ConvTarget::I8 | ConvTarget::U8 | ConvTarget::I | ConvTarget::U => from == Some(MachineType::I64),
        ConvTarget::R4 => from == Some(MachineType::F32),
        ConvTarget::R8 => from == Some(MachineType::F64),
        _ => false,
    }
}
