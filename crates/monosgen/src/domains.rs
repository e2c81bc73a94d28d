//! `mono/metadata/appdomain.h`: domains, and start and end of the machine without `jit.h`.
//!
//! A class belongs to one domain: a host gets the class of another domain by its assembly there.

use crate::call::{call, call_catching, call_quietly, held, some};
use crate::host_functions;
use crate::text::{kept, text};
use crate::{machine, reference_queues};
use saki_abi::ObjRef;
use saki_reflect::{field_access, members};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::vm::domains::{self, Domain};
use saki_runtime::vm::{domain_unload, exit, finalizer};
use saki_runtime::{CurrentThread, Managed, Obj, Str};
use saki_types::{LibraryType, universe};
use std::ffi::{c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first domain; null if no machine runs.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_root_domain() -> Option<&'static Domain> {
    machine::is_started().then(domains::root_domain)
}

/// The domain of the calling thread; null if no machine runs.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_get() -> Option<&'static Domain> {
    if !machine::is_started() {
        return None;
    }
    call("mono_domain_get", |_| Some(domains::current()))
}

/// Starts the machine: `mono_jit_init`.
///
/// # Safety
/// `file` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_init(file: *const c_char) -> Option<&'static Domain> {
    // SAFETY: null or the host's text.
    unsafe { crate::jit::mono_jit_init(file) }
}

/// Starts the machine: there is one version of the class libraries.
///
/// # Safety
/// `name` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_init_version(name: *const c_char, _version: *const c_char) -> Option<&'static Domain> {
    // SAFETY: null or the host's text.
    unsafe { crate::jit::mono_jit_init(name) }
}

/// Starts the machine: there is one version of the class libraries.
///
/// # Safety
/// `name` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_init_from_assembly(name: *const c_char, _file: *const c_char) -> Option<&'static Domain> {
    // SAFETY: null or the host's text.
    unsafe { crate::jit::mono_jit_init(name) }
}

/// The machine is ready when it has started: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_runtime_init(_domain: *const c_void, _start: *const c_void, _attach: *const c_void) {}

/// Ends the machine.
#[unsafe(no_mangle)]
pub extern "C" fn mono_runtime_cleanup(_domain: *const c_void) {
    machine::shut_down(reference_queues::end);
}

/// Ends the machine, or calls the function of [`mono_install_runtime_cleanup`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_runtime_quit() {
    match (host_functions::with(|functions| functions.cleanup), mono_get_root_domain()) {
        // SAFETY: the host's function, which gets no data.
        (Some(function), Some(root)) => unsafe { function(root, std::ptr::null_mut()) },
        _ => machine::shut_down(reference_queues::end),
    }
}

/// Has the host's function called by [`mono_runtime_quit`], with the first domain and null, in place of the machine's
/// end. `Environment.Exit` ends the machine without it.
///
/// # Safety
/// The function may be called on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_install_runtime_cleanup(
    function: Option<unsafe extern "C" fn(&'static Domain, *mut c_void)>,
) {
    host_functions::with(|functions| functions.cleanup = function);
}

/// Whether the host said that the machine ends. Relaxed: nothing depends on it.
static IS_SAID_TO_END: AtomicBool = AtomicBool::new(false);

/// Has [`mono_runtime_is_shutting_down`] say so; nothing else changes, as under Mono.
#[unsafe(no_mangle)]
pub extern "C" fn mono_runtime_set_shutting_down() {
    IS_SAID_TO_END.store(true, Ordering::Relaxed);
}

/// Whether the machine ends.
#[unsafe(no_mangle)]
pub extern "C" fn mono_runtime_is_shutting_down() -> c_int {
    c_int::from(IS_SAID_TO_END.load(Ordering::Relaxed) || exit::has_shutdown_started())
}

/// The class libraries are checked at the start: null, no complaint.
#[unsafe(no_mangle)]
pub extern "C" fn mono_check_corlib_version() -> *const c_char {
    std::ptr::null()
}

/// The class libraries are checked at the start: null, no complaint.
#[unsafe(no_mangle)]
pub extern "C" fn mono_verify_corlib() -> *const c_char {
    std::ptr::null()
}

/// Sets a field of an AppDomainSetup.
fn set_setup(t: CurrentThread, setup: Obj, field: &str, value: &str) -> Managed<()> {
    let Some(field) = members::find_field(setup.ty(), field).to_managed(t)? else { return Ok(()) };
    field_access::set_value(t, field, Some(setup), Some(Str::new(t, value)?.into()))
}

fn create(t: CurrentThread, name: &str, config: Option<&str>) -> Managed<&'static Domain> {
    let setup = Obj::new(t, universe().library_type(LibraryType::AppDomainSetup).to_managed(t)?)?;
    if let Some(config) = config {
        set_setup(t, setup, "configuration_file", config)?;
    }
    domains::create(t, name, setup)
}

/// A new domain with this name and, if there is one, this configuration file; null if it cannot be made.
///
/// # Safety
/// The texts end in NUL; `config` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_domain_create_appdomain(
    name: *const c_char,
    config: *const c_char,
) -> Option<&'static Domain> {
    // SAFETY: the host's text, which ends in NUL.
    let name = unsafe { text(name) };
    // SAFETY: not null, so the host's text, which ends in NUL.
    let config = (!config.is_null()).then(|| unsafe { text(config) });
    call_quietly("mono_domain_create_appdomain", |t| create(t, &name, config.as_deref()).map(Some))
}

/// A new domain without a name.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_create() -> Option<&'static Domain> {
    call_quietly("mono_domain_create", |t| create(t, "", None).map(Some))
}

