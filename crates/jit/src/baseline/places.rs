//! Where arguments are when a callee begins.

use super::types::{passed_type, returns_struct, slot_bytes};
use crate::signatures::struct_result_index;
use saki_abi::native::ArgumentRegisters;
use saki_code::masm::{MachineType, MacroAssembler, Reg};
use saki_il::ir::{CallSig, Function};

/// Where an argument is when the callee begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Register(Reg),
    /// Bytes from the first argument in memory.
    Stack(i32),
}

/// By whose rules arguments are passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Convention {
    #[default]
    Managed,
    Native,
}

/// Hands out places, in the order of the arguments.
#[derive(Default)]
pub(super) struct Places {
    convention: Convention,
    integers: usize,
    floats: usize,
    stack_bytes: i32,
}

impl Places {
    pub(super) fn new(convention: Convention) -> Places {
        Places { convention, ..Places::default() }
    }

    /// No later argument gets a register beyond these, of which a struct has not got enough.
    pub(super) fn leave<M: MacroAssembler>(&mut self, left: &ArgumentRegisters) {
        if left.integer == 0 {
            self.integers = M::NATIVE_ARGUMENTS.len();
        }
        if left.float == 0 {
            self.floats = M::FLOAT_ARGUMENTS.len();
        }
    }

    pub(super) fn next<M: MacroAssembler>(&mut self, ty: MachineType) -> Place {
        let (registers, used) = match (ty.is_float(), self.convention) {
            (true, _) => (M::FLOAT_ARGUMENTS, &mut self.floats),
            (false, Convention::Managed) => (M::ARGUMENTS, &mut self.integers),
            (false, Convention::Native) => (M::NATIVE_ARGUMENTS, &mut self.integers),
        };
        match registers.get(*used) {
            Some(&register) => {
                *used += 1;
                Place::Register(register)
            }
            None => {
                let bytes = slot_bytes(ty) as i32;
                Place::Stack(self.stack(bytes, bytes))
            }
        }
    }

    /// The offset of so many bytes in memory.
    pub(super) fn stack(&mut self, bytes: i32, align_bytes: i32) -> i32 {
        let offset = (self.stack_bytes + align_bytes - 1) & -align_bytes;
        self.stack_bytes = offset + bytes;
        offset
    }

    pub(super) fn stack_bytes(&self) -> u32 {
        (self.stack_bytes as u32).next_multiple_of(16)
    }
}

/// Where a managed function finds what it was called with.
pub(super) struct Passed {
    pub params: Vec<Place>,
    /// The address for a struct result.
    pub struct_result: Option<Place>,
    /// Bytes of the arguments in memory.
    pub stack_bytes: u32,
}

impl Passed {
    /// None if a parameter has no machine type.
    pub(super) fn new<M: MacroAssembler>(sig: &CallSig, has_this: bool) -> Option<Passed> {
        let mut places = Places::default();
        let mut params = Vec::with_capacity(sig.params.len());
        let result_index = returns_struct(sig).then(|| struct_result_index(sig, has_this));
        let mut struct_result = None;
        for (index, &param) in sig.params.iter().enumerate() {
            if result_index == Some(index) {
                struct_result = Some(places.next::<M>(MachineType::I64));
            }
            params.push(places.next::<M>(passed_type(param)?));
        }
        if result_index.is_some() && struct_result.is_none() {
            struct_result = Some(places.next::<M>(MachineType::I64));
        }
        Some(Passed { params, struct_result, stack_bytes: places.stack_bytes() })
    }
}

/// The prologue does not touch the pages by which it lowers the frame, so it stays within the guard page.
const MAX_LOWERED_BYTES: u32 = 2048;

/// Bytes that the arguments in memory of a tail call need beyond those of the function itself; 0 if they are too many.
pub(super) fn missing_bytes<M: MacroAssembler>(func: &Function, sig: &CallSig) -> u32 {
    // Where the address for a struct result stands among the arguments is without effect on their size.
    let bytes = |sig| Passed::new::<M>(sig, false).map_or(0, |passed| passed.stack_bytes);
    let missing = bytes(sig).saturating_sub(bytes(&func.sig));
    if missing > MAX_LOWERED_BYTES { 0 } else { missing }
}
