//! Making delegates: `ldftn`/`ldvirtftn` and `newobj`. ECMA-335 §II.14.6.1.

use super::Importer;
use super::stack::{Entry, Note};
use crate::ir::{IrType, Op, Symbol};
use saki_abi::HelperId;
use saki_types::{LoadResult, Ty};

impl Importer<'_> {
    pub(super) fn new_delegate(&mut self, ty: Ty) -> LoadResult<()> {
        let function = self.pop()?;
        let target = self.pop_value()?;
        let mut code = self.value(&function)?;
        code = self.fit(code, IrType::I64);
        let method = match function.note {
            Note::Function(method) => {
                // A delegate calls with the boxed object; the method wants the value's address.
                if !method.is_static() && method.owner.is_value_type() {
                    code = self.b.symbol(Symbol::UnboxEntry(method));
                }
                self.b.symbol(Symbol::MethodHandle(method))
            }
            // The runtime finds the method by its code address.
            _ => self.b.i64(0),
        };
        self.has_calls = true;
        let delegate = self.b.inst(Op::NewObject(ty), IrType::Ref);
        self.b.helper(HelperId::DelegateInit, vec![delegate, target, code, method]);
        self.push(Entry::scalar(delegate, IrType::Ref).exact(ty).non_null());
        Ok(())
    }
}
