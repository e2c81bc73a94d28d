//! Stubs for objects that may be transparent proxies: instances of MarshalByRefObject's subclasses, whose callers
//! cannot tell whether the object is here or in another domain.
//!
//! A stub is a `Method` of kind `Remoting`, interned in the universe of the type that it is for, so that entries,
//! vtable slots, delegates and stack walks treat it as any method. `il::synth::remoting` makes its body.

use crate::binder::is_framework;
use crate::class::generics_of_definition;
use crate::error::LoadResult;
use crate::method::{Method, MethodSig, impl_flags};
use crate::ty::{Ty, Type};

pub use crate::method::RemotingStub;

impl RemotingStub {
    pub(crate) fn sig(self) -> LoadResult<MethodSig> {
        let universe = self.owner().universe();
        let (ret, params) = match self {
            RemotingStub::Invoke(method) | RemotingStub::Call(method) => return Ok(method.sig()?.clone()),
            RemotingStub::GetField(field) => (field.ty()?, Vec::new()),
            RemotingStub::SetField(field) => (universe.void(), vec![field.ty()?]),
            RemotingStub::FieldAddress(field) => (universe.byref_to(field.ty()?), Vec::new()),
        };
        Ok(MethodSig::managed(true, ret, params))
    }

    /// The method for this stub; the same one for each call.
    pub fn method(self) -> &'static Method {
        let table = &self.owner().universe().remoting_stubs;
        if let Some(found) = table.read().get(&self) {
            return found;
        }
        table.write().entry(self).or_insert_with(|| self.make())
    }

    fn make(self) -> &'static Method {
        let (name, generic_args) = match self {
            RemotingStub::Invoke(method) | RemotingStub::Call(method) => (method.name, method.generic_args()),
            RemotingStub::GetField(field) | RemotingStub::SetField(field) | RemotingStub::FieldAddress(field) => {
                (field.name, &[] as &[Ty])
            }
        };
        crate::collectible::keep_beside(
            self.owner(),
            Method {
                impl_flags: impl_flags::NO_INLINING,
                generics: generics_of_definition(self.owner(), generic_args),
                ..Method::new(self.owner(), crate::MethodKind::Remoting(self), name)
            },
        )
    }
}

impl Type {
    /// Whether the type derives from ContextBoundObject, so that `new` may return a proxy.
    pub fn is_context_bound(&'static self) -> bool {
        self.is_marshal_by_ref()
            && self.universe().context_bound().is_some_and(|base| self.is_subclass_of(base).unwrap_or(false))
    }

    /// Whether the program may redirect `new` to remoting (`RemotingConfiguration.RegisterActivatedClientType`): a
    /// class of the program that is marshalled by reference. Classes of the class libraries are left out, since their
    /// objects are made often.
    pub fn may_be_redirected(&'static self) -> bool {
        self.is_marshal_by_ref()
            && !is_framework(self.image().assembly(), &self.universe().binder().paths().framework_root)
    }

    /// Whether instances may be transparent proxies.
    pub fn is_marshal_by_ref(&'static self) -> bool {
        !self.is_interface()
            && !self.is_value_type()
            && self.universe().marshal_by_ref().is_some_and(|base| self.is_subclass_of(base).unwrap_or(false))
    }
}
