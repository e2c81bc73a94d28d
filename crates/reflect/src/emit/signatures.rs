//! `SignatureHelper.GetSignature`: signatures of local variables and fields as bytes, with the tokens of the helper's module.

use super::builders::{self as b, elements, length};
use super::encoder::{Encoder, Scope};
use super::members::first_byte;
use super::tokens::{EmittedModule, module_of};
use saki_metadata::writer::put_compressed;
use saki_runtime::{CurrentThread, InternalCall, Managed, ObjRef, object};

fn encoder_for(t: CurrentThread, helper: ObjRef) -> Encoder {
    let module = module_of(b::HELPER_MODULE.get_ref(helper));
    let scope = Scope::Signature { has_module: module.is_some() };
    Encoder::new(t, module.unwrap_or_else(EmittedModule::detached), scope)
}

fn types(t: CurrentThread, helper: ObjRef, mut out: Vec<u8>) -> Managed<ObjRef> {
    let mut encoder = encoder_for(t, helper);
    for argument in elements(b::HELPER_ARGUMENTS.get_ref(helper)) {
        encoder.put_type(&mut out, argument)?;
    }
    object::new_byte_array(t, &out)
}

/// `SignatureHelper.get_signature_local()`
fn local_signature(t: CurrentThread, helper: ObjRef) -> ObjRef {
    t.run(|| {
        let mut out = vec![first_byte::LOCALS];
        put_compressed(&mut out, length(b::HELPER_ARGUMENTS.get_ref(helper)) as u32);
        types(t, helper, out)
    })
}

/// `SignatureHelper.get_signature_field()`
fn field_signature(t: CurrentThread, helper: ObjRef) -> ObjRef {
    t.run(|| types(t, helper, vec![first_byte::FIELD]))
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.Emit.SignatureHelper::get_signature_local", &local_signature),
    InternalCall::new("System.Reflection.Emit.SignatureHelper::get_signature_field", &field_signature),
];
