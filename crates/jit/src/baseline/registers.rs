//! Register allocation: values are in registers while there are free ones, else in slots of the frame.
//!
//! A value is in a register from its definition, or from the use that reloaded it, until its last use, a call, or until its
//! register is needed for another value. If it is needed later it is then stored to a slot, unless it can be rematerialised or has
//! been stored before. At the beginning of a block all registers are empty: values used in other blocks are stored where they are defined.

use super::assembler::{Reg, SCRATCH, SCRATCH_SSE};
use super::plan::Value;

const NOWHERE: u32 = u32::MAX;
/// Allocatable general purpose registers: not rbx, rsp, rbp, r12–r15 and the scratch register.
const GENERAL: u32 = 0b0000_0111_1100_0111;
const SSE: u32 = 0x7FFF_0000;

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Place {
    pub register: Option<Reg>,
    /// Offset from rbp.
    pub slot: Option<i32>,
    pub uses_left: u32,
}

#[derive(Default)]
pub(super) struct Registers {
    pub places: Vec<Place>,
    held: [u32; 32],
    locked: u32,
    slots: u32,
    /// Offsets from rbp of the locals in memory, by local.
    local_slots: Vec<Option<i32>>,
}

impl Registers {
    pub(super) fn reset(&mut self, uses: &[u32]) {
        self.places.clear();
        self.places.extend(uses.iter().map(|&uses_left| Place { uses_left, ..Place::default() }));
        self.held = [NOWHERE; 32];
        self.locked = 0;
        self.slots = 0;
        self.local_slots.clear();
    }

    pub(super) fn frame_size_bytes(&self) -> u32 {
        (self.slots * 8).next_multiple_of(16)
    }

    pub(super) fn place(&self, value: Value) -> Place {
        self.places[value as usize]
    }

    fn new_slot(&mut self) -> i32 {
        self.slots += 1;
        -(self.slots as i32 * 8)
    }

    /// Offset from rbp of a local in memory.
    pub(super) fn local_slot(&mut self, local: usize) -> i32 {
        if self.local_slots.len() <= local {
            self.local_slots.resize(local + 1, None);
        }
        match self.local_slots[local] {
            Some(slot) => slot,
            None => {
                let slot = self.new_slot();
                self.local_slots[local] = Some(slot);
                slot
            }
        }
    }

    pub(super) fn slot_of(&mut self, value: Value) -> i32 {
        match self.places[value as usize].slot {
            Some(slot) => slot,
            None => {
                let slot = self.new_slot();
                self.places[value as usize].slot = Some(slot);
                slot
            }
        }
    }

    /// An empty register of the class, or else the register to spill, with its value.
    pub(super) fn candidate(&self, sse: bool) -> (Reg, Option<Value>) {
        let usable = (if sse { SSE } else { GENERAL }) & !self.locked;
        let registers = || (0..32u8).filter(|r| usable & (1 << r) != 0);
        if let Some(free) = registers().find(|&r| self.held[r as usize] == NOWHERE) {
            return (Reg(free), None);
        }
        // Operations lock at most three registers, so an unlocked one exists.
        let victim = registers().next().unwrap_or(if sse { SCRATCH_SSE.0 } else { SCRATCH.0 });
        (Reg(victim), Some(self.held[victim as usize]))
    }

    pub(super) fn lock(&mut self, register: Reg) {
        self.locked |= 1 << register.0;
    }

    pub(super) fn unlock_all(&mut self) {
        self.locked = 0;
    }

    pub(super) fn put(&mut self, value: Value, register: Reg) {
        self.held[register.0 as usize] = value;
        self.places[value as usize].register = Some(register);
    }

    /// Removes the value from the register.
    pub(super) fn vacate(&mut self, register: Reg) {
        let value = std::mem::replace(&mut self.held[register.0 as usize], NOWHERE);
        if value != NOWHERE {
            self.places[value as usize].register = None;
        }
    }

    pub(super) fn vacate_all(&mut self) {
        for register in 0..32 {
            self.vacate(Reg(register));
        }
    }

    /// Values in registers.
    pub(super) fn occupied(&self) -> impl Iterator<Item = (Reg, Value)> + '_ {
        (0..32u8).filter(|&r| self.held[r as usize] != NOWHERE).map(|r| (Reg(r), self.held[r as usize]))
    }

    /// Counts one use of the value; after the last one its register is free.
    pub(super) fn release(&mut self, value: Value) {
        let place = &mut self.places[value as usize];
        place.uses_left = place.uses_left.saturating_sub(1);
        if place.uses_left == 0
            && let Some(register) = place.register
        {
            self.vacate(register);
        }
    }
}
