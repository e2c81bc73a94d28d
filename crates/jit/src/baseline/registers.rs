//! Register allocation: values are in registers while there are free ones, else in slots of the frame.
//!
//! A value is in a register from its definition, or from the use that reloaded it, until its last use, a call, or until
//! its register is needed for another value. If it is needed later it is then stored to a slot, unless it can be
//! rematerialised or has been stored before. At the beginning of a block all registers are empty: values used in other
//! blocks are stored where they are defined. The slot of a value that only its own block uses is free after its last
//! use.

use super::branches::Changes;
use super::plan::Value;
use saki_code::masm::{REGISTER_INDICES, Reg, RegisterSet};

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Place {
    pub register: Option<Reg>,
    /// Offset from the frame pointer.
    pub slot: Option<i32>,
    pub uses_left: u32,
    /// Whether other blocks than its own use the value.
    pub crosses: bool,
    /// Whether it is a vector.
    pub is_wide: bool,
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
    /// Slots whose values are dead.
    free_slots: Vec<i32>,
    /// Room for arguments of calls at the stack pointer.
    outgoing_bytes: u32,
    /// Offsets from the frame pointer of the locals in memory, by local.
    local_slots: Vec<Option<i32>>,
    /// Copies of struct arguments: offset and size of their places, and how many of these the current call has.
    copies: Vec<(i32, u32)>,
    copies_in_use: usize,
    /// See `BodyTables::own_words`.
    own_words: Vec<u64>,
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
            free_slots: Vec::new(),
            outgoing_bytes: 0,
            local_slots: Vec::new(),
            copies: Vec::new(),
            copies_in_use: 0,
            own_words: Vec::new(),
        }
    }
}

impl Registers {
    pub(super) fn reset(&mut self, allocatable: RegisterSet, uses: &[u32], crosses: &[bool]) {
        self.places.clear();
        let places = uses.iter().zip(crosses);
        self.places.extend(places.map(|(&uses_left, &crosses)| Place { uses_left, crosses, ..Place::default() }));
        self.free_slots.clear();
        self.allocatable = allocatable;
        self.occupied = RegisterSet::EMPTY;
        self.locked = RegisterSet::EMPTY;
        self.slots = 0;
        self.outgoing_bytes = 0;
        self.local_slots.clear();
        self.copies.clear();
        self.own_words.clear();
        self.copies_in_use = 0;
    }

    pub(super) fn frame_size_bytes(&self) -> u32 {
        (self.slots * 8 + self.outgoing_bytes).next_multiple_of(16)
    }

    /// Makes room for so many bytes of arguments at the stack pointer.
    pub(super) fn reserve_arguments(&mut self, argument_bytes: u32) {
        self.outgoing_bytes = self.outgoing_bytes.max(argument_bytes);
    }

    pub(super) fn place(&self, value: Value) -> Place {
        self.places[value as usize]
    }

    /// A slot that belongs to nothing else; its offset from the frame pointer. Its address is never taken.
    pub(super) fn new_slot(&mut self) -> i32 {
        let slot = self.new_area(8);
        self.note_own(slot);
        slot
    }

    /// Only loads and stores of the body touch the word at this offset from the frame pointer.
    fn note_own(&mut self, slot: i32) {
        let number = (-slot / 8 - 1) as usize;
        if self.own_words.len() <= number / 64 {
            self.own_words.resize(number / 64 + 1, 0);
        }
        self.own_words[number / 64] |= 1 << (number % 64);
    }

    /// See `BodyTables::own_words`; `is_own`: by local, whether its slot's address is never taken.
    pub(super) fn own_words(&mut self, is_own: impl Fn(usize) -> bool) -> Box<[u64]> {
        for local in 0..self.local_slots.len() {
            if let Some(slot) = self.local_slots[local].filter(|_| is_own(local)) {
                self.note_own(slot);
            }
        }
        self.own_words.as_slice().into()
    }

    /// Bytes of the frame without the arguments of calls.
    pub(super) fn slot_bytes(&self) -> u32 {
        self.slots * 8
    }

    /// So many bytes of the frame; their offset from the frame pointer.
    pub(super) fn new_area(&mut self, size_bytes: u32) -> i32 {
        self.slots += size_bytes.div_ceil(8).max(1);
        -(self.slots as i32 * 8)
    }

