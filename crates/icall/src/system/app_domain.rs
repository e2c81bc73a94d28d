//! System.AppDomain: creating, entering and unloading domains, their data and contexts. Loading assemblies is in `reflect`.

use crate::arguments::non_null;
use saki_abi::ObjRef;
use saki_runtime::domains::{self, Domain};
use saki_runtime::{
    CurrentThread, InternalCall, Managed, ManagedField, Obj, Str, Word, domain_unload, thread_data, unhandled,
};
use saki_thread::root;
use std::sync::OnceLock;

fn current_domain(_t: CurrentThread) -> ObjRef {
    domains::current().object()
}

fn root_domain(_t: CurrentThread) -> ObjRef {
    domains::root_domain().object()
}

fn get_setup(_t: CurrentThread, this: Option<Obj>) -> ObjRef {
    domains::of_object(this.word()).setup()
}

fn friendly_name<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Str<'t>> {
    Str::new(t, &domains::of_object(this.word()).friendly_name())
}

macro_rules! setup_fields {
    ($($key:literal => $field:ident $name:literal;)*) => {
        $(static $field: ManagedField = ManagedField::corlib("System", "AppDomainSetup", $name);)*

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

fn get_data(t: CurrentThread, this: Option<Obj>, name: Option<Str>) -> Managed<ObjRef> {
    let name = non_null(t, name, "name")?;
    let key = name.to_rust();
    let domain = domains::of_object(this.word());
    if let Some(field) = setup_field(&key) {
        return Ok(field.get_ref(domain.setup()));
    }
    Ok(domain.data(&key))
}

fn set_data(t: CurrentThread, this: Option<Obj>, name: Option<Str>, value: Option<Obj>) -> Managed<()> {
    let name = non_null(t, name, "name")?;
    domains::of_object(this.word()).set_data(name.to_rust(), value.word());
    Ok(())
}

fn get_default_context(t: CurrentThread) -> Managed<ObjRef> {
    domains::current().default_context(t)
}

fn get_context(t: CurrentThread) -> Managed<ObjRef> {
    domains::context(t)
}

fn set_context(t: CurrentThread, new: Option<Obj>) -> Managed<ObjRef> {
    let old = domains::context(t)?;
    t.managed().roots[root::CONTEXT].set(new.word());
    Ok(old)
}

fn domain_by_id(t: CurrentThread, id: i32) -> Managed<&'static Domain> {
    domains::by_id(id).ok_or_else(|| domains::throw_unloaded(t))
}

/// Switches to the domain; returns the one before.
fn switch(t: CurrentThread, domain: &'static Domain) -> Managed<ObjRef> {
    if domain.is_unloaded() {
        return Err(domains::throw_unloaded(t));
    }
    Ok(domains::switch(t, domain).object())
}

fn set_domain(t: CurrentThread, domain: Option<Obj>) -> Managed<ObjRef> {
    let domain = non_null(t, domain, "domain")?;
    switch(t, domains::of_object(domain.word()))
}

fn set_domain_by_id(t: CurrentThread, id: i32) -> Managed<ObjRef> {
    switch(t, domain_by_id(t, id)?)
}

/// Enters a domain: before the domain is unloaded, threads that are in it or call into it are aborted.
fn push(t: CurrentThread, domain: &'static Domain) -> Managed<()> {
    domain.add_thread(t)?;
    thread_data::of(t).domains_entered().borrow_mut().push(domain);
    Ok(())
}

fn push_domain_ref(t: CurrentThread, domain: Option<Obj>) -> Managed<()> {
    let domain = non_null(t, domain, "domain")?;
    push(t, domains::of_object(domain.word()))
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

fn create_domain(t: CurrentThread, name: Option<Str>, setup: Option<Obj>) -> Managed<ObjRef> {
    let name = non_null(t, name, "friendlyName")?;
    let setup = non_null(t, setup, "info")?;
    Ok(domains::create(t, &name.to_rust(), setup.word())?.object())
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
    unhandled::raise_event(t, exception.word());
    Ok(())
}

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
