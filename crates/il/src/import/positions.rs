//! The position that instructions have in stack traces, and probes at statements.

use super::emitter::Emitter;
use crate::ir::{Symbol, position};
use saki_abi::HelperId;
use saki_metadata::opcodes::{Instruction, Opcode, Operand, decode_at};
use saki_types::universe;

impl Emitter<'_> {
    /// Code that tells that the statement at this offset begins, if one does and it is wanted.
    pub(super) fn cover_statement(&mut self, offset: u32) {
        if self.statements.is_empty() || self.s.is_inlined || self.statements.binary_search(&offset).is_err() {
            return;
        }
        self.has_calls = true;
        let method = self.b.symbol(Symbol::MethodHandle(self.method));
        let offset = self.b.i32(offset as i32);
        self.b.helper(HelperId::CoverStatement, vec![method, offset]);
    }

    /// Code that tells that this finally clause is entered without an exception, if that is wanted.
    pub(super) fn tell_clause(&mut self, index: u32) {
        if !self.s.is_inlined && self.facts.0.are_clauses_told() {
            self.has_calls = true;
            let method = self.b.symbol(Symbol::MethodHandle(self.method));
            let clause = self.b.i32(!(index as i32));
            self.b.helper(HelperId::CoverStatement, vec![method, clause]);
        }
    }

    /// Whether Mono's traces show the position after this instruction: calls, and `newobj`. Not so for `newobj` of an
    /// exception of the core library from strings only, if `throw` follows at once.
    pub(super) fn is_positioned_call(&self, instruction: &Instruction<'static>) -> bool {
        match (instruction.opcode, instruction.operand) {
            (Opcode::Call | Opcode::Callvirt | Opcode::Calli, _) => true,
            (Opcode::Newobj, Operand::Token(token)) => {
                let throws = decode_at(self.s.body.code, instruction.next_offset)
                    .next()
                    .is_some_and(|next| next.is_ok_and(|next| next.opcode == Opcode::Throw));
                let is_plain = || {
                    let ctor = self.facts.resolve_method(self.s.image, token, &self.s.context).ok()?;
                    let params = &ctor.sig().ok()?.params;
                    let all_texts = params.len() <= 2 && params.iter().all(|&p| p == universe().string());
                    Some(ctor.owner.image().is_corlib && all_texts)
                };
                !(throws && is_plain().unwrap_or(false))
            }
            _ => false,
        }
    }

    /// Gives the instructions that follow the position of this CIL offset.
    pub(super) fn set_il_offset(&mut self, offset: u32) {
        if !self.s.is_inlined {
            self.b.il_offset = position::pack(0, offset);
        } else if self.s.inline_site != 0 {
            self.b.il_offset = position::pack(self.s.inline_site, offset);
        }
    }
}
