//! The outermost method: its parameters and locals, class constructor check, lock of synchronized methods, safepoint.

use super::builder::plain;
use super::class_init::needs_check_at_entry;
use super::emitter::Emitter;
use super::intrinsic_table::constant_fact;
use super::kinds::has_references;
use super::scope::Return;
use super::state::{Binding, Var};
use crate::ir::{
    AliasClass, CallSig, Clause, ClauseKind, Inst, IrType, LocalId, LocalKind, MemType, Op, Region, RegionId, Symbol,
    Terminator, ValueId,
};
use saki_metadata::EhKind;
use saki_types::method::impl_flags;
use saki_types::{LibraryType, LoadError, LoadResult, Method, Ty};

/// The signature of a method's code: vararg methods get the argument block as last parameter.
pub(super) fn own_signature(method: &'static Method, mut sig: CallSig) -> CallSig {
    if method.sig().is_ok_and(|s| s.is_vararg) {
        sig.params.push(IrType::ByRef);
    }
    sig
}

/// Methods that use data which lives only as long as `this`, after their last use of `this`. `DynamicMethod.Invoke`
/// passes its handle to a RuntimeMethodInfo, which has no reference back.
pub(super) fn keeps_this(method: &Method) -> bool {
    !method.is_static() && method.owner.is(LibraryType::DynamicMethod)
}

/// Limit of the elements for which vectors are reserved in advance.
const MAX_RESERVED: usize = 64;

