//! Class-library types that this crate names, looked up once.

use saki_runtime::exceptions::ToManaged;
use saki_runtime::{CurrentThread, Managed};
use saki_types::{Ty, TypeKind, universe};
use std::sync::atomic::{AtomicU32, Ordering};

/// A corlib type by name.
pub struct KnownType {
    namespace: &'static str,
    name: &'static str,
    /// Row in corlib's TypeDef table, which is the same in all domains; 0 = not looked up yet.
    rid: AtomicU32,
}

impl KnownType {
    pub const fn corlib(namespace: &'static str, name: &'static str) -> Self {
        KnownType { namespace, name, rid: AtomicU32::new(0) }
    }

    /// # Errors
    /// TypeLoadException when the class library lacks the type.
    pub fn get(&self, t: CurrentThread) -> Managed<Ty> {
        // Relaxed: the row number publishes no other memory.
        match self.rid.load(Ordering::Relaxed) {
            0 => {
                let ty = universe().corlib_type(self.namespace, self.name).to_managed(t)?;
                self.rid.store(ty.def().map_or(0, |def| def.rid), Ordering::Relaxed);
                Ok(ty)
            }
            rid => universe().corlib().type_def(rid).to_managed(t),
        }
    }

    /// Whether `ty` is this type. Loads nothing.
    pub fn is(&self, ty: Ty) -> bool {
        match self.rid.load(Ordering::Relaxed) {
            0 if ty.is_corlib(self.namespace, self.name) => {
                self.rid.store(ty.def().map_or(0, |def| def.rid), Ordering::Relaxed);
                true
            }
            0 => false,
            rid => matches!(&ty.kind, TypeKind::Def(def) if def.rid == rid && def.image.is_corlib),
        }
    }
}

pub static RUNTIME_METHOD_INFO: KnownType = KnownType::corlib("System.Reflection", "RuntimeMethodInfo");
pub static RUNTIME_CONSTRUCTOR_INFO: KnownType = KnownType::corlib("System.Reflection", "RuntimeConstructorInfo");
pub static RUNTIME_FIELD_INFO: KnownType = KnownType::corlib("System.Reflection", "RuntimeFieldInfo");
pub static RUNTIME_PROPERTY_INFO: KnownType = KnownType::corlib("System.Reflection", "RuntimePropertyInfo");
pub static RUNTIME_EVENT_INFO: KnownType = KnownType::corlib("System.Reflection", "RuntimeEventInfo");
pub static RUNTIME_PARAMETER_INFO: KnownType = KnownType::corlib("System.Reflection", "RuntimeParameterInfo");
pub static RUNTIME_ASSEMBLY: KnownType = KnownType::corlib("System.Reflection", "RuntimeAssembly");
pub static RUNTIME_MODULE: KnownType = KnownType::corlib("System.Reflection", "RuntimeModule");
pub static ASSEMBLY_BUILDER: KnownType = KnownType::corlib("System.Reflection.Emit", "AssemblyBuilder");
pub static MODULE_BUILDER: KnownType = KnownType::corlib("System.Reflection.Emit", "ModuleBuilder");
pub static DYNAMIC_METHOD: KnownType = KnownType::corlib("System.Reflection.Emit", "DynamicMethod");
pub static SIGNATURE_HELPER: KnownType = KnownType::corlib("System.Reflection.Emit", "SignatureHelper");
pub static ASSEMBLY: KnownType = KnownType::corlib("System.Reflection", "Assembly");
pub static MODULE: KnownType = KnownType::corlib("System.Reflection", "Module");
pub static METHOD_INFO: KnownType = KnownType::corlib("System.Reflection", "MethodInfo");
pub static PARAMETER_INFO: KnownType = KnownType::corlib("System.Reflection", "ParameterInfo");
pub static ATTRIBUTE: KnownType = KnownType::corlib("System", "Attribute");
