//! Native code: finding it, marshalling for it, being called by it.
//!
//! The IR of wrappers comes from `saki_il::synth`; this crate is what the wrappers call, through the runtime's hooks, and
//! what `System.Runtime.InteropServices.Marshal` needs. Invariant: native memory handed over between the two sides is of
//! the C heap, so that either side can free it. Left out: COM.

pub mod any_object;
mod arguments;
pub mod async_calls;
pub mod builder_text;
pub mod convert;
pub mod custom;
mod date;
pub mod delegates;
pub mod descriptor;
pub mod dllmap;
pub mod host;
pub mod library;
pub mod log;
pub mod marshal_calls;
pub mod resolve;
pub mod structure;
pub mod text;

use saki_runtime::hooks::{ExtraHelpers, InteropHooks};

/// The functions behind P/Invoke and callbacks, for `saki_runtime::hooks::install_interop`.
pub fn hooks() -> InteropHooks {
    InteropHooks {
        resolve_native: resolve::resolve_native,
        marshal_info: |t, method, index| {
            descriptor::descriptor(t, method, index).map(descriptor::MarshalDescriptor::address)
        },
        marshal_in: arguments::marshal_in,
        marshal_out: arguments::marshal_out,
        marshal_free: arguments::marshal_free,
    }
}

/// Fills in the helpers that this crate implements; the caller adds others and installs them with
/// `saki_runtime::hooks::install_extra`.
pub fn fill_helpers(extra: &mut ExtraHelpers) {
    extra.delegate_begin_invoke = Some(async_calls::begin_invoke);
    extra.delegate_end_invoke = Some(async_calls::end_invoke);
    extra.custom_marshaler = Some(custom::custom_marshaler);
    extra.throw_marshal_directive = Some(arguments::throw_marshal_directive);
    extra.callback_delegate = Some(delegates::callback_delegate);
    extra.callback_in = Some(arguments::callback_in);
    extra.callback_out = Some(arguments::callback_out);
}

/// Installs everything, and the internal calls of `Marshal`, when no other crate has helpers of its own to add. Called
/// once, before managed code runs.
pub fn install() {
    saki_runtime::hooks::install_interop(hooks());
    let mut extra = ExtraHelpers::default();
    fill_helpers(&mut extra);
    saki_runtime::hooks::install_extra(extra);
    saki_runtime::internal_calls::register(marshal_calls::TABLE);
    saki_runtime::internal_calls::register(async_calls::TABLE);
    for forget in [delegates::forget_dead, descriptor::forget_dead] {
        saki_runtime::collectible::on_end(forget);
    }
    host::keep_exports();
}
