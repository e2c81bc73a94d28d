//! System.AppDomain: creating, entering and unloading domains, their data and contexts. Loading assemblies is in
//! `reflect`.

use crate::arguments::{non_null, non_null_this};
use saki_runtime::exec::thread_data;
use saki_runtime::object::exceptions;
use saki_runtime::vm::domains::{self, Domain};
use saki_runtime::vm::{domain_unload, unhandled};
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, Obj, Str};
use saki_thread::root;
use saki_types::LibraryType;
use std::sync::OnceLock;

/// The domain of the AppDomain object that a method is called on.
///
/// # Errors
/// NullReferenceException, also for an object that was made without its domain.
fn domain_of(t: CurrentThread, this: Option<Obj>) -> Managed<&'static Domain> {
    let domain = domains::of_object(non_null_this(t, this)?);
    domain.ok_or_else(|| exceptions::throw_null_reference(t))
}

fn current_domain<'t>(t: CurrentThread<'t>) -> Option<Obj<'t>> {
    domains::current().object(t)
}

fn root_domain<'t>(t: CurrentThread<'t>) -> Option<Obj<'t>> {
    domains::root_domain().object(t)
}

fn get_setup<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    Ok(domain_of(t, this)?.setup(t))
}

fn friendly_name<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Str<'t>> {
    Str::new(t, &domain_of(t, this)?.friendly_name())
}

macro_rules! setup_fields {
    ($($key:literal => $field:ident $name:literal;)*) => {
        $(static $field: ManagedField = ManagedField::new(LibraryType::AppDomainSetup, $name);)*

        /// The field of AppDomainSetup behind a predefined name of `GetData`.
        fn setup_field(key: &str) -> Option<&'static ManagedField> {
            match key {
                $($key => Some(&$field),)*
                _ => None,
            }
        }
    };
}

setup_fields! {
    "APPBASE" => APPLICATION_BASE "application_base";
    "APP_CONFIG_FILE" => CONFIGURATION_FILE "configuration_file";
    "DYNAMIC_BASE" => DYNAMIC_BASE "dynamic_base";
    "APP_NAME" => APPLICATION_NAME "application_name";
    "CACHE_BASE" => CACHE_PATH "cache_path";
    "PRIVATE_BINPATH" => PRIVATE_BIN_PATH "private_bin_path";
    "BINPATH_PROBE_ONLY" => PRIVATE_BIN_PATH_PROBE "private_bin_path_probe";
    "SHADOW_COPY_DIRS" => SHADOW_COPY_DIRECTORIES "shadow_copy_directories";
    "FORCE_CACHE_INSTALL" => SHADOW_COPY_FILES "shadow_copy_files";
}

fn get_data<'t>(t: CurrentThread<'t>, this: Option<Obj>, name: Option<Str>) -> Managed<Option<Obj<'t>>> {
    let name = non_null(t, name, "name")?;
    let key = name.to_rust();
    let domain = domain_of(t, this)?;
    if let Some(field) = setup_field(&key) {
        return Ok(domain.setup(t).and_then(|setup| field.obj(setup)));
    }
    Ok(domain.data(t, &key))
}

fn set_data(t: CurrentThread, this: Option<Obj>, name: Option<Str>, value: Option<Obj>) -> Managed<()> {
    let name = non_null(t, name, "name")?;
    domain_of(t, this)?.set_data(name.to_rust(), value);
    Ok(())
}

fn get_default_context<'t>(t: CurrentThread<'t>) -> Managed<Obj<'t>> {
    domains::current().default_context(t)
}

fn get_context<'t>(t: CurrentThread<'t>) -> Managed<Obj<'t>> {
    domains::context(t)
}

fn set_context<'t>(t: CurrentThread<'t>, new: Option<Obj>) -> Managed<Obj<'t>> {
    let old = domains::context(t)?;
    t.set_root(root::CONTEXT, new);
    Ok(old)
}

fn domain_by_id(t: CurrentThread, id: i32) -> Managed<&'static Domain> {
    domains::by_id(id).ok_or_else(|| domains::throw_unloaded(t))
}

