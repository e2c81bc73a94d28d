//! Homes: stack slots that hold locals during calls in cold blocks.
//!
//! A call in a cold block (a failed check in a try region, the slow path of a lock or a cast) destroys registers, and
//! on some processors all of them if it may land in a handler. If locals stayed Cranelift variables across such a call,
//! the register allocator, which splits a value's range at most twice, would keep them in memory everywhere, hot loops
//! included. So the cold block stores the live locals to their homes before the call and reloads them after it, and
//! exceptions from such calls land in a separate pad that reloads the locals of the handler. For calls in hot blocks
//! the register allocator does this.
//!
//! Invariant: code that names the cold landing pad of a clause has stored the locals that are live at its handler.

use super::super::clif_builder::{ClifBuilder, MemoryKind};
use super::locals::Locals;
use super::position::Position;
use crate::liveness::{Liveness, LocalSet};
use crate::type_facts::ValueLayout;
use cranelift_codegen::ir::{InstBuilder, StackSlot, types};
use rustc_hash::FxHashMap;

/// If more locals than this are live, they are left to the register allocator, since there are not that many registers.
const MAX_KEPT_LOCALS: usize = 24;

/// Locals kept in homes during one call.
pub(crate) struct Kept {
    /// Locals live after the call.
    after: Vec<u32>,
    /// Locals stored before the call: those of `after`, and those that handlers read.
    stored: Vec<u32>,
}

/// The homes of the function's locals, made on demand.
#[derive(Default)]
pub(crate) struct Homes {
    liveness: Option<Liveness>,
    slots: FxHashMap<u32, StackSlot>,
}

impl Homes {
    fn liveness(&mut self, at: &Position<'_>) -> &Liveness {
        self.liveness.get_or_insert_with(|| Liveness::compute(at.func, at.flow))
    }

    /// Stores live locals to their homes if a call here is worth it. `returns`: the call may come back.
    pub(crate) fn keep(
        &mut self,
        clif: &mut ClifBuilder<'_, '_>,
        locals: &Locals<'_>,
        at: &Position<'_>,
        returns: bool,
    ) -> Option<Kept> {
        let block = clif.b.current_block()?;
        if locals.are_in_memory() || !clif.b.func.layout.is_cold(block) || (!returns && at.handlers().is_empty()) {
            return None;
        }
        let liveness = self.liveness(at);
        let pays = if returns { liveness.is_in_loop(at.block) } else { liveness.has_loops() };
        if !pays {
            return None;
        }
        let mut live = liveness.live_in_handlers(at.func, at.flow, at.region);
        let mut after = LocalSet::default();
        if returns {
            after = liveness.live_before(at.func, at.flow, at.block, at.rest);
            live.union(&after);
        }
        let live = variables(&live, locals);
        if live.len() > MAX_KEPT_LOCALS {
            return None;
        }
        let flags = clif.trusted(MemoryKind::Program);
        for &local in &live {
            let Some(variable) = locals.variable(local) else { continue };
            let value = clif.b.use_var(variable);
            let slot = self.home(clif, locals, local);
            let address = clif.b.ins().stack_addr(types::I64, slot, 0);
            clif.b.ins().store(flags, value, address, 0);
        }
        Some(Kept { after: variables(&after, locals), stored: live })
    }

    /// After the call: reloads the locals from their homes.
    pub(crate) fn restore_kept(&mut self, clif: &mut ClifBuilder<'_, '_>, locals: &Locals<'_>, kept: &Kept) {
        self.restore_locals(clif, locals, &kept.after);
        self.clear(clif, locals, &kept.stored);
    }

    /// In the cold landing pad of `clause`: reloads the locals that its handler reads.
    pub(crate) fn restore_for_handler(
        &mut self,
        clif: &mut ClifBuilder<'_, '_>,
        locals: &Locals<'_>,
        at: &Position<'_>,
        clause: u32,
    ) {
        let clause = &at.func.clauses[clause as usize];
        let mut live = self.liveness(at).live_in(clause.handler).clone();
        live.remove(clause.exception_local.0);
        let live = variables(&live, locals);
        self.restore_locals(clif, locals, &live);
        let mut stored: Vec<u32> = self.slots.keys().copied().collect();
        stored.sort_unstable();
        self.clear(clif, locals, &stored);
    }

    /// Clears homes after their last use: they are scanned as long as the frame lives, and stale references would keep
    /// objects alive.
    fn clear(&mut self, clif: &mut ClifBuilder<'_, '_>, locals: &Locals<'_>, cleared: &[u32]) {
        let flags = clif.trusted(MemoryKind::Program);
        for &local in cleared {
            if locals.machine_type(local) != Some(types::I64) {
                continue;
            }
            let slot = self.home(clif, locals, local);
            let address = clif.b.ins().stack_addr(types::I64, slot, 0);
            let zero = clif.b.ins().iconst(types::I64, 0);
            clif.b.ins().store(flags, zero, address, 0);
        }
    }

    fn restore_locals(&mut self, clif: &mut ClifBuilder<'_, '_>, locals: &Locals<'_>, restored: &[u32]) {
        let flags = clif.trusted(MemoryKind::Program);
        for &local in restored {
            let Some(variable) = locals.variable(local) else { continue };
            let Some(ty) = locals.machine_type(local) else { continue };
            let slot = self.home(clif, locals, local);
            let address = clif.b.ins().stack_addr(types::I64, slot, 0);
            let value = clif.b.ins().load(ty, flags, address, 0);
            clif.b.def_var(variable, value);
        }
    }

    fn home(&mut self, clif: &mut ClifBuilder<'_, '_>, locals: &Locals<'_>, local: u32) -> StackSlot {
        *self.slots.entry(local).or_insert_with(|| {
            let size_bytes = locals.machine_type(local).map_or(8, |ty| ty.bytes().max(8));
            clif.slot(ValueLayout::plain(size_bytes, size_bytes))
        })
    }
}

/// The locals of the set that are Cranelift variables.
fn variables(set: &LocalSet, locals: &Locals<'_>) -> Vec<u32> {
    set.iter().filter(|&local| locals.variable(local).is_some()).collect()
}
