//! What the tables of protected calls are made of.

use super::plan::Plan;
use saki_abi::{EnclosingHandler, ProtectedCall};
use saki_code::masm::{Label, MacroAssembler, Reg};
use saki_il::ir::RegionId;

/// Landing pads, and the calls whose exceptions they receive.
pub(super) struct Landings {
    /// By clause: its landing pad, if a call needs it.
    pub pads: Vec<Option<Label>>,
    /// By clause that some block resumes: the slots of the exception and of the unwind token.
    pub in_flight: Vec<Option<[i32; 2]>>,
    /// Calls that handlers protect: the offset behind each, and its region. Offsets ascend.
    pub calls: Vec<(u32, RegionId)>,
    /// Callee-saved registers, and the slots that keep them.
    pub kept: Vec<(Reg, i32)>,
}

impl Landings {
    pub(super) fn new(clause_count: usize) -> Landings {
        Landings {
            pads: vec![None; clause_count],
            in_flight: vec![None; clause_count],
            calls: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// The tables of protected calls and of their handlers.
    pub(super) fn tables<M: MacroAssembler>(
        &self,
        plan: &Plan,
        masm: &M,
        frame_size_bytes: u32,
        prologue_bytes: u32,
    ) -> (Box<[ProtectedCall]>, Box<[EnclosingHandler]>) {
        let mut handlers = Vec::new();
        let mut first_of_region: Vec<Option<u32>> = vec![None; plan.handlers.len()];
        let mut calls = Vec::with_capacity(self.calls.len());
        for &(return_offset, region) in &self.calls {
            let clauses = &plan.handlers[region.0 as usize];
            let first_handler = *first_of_region[region.0 as usize].get_or_insert_with(|| {
                let first = handlers.len() as u32;
                handlers.extend(clauses.iter().filter_map(|&clause_index| {
                    let landing = self.pads[clause_index as usize]?;
                    Some(EnclosingHandler { clause_index, landing_offset: masm.offset_of(landing) + prologue_bytes })
                }));
                first
            });
            calls.push(ProtectedCall {
                return_offset: return_offset + prologue_bytes,
                frame_offset_bytes: frame_size_bytes,
                first_handler,
                handler_count: clauses.len() as u32,
            });
        }
        (calls.into(), handlers.into())
    }
}
