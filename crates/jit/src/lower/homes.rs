//! Homes: stack slots that hold locals during calls in cold blocks.
//!
//! A call in a cold block (a failed check in a try region, the slow path of a lock or a cast) destroys registers, and all of
//! them if it may land in a handler. If locals stayed Cranelift variables across such a call, the register allocator, which
//! splits a value's range at most twice, would keep them in memory everywhere, hot loops included. So the cold block
//! stores the live locals to their homes before the call and reloads them after it, and exceptions from such calls land
//! in a separate pad that reloads the locals of the handler. For calls in hot blocks the register allocator does this.
//!
//! Invariant: code that names the cold landing pad of a clause has stored the locals that are live at its handler.

use super::state::Place;
use super::{Lowering, MemoryKind};
use crate::liveness::{Liveness, LocalSet};
use crate::signatures::machine_type;
use crate::type_facts::ValueLayout;
use cranelift_codegen::ir::{InstBuilder, StackSlot, types};

/// If more locals than this are live, they are left to the register allocator, since there are not that many registers.
const MAX_KEPT_LOCALS: usize = 24;

/// Locals kept in homes during one call.
pub(super) struct Kept {
    /// Locals live after the call.
    after: Vec<u32>,
    /// Locals stored before the call: those of `after`, and those that handlers read.
    stored: Vec<u32>,
}

impl Lowering<'_, '_> {
    fn liveness(&mut self) -> &Liveness {
        let (func, flow) = (self.func, self.flow);
        self.homes.liveness.get_or_insert_with(|| Liveness::compute(func, flow))
    }

    /// Stores live locals to their homes if a call here is worth it. `returns`: the call may come back.
    pub(super) fn keep_locals(&mut self, returns: bool) -> Option<Kept> {
        let block = self.b.current_block()?;
        if !self.b.func.layout.is_cold(block) || (!returns && !self.is_protected()) {
            return None;
        }
        let (func, flow, region, current, rest) = (self.func, self.flow, self.region, self.current, self.rest);
        let liveness = self.liveness();
        let pays = if returns { liveness.is_in_loop(current) } else { liveness.has_loops() };
        if !pays {
            return None;
        }
        let mut live = liveness.live_in_handlers(func, flow, region);
        let mut after = LocalSet::default();
        if returns {
            after = liveness.live_before(func, flow, current, rest);
            live.union(&after);
        }
        let live = self.variables(&live);
        if live.len() > MAX_KEPT_LOCALS {
            return None;
        }
        let flags = self.trusted(MemoryKind::Program);
        for &local in &live {
            let Place::Variable(variable) = self.places[local as usize] else { continue };
            let value = self.b.use_var(variable);
            let slot = self.home(local);
            let address = self.b.ins().stack_addr(types::I64, slot, 0);
            self.b.ins().store(flags, value, address, 0);
        }
        Some(Kept { after: self.variables(&after), stored: live })
    }

    /// After the call: reloads the locals from their homes.
    pub(super) fn restore_kept(&mut self, kept: &Kept) {
        self.restore_locals(&kept.after);
        self.clear_homes(&kept.stored);
    }

    /// In the cold landing pad of `clause`: reloads the locals that its handler reads.
    pub(super) fn restore_for_handler(&mut self, clause: u32) {
        let clause = &self.func.clauses[clause as usize];
        let mut live = self.liveness().live_in(clause.handler).clone();
        live.remove(clause.exception_local.0);
        let live = self.variables(&live);
        self.restore_locals(&live);
        let mut stored: Vec<u32> = self.homes.slots.keys().copied().collect();
        stored.sort_unstable();
        self.clear_homes(&stored);
    }

    /// Clears homes after their last use: they are scanned as long as the frame lives, and stale references would keep objects alive.
    fn clear_homes(&mut self, locals: &[u32]) {
        let flags = self.trusted(MemoryKind::Program);
        for &local in locals {
            if machine_type(self.func.locals[local as usize].ty) != Some(types::I64) {
                continue;
            }
            let slot = self.home(local);
            let address = self.b.ins().stack_addr(types::I64, slot, 0);
            let zero = self.b.ins().iconst(types::I64, 0);
            self.b.ins().store(flags, zero, address, 0);
        }
    }

    fn restore_locals(&mut self, locals: &[u32]) {
        let flags = self.trusted(MemoryKind::Program);
        for &local in locals {
            let Place::Variable(variable) = self.places[local as usize] else { continue };
            let Some(ty) = machine_type(self.func.locals[local as usize].ty) else { continue };
            let slot = self.home(local);
            let address = self.b.ins().stack_addr(types::I64, slot, 0);
            let value = self.b.ins().load(ty, flags, address, 0);
            self.b.def_var(variable, value);
        }
    }

    /// The locals of the set that are Cranelift variables.
    fn variables(&self, locals: &LocalSet) -> Vec<u32> {
        locals.iter().filter(|&local| matches!(self.places[local as usize], Place::Variable(_))).collect()
    }

    fn home(&mut self, local: u32) -> StackSlot {
        if let Some(&slot) = self.homes.slots.get(&local) {
            return slot;
        }
        let size_bytes = machine_type(self.func.locals[local as usize].ty).map_or(8, |ty| ty.bytes().max(8));
        let slot = self.slot(ValueLayout { size_bytes, align_bytes: size_bytes });
        self.homes.slots.insert(local, slot);
        slot
    }
}
