//! System.AppDomain, of which there is one. Loading assemblies is in `reflect`; creating and unloading domains is missing.

use crate::arguments::non_null;
use parking_lot::Mutex;
use saki_abi::ObjRef;
use saki_runtime::exceptions::ToManaged;
use saki_runtime::{Cell, InternalCall, Managed, ManagedField, Thread, exceptions, object, strings, vm};
use saki_thread::root;
use saki_types::universe;
use std::collections::HashMap;
use std::sync::OnceLock;

/// `AppDomain.Id` of the only domain.
pub const ROOT_DOMAIN_ID: i32 = 0;

extern "C" fn current_domain(_t: Thread) -> ObjRef {
    vm::domain_object()
}

extern "C" fn get_setup(_t: Thread, _this: ObjRef) -> ObjRef {
    vm::domain_setup()
}

/// The program's file name.
extern "C" fn friendly_name(t: Thread, _this: ObjRef) -> ObjRef {
    t.run(|| {
        let path = vm::command_line().first().map(String::as_str).unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        strings::new_string(t, name)
    })
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

/// Values given to `SetData`. A name keeps its root cell.
static DATA: Mutex<Option<HashMap<String, Cell>>> = Mutex::new(None);

extern "C" fn get_data(t: Thread, _this: ObjRef, name: ObjRef) -> ObjRef {
    t.run(|| {
        non_null(t, name, "name")?;
        let key = strings::to_rust(name);
        if let Some(field) = setup_field(&key) {
            return Ok(field.get_ref(vm::domain_setup()));
        }
        Ok(DATA.lock().as_ref().and_then(|data| data.get(&key)).map_or(ObjRef::NULL, |cell| cell.get()))
    })
}

extern "C" fn set_data(t: Thread, _this: ObjRef, name: ObjRef, value: ObjRef) {
    t.run(|| {
        non_null(t, name, "name")?;
        let key = strings::to_rust(name);
        let mut data = DATA.lock();
        data.get_or_insert_default().entry(key).or_insert_with(|| Cell::new(ObjRef::NULL)).set(value);
        Ok(())
    });
}

static DEFAULT_CONTEXT: OnceLock<Cell> = OnceLock::new();

/// The remoting context that threads start in, made without running a constructor.
pub(crate) fn default_context(t: Thread) -> Managed<ObjRef> {
    if let Some(cell) = DEFAULT_CONTEXT.get() {
        return Ok(cell.get());
    }
    static DOMAIN_ID: ManagedField = ManagedField::corlib("System.Runtime.Remoting.Contexts", "Context", "domain_id");
    let ty = universe().corlib_type("System.Runtime.Remoting.Contexts", "Context").to_managed(t)?;
    let context = object::new_instance(t, ty)?;
    DOMAIN_ID.set(context, ROOT_DOMAIN_ID);
    // The first to publish wins; the other object is garbage.
    Ok(DEFAULT_CONTEXT.get_or_init(|| Cell::new(context)).get())
}

extern "C" fn get_default_context(t: Thread) -> ObjRef {
    t.run(|| default_context(t))
}

fn context(t: Thread) -> Managed<ObjRef> {
    let current = t.managed().roots[root::CONTEXT].get();
    if current.is_null() { default_context(t) } else { Ok(current) }
}

extern "C" fn get_context(t: Thread) -> ObjRef {
    t.run(|| context(t))
}

extern "C" fn set_context(t: Thread, new: ObjRef) -> ObjRef {
    t.run(|| {
        let old = context(t)?;
        t.managed().roots[root::CONTEXT].set(new);
        Ok(old)
    })
}

fn check_domain_id(t: Thread, id: i32) -> Managed<()> {
    if id == ROOT_DOMAIN_ID {
        return Ok(());
    }
    let message = format!("There is no application domain with id {id}.");
    Err(exceptions::throw(t, "System", "AppDomainUnloadedException", &message))
}

/// Switches to the domain; gives the one before.
extern "C" fn set_domain(t: Thread, domain: ObjRef) -> ObjRef {
    t.run(|| {
        non_null(t, domain, "domain")?;
        Ok(vm::domain_object())
    })
}

extern "C" fn set_domain_by_id(t: Thread, id: i32) -> ObjRef {
    t.run(|| {
        check_domain_id(t, id)?;
        Ok(vm::domain_object())
    })
}

/// References keep a domain from being unloaded, which the only one never is.
extern "C" fn push_domain_ref(t: Thread, domain: ObjRef) {
    t.run(|| non_null(t, domain, "domain"));
}

extern "C" fn push_domain_ref_by_id(t: Thread, id: i32) {
    t.run(|| check_domain_id(t, id));
}

extern "C" fn pop_domain_ref(_t: Thread) {}

extern "C" fn is_finalizing_for_unload(_t: Thread, _id: i32) -> i32 {
    0
}

/// One GUID per process: the first that any domain proposes.
extern "C" fn process_guid(t: Thread, proposed: ObjRef) -> ObjRef {
    static GUID: OnceLock<Cell> = OnceLock::new();
    t.run(|| {
        non_null(t, proposed, "newguid")?;
        Ok(GUID.get_or_init(|| Cell::new(proposed)).get())
    })
}

extern "C" fn do_unhandled_exception(t: Thread, _this: ObjRef, exception: ObjRef) {
    t.run(|| {
        non_null(t, exception, "e")?;
        vm::raise_unhandled_exception(t, exception);
        Ok(())
    });
}

pub const TABLE: &[InternalCall] = &[
    ("System.AppDomain::getCurDomain", current_domain as *const ()),
    ("System.AppDomain::getRootDomain", current_domain as *const ()),
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
    ("System.AppDomain::InternalGetProcessGuid", process_guid as *const ()),
    ("System.AppDomain::DoUnhandledException", do_unhandled_exception as *const ()),
];
