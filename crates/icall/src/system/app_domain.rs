//! System.AppDomain: creating, entering and unloading domains, their data and contexts. Loading assemblies is in `reflect`.

use crate::arguments::non_null;
use saki_abi::ObjRef;
use saki_runtime::domains::{self, Domain};
use saki_runtime::{
    CurrentThread, InternalCall, Managed, ManagedField, domain_unload, strings, thread_data, unhandled,
};
use saki_thread::root;
use std::sync::OnceLock;

extern "C" fn current_domain(_t: CurrentThread) -> ObjRef {
    domains::current().object()
}

extern "C" fn root_domain(_t: CurrentThread) -> ObjRef {
    domains::root_domain().object()
}

extern "C" fn get_setup(_t: CurrentThread, this: ObjRef) -> ObjRef {
    domains::of_object(this).setup()
}

extern "C" fn friendly_name(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| strings::new_string(t, &domains::of_object(this).friendly_name()))
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

extern "C" fn get_data(t: CurrentThread, this: ObjRef, name: ObjRef) -> ObjRef {
    t.run(|| {
        non_null(t, name, "name")?;
        let key = strings::to_rust(name);
        let domain = domains::of_object(this);
        if let Some(field) = setup_field(&key) {
            return Ok(field.get_ref(domain.setup()));
        }
        Ok(domain.data(&key))
    })
}

extern "C" fn set_data(t: CurrentThread, this: ObjRef, name: ObjRef, value: ObjRef) {
    t.run(|| {
        non_null(t, name, "name")?;
        domains::of_object(this).set_data(strings::to_rust(name), value);
        Ok(())
    });
}

extern "C" fn get_default_context(t: CurrentThread) -> ObjRef {
    t.run(|| domains::current().default_context(t))
}

extern "C" fn get_context(t: CurrentThread) -> ObjRef {
    t.run(|| domains::context(t))
}

extern "C" fn set_context(t: CurrentThread, new: ObjRef) -> ObjRef {
    t.run(|| {
        let old = domains::context(t)?;
        t.managed().roots[root::CONTEXT].set(new);
        Ok(old)
    })
}

fn domain_by_id(t: CurrentThread, id: i32) -> Managed<&'static Domain> {
    domains::by_id(id).ok_or_else(|| domains::throw_unloaded(t))
}

/// Switches to the domain; gives the one before.
fn switch(t: CurrentThread, domain: &'static Domain) -> Managed<ObjRef> {
    if domain.is_unloaded() {
        return Err(domains::throw_unloaded(t));
    }
    Ok(domains::switch(t, domain).object())
}

extern "C" fn set_domain(t: CurrentThread, domain: ObjRef) -> ObjRef {
    t.run(|| {
        non_null(t, domain, "domain")?;
        switch(t, domains::of_object(domain))
    })
}

extern "C" fn set_domain_by_id(t: CurrentThread, id: i32) -> ObjRef {
    t.run(|| switch(t, domain_by_id(t, id)?))
}

/// A thread that is in a domain, or calls into it, is aborted before the domain is unloaded.
fn push(t: CurrentThread, domain: &'static Domain) -> Managed<()> {
    domain.add_thread(t)?;
    thread_data::of(t).domains_entered().borrow_mut().push(domain);
    Ok(())
}

extern "C" fn push_domain_ref(t: CurrentThread, domain: ObjRef) {
    t.run(|| {
        non_null(t, domain, "domain")?;
        push(t, domains::of_object(domain))
    });
}

extern "C" fn push_domain_ref_by_id(t: CurrentThread, id: i32) {
    t.run(|| push(t, domain_by_id(t, id)?));
}

extern "C" fn pop_domain_ref(t: CurrentThread) {
    if let Some(domain) = thread_data::of(t).domains_entered().borrow_mut().pop() {
        domain.remove_thread(t);
    }
}

extern "C" fn is_finalizing_for_unload(_t: CurrentThread, id: i32) -> i32 {
    domains::by_id(id).map_or(1, |domain| i32::from(domain.is_unloading()))
}

extern "C" fn create_domain(t: CurrentThread, name: ObjRef, setup: ObjRef) -> ObjRef {
    t.run(|| {
        non_null(t, name, "friendlyName")?;
        non_null(t, setup, "info")?;
        Ok(domains::create(t, &strings::to_rust(name), setup)?.object())
    })
}

extern "C" fn unload(t: CurrentThread, id: i32) {
    t.run(|| domain_unload::unload(t, domain_by_id(t, id)?));
}

/// One GUID per process: the first that any domain proposes.
extern "C" fn process_guid(t: CurrentThread, proposed: ObjRef) -> ObjRef {
    static GUID: OnceLock<String> = OnceLock::new();
    t.run(|| {
        non_null(t, proposed, "newguid")?;
        strings::new_string(t, GUID.get_or_init(|| strings::to_rust(proposed)))
    })
}

extern "C" fn do_unhandled_exception(t: CurrentThread, _this: ObjRef, exception: ObjRef) {
    t.run(|| {
        non_null(t, exception, "e")?;
        unhandled::raise_event(t, exception);
        Ok(())
    });
}

pub const TABLE: &[InternalCall] = &[
    ("System.AppDomain::getCurDomain", current_domain as *const ()),
    ("System.AppDomain::getRootDomain", root_domain as *const ()),
    ("System.AppDomain::getSetup", get_setup as *const ()),
    ("System.AppDomain::getFriendlyName", friendly_name as *const ()),
    ("System.AppDomain::GetData", get_data as *const ()),
    ("System.AppDomain::SetData", set_data as *const ()),
    ("System.AppDomain::InternalGetDefaultContext", get_default_context as *const ()),
    ("System.AppDomain::InternalGetContext", get_context as *const ()),
    ("System.AppDomain::InternalSetContext", set_context as *const ()),
    ("System.AppDomain::InternalSetDomain", set_domain as *const ()),
    ("System.AppDomain::InternalSetDomainByID", set_domain_by_id as *const ()),
    ("System.AppDomain::InternalPushDomainRef", push_domain_ref as *const ()),
    ("System.AppDomain::InternalPushDomainRefByID", push_domain_ref_by_id as *const ()),
    ("System.AppDomain::InternalPopDomainRef", pop_domain_ref as *const ()),
    ("System.AppDomain::InternalIsFinalizingForUnload", is_finalizing_for_unload as *const ()),
    ("System.AppDomain::createDomain", create_domain as *const ()),
    ("System.AppDomain::InternalUnload", unload as *const ()),
    ("System.AppDomain::InternalGetProcessGuid", process_guid as *const ()),
    ("System.AppDomain::DoUnhandledException", do_unhandled_exception as *const ()),
];
