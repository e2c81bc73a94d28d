//! Native code: finding its functions, marshalling for calls of them, and calls from native code.
//!
//! The IR of wrappers comes from `saki_il::synth`; this crate has the functions that wrappers call, through the runtime
//! (`UpperLayers`), and the internal calls of `System.Runtime.InteropServices.Marshal`. Invariant: native memory that changes
//! owner between managed and native code is of the C heap, so that either side can free it. Left out: COM.

mod any_object;
mod arguments;
pub mod async_calls;
pub mod builder_text;
pub mod custom;
mod date;
pub mod delegates;
pub mod descriptor;
pub mod dllmap;
pub mod host;
pub mod library;
pub mod log;
pub mod marshal_calls;
mod refusals;
mod release;
pub mod resolve;
mod slots;
pub mod structure;
pub mod text;
mod to_managed;
mod to_native;

use descriptor::MarshalDescriptor;
use saki_runtime::{InternalCall, Interop, Word};

/// Internal calls of `Marshal` and of delegates' asynchronous calls.
pub const TABLES: &[&[InternalCall]] = &[marshal_calls::TABLE, async_calls::TABLE];

/// The functions that drop dead records from the tables of this crate.
pub const FORGET_DEAD: &[fn()] = &[delegates::forget_dead, descriptor::forget_dead];

/// The descriptor that a wrapper names.
fn described<'a>(address: usize) -> &'a MarshalDescriptor {
    // SAFETY: wrappers alone call the functions that take descriptors, and pass the address of a `Symbol::MarshalInfo`.
    unsafe { MarshalDescriptor::from_address(address) }
}

/// The functions behind P/Invoke, callbacks and asynchronous calls.
pub fn functions() -> Interop {
    host::keep_exports();
    Interop {
        resolve_native: resolve::resolve_native,
        marshal_info: |t, method, index| descriptor::descriptor(t, method, index).map(MarshalDescriptor::address),
        marshal_in: |t, value, info| arguments::marshal_in(t, value, described(info)),
        marshal_out: |t, word, value, info| arguments::marshal_out(t, word, value, described(info)),
        marshal_free: |t, word, value, info| arguments::marshal_free(t, word, value, described(info)),
        delegate_begin_invoke: async_calls::begin_invoke,
        delegate_end_invoke: async_calls::end_invoke,
        custom_marshaler: |t, info| custom::custom_marshaler(t, described(info)).map(Word::word),
        throw_marshal_directive: |t, info| arguments::throw_marshal_directive(t, described(info)),
        callback_delegate: |t, context| delegates::callback_delegate(t, context).map(Word::word),
        callback_in: |t, word, value, info| arguments::callback_in(t, word, value, described(info)),
        callback_out: |t, value, word, info| arguments::callback_out(t, value, word, described(info)),
    }
}
