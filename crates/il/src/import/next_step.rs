//! What is left to do of an instruction when its family has emitted its part.
//!
//! The families of instructions know nothing of inlining, and none calls the loop that imports bodies (`blocks`): they
//! return what comes next, and the loop does it.

use super::stack::StackEntry;
use crate::ir::LocalId;
use saki_types::{Method, Ty};

pub(super) enum NextStep {
    Done,
    /// The instruction was a prefix, which applies to the next one.
    Prefixed,
    Call(Box<DirectCall>),
    Guarded(Box<GuardedCall>),
}

impl NextStep {
    /// A call of this method whose result, if it has one, is pushed.
    pub fn call(method: &'static Method, args: Vec<StackEntry>) -> NextStep {
        NextStep::call_then(method, args, AfterCall::Nothing)
    }

    /// A call of this method that `after` follows.
    pub fn call_then(method: &'static Method, args: Vec<StackEntry>, after: AfterCall) -> NextStep {
        NextStep::Call(Box::new(DirectCall { method, args, after }))
    }
}

/// A call of exactly this method; `this`, the first argument, has been null-checked where needed.
pub(super) struct DirectCall {
    pub method: &'static Method,
    pub args: Vec<StackEntry>,
    /// Done if the call returns.
    pub after: AfterCall,
}

/// A virtual call, or one of a delegate, which nearly always runs the same method, or one of two.
pub(super) struct GuardedCall {
    pub method: &'static Method,
    pub args: Vec<StackEntry>,
    /// What it nearly always is: one of these, the first one first.
    pub guesses: Vec<Guess>,
    /// Whether the first guess certainly holds, so that nothing is tested.
    pub is_certain: bool,
}

/// What a guarded call tests before it calls a method directly.
#[derive(Clone, Copy)]
pub(super) enum Guess {
    /// The object's class is this one.
    Receiver(Ty),
    /// The delegate calls this method, and no other one.
    Delegate(&'static Method),
    /// No class overrides this method, which the receiver's static type has.
    NotOverridden(&'static Method),
}

pub(super) enum AfterCall {
    Nothing,
    /// The object that a constructor has filled.
    Push(StackEntry),
    /// The value of this type that a constructor has filled.
    PushLocal(LocalId, Ty),
}
