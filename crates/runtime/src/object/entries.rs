//! Entry stubs of methods: the addresses that calls, vtables and delegates use.

use crate::object::versions::{self, CodeVersion};
use saki_code::{CodeError, MethodEntry};
use saki_types::{LoadError, LoadErrorKind, LoadResult, Method, Ty};
use std::sync::atomic::Ordering;

/// A full code region as a load error.
pub fn code_error(error: CodeError) -> LoadError {
    LoadError::new(LoadErrorKind::NotSupported, error.to_string(), "")
}

/// The method's entry, made on first use.
///
/// # Errors
/// `NotSupported` when the code region is full.
pub fn entry_of(method: &'static Method) -> LoadResult<MethodEntry> {
    if let Some(entry) = existing_entry(method) {
        return Ok(entry);
    }
    let entry = MethodEntry::new(method as *const Method as *const ()).map_err(code_error)?;
    let stub = entry.stub_address() as *mut u8;
    // Release: the stub was written before. Acquire: as in `existing_entry`. If two threads make an entry, the first
    // one wins.
    match method.runtime.entry.compare_exchange(std::ptr::null_mut(), stub, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            if let Some(owner) = saki_types::collectible::owner_of(method) {
                owner.add_entry(std::ptr::from_ref(method).addr());
            }
            Ok(entry)
        }
        Err(earlier) => {
            // SAFETY: made above and not published.
            unsafe { MethodEntry::free_all(&[entry]) };
            match MethodEntry::of_stub(earlier as usize) {
                Some(entry) => Ok(entry),
                None => saki_base::bug!("{} has an entry that is none", method.full_name()),
            }
        }
    }
}

/// The method's entry, if it was ever asked for.
pub(crate) fn existing_entry(method: &'static Method) -> Option<MethodEntry> {
    // Acquire: pairs with the Release in `entry_of`; the stub is written.
    let known = method.runtime.entry.load(Ordering::Acquire) as usize;
    (known != 0).then(|| MethodEntry::of_stub(known)).flatten()
}

/// Address to call the method by, while it lives.
///
/// # Errors
/// `NotSupported` when the code region is full.
pub fn entry_address(method: &'static Method) -> LoadResult<usize> {
    // Acquire: as in `existing_entry`.
    let known = method.runtime.entry.load(Ordering::Acquire) as usize;
    if known != 0 {
        return Ok(known);
    }
    Ok(entry_of(method)?.stub_address())
}

/// Address to call an instance method of a value type by with a boxed `this`.
///
/// # Errors
/// `NotSupported` when the code region is full.
pub fn unbox_entry_address(method: &'static Method) -> LoadResult<usize> {
    // Acquire, here and below: pairs with the Release that published the stub.
    let known = method.runtime.rare().unbox_entry.load(Ordering::Acquire);
    if known != 0 {
        return Ok(known);
    }
    let entry = entry_of(method)?;
    let _lock = saki_types::lazy::loader_lock();
    // Acquire: as above; the lock alone would do, since the store is made under it.
    let known = method.runtime.rare().unbox_entry.load(Ordering::Acquire);
    if known != 0 {
        return Ok(known);
    }
    let stub = entry.unbox_stub().map_err(code_error)?;
    // Release: the stub was written before.
    method.runtime.rare().unbox_entry.store(stub, Ordering::Release);
    Ok(stub)
}

/// The method's code, if it is compiled, for a place that is led on when other code becomes current (`versions`).
pub fn compiled_code(method: &'static Method) -> Option<usize> {
    versions::current(method).map(CodeVersion::code)
}

/// The method's code, if it is compiled and stays the method's as long as the method lives.
pub fn lasting_code(method: &'static Method) -> Option<usize> {
    // Acquire: the code is visible before its address.
    let code = method.runtime.lasting_code.load(Ordering::Acquire);
    (code != 0).then_some(code)
}

/// Whether the method's entry and code live as long as its domain, and so as all code that may call it.
pub(crate) fn lives_with_domain(method: &Method) -> bool {
    !method.is_dynamic() && !saki_types::collectible::ends_alone(method)
}

/// The code address for a virtual call on objects of `ty` that runs `method`.
///
/// # Errors
/// `NotSupported` when the code region is full.
pub fn slot_target(ty: Ty, method: &'static Method) -> LoadResult<usize> {
    if ty.is_value_type() && method.owner.is_value_type() { unbox_entry_address(method) } else { entry_address(method) }
}