impl Emitter<'_> {
    /// Emits what comes before the body, and gives the IL offset at which that begins. None: the method is complete,
    /// since its result is known.
    pub(super) fn begin_method(&mut self) -> LoadResult<Option<u32>> {
        self.reserve();
        let entry = self.b.block(None);
        self.b.current = Some(entry);
        self.b.f.blocks[0].insts.reserve(self.s.body.code.len().min(MAX_RESERVED));
        self.make_parameters()?;
        self.make_locals()?;
        if keeps_this(self.method) {
            self.keep_this();
        }
        if needs_check_at_entry(self.method) {
            let owner = self.method.owner;
            self.class_init(owner)?;
            self.known.initialised_at_entry.push(owner);
        }
        if self.method.impl_flags & impl_flags::SYNCHRONIZED != 0 {
            if self.method.owner.is_value_type() && !self.method.is_static() {
                // A value has no lock, so synchronized methods of value types are refused.
                let message = format!("Could not load type '{}' from assembly ''.", self.method.owner.full_name());
                return Err(LoadError::type_load(message, self.method.owner.full_name()));
            }
            self.enter_lock()?;
        }
        if let Some(number) = constant_fact(self.options, self.method)? {
            let number = self.b.i32(number);
            self.b.terminate(Terminator::Ret(Some(number)));
            return Ok(None);
        }
        self.set_up_exceptions()?;
        self.ask_library_loop()?;
        Ok(Some(0))
    }

    /// Completes the method whose body and filters have been imported.
    pub(super) fn end_method(&mut self) {
        self.widen_joins();
        if self.b.f.is_continuation {
            // No safepoint at the entry, which lies outside the regions that protect the loop: an abort would not find
            // the loop's handlers.
            return;
        }
        if self.options.emit_polls && (self.has_calls || self.has_loops) {
            let poll = ValueId(self.b.f.insts.len() as u32);
            self.b.f.insts.push(Inst { op: Op::Poll, ty: IrType::Void, il_offset: 0 });
            self.b.f.blocks[0].insts.insert(0, poll);
        }
        if self.options.count {
            self.count_calls();
        }
    }

    /// Reserves room for a small body, so that its vectors need not grow step by step.
    pub(super) fn reserve(&mut self) {
        let code_len = self.s.body.code.len().min(MAX_RESERVED);
        self.b.f.insts.reserve(2 * code_len);
        self.b.f.locals.reserve((self.s.arg_count() + self.s.local_sigs.len()).min(MAX_RESERVED) + 2);
        self.s.stack.reserve(usize::from(self.s.body.max_stack).min(MAX_RESERVED));
        self.s.args.reserve_exact(self.s.arg_count());
        self.s.locals.reserve_exact(self.s.local_sigs.len());
    }

    fn make_parameters(&mut self) -> LoadResult<()> {
        let has_filter = self.s.body.eh_clauses.iter().any(|c| c.kind == EhKind::Filter);
        for index in 0..self.s.arg_count() {
            let ty = self.s.arg_type(index)?;
            let usage = self.s.scan.args[index];
            let mut local = self.variable(ty, LocalKind::Param(index as u32), usage.address_taken)?;
            if let (IrType::Struct(struct_ty), true) = (self.b.local_type(local), has_filter) {
                // A filter reaches variables through the parent's frame, but a struct parameter is elsewhere, so it is
                // copied.
                let copy = self.variable(ty, LocalKind::Normal, usage.address_taken)?;
                let (dst, src) = (self.b.addr_of(copy), self.b.addr_of(local));
                self.b.effect(Op::CopyStruct {
                    dst,
                    src,
                    ty: struct_ty,
                    barrier: false,
                    flags: plain(AliasClass::Any),
                });
                local = copy;
            }
            self.add_argument(local, ty);
        }
        if self.b.f.sig.params.len() > self.s.arg_count() {
            let index = self.s.arg_count() as u32;
            self.arg_block = Some(self.b.local(IrType::ByRef, LocalKind::Param(index)));
        }
        Ok(())
    }

    /// The next argument of the body is in this local.
    pub(super) fn add_argument(&mut self, local: LocalId, ty: Ty) {
        let index = self.s.args.len();
        let usage = self.s.scan.args[index];
        let is_this = index == 0
            && !self.method.is_static()
            && ty.is_reference_type()
            && !usage.is_written
            && !usage.address_taken;
        self.s.args.push(Var { binding: Binding::Local(local), ty, is_this, is_exact: false });
    }

    fn make_locals(&mut self) -> LoadResult<()> {
        for index in 0..self.s.local_sigs.len() {
            let sig = self.s.local_sigs[index];
            let usage = self.s.scan.locals[index];
            let local = self.variable(sig.ty, LocalKind::Normal, usage.address_taken)?;
            let zero_init = !usage.set_first && (self.s.body.init_locals || has_references(sig.ty)?);
            let slot = &mut self.b.f.locals[local.0 as usize];
            slot.zero_init = zero_init;
            slot.pinned = sig.pinned;
            self.s.locals.push(Var { binding: Binding::Local(local), ty: sig.ty, is_this: false, is_exact: false });
        }
        Ok(())
    }

    /// Stores `this` in the frame, where collections see it until the method returns.
    pub(super) fn keep_this(&mut self) {
        let Binding::Local(this) = self.s.args[0].binding else { unreachable!("parameters are locals") };
        let kept = self.b.temp(IrType::Ref);
        self.b.f.locals[kept.0 as usize].address_exposed = true;
        let object = self.b.get(this);
        self.b.set(kept, object);
    }

    /// Takes the lock of a synchronized method and makes the region that releases it. ECMA-335 §II.23.1.11.
    fn enter_lock(&mut self) -> LoadResult<()> {
        let lock = self.b.temp(IrType::Ref);
        let object = if self.method.is_static() {
            let cell = self.b.symbol(Symbol::TypeObject(self.method.owner));
            self.b.load(cell, 0, MemType::Ref, plain(AliasClass::Runtime))
        } else {
            let Binding::Local(this) = self.s.args[0].binding else { unreachable!("parameters are locals") };
            self.b.get(this)
        };
        self.b.set(lock, object);
        self.b.effect(Op::MonitorEnter(object));

        let exception = self.b.temp(IrType::Ref);
        let handler = self.b.block(None);
        let clause = self.b.f.clauses.len() as u32;
        self.b.f.clauses.push(Clause { kind: ClauseKind::Fault, handler, exception_local: exception });
        let region = RegionId(self.b.f.regions.len() as u32);
        self.b.f.regions.push(Region { parent: None, clauses: vec![clause] });
        self.s.base_region = Some(region);

        let entry = self.b.current.replace(handler);
        let object = self.b.get(lock);
        self.b.effect(Op::MonitorExit(object));
        self.b.mark_cold();
        self.b.terminate(Terminator::ResumeUnwind { clause });

        let exit = self.b.block(None);
        self.b.current = Some(exit);
        let object = self.b.get(lock);
        self.b.effect(Op::MonitorExit(object));
        let ret = self.b.f.sig.ret;
        let result = ret.map(|ty| self.b.temp(ty));
        let value = result.map(|local| match ret {
            Some(IrType::Struct(_)) => self.b.addr_of(local),
            _ => self.b.get(local),
        });
        self.b.terminate(Terminator::Ret(value));
        self.b.current = entry;
        self.s.ret = Return::Exit { block: exit, result };
        self.has_calls = true;
        Ok(())
    }
}
