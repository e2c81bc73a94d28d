//! Marshalling descriptors, which `Symbol::MarshalInfo` names.
//!
//! A descriptor is made when the code that names it is placed and lives as long as the method.
//! Invariant: one descriptor per (method, parameter), so that its cached data exists once.

use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_il::synth::marshal::{MethodPlan, ParamPlan, method_plan};
use saki_runtime::ExceptionType;
use saki_runtime::object::cells::RootCell;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_types::{Method, collectible};
use std::sync::OnceLock;

/// One parameter of a native call, or its result (`plan.index` 0).
pub struct MarshalDescriptor {
    pub method: &'static Method,
    pub plan: ParamPlan,
    /// Size of the native value, once it was asked for.
    native_size_bytes: OnceLock<usize>,
    /// The `ICustomMarshaler`, once it was made.
    pub custom_marshaler: OnceLock<RootCell>,
}

type Key = (usize, u32);

static DESCRIPTORS: Mutex<rank::MarshalDescriptors, Option<FxHashMap<Key, &'static MarshalDescriptor>>> =
    Mutex::new(None);

/// The descriptor of parameter `index` of `method`.
///
/// # Errors
/// Load errors; ExecutionEngineException for an index the method does not have.
pub fn descriptor(t: CurrentThread, method: &'static Method, index: u32) -> Managed<&'static MarshalDescriptor> {
    let key = (method as *const Method as usize, index);
    if let Some(known) = DESCRIPTORS.lock().as_ref().and_then(|table| table.get(&key)) {
        return Ok(known);
    }
    let plan: MethodPlan = method_plan(method).to_managed(t)?;
    let Some(param) = plan.param(index) else {
        let message = format!("{} has no parameter {index}", method.full_name());
        return Err(exceptions::throw(t, ExceptionType::ExecutionEngine, &message));
    };
    let made = MarshalDescriptor {
        method,
        plan: param.clone(),
        native_size_bytes: OnceLock::new(),
        custom_marshaler: OnceLock::new(),
    };
    let mut table = DESCRIPTORS.lock();
    Ok(table.get_or_insert_default().entry(key).or_insert_with(|| collectible::keep_beside(method, made)))
}

/// Drops the descriptors of methods of dead assemblies and domains.
pub(crate) fn forget_dead() {
    if let Some(table) = DESCRIPTORS.lock().as_mut() {
        table.retain(|(method, _), _| !collectible::is_dead(*method));
    }
}

impl MarshalDescriptor {
    /// Bytes of the native value: of the word, or of the memory at which a `ref` parameter points.
    ///
    /// # Errors
    /// Load errors.
    pub fn native_size_bytes(&self, t: CurrentThread) -> Managed<usize> {
        if let Some(known) = self.native_size_bytes.get() {
            return Ok(*known);
        }
        let size_bytes = self.plan.native.size_bytes().to_managed(t)? as usize;
        Ok(*self.native_size_bytes.get_or_init(|| size_bytes))
    }

    /// The word that compiled code passes.
    pub fn address(&'static self) -> usize {
        self as *const MarshalDescriptor as usize
    }

    /// # Safety
    /// `address` is the result of `MarshalDescriptor::address`, and the code that names the descriptor is running.
    pub unsafe fn from_address<'a>(address: usize) -> &'a MarshalDescriptor {
        // SAFETY: `address` comes from `MarshalDescriptor::address`; descriptors live as long as the code that names
        // them, which runs.
        unsafe { &*(address as *const MarshalDescriptor) }
    }
}
