//! What calls pass.

use super::plan::Value;
use saki_code::masm::MachineType;
use saki_il::ir::Symbol;

/// What is passed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    Value(Value),
    /// The sum of a value and a constant.
    Displaced(Value, i32),
    /// An I32 as I64, extended by its sign or by zeros.
    Widened(Value, bool),
    /// The address of a place in the frame.
    Frame(i32),
    /// What is in a slot of the frame, of this type.
    Slot(i32, MachineType),
    Symbol(Symbol),
    Constant(i64),
    Thread,
    /// The address of a place in the thread.
    ThreadPlace(i32),
}

/// An argument, and the type in which it is passed.
pub(super) type Passing = (Argument, MachineType);

impl Argument {
    pub(super) fn value(self) -> Option<Value> {
        match self {
            Argument::Value(value) | Argument::Displaced(value, _) | Argument::Widened(value, _) => Some(value),
            _ => None,
        }
    }
}
