//! aarch64: atomic operations, with the orders of `docs/design/aarch64.md`, "Memory order".
//!
//! With LSE they are single instructions with acquire and release, which order all other accesses, but for a comparison
//! that fails: it stores nothing, so a barrier stands behind it. Without LSE they are loops of exclusive accesses,
//! behind which the compiler puts a barrier (`jit::atomics_are_fences`).

use super::encoding::{
    self as encode, BARRIER, CLEAR_EXCLUSIVE, Condition, SETS_FLAGS, ZERO, atomic, binary, unary, width,
};
use super::masm::{Assembler, v, x};
use super::registers::{X14, X15, X16, X17};
use crate::masm::{Address, AtomicAssembler, Extension, Label, MachineType, MacroAssembler, MemoryAccess, Reg};

/// The integers as which values are accessed.
fn as_integers(access: MemoryAccess) -> MemoryAccess {
    match access {
        MemoryAccess::Whole(MachineType::F32) => MemoryAccess::Whole(MachineType::I32),
        MemoryAccess::Whole(MachineType::F64) => MemoryAccess::Whole(MachineType::I64),
        other => other,
    }
}

fn register_type(access: MemoryAccess) -> MachineType {
    match access {
        MemoryAccess::Whole(MachineType::I64 | MachineType::F64) => MachineType::I64,
        _ => MachineType::I32,
    }
}

impl<T: Copy + PartialEq> Assembler<T> {
    /// `x15 = what is at the base, which becomes new`, where `new` may compute a register from x15.
    fn exclusively(&mut self, access: MemoryAccess, base: Reg, new: impl FnOnce(&mut Self) -> Reg) {
        let again = self.label();
        self.bind(again);
        self.put(unary(atomic(encode::LOAD_EXCLUSIVE, access), x(X15), x(base)));
        let new = new(self);
        self.put(binary(atomic(encode::STORE_EXCLUSIVE, access), x(new), x(base), x(X16)));
        self.jump_on_zero(MachineType::I32, X16, false, again);
    }
}

impl<T: Copy + PartialEq> AtomicAssembler for Assembler<T> {
    const EXPECTED: Reg = Reg::general(11);
    const LOADS_IN_ORDER: bool = false;

    fn load_acquire(&mut self, access: MemoryAccess, register: Reg, from: Address) {
        let base = self.exact(from);
        let (integers, ty) = (as_integers(access), register_type(access));
        let to = if register.is_float() { X17 } else { register };
        self.put(unary(atomic(encode::LOAD_ACQUIRE, integers), x(to), x(base)));
        match access {
            MemoryAccess::Narrow(extension @ (Extension::S8 | Extension::S16)) => self.extend(extension, to, to),
            _ if register.is_float() => {
                let word = if ty == MachineType::I64 { encode::BITS_TO_DOUBLE } else { encode::BITS_TO_SINGLE };
                self.put(unary(word, v(register), x(X17)));
            }
            _ => {}
        }
    }

    fn store_release(&mut self, access: MemoryAccess, to: Address, register: Reg) {
        let base = self.exact(to);
        let (integers, ty) = (as_integers(access), register_type(access));
        let mut from = register;
        if register.is_float() {
            let word = if ty == MachineType::I64 { encode::BITS_OF_DOUBLE } else { encode::BITS_OF_SINGLE };
            self.put(unary(word, x(X15), v(register)));
            from = X15;
        }
        self.put(unary(atomic(encode::STORE_RELEASE, integers), x(from), x(base)));
    }

    fn publish(&mut self) {
        self.fence();
    }

    fn atomic_exchange(&mut self, access: MemoryAccess, place: Address, register: Reg) {
        let base = self.exact(place);
        if self.options.has_single_atomics {
            self.put(binary(atomic(encode::SWAP, access), x(register), x(base), x(register)));
            return;
        }
        self.exclusively(access, base, |_| register);
        self.move_register(register, X15);
    }

    fn atomic_add(&mut self, access: MemoryAccess, place: Address, register: Reg) {
        let base = self.exact(place);
        if self.options.has_single_atomics {
            self.put(binary(atomic(encode::LOAD_AND_ADD, access), x(register), x(base), x(register)));
            return;
        }
        self.exclusively(access, base, |this| {
            this.put(binary(encode::ADD | width(MachineType::I64), x(X14), x(X15), x(register)));
            X14
        });
        self.move_register(register, X15);
    }

    fn compare_exchange(&mut self, access: MemoryAccess, place: Address, new: Reg, unequal: Option<Label>) {
        let base = self.exact(place);
        let ty = register_type(access);
        let (expected, wanted) = (Self::EXPECTED, X14);
        // What is loaded has zeros above the access's width.
        match access {
            MemoryAccess::Narrow(Extension::S8 | Extension::Z8) => self.extend(Extension::Z8, wanted, expected),
            MemoryAccess::Narrow(_) => self.extend(Extension::Z16, wanted, expected),
            MemoryAccess::Whole(_) => self.move_register(wanted, expected),
        }
        let compare = binary(encode::SUBTRACT | SETS_FLAGS | width(ty), ZERO, x(expected), x(wanted));
        let (again, done) = (self.label(), self.label());
        if self.options.has_single_atomics {
            self.put(binary(atomic(encode::COMPARE_AND_SWAP, access), x(new), x(base), x(expected)));
            self.put(compare);
            self.jump_on(Condition::Equal, done);
        } else {
            let refused = self.label();
            self.bind(again);
            self.put(unary(atomic(encode::LOAD_EXCLUSIVE, access), x(expected), x(base)));
            self.put(compare);
            self.jump_on(Condition::NotEqual, refused);
            self.put(binary(atomic(encode::STORE_EXCLUSIVE, access), x(new), x(base), x(X16)));
            self.jump_on_zero(MachineType::I32, X16, false, again);
            self.jump(done);
            self.bind(refused);
            self.put(CLEAR_EXCLUSIVE);
        }
        self.put(BARRIER);
        if let Some(unequal) = unequal {
            self.jump(unequal);
        }
        self.bind(done);
    }

    fn fence(&mut self) {
        self.put(BARRIER);
    }
}