    /// So many bytes of the frame, at a multiple of 16 like the frame pointer.
    pub(super) fn new_aligned_area(&mut self, size_bytes: u32) -> i32 {
        self.slots = (self.slots + size_bytes.div_ceil(8)).next_multiple_of(2);
        -(self.slots as i32 * 8)
    }

    /// A place for the copy of a struct argument, until `release_copies`.
    pub(super) fn copy_place(&mut self, size_bytes: u32) -> i32 {
        let free = self.copies[self.copies_in_use..].iter().position(|&(_, room)| room >= size_bytes);
        match free {
            Some(index) => self.copies.swap(self.copies_in_use, self.copies_in_use + index),
            None => {
                let offset = self.new_area(size_bytes);
                self.copies.push((offset, size_bytes.next_multiple_of(8)));
                let last = self.copies.len() - 1;
                self.copies.swap(self.copies_in_use, last);
            }
        }
        self.copies_in_use += 1;
        self.copies[self.copies_in_use - 1].0
    }

    /// The call that used the copies is made.
    pub(super) fn release_copies(&mut self) {
        self.copies_in_use = 0;
    }

    /// Offset from the frame pointer of a local in memory, which has this size.
    pub(super) fn local_area(&mut self, local: usize, size_bytes: u32) -> i32 {
        if self.local_slots.len() <= local {
            self.local_slots.resize(local + 1, None);
        }
        match self.local_slots[local] {
            Some(slot) => slot,
            None => {
                let slot = self.new_area(size_bytes);
                self.local_slots[local] = Some(slot);
                slot
            }
        }
    }

    /// Offset from the frame pointer of a scalar local in memory, or of the address of a struct parameter.
    pub(super) fn local_slot(&mut self, local: usize) -> i32 {
        self.local_area(local, 8)
    }

    /// The slot of the value, which has this size.
    pub(super) fn slot_of(&mut self, value: Value, size_bytes: u32, changes: &mut Changes) -> i32 {
        changes.note();
        match self.places[value as usize].slot {
            Some(slot) => slot,
            None => {
                let free = if size_bytes == 8 { self.free_slots.pop() } else { None };
                let slot =
                    free.unwrap_or_else(|| if size_bytes == 8 { self.new_slot() } else { self.new_area(size_bytes) });
                let place = &mut self.places[value as usize];
                place.slot = Some(slot);
                place.is_wide = size_bytes != 8;
                slot
            }
        }
    }

    /// After the last use of a value that other blocks do not use: its slot may serve another value.
    fn free_slot(&mut self, value: Value) {
        let place = &mut self.places[value as usize];
        if !place.crosses
            && !place.is_wide
            && let Some(slot) = place.slot.take()
        {
            self.free_slots.push(slot);
        }
    }

    /// Frees the slots of operands of a call that has been made, if that was their last use.
    pub(super) fn free_slot_of_operand(&mut self, value: Value) {
        if self.places[value as usize].uses_left == 0 {
            self.free_slot(value);
        }
    }

    /// The slots of all locals that are in memory, by local.
    pub(super) fn local_slots(&self) -> &[Option<i32>] {
        &self.local_slots
    }

    /// An empty register of the class, or else the register to spill, with its value.
    pub(super) fn candidate(&self, is_float: bool, changes: &mut Changes) -> (Reg, Option<Value>) {
        changes.note();
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

    pub(super) fn put(&mut self, value: Value, register: Reg, changes: &mut Changes) {
        changes.note();
        self.occupied = self.occupied.with(register);
        self.held[register.index()] = value;
        self.places[value as usize].register = Some(register);
    }

    /// The value is in these bytes of the frame, which are more than a word.
    pub(super) fn put_in_frame(&mut self, value: Value, slot: i32, changes: &mut Changes) {
        changes.note();
        let place = &mut self.places[value as usize];
        place.slot = Some(slot);
        place.is_wide = true;
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

    /// Registers that hold values.
    pub(super) fn occupied_set(&self) -> RegisterSet {
        self.occupied
    }

    /// The value in an occupied register.
    pub(super) fn held_in(&self, register: Reg) -> Value {
        self.held[register.index()]
    }

    /// Counts one use of the value; after the last one its register is free.
    pub(super) fn release(&mut self, value: Value) {
        let place = &mut self.places[value as usize];
        place.uses_left = place.uses_left.saturating_sub(1);
        if place.uses_left == 0 {
            if let Some(register) = place.register {
                self.vacate(register);
            }
            self.free_slot(value);
        }
    }
}
