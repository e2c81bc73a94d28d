//! newobj. ECMA-335 §III.4.21.

use super::call_sites::PlannedCall;
use super::emitter::Emitter;
use super::kinds::{ir_type, mem_type};
use super::next_step::{AfterCall, NextStep};
use super::stack::{Effect, StackEntry, Val};
use crate::ir::{CallTarget, IrType, LocalId, Op, Symbol};
use saki_abi::HelperId;
use saki_metadata::opcodes::Instruction;
use saki_types::method::MethodKind;
use saki_types::{LoadError, LoadErrorKind, LoadResult, Method, Ty, load_texts, universe};

/// The error of making an object of an abstract class.
pub(crate) fn abstract_class(ty: Ty) -> LoadError {
    let name = ty.full_name();
    if !load_texts::are_mono() {
        let message = "Instances of abstract classes cannot be created.";
        return LoadError::new(LoadErrorKind::InvalidOperation, message, name);
    }
    LoadError::new(LoadErrorKind::MemberAccess, format!("Cannot create an abstract class: {name}"), name)
}

impl Emitter<'_> {
    pub(super) fn new_object(&mut self, instruction: &Instruction<'static>) -> LoadResult<NextStep> {
        let token = self.operand_token(instruction)?;
        let (method, site_sig) = self.facts.resolve_method_call(self.s.image, token, &self.s.context)?;
        self.check_method(method)?;
        let sig = self.closed_sig(method)?;
        let owner = method.owner;
        if let MethodKind::Array(_) = method.kind {
            return self.new_multi_dim_array(method).map(|()| NextStep::Done);
        }
        if method.is_static() {
            return Err(LoadError::invalid_program(format!("newobj of {}, which is static", method.full_name())));
        }
        if owner.is_abstract() {
            return Err(abstract_class(owner));
        }
        if owner == universe().string() {
            return self.new_string(method).map(|()| NextStep::Done);
        }
        if owner.is_delegate() && sig.params.len() == 2 {
            return self.new_delegate(owner).map(|()| NextStep::Done);
        }
        if self.try_new_intrinsic(method)? {
            return Ok(NextStep::Done);
        }
        let mut args = self.pop_args(sig, false)?;
        if owner.is_value_type() {
            return self.new_value(method, args);
        }
        if owner.is_context_bound() {
            return self.new_activated(method, args, HelperId::NewContextBound);
        }
        if owner.may_be_redirected() {
            return self.new_activated(method, args, HelperId::NewMarshalByRef);
        }
        // The arguments are evaluated before the object exists; allocating it cannot change the storage to which they
        // refer.
        let object = self.b.inst(Op::NewObject(owner), IrType::Ref);
        self.has_calls = true;
        let entry = StackEntry::scalar(object, IrType::Ref).exact(owner).non_null();
        args.insert(0, entry);
        if !sig.is_vararg {
            return Ok(NextStep::call_then(method, args, AfterCall::Push(entry)));
        }
        self.s.stack.extend(args);
        self.call_vararg(method, site_sig.unwrap_or(sig), token, false)?;
        if self.b.current.is_some() {
            self.push(entry);
        }
        Ok(NextStep::Done)
    }

    /// `newobj` of a class whose new object may be a proxy: the call of the constructor tests for it.
    fn new_activated(
        &mut self,
        method: &'static Method,
        mut args: Vec<StackEntry>,
        helper: HelperId,
    ) -> LoadResult<NextStep> {
        self.spill(Effect::Memory)?;
        self.has_calls = true;
        let handle = self.b.symbol(Symbol::TypeHandle(method.owner));
        let object = self.b.helper(helper, vec![handle]);
        let entry = StackEntry::scalar(object, IrType::Ref).with_type(method.owner).non_null();
        args.insert(0, entry);
        Ok(NextStep::call_then(method, args, AfterCall::Push(entry)))
    }

    /// `newobj` of a value type: the constructor fills a temp.
    fn new_value(&mut self, method: &'static Method, mut args: Vec<StackEntry>) -> LoadResult<NextStep> {
        let owner = method.owner;
        let ir = ir_type(owner)?;
        let temp = self.b.temp(ir);
        self.b.expose(temp);
        let addr = self.b.addr_of(temp);
        match ir {
            IrType::Struct(ty) => self.b.effect(Op::InitStruct { addr, ty }),
            _ => {
                let zero = self.zero_of(ir);
                self.b.set(temp, zero);
            }
        }
        args.insert(0, StackEntry::scalar(addr, IrType::ByRef).non_null());
        Ok(NextStep::call_then(method, args, AfterCall::PushLocal(temp, owner)))
    }

    /// Pushes a value that its constructor has filled.
    pub(super) fn push_new_value(&mut self, temp: LocalId, owner: Ty) -> LoadResult<()> {
        let entry = match mem_type(owner)? {
            None => StackEntry::of_struct(Val::Temp(temp), owner),
            Some(mem) => {
                let value = self.b.get(temp);
                StackEntry::scalar(value, mem.loaded()).with_type(owner)
            }
        };
        self.push(entry);
        Ok(())
    }

    /// `newobj` of a string: strings have no constructors to run; the method CreateString with the same parameters
    /// makes the object.
    fn new_string(&mut self, constructor: &'static Method) -> LoadResult<()> {
        let sig = constructor.sig()?;
        let Some(create) = universe().string().find_method_sig(universe().profile().string_factory, &sig.params)?
        else {
            let name = constructor.full_name();
            return Err(LoadError::new(LoadErrorKind::MissingMethod, format!("no method for {name}"), name));
        };
        let mut args = self.pop_args(sig, false)?;
        if !create.is_static() {
            let null = self.b.inst(Op::Null, IrType::Ref);
            args.insert(0, StackEntry::scalar(null, IrType::Ref));
        }
        let create_sig = create.sig()?;
        let this = (!create.is_static()).then_some(IrType::Ref);
        let call =
            PlannedCall { target: CallTarget::Direct(create), this, params: &create_sig.params, ret: create_sig.ret };
        let result = self.emit_call(&call, &args)?;
        self.push_result(result.map(StackEntry::non_null));
        Ok(())
    }
}
