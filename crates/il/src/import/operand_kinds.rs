//! Which kinds of values an instruction or a location takes. ECMA-335 §III.1.1, §III.1.6, §III.1.8.1.2.3.
//!
//! CIL is not verified, and pointers may be forged. But a number in place of an object reference has no meaning in CIL:
//! such a method is `InvalidProgram`, as under Mono, and so is one that uses a struct where a struct of another layout
//! is expected. With these checks the kinds in the IR are right for any body, which the code generator relies on. Left
//! out: the classes of references.

use super::emitter::Emitter;
use super::kinds::ir_type;
use super::state::{StackEntry, Val};
use crate::ir::{IrType, ValueId};
use saki_types::{LoadError, LoadResult, MethodSig, Ty};

/// Whether a value of kind `from` may be used where one of kind `to` is expected.
fn is_accepted(from: IrType, to: IrType) -> bool {
    use IrType as I;
    match to {
        I::Ref => from == I::Ref,
        // C++ compilers use references as managed pointers, to access the contents of objects.
        I::ByRef => matches!(from, I::ByRef | I::I64 | I::Ref),
        I::I32 => matches!(from, I::I32 | I::I64 | I::ByRef),
        // Pointers and references may be used as numbers.
        I::I64 => matches!(from, I::I32 | I::I64 | I::ByRef | I::Ref),
        I::F32 | I::F64 => matches!(from, I::F32 | I::F64),
        I::Struct(ty) => matches!(from, I::Struct(other) if other == ty || have_one_layout(other, ty)),
        I::Void | I::V128 | I::Block(_) => false,
    }
}

/// Whether two value types have the same size and reference map, as instantiations of one generic type often have.
fn have_one_layout(a: Ty, b: Ty) -> bool {
    let shape = |ty: Ty| Some((ty.value_size_bytes().ok()?, ty.ref_offsets().ok()?));
    shape(a).is_some_and(|shape_of_a| shape(b) == Some(shape_of_a))
}

fn wrong_kind(from: IrType, to: IrType) -> LoadError {
    LoadError::invalid_program(format!("{from} is on the stack where {to} is wanted"))
}

/// Checks that the entry may be used where a value of kind `to` is expected.
///
/// # Errors
/// `InvalidProgram`.
pub(super) fn require_kind(entry: &StackEntry, to: IrType) -> LoadResult<()> {
    // A handle is a struct of one word; the importer itself passes it on as that word.
    let is_word = matches!(entry.val, Val::Handle(_)) && to == IrType::I64;
    if is_word || is_accepted(entry.ir, to) { Ok(()) } else { Err(wrong_kind(entry.ir, to)) }
}

/// Checks that the entry is an object reference.
///
/// # Errors
/// `InvalidProgram`.
pub(super) fn require_reference(entry: &StackEntry) -> LoadResult<()> {
    require_kind(entry, IrType::Ref)
}

/// Checks that the entry may be `this` of a call: an object or an address.
///
/// # Errors
/// `InvalidProgram`.
pub(super) fn require_this(entry: &StackEntry) -> LoadResult<()> {
    match entry.ir {
        IrType::Ref | IrType::ByRef | IrType::I64 | IrType::Struct(_) => Ok(()),
        other => Err(wrong_kind(other, IrType::Ref)),
    }
}

impl Emitter<'_> {
    /// Pops an object reference.
    pub(super) fn pop_reference(&mut self) -> LoadResult<(StackEntry, ValueId)> {
        let entry = self.pop()?;
        require_reference(&entry)?;
        let value = self.value(&entry)?;
        Ok((entry, value))
    }

    /// Pops an array length or index: an int32 or native int, not converted.
    pub(super) fn pop_int(&mut self) -> LoadResult<ValueId> {
        let value = self.pop_value()?;
        match self.b.ty(value) {
            IrType::I32 | IrType::I64 => Ok(value),
            other => Err(wrong_kind(other, IrType::I32)),
        }
    }

    /// Pops anything but floats and structs.
    pub(super) fn pop_word(&mut self) -> LoadResult<ValueId> {
        let value = self.pop_value()?;
        match self.b.ty(value) {
            IrType::I32 | IrType::I64 | IrType::ByRef | IrType::Ref => Ok(value),
            other => Err(wrong_kind(other, IrType::I64)),
        }
    }

    /// Checks the arguments of a call, `this` first if there is one.
    pub(super) fn require_arguments(sig: &MethodSig, has_this: bool, args: &[StackEntry]) -> LoadResult<()> {
        let mut args = args.iter();
        if has_this && let Some(this) = args.next() {
            require_this(this)?;
        }
        args.zip(&sig.params).try_for_each(|(arg, ty)| require_kind(arg, ir_type(ty)?))
    }

    /// Pops as native int.
    pub(super) fn pop_native(&mut self) -> LoadResult<ValueId> {
        let value = self.pop_word()?;
        Ok(self.fit(value, IrType::I64))
    }
}
