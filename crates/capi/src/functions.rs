//! Functions of the host that managed code calls: internal calls and delegates.
//!
//! A function gets a scope, which ends after it, with its arguments. It runs in native code: a collection does not wait
//! for it, whatever it does. Invariant: the data of a delegate is given back to the host when its delegate is dead and
//! no call of its function runs; the rest stays as long as the machine.

use crate::arguments::{Out, Text, given};
use crate::failures::{CallFailure, Returned, SakiError, outside};
use crate::handles::{ObjectHandle, give_object};
use crate::kept;
use crate::scopes::HostScope;
use crate::values::SakiValue;
use saki::{Class, Exception, Thread, Value};
use std::ffi::c_void;

/// `saki_function *`.
pub type HostFunction = unsafe extern "C" fn(
    data: *mut c_void,
    scope: *mut HostScope,
    arguments: *const SakiValue,
    count: usize,
    result: *mut SakiValue,
) -> Returned;

/// `saki_release *`.
pub type HostRelease = unsafe extern "C" fn(data: *mut c_void);

/// What is called, with the host's data.
#[derive(Clone, Copy)]
struct HostCall {
    function: HostFunction,
    data: *mut c_void,
}

// SAFETY: the data is an address that only the host's function follows, which managed code may call on any thread and
// on several at once (saki.h).
unsafe impl Send for HostCall {}
// SAFETY: shared, it is no more than the same address.
unsafe impl Sync for HostCall {}

/// What goes out to the function, and comes back.
struct Frame<'f> {
    scope: &'f mut HostScope,
    arguments: &'f [SakiValue],
    result: &'f mut SakiValue,
}

impl HostCall {
    fn call(self, frame: Frame<'_>) -> Returned {
        let Frame { scope, arguments, result } = frame;
        // SAFETY: the function is the host's, of this type; what the addresses lead to stays until it returns.
        unsafe { (self.function)(self.data, scope, arguments.as_ptr(), arguments.len(), result) }
    }

    fn run<'t>(self, t: Thread<'t>, arguments: &[Value<'t>]) -> Result<Value<'t>, Exception<'t>> {
        let mut scope = HostScope::default();
        let result = self.run_in(t, arguments, &mut scope);
        scope.close(t);
        result.map_err(|failure| match failure {
            CallFailure::Exception(exception) => exception,
            CallFailure::Error(error) => error.into_exception(t),
        })
    }

    fn run_in<'t>(
        self,
        t: Thread<'t>,
        arguments: &[Value<'t>],
        scope: &mut HostScope,
    ) -> Result<Value<'t>, CallFailure<'t>> {
        let mut given = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            given.push(SakiValue::of(t, argument, Some(scope))?);
        }
        let mut result = SakiValue::NONE;
        let frame = Frame { scope, arguments: &given, result: &mut result };
        let failed = t.outside(|| self.call(frame));
        // Read before the handle is released, and whether or not the function failed: it has given the handle away.
        let value = result.get(t, "the result");
        if let Some(owned) = result.object().and_then(ObjectHandle::owned) {
            kept::let_go(t, owned);
        }
        match failed {
            Some(error) => Err(CallFailure::Error(error)),
            None => Ok(value?),
        }
    }
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_add_function(name: Text, function: Option<HostFunction>, data: *mut c_void) -> Returned {
    outside(|| {
        let name = name.get("name")?;
        let call = HostCall { function: given(function, "function")?, data };
        saki::add_function(name, move |t, arguments| call.run(t, arguments));
        Ok(())
    })
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_delegate_new(
    class: Option<Class>,
    function: Option<HostFunction>,
    data: *mut c_void,
    scope: Option<&mut HostScope>,
    delegate: Out<ObjectHandle>,
) -> Returned {
    give_object(scope, delegate, |t| {
        let call = HostCall { function: given(function, "function")?, data };
        Ok(t.delegate(given(class, "class")?, move |t, arguments| call.run(t, arguments))?)
    })
}

/// The host's data of a delegate, which the host frees once nothing calls the delegate's function any more.
struct OwnedData {
    data: *mut c_void,
    free: Option<HostRelease>,
}

impl OwnedData {
    fn call(&self, function: HostFunction) -> HostCall {
        HostCall { function, data: self.data }
    }
}

// SAFETY: the address is only handed to the host's functions, which saki.h says may be called on any thread.
unsafe impl Send for OwnedData {}
// SAFETY: shared, it gives copies of the address, which only the host's functions follow.
unsafe impl Sync for OwnedData {}

impl Drop for OwnedData {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: the host's function for this data, which is called once.
            unsafe { free(self.data) };
        }
    }
}

/// See saki.h.
#[unsafe(no_mangle)]
pub extern "C" fn saki_delegate_new_owning(
    class: Option<Class>,
    function: Option<HostFunction>,
    data: *mut c_void,
    free_data: Option<HostRelease>,
    scope: Option<&mut HostScope>,
    delegate: Out<ObjectHandle>,
) -> Returned {
    let owned = OwnedData { data, free: free_data };
    give_object(scope, delegate, move |t| {
        let function = given(function, "function")?;
        let owned = owned;
        Ok(t.delegate(given(class, "class")?, move |t, arguments| owned.call(function).run(t, arguments))?)
    })
}

/// The error's type in the function's C signature is a pointer.
const _: () = assert!(size_of::<Option<Box<SakiError>>>() == size_of::<usize>());
