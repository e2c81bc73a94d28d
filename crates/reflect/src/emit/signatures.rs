//! `SignatureHelper.GetSignature`: signatures of local variables and fields as bytes, with the tokens of the helper's
//! module.

use super::builders::{self as b, elements, length};
use super::emitted_module::{EmittedModule, module_of};
use super::encoder::{Encoder, Scope, first_byte};
use saki_metadata::writer::put_compressed;
use saki_runtime::object::exceptions;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj};

fn encoder_for<'t>(t: CurrentThread<'t>, helper: Obj) -> Encoder<'t> {
    let module = module_of(b::HELPER_MODULE.obj(helper));
    let scope = Scope::Signature { has_module: module.is_some() };
    Encoder::new(t, module.unwrap_or_else(EmittedModule::detached), scope)
}

fn types<'t>(t: CurrentThread<'t>, helper: Obj, mut out: Vec<u8>) -> Managed<Array<'t>> {
    let mut encoder = encoder_for(t, helper);
    for argument in elements(b::HELPER_ARGUMENTS.array(helper)) {
        encoder.put_type(&mut out, Some(argument))?;
    }
    Array::of_bytes(t, &out)
}

/// `SignatureHelper.get_signature_local()`
fn local_signature<'t>(t: CurrentThread<'t>, helper: Option<Obj>) -> Managed<Array<'t>> {
    let Some(helper) = helper else { return Err(exceptions::throw_null_reference(t)) };
    let mut out = vec![first_byte::LOCALS];
    put_compressed(&mut out, length(b::HELPER_ARGUMENTS.array(helper)) as u32);
    types(t, helper, out)
}

/// `SignatureHelper.get_signature_field()`
fn field_signature<'t>(t: CurrentThread<'t>, helper: Option<Obj>) -> Managed<Array<'t>> {
    let Some(helper) = helper else { return Err(exceptions::throw_null_reference(t)) };
    types(t, helper, vec![first_byte::FIELD])
}

/// The internal calls of `System.Reflection.Emit.SignatureHelper`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.Emit.SignatureHelper::get_signature_local", &local_signature),
    InternalCall::new("System.Reflection.Emit.SignatureHelper::get_signature_field", &field_signature),
];
