//! What the operand of an instruction names, and whether the body may use it.

use super::emitter::Emitter;
use saki_metadata::Token;
use saki_metadata::opcodes::{Instruction, Operand, decode_at};
use saki_types::member_texts::method_in_messages;
use saki_types::{LoadError, LoadErrorKind, LoadResult, Method, Ty, load_texts};

impl Emitter<'_> {
    pub(super) fn operand_token(&self, instruction: &Instruction<'static>) -> LoadResult<Token> {
        match instruction.operand {
            Operand::Token(token) => Ok(token),
            _ => Err(LoadError::invalid_program(format!("{} without a token", instruction.opcode.name()))),
        }
    }

    pub(super) fn operand_type(&self, instruction: &Instruction<'static>) -> LoadResult<Ty> {
        let ty = self.facts.resolve_type(self.s.image, self.operand_token(instruction)?, &self.s.context)?;
        if ty.is_open {
            let name = ty.full_name();
            return Err(LoadError::type_load(format!("{name} has unassigned generic parameters"), name));
        }
        Self::require_loadable(ty)?;
        Ok(ty)
    }

    /// Checks that a type named by an instruction loads completely: its interfaces are implemented, its generic
    /// arguments allowed.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub(super) fn require_loadable(ty: Ty) -> LoadResult<()> {
        if let Some(element) = ty.element() {
            if ty.is_array() {
                Self::require_elements(element)?;
            }
            return Self::require_loadable(element);
        }
        let Some(def) = ty.def().filter(|def| !def.image.is_corlib) else { return Ok(()) };
        if ty.is_open && !matches!(ty.kind, saki_types::TypeKind::Def(_)) {
            return Ok(());
        }
        if !ty.mentions_stand_in() {
            ty.vtable_layout()?;
            if !ty.is_open && !ty.is_interface() {
                ty.instance_layout()?;
            }
        }
        if let Some(param) = ty.refused_byref_like_argument()? {
            let message = format!("{} cannot have a by-reference-like argument for {}", def.name, param.name);
            return Err(LoadError::type_load(message, ty.full_name()));
        }
        Ok(())
    }

    /// Checks that an array may have elements of this type.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub(super) fn require_elements(element: Ty) -> LoadResult<()> {
        if element.is_byref() || element.is_byref_like()? {
            let name = element.full_name();
            return Err(LoadError::type_load(format!("Could not create array type '{name}[]'"), name));
        }
        Ok(())
    }

    /// Checks access to a method that an instruction of this body names.
    ///
    /// # Errors
    /// `MethodAccess` when this body may not access it; load errors.
    pub(super) fn check_method(&self, method: &'static Method) -> LoadResult<()> {
        Self::require_loadable(method.owner)?;
        if let Some(param) = method.refused_byref_like_argument()? {
            let name = method.full_name();
            let message = format!("{name} cannot have a by-reference-like argument for {}", param.name);
            return Err(LoadError::new(LoadErrorKind::Verification, message, name));
        }
        if saki_types::access::can_call(self.s.method, method)? {
            return Ok(());
        }
        let name = method.reflection_name();
        let message = match load_texts::are_mono() {
            true => format!("Method `{name}' is inaccessible from method `{}'", self.s.method.reflection_name()),
            false => {
                let (from, to) = (method_in_messages(self.s.method), method_in_messages(method));
                format!("Attempt by method '{from}' to access method '{to}' failed.")
            }
        };
        Err(LoadError::new(LoadErrorKind::MethodAccess, message, name))
    }

    /// The instruction after the current one, if it is in the same block.
    pub(super) fn peek(&self, offset: u32) -> Option<Instruction<'static>> {
        if self.s.scan.is_leader(offset) {
            return None;
        }
        decode_at(self.s.body.code, offset).next()?.ok()
    }
}
