//! Register allocation: values are in registers while there are free ones, else in slots of the frame.
//!
//! A value is in a register from its definition, or from the use that reloaded it, until its last use, a call, or until
//! its register is needed for another value. If it is needed later it is then stored to a slot, unless it can be
//! rematerialised or has been stored before. At the beginning of a block all registers are empty: values used in other
//! blocks are stored where they are defined.

use super::plan::Value;
use saki_code::masm::{REGISTER_INDICES, Reg, RegisterSet};

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Place {
    pub register: Option<Reg>,
    /// Offset from the frame pointer.
    pub slot: Option<i32>,
    pub uses_left: u32,
}

pub(super) struct Registers {
    pub places: Vec<Place>,
    /// Registers that may hold values.
    allocatable: RegisterSet,
    /// Registers that hold a value, and by register which one.
    occupied: RegisterSet,
    held: [Value; REGISTER_INDICES],
    /// Registers that the current operation uses.
    locked: RegisterSet,
    slots: u32,
    /// Offsets from the frame pointer of the locals in memory, by local.
    local_slots: Vec<Option<i32>>,
}

impl Default for Registers {
    fn default() -> Self {
        Registers {
            places: Vec::new(),
            allocatable: RegisterSet::EMPTY,
            occupied: RegisterSet::EMPTY,
            held: [0; REGISTER_INDICES],
            locked: RegisterSet::EMPTY,
            slots: 0,
            local_slots: Vec::new(),
        }
    }
}

impl Registers {
    pub(super) fn reset(&mut self, allocatable: RegisterSet, uses: &[u32]) {
        self.places.clear();
        self.places.extend(uses.iter().map(|&uses_left| Place { uses_left, ..Place::default() }));
        self.allocatable = allocatable;
        self.occupied = RegisterSet::EMPTY;
        self.locked = RegisterSet::EMPTY;
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

    /// Offset from the frame pointer of a local in memory.
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
    pub(super) fn candidate(&self, is_float: bool) -> (Reg, Option<Value>) {
        let usable = self.allocatable.and(RegisterSet::class(is_float)).minus(self.locked);
        if let Some(free) = usable.minus(self.occupied).first() {
            return (free, None);
        }
        // Operations lock at most three registers, and each class has more.
        let Some(victim) = usable.first() else { saki_base::bug!("an operation locks all registers of a class") };
        (victim, Some(self.held[victim.index()]))
    }

    pub(super) fn lock(&mut self, register: Reg) {
        self.locked = self.locked.with(register);
    }

    pub(super) fn unlock_all(&mut self) {
        self.locked = RegisterSet::EMPTY;
    }

    pub(super) fn put(&mut self, value: Value, register: Reg) {
        self.occupied = self.occupied.with(register);
        self.held[register.index()] = value;
        self.places[value as usize].register = Some(register);
    }

    /// Removes the value from the register.
    pub(super) fn vacate(&mut self, register: Reg) {
        if self.occupied.contains(register) {
            self.occupied = self.occupied.without(register);
            self.places[self.held[register.index()] as usize].register = None;
        }
    }

    pub(super) fn vacate_all(&mut self) {
        for register in self.occupied.iter() {
            self.vacate(register);
        }
    }

    /// Values in registers.
    pub(super) fn occupied(&self) -> impl Iterator<Item = (Reg, Value)> + '_ {
        self.occupied.iter().map(|register| (register, self.held[register.index()]))
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
