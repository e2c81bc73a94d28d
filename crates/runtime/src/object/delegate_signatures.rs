//! Which methods a delegate can call: the signatures must agree, since its `Invoke` passes its arguments on as they
//! are.
//!
//! The class library matches signatures, too, but lets numbers pass for objects (`object.IsAssignableFrom (int)` is
//! true). Left out: constructors of delegates, whose callers the CIL's rules bind.

use crate::exceptions::ToManaged;
use crate::references::Obj;
use crate::thread::{CurrentThread, Managed};
use saki_il::synth::delegate::{DelegateKind, delegate_kind, invoke_method};
use saki_types::{LoadResult, Method, Ty};

/// Whether a delegate of type `delegate` with this target, or without one, can call `method`.
///
/// # Errors
/// TypeLoadException; what a RealProxy throws that is asked about a cast.
pub fn may_bind(t: CurrentThread, delegate: Ty, target: Option<Obj>, method: &'static Method) -> Managed<bool> {
    let kind = delegate_kind(delegate, method, target.is_some()).to_managed(t)?;
    if !is_callable(delegate, method, kind).to_managed(t)? {
        return Ok(false);
    }
    may_be_target(t, target, method, kind)
}

/// Whether a value of type `from` can be passed as a `to` without conversion: the same type, a reference to an object
/// that `to` admits, enumerations and integers of the same bits.
///
/// # Errors
/// `TypeLoad`.
fn passes_as(from: Ty, to: Ty) -> LoadResult<bool> {
    if from == to {
        return Ok(true);
    }
    if from.is_reference_type() && to.is_reference_type() {
        return from.is_assignable_to(to);
    }
    let are_values = from.is_value_type() && to.is_value_type();
    Ok((are_values && from.underlying() == to.underlying()) || (from.is_pointer() && to.is_pointer()))
}

/// Whether a value of type `from` can be the first argument, `this`, of a method of `owner`.
fn passes_as_this(from: Ty, owner: Ty) -> LoadResult<bool> {
    match owner.is_value_type() {
        true => Ok(from.is_byref() && from.element() == Some(owner)),
        false => Ok(from.is_reference_type() && passes_as(from, owner)?),
    }
}

/// Whether a delegate of type `delegate` can call `method` in the way of its kind.
fn is_callable(delegate: Ty, method: &'static Method, kind: DelegateKind) -> LoadResult<bool> {
    let (outer, inner) = (invoke_method(delegate)?.sig()?, method.sig()?);
    if !passes_as(inner.ret, outer.ret)? {
        return Ok(false);
    }
    let (mut given, mut wanted) = (&outer.params[..], &inner.params[..]);
    match kind {
        DelegateKind::ClosedInstance | DelegateKind::OpenStatic => {}
        DelegateKind::OpenInstance | DelegateKind::OpenVirtual => {
            let Some((this, rest)) = given.split_first() else { return Ok(false) };
            if !passes_as_this(this, method.owner)? {
                return Ok(false);
            }
            given = rest;
        }
        DelegateKind::ClosedStatic => match wanted.split_first() {
            Some((first, rest)) if first.is_reference_type() => wanted = rest,
            _ => return Ok(false),
        },
        DelegateKind::SelfPassing => return Ok(false),
    }
    if given.len() != wanted.len() {
        return Ok(false);
    }
    for (from, to) in given.iter().zip(wanted) {
        if !passes_as(from, to)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the delegate's target can be the first argument of its method.
fn may_be_target(t: CurrentThread, target: Option<Obj>, method: &'static Method, kind: DelegateKind) -> Managed<bool> {
    let Some(target) = target else { return Ok(true) };
    match (kind, method.sig().to_managed(t)?.params.first()) {
        (DelegateKind::ClosedInstance, _) => target.is_instance(t, method.owner),
        (DelegateKind::ClosedStatic, Some(first)) => target.is_instance(t, first),
        _ => Ok(true),
    }
}
