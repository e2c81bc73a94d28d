//! System.Reflection.Emit.RuntimeAssemblyBuilder: assemblies that are made at run time.

use super::module::{DynamicModule, MODULE_NAME};
use crate::arguments::ObjectPlace;
use crate::assembly::NameParts;
use crate::load_context::{ContextEvents, context_of_object};
use saki_reflect::objects::assembly_object;
use saki_runtime::exec::invoke;
use saki_runtime::{CurrentThread, InternalCall, Managed, Slot, Str, ToManaged};
use saki_types::binder::UNSPECIFIED;
use saki_types::dynamic::{Manifest, create_assembly_of};
use saki_types::emitted::EmittedType;
use saki_types::{LoaderEvents, Method};
use std::sync::atomic::{AtomicU64, Ordering};

/// A version id that no other module of the process has; the variant and version bits are those of random ids.
fn module_version() -> [u8; 16] {
    /// Relaxed: a counter, which orders nothing.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    // Relaxed: a counter.
    let number = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    let mut id = [0; 16];
    id[..8].copy_from_slice(&(number.wrapping_mul(PRIME) ^ u64::from(std::process::id())).to_le_bytes());
    id[8..].copy_from_slice(&number.wrapping_mul(PRIME).rotate_left(32).to_le_bytes());
    id[7] = id[7] & 0xf | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    id
}

/// `AssemblyBuilderAccess.RunAndCollect`
const RUN_AND_COLLECT: i32 = 9;

fn create_dynamic_assembly(
    t: CurrentThread,
    context: ObjectPlace,
    parts: *const NameParts,
    hash_algorithm: i32,
    access: i32,
    result: ObjectPlace,
) -> Managed<()> {
    // SAFETY: managed code passes its own struct, whose texts and key it has pinned for the call.
    let (mut identity, key, flags) = unsafe { ((*parts).to_name(), (*parts).key(), (*parts).flags) };
    identity.version = identity.version.map(|part| if part == UNSPECIFIED { 0 } else { part });
    let manifest = Manifest {
        identity,
        module_name: MODULE_NAME,
        module_version: module_version(),
        public_key: &key,
        flags: flags as u32,
        hash_algorithm: hash_algorithm as u32,
        load_context: context_of_object(context.get()),
        is_runnable: true,
        is_collectible: access & RUN_AND_COLLECT == RUN_AND_COLLECT,
    };
    let assembly = create_assembly_of(&manifest).to_managed(t)?;
    DynamicModule::add(assembly.image);
    result.set(t, assembly_object(t, assembly)?);
    ContextEvents.assembly_loaded(assembly);
    Ok(())
}

/// Raises `AppDomain.TypeResolve` for a type that is not finished. What a handler throws counts as "not finished".
pub(crate) fn raise_type_resolve(t: CurrentThread, on_type_resolve: &'static Method, emitted: &'static EmittedType) {
    let raised = (|| -> Managed<()> {
        let assembly = assembly_object(t, emitted.module.assembly())?;
        let name = match emitted.namespace.as_str() {
            "" => emitted.name.clone(),
            namespace => format!("{namespace}.{}", emitted.name),
        };
        let name = Str::new(t, &name)?;
        invoke::invoke(t, on_type_resolve, &[Slot::from_ref(assembly), Slot::from_ref(name)]).map(|_| ())
    })();
    if raised.is_err() {
        t.take_pending();
    }
}

/// The internal calls of `System.Reflection.Emit.RuntimeAssemblyBuilder`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("@net QCall::AppDomain_CreateDynamicAssembly", &create_dynamic_assembly)];