/// Switches to the domain; returns the one before.
fn switch<'t>(t: CurrentThread<'t>, domain: &'static Domain) -> Managed<Option<Obj<'t>>> {
    if domain.is_unloaded() {
        return Err(domains::throw_unloaded(t));
    }
    Ok(domains::switch(t, domain).object(t))
}

fn set_domain<'t>(t: CurrentThread<'t>, domain: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    non_null(t, domain, "domain")?;
    switch(t, domain_of(t, domain)?)
}

fn set_domain_by_id<'t>(t: CurrentThread<'t>, id: i32) -> Managed<Option<Obj<'t>>> {
    switch(t, domain_by_id(t, id)?)
}

/// Enters a domain: before the domain is unloaded, threads that are in it or call into it are aborted.
fn push(t: CurrentThread, domain: &'static Domain) -> Managed<()> {
    domain.add_thread(t)?;
    thread_data::of(t).domains_entered().borrow_mut().push(domain);
    Ok(())
}

fn push_domain_ref(t: CurrentThread, domain: Option<Obj>) -> Managed<()> {
    non_null(t, domain, "domain")?;
    push(t, domain_of(t, domain)?)
}

fn push_domain_ref_by_id(t: CurrentThread, id: i32) -> Managed<()> {
    push(t, domain_by_id(t, id)?)
}

fn pop_domain_ref(t: CurrentThread) {
    if let Some(domain) = thread_data::of(t).domains_entered().borrow_mut().pop() {
        domain.remove_thread(t);
    }
}

fn is_finalizing_for_unload(_t: CurrentThread, id: i32) -> bool {
    domains::by_id(id).is_none_or(Domain::is_unloading)
}

fn create_domain<'t>(t: CurrentThread<'t>, name: Option<Str>, setup: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let name = non_null(t, name, "friendlyName")?;
    let setup = non_null(t, setup, "info")?;
    Ok(domains::create(t, &name.to_rust(), setup)?.object(t))
}

fn unload(t: CurrentThread, id: i32) -> Managed<()> {
    domain_unload::unload(t, domain_by_id(t, id)?)
}

/// One GUID per process: the first that any domain proposes.
fn process_guid<'t>(t: CurrentThread<'t>, proposed: Option<Str>) -> Managed<Str<'t>> {
    static GUID: OnceLock<String> = OnceLock::new();
    let proposed = non_null(t, proposed, "newguid")?;
    Str::new(t, GUID.get_or_init(|| proposed.to_rust()))
}

fn do_unhandled_exception(t: CurrentThread, _this: Option<Obj>, exception: Option<Obj>) -> Managed<()> {
    let exception = non_null(t, exception, "e")?;
    unhandled::raise_event(t, exception);
    Ok(())
}

/// The internal calls of `System.AppDomain`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.AppDomain::getCurDomain", &current_domain),
    InternalCall::new("System.AppDomain::getRootDomain", &root_domain),
    InternalCall::new("System.AppDomain::getSetup", &get_setup),
    InternalCall::new("System.AppDomain::getFriendlyName", &friendly_name),
    InternalCall::new("System.AppDomain::GetData", &get_data),
    InternalCall::new("System.AppDomain::SetData", &set_data),
    InternalCall::new("System.AppDomain::InternalGetDefaultContext", &get_default_context),
    InternalCall::new("System.AppDomain::InternalGetContext", &get_context),
    InternalCall::new("System.AppDomain::InternalSetContext", &set_context),
    InternalCall::new("System.AppDomain::InternalSetDomain", &set_domain),
    InternalCall::new("System.AppDomain::InternalSetDomainByID", &set_domain_by_id),
    InternalCall::new("System.AppDomain::InternalPushDomainRef", &push_domain_ref),
    InternalCall::new("System.AppDomain::InternalPushDomainRefByID", &push_domain_ref_by_id),
    InternalCall::new("System.AppDomain::InternalPopDomainRef", &pop_domain_ref),
    InternalCall::new("System.AppDomain::InternalIsFinalizingForUnload", &is_finalizing_for_unload),
    InternalCall::new("System.AppDomain::createDomain", &create_domain),
    InternalCall::new("System.AppDomain::InternalUnload", &unload),
    InternalCall::new("System.AppDomain::InternalGetProcessGuid", &process_guid),
    InternalCall::new("System.AppDomain::DoUnhandledException", &do_unhandled_exception),
];
