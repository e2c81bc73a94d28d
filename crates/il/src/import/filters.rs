//! Exception filters: each is a function of its own that reaches the method's variables through the parent's frame.

use super::builder::FnBuilder;
use super::importer::Importer;
use super::scope::{Return, Scope};
use super::state::{Binding, Var};
use crate::ir::{CallSig, IrType, LocalKind, RegionId, Terminator};
use saki_types::{LoadError, LoadResult};

impl Importer<'_> {
    /// Imports the filters of the method just imported, in clause order.
    pub(super) fn import_filters(&mut self) -> LoadResult<()> {
        let offsets: Vec<u32> = self.s.exceptions.clauses.iter().filter_map(|c| c.filter_offset).collect();
        for (index, offset) in offsets.into_iter().enumerate() {
            self.import_filter(index, offset)?;
        }
        Ok(())
    }

    fn import_filter(&mut self, index: usize, offset: u32) -> LoadResult<()> {
        let sig = CallSig { params: vec![IrType::I64, IrType::Ref], ret: Some(IrType::I32), has_this: false };
        let name = format!("{} filter {index}", self.b.f.name);
        let filter = FnBuilder::new(Some(self.method), name.into(), sig, true);
        let parent = std::mem::replace(&mut self.b, filter);
        self.parent = Some(Box::new(parent));
        let mut scope = Scope::new(self.method, self.s.sig, self.s.body.clone(), self.facts)?;
        scope.ret = Return::Never;
        scope.args = self.s.args.iter().map(as_parent).collect::<LoadResult<_>>()?;
        scope.locals = self.s.locals.iter().map(as_parent).collect::<LoadResult<_>>()?;
        let scope_of_method = std::mem::replace(&mut self.s, scope);
        let narrow_locals = std::mem::take(&mut self.narrow_locals);
        let narrow_calls = std::mem::take(&mut self.narrow_calls);
        let free_temps = std::mem::take(&mut self.free_temps);
        self.argument_temps.clear();
        let outer_widened = std::mem::take(&mut self.widened_joins);

        self.forget_block_facts();
        let entry = self.b.block(None::<RegionId>);
        self.b.current = Some(entry);
        self.b.local(IrType::I64, LocalKind::Param(0));
        let exception = self.b.local(IrType::Ref, LocalKind::Param(1));
        self.push_exception(exception);
        let result = self.import_from(offset);
        self.widen_joins();

        self.forget_block_facts();
        self.widened_joins = outer_widened;
        self.free_temps = free_temps;
        self.narrow_calls = narrow_calls;
        self.narrow_locals = narrow_locals;
        self.s = scope_of_method;
        let parent = self.parent.take().expect("set above");
        let filter = std::mem::replace(&mut self.b, *parent);
        result?;
        self.b.f.filters.push(*filter.f);
        Ok(())
    }

    pub(super) fn end_filter(&mut self) -> LoadResult<()> {
        if self.parent.is_none() {
            return Err(LoadError::invalid_program("endfilter outside a filter"));
        }
        let value = self.pop_word()?;
        let value = self.fit(value, IrType::I32);
        self.b.terminate(Terminator::EndFilter(value));
        Ok(())
    }
}

fn as_parent(var: &Var) -> LoadResult<Var> {
    match var.binding {
        Binding::Local(local) => Ok(Var { binding: Binding::Parent(local), ..*var }),
        _ => Err(LoadError::invalid_program("a filter in an inlined body")),
    }
}
