//! Exception filters: each is a function of its own that reaches the method's variables through the parent's frame.

use super::builder::FnBuilder;
use super::importer::Importer;
use super::scope::{Return, Scope};
use super::state::{Binding, Var};
use crate::ir::{CallSig, IrType, LocalKind, RegionId};
use saki_types::{LoadError, LoadResult};

impl Importer<'_> {
    /// Imports the filters of the method just imported, in clause order.
    pub(super) fn import_filters(&mut self) -> LoadResult<()> {
        let offsets: Vec<u32> = self.emit.s.exceptions.clauses.iter().filter_map(|c| c.filter_offset).collect();
        if offsets.is_empty() {
            return Ok(());
        }
        // One scope for all: making it takes time in proportion to the method's size.
        let mut scope = Scope::new(self.emit.method, self.emit.s.sig, self.emit.s.body.clone(), self.emit.facts)?;
        scope.ret = Return::Never;
        scope.args = self.emit.s.args.iter().map(as_parent).collect::<LoadResult<_>>()?;
        scope.locals = self.emit.s.locals.iter().map(as_parent).collect::<LoadResult<_>>()?;
        for (index, offset) in offsets.into_iter().enumerate() {
            scope = self.import_filter(index, offset, scope)?;
            scope.begin_next_filter();
        }
        scope.recycle();
        Ok(())
    }

    /// Imports a filter with this scope, and returns the scope.
    fn import_filter(&mut self, index: usize, offset: u32, scope: Box<Scope>) -> LoadResult<Box<Scope>> {
        let sig = CallSig { params: vec![IrType::I64, IrType::Ref], ret: Some(IrType::I32), has_this: false };
        let name = format!("{} filter {index}", self.emit.b.f.title());
        let filter = FnBuilder::new(Some(self.emit.method), name.into(), sig, true);
        let parent = std::mem::replace(&mut self.emit.b, filter);
        self.emit.parent = Some(Box::new(parent));
        let scope_of_method = std::mem::replace(&mut self.emit.s, scope);
        let narrow_locals = std::mem::take(&mut self.emit.known.narrow_locals);
        let narrow_calls = std::mem::take(&mut self.emit.known.narrow_calls);
        let free_temps = std::mem::take(&mut self.emit.temps.free);
        self.emit.temps.of_arguments.clear();
        let outer_widened = std::mem::take(&mut self.emit.widened_joins);

        self.emit.known.forget_block();
        let entry = self.emit.b.block(None::<RegionId>);
        self.emit.b.current = Some(entry);
        self.emit.b.local(IrType::I64, LocalKind::Param(0));
        let exception = self.emit.b.local(IrType::Ref, LocalKind::Param(1));
        self.emit.push_exception(exception);
        let result = self.import_from(offset);
        self.emit.widen_joins();

        self.emit.known.forget_block();
        self.emit.widened_joins = outer_widened;
        self.emit.temps.free = free_temps;
        self.emit.known.narrow_calls = narrow_calls;
        self.emit.known.narrow_locals = narrow_locals;
        let scope = std::mem::replace(&mut self.emit.s, scope_of_method);
        let parent = self.emit.parent.take().expect("set above");
        let filter = std::mem::replace(&mut self.emit.b, *parent);
        result?;
        self.emit.b.f.filters.push(*filter.f);
        Ok(scope)
    }
}

fn as_parent(var: &Var) -> LoadResult<Var> {
    match var.binding {
        Binding::Local(local) => Ok(Var { binding: Binding::Parent(local), ..*var }),
        _ => Err(LoadError::invalid_program("a filter in an inlined body")),
    }
}
