//! Native code: finding its functions, marshalling for calls of them, and calls from native code.
//!
//! The IR of wrappers comes from `saki_il::synth`; this crate has the functions that wrappers call, through the runtime
//! (`UpperLayers`), and the internal calls of `System.Runtime.InteropServices.Marshal`. Invariant: native memory that
//! changes owner between managed and native code is of the C heap, so that either side can free it. Left out: COM.

mod any_object;
mod arguments;
pub mod async_calls;
pub mod builder_text;
pub mod callers_only;
pub mod custom;
mod date;
pub mod delegates;
pub mod descriptor;
pub mod dllmap;
pub mod host;
pub mod host_functions;
pub mod host_maps;
pub mod library;
pub mod marshal_calls;
pub mod raw_entries;
mod refusals;
mod release;
pub mod resolve;
pub mod reverse_calls;
mod slots;
pub mod structure;
pub mod text;
mod to_managed;
mod to_native;

use arguments::Variable;
use descriptor::MarshalDescriptor;
use saki_runtime::{CurrentThread, InternalCall, Interop, Managed, Obj};
use slots::NativeWord;

/// Internal calls of `Marshal` and of delegates' asynchronous calls.
pub const TABLES: &[&[InternalCall]] = &[marshal_calls::TABLE, async_calls::TABLE];

/// The functions that drop dead records from the tables of this crate.
pub const FORGET_DEAD: &[fn()] = &[delegates::forget_dead, descriptor::forget_dead];

/// The descriptor that a wrapper names.
///
/// # Safety
/// The address is that of a `Symbol::MarshalInfo` of code that runs.
unsafe fn described<'t>(_t: CurrentThread<'t>, address: usize) -> &'t MarshalDescriptor {
    // SAFETY: `marshal_info` below gave the address.
    unsafe { MarshalDescriptor::from_address(address) }
}

/// Defines functions of `Interop` that take what a wrapper passes, of those that take it as words, variables and
/// descriptors.
macro_rules! of_wrappers {
    ($($name:ident($($param:ident: $raw:ty => $typed:ident),*) -> $ret:ty = $function:path;)*) => { $(
        /// # Safety
        /// The words, variables and the descriptor are those of a parameter of the wrapper that calls.
        unsafe fn $name<'t>(t: CurrentThread<'t>, $($param: $raw,)* info: usize) -> Managed<$ret> {
            // SAFETY: the wrapper that the compiler made for this parameter passes its words, its variables and its
            // descriptor.
            unsafe { $function(t, $($typed::passed($param),)* described(t, info)) }
        }
    )* };
}

of_wrappers! {
    marshal_in(value: usize => Variable) -> i64 = arguments::marshal_in;
    marshal_out(word: i64 => NativeWord, value: usize => Variable) -> () = arguments::marshal_out;
    marshal_free(word: i64 => NativeWord, value: usize => Variable) -> () = arguments::marshal_free;
    custom_marshaler() -> Option<Obj<'t>> = custom::custom_marshaler;
    throw_marshal_directive() -> () = arguments::throw_marshal_directive;
    callback_in(word: i64 => NativeWord, value: usize => Variable) -> () = arguments::callback_in;
    callback_out(value: usize => Variable, word: i64 => NativeWord) -> i64 = arguments::callback_out;
}

/// The functions behind P/Invoke, callbacks and asynchronous calls.
pub fn functions() -> Interop {
    host::keep_exports();
    Interop {
        resolve_native: resolve::resolve_native,
        native_entry: callers_only::native_entry,
        marshal_info: |t, method, index| descriptor::descriptor(t, method, index).map(MarshalDescriptor::address),
        delegate_begin_invoke: async_calls::begin_invoke,
        delegate_end_invoke: async_calls::end_invoke,
        marshal_in,
        marshal_out,
        marshal_free,
        custom_marshaler,
        throw_marshal_directive,
        callback_delegate: delegates::callback_delegate,
        callback_in,
        callback_out,
    }
}
