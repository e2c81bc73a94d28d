//! x86-64: atomic operations. Locked instructions, and `xchg` with memory, are full barriers (Intel SDM vol. 3, §9.2).

use super::masm::{Assembler, Condition, Hardware, gpr, memory};
use super::registers::RAX;
use crate::masm::{Address, AtomicAssembler, Extension, Label, MachineType, MacroAssembler, MemoryAccess, Reg};
use cranelift_assembler_x64::inst;

/// Appends an instruction in the form for the access's width.
macro_rules! emit_by_width {
    ($self:ident, $access:expr, $b8:ident | $b16:ident | $b32:ident | $b64:ident ($($operand:expr),*)) => {
        match $access {
            MemoryAccess::Narrow(Extension::S8 | Extension::Z8) => {
                inst::$b8::<Hardware>::new($($operand),*).encode(&mut $self.code);
            }
            MemoryAccess::Narrow(Extension::S16 | Extension::Z16) => {
                inst::$b16::<Hardware>::new($($operand),*).encode(&mut $self.code);
            }
            MemoryAccess::Whole(MachineType::I32) => inst::$b32::<Hardware>::new($($operand),*).encode(&mut $self.code),
            MemoryAccess::Whole(MachineType::I64) => inst::$b64::<Hardware>::new($($operand),*).encode(&mut $self.code),
            MemoryAccess::Whole(ty) => saki_base::bug!("an atomic operation of {ty:?}"),
        }
    };
}

impl<T: Copy> AtomicAssembler for Assembler<T> {
    const EXPECTED: Reg = RAX;
    const LOADS_IN_ORDER: bool = true;

    /// All loads are.
    fn load_acquire(&mut self, access: MemoryAccess, register: Reg, from: Address) {
        self.load(access, register, from);
    }

    /// All stores are.
    fn store_release(&mut self, access: MemoryAccess, to: Address, register: Reg) {
        self.store(access, to, register);
    }

    /// Stores are done in order.
    fn publish(&mut self) {}

    fn atomic_exchange(&mut self, access: MemoryAccess, place: Address, register: Reg) {
        let (register, place) = (gpr(register), memory(place));
        emit_by_width!(self, access, xchgb_rm | xchgw_rm | xchgl_rm | xchgq_rm(register, place));
    }

    fn atomic_add(&mut self, access: MemoryAccess, place: Address, register: Reg) {
        let (register, place) = (gpr(register), memory(place));
        emit_by_width!(self, access, lock_xaddb_mr | lock_xaddw_mr | lock_xaddl_mr | lock_xaddq_mr(place, register));
    }

    fn compare_exchange(&mut self, access: MemoryAccess, place: Address, new: Reg, unequal: Option<Label>) {
        let (new, place, expected) = (gpr(new), memory(place), gpr(RAX));
        emit_by_width!(
            self,
            access,
            lock_cmpxchgb_mr | lock_cmpxchgw_mr | lock_cmpxchgl_mr | lock_cmpxchgq_mr(place, new, expected)
        );
        if let Some(unequal) = unequal {
            self.jump_on(Condition::NotEqual, unequal);
        }
    }

    fn fence(&mut self) {
        inst::mfence_zo::new().encode(&mut self.code);
    }
}