/// Sets where the domain looks for assemblies, and its configuration file.
///
/// # Safety
/// The texts are null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_domain_set_config(domain: &'static Domain, base: *const c_char, config: *const c_char) {
    // SAFETY: not null, so the host's text, which ends in NUL.
    let base = (!base.is_null()).then(|| unsafe { text(base) });
    // SAFETY: not null, so the host's text, which ends in NUL.
    let config = (!config.is_null()).then(|| unsafe { text(config) });
    call_quietly("mono_domain_set_config", |t| {
        domains::run_in(t, domain, || {
            let Some(setup) = domain.setup(t) else { return Ok(()) };
            if let Some(base) = &base {
                set_setup(t, setup, "application_base", base)?;
                domain.universe.binder().set_application_base(&PathBuf::from(base));
            }
            config.map_or(Ok(()), |config| set_setup(t, setup, "configuration_file", &config))
        })
    });
}

/// The domain with this number; null if there is none, or it was unloaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_get_by_id(id: i32) -> Option<&'static Domain> {
    domains::by_id(id)
}

/// The domain's number.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_get_id(domain: &'static Domain) -> i32 {
    domain.id
}

/// The domain's name; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_get_friendly_name(domain: &'static Domain) -> *const c_char {
    kept(&domain.friendly_name())
}

/// The calling thread goes on in the domain: 1, or 0 if that is unloaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_set(domain: &'static Domain, force: c_int) -> c_int {
    call("mono_domain_set", |t| {
        if domain.is_unloading() && force == 0 {
            return 0;
        }
        let before = domains::current();
        if std::ptr::eq(before, domain) {
            return 1;
        }
        if domain.add_thread(t).is_err() {
            t.take_exception();
            return 0;
        }
        domains::switch(t, domain);
        before.remove_thread(t);
        1
    })
}

/// [`mono_domain_set`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_set_internal(domain: &'static Domain) {
    mono_domain_set(domain, 1);
}

/// Unloads the domain. Why it cannot be unloaded is not told.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_unload(domain: &'static Domain) {
    call_quietly("mono_domain_unload", |t| domain_unload::unload(t, domain));
}

/// Unloads the domain. Why it cannot be unloaded goes to `exc`.
///
/// # Safety
/// `exc` is null or has room for an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_domain_try_unload(domain: &'static Domain, exc: *mut ObjRef) {
    // SAFETY: null or the host's room.
    unsafe { call_catching("mono_domain_try_unload", exc, |t| domain_unload::unload(t, domain)) }
}

/// Unloads the domain, if that has not been done.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_free(domain: &'static Domain, _force: c_int) {
    if !domain.is_unloaded() {
        mono_domain_unload(domain);
    }
}

/// Whether the domain is being unloaded or was.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_is_unloading(domain: &'static Domain) -> c_int {
    c_int::from(domain.is_unloading())
}

/// The domain of an AppDomain object.
///
/// # Safety
/// `object` is an AppDomain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_domain_from_appdomain(object: ObjRef) -> Option<&'static Domain> {
    const FUNCTION: &str = "mono_domain_from_appdomain";
    // SAFETY: the host's object.
    call(FUNCTION, |_| domains::of_object(unsafe { some(FUNCTION, object) }))
}

/// Calls the host's function with each domain that is not unloaded.
///
/// # Safety
/// The function may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_domain_foreach(
    function: unsafe extern "C" fn(&'static Domain, *mut c_void),
    data: *mut c_void,
) {
    for domain in (0..domains::count() as i32).filter_map(|index| domains::by_id(index + domains::ROOT_DOMAIN_ID)) {
        // SAFETY: the host's function and its data.
        unsafe { function(domain, data) };
    }
}

/// Waits until the finalizers of dead objects have run: 1.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_finalize(_domain: &'static Domain, _milliseconds: u32) -> c_int {
    call("mono_domain_finalize", |t| {
        saki_gc::collect(t.managed(), true);
        finalizer::wait_for_pending(t);
    });
    1
}

/// Whether the domain has a handler of TypeResolve.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_has_type_resolve(domain: &'static Domain) -> c_int {
    call_quietly("mono_domain_has_type_resolve", |t| {
        let Some(object) = domain.object(t) else { return Ok(0) };
        let field = members::find_field(object.ty(), "TypeResolve").to_managed(t)?;
        let handler = field.map_or(Ok(None), |field| field_access::get_value(t, field, Some(object)))?;
        Ok(c_int::from(handler.is_some()))
    })
}

/// The assembly that a handler of TypeResolve gives for a name, as an object; null if none does.
///
/// # Safety
/// `name` ends in NUL; `builder` is null or an object, which is not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_domain_try_type_resolve(
    domain: &'static Domain,
    name: *const c_char,
    builder: ObjRef,
) -> ObjRef {
    // SAFETY: null or the host's object.
    let _ = unsafe { held(builder) };
    // SAFETY: the host's text, which ends in NUL.
    let name = unsafe { text(name) };
    call_quietly("mono_domain_try_type_resolve", |t| {
        let Some(object) = domain.object(t) else { return Ok(ObjRef::NULL) };
        let Some(method) = object.ty().find_method("DoTypeResolve", 1).to_managed(t)? else { return Ok(ObjRef::NULL) };
        let name = Str::new(t, &name)?;
        let slots = [saki_runtime::Slot::from_ref(object), saki_runtime::Slot::from_ref(name)];
        Ok(ObjRef(saki_runtime::exec::invoke::invoke(t, method, &slots)?.as_usize() as *mut _))
    })
}

/// Slots of vtables are never the host's: 0.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_owns_vtable_slot(_domain: *const c_void, _slot: *const c_void) -> c_int {
    0
}
