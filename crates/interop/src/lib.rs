//! Native code: finding its functions, marshalling for calls of them, and calls from native code.
//!
//! The IR of wrappers comes from `saki_il::synth`; this crate has the functions that wrappers call, through the runtime
//! (`UpperLayers`), and the internal calls of `System.Runtime.InteropServices.Marshal`. Invariant: native memory that changes
//! owner between managed and native code is of the C heap, so that either side can free it. Left out: COM.

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

use saki_runtime::{InternalCall, Interop};

/// Internal calls of `Marshal` and of delegates' asynchronous calls.
pub const TABLES: &[&[InternalCall]] = &[marshal_calls::TABLE, async_calls::TABLE];

/// The functions that drop dead records from the tables of this crate.
pub const FORGET_DEAD: &[fn()] = &[delegates::forget_dead, descriptor::forget_dead];

/// The functions behind P/Invoke, callbacks and asynchronous calls.
pub fn functions() -> Interop {
    host::keep_exports();
    Interop {
        resolve_native: resolve::resolve_native,
        marshal_info: |t, method, index| {
            descriptor::descriptor(t, method, index).map(descriptor::MarshalDescriptor::address)
        },
        marshal_in: arguments::marshal_in,
        marshal_out: arguments::marshal_out,
        marshal_free: arguments::marshal_free,
        delegate_begin_invoke: async_calls::begin_invoke,
        delegate_end_invoke: async_calls::end_invoke,
        custom_marshaler: custom::custom_marshaler,
        throw_marshal_directive: arguments::throw_marshal_directive,
        callback_delegate: delegates::callback_delegate,
        callback_in: arguments::callback_in,
        callback_out: arguments::callback_out,
    }
}
