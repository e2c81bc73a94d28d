//! `calli` of native code with arguments that need marshalling. Each signature gets a method whose body
//! (`il::synth::pinvoke`) is like that of a P/Invoke method, but calls the function that the caller passes.
//!
//! Invariant: one method for each signature of a universe. Left out: marshalling descriptors, which such signatures do
//! not have.

use crate::collectible;
use crate::method::{Method, MethodKind, MethodSig, impl_flags, method_flags};
use crate::universe::universe;
use saki_metadata::ElementType;

/// The static method that calls a native function of signature `sig`; behind the parameters of `sig` it takes the
/// function's address.
pub fn native_call_method(sig: &MethodSig) -> &'static Method {
    let universe = universe();
    let own = MethodSig {
        params: [&sig.params[..], &[universe.primitive(ElementType::I)]].concat(),
        unmanaged_convention: 0,
        has_this: false,
        ..sig.clone()
    };
    if let Some(found) = universe.native_calls.read().get(&own) {
        return found;
    }
    let owner = universe.object();
    universe.native_calls.write().entry(own).or_insert_with_key(|own| {
        // The method lives as long as the types of its signature.
        let types = own.params.iter().chain([&own.ret, &owner]);
        let records = collectible::owner_of_all(types.map(|ty| std::ptr::from_ref(*ty).addr()));
        let sig = collectible::keep_with(records, own.clone());
        let method = Method {
            flags: method_flags::PUBLIC | method_flags::STATIC,
            impl_flags: impl_flags::NO_INLINING,
            ..Method::new(owner, MethodKind::NativeCall(sig), "native function")
        };
        collectible::keep_with(records, method)
    })
}
