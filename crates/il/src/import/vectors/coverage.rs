//! Tests that the table is complete: each public method of the class libraries' vector types has a row. Skipped where
//! the class libraries are not installed.

use super::rows::VectorCall;
use super::table::row_of;
use crate::vector_types::{Family, family_name, lanes_of};
use saki_metadata::{TableId, Token};
use saki_types::binder::{Binder, SearchPaths};
use saki_types::class::has_attribute;
use saki_types::{LibraryType, Method, Ty, universe};
use std::path::{Path, PathBuf};

const ROOT: &str = "/usr/lib/mono";
/// `MethodAttributes.MemberAccessMask` and `Public`, ECMA-335 §II.23.1.10.
const ACCESS_MASK: u16 = 7;
const PUBLIC: u16 = 6;
/// Primitive types that can be elements of vectors.
const ELEMENTS: [&str; 10] =
    ["Byte", "SByte", "UInt16", "Int16", "UInt32", "Int32", "UInt64", "Int64", "Single", "Double"];

/// Methods of other kinds: texts, hashes, matrices from angles, and what reads or writes one field.
fn is_of_another_kind(method: &Method, family: Family) -> bool {
    let is_accessor = method.name.starts_with("get_") || method.name.starts_with("set_");
    matches!(method.name, "ToString" | "GetHashCode" | "IsAligned" | ".cctor")
        || method.name.starts_with("Create")
        || method.name.starts_with("MethodAccelerationMode")
        || method.name == "IsMethodAccelerated"
        || (method.name == "Equals" && method.is_virtual())
        || (is_accessor && (family == Family::MonoSimd || method.name.ends_with("_Translation")))
        || (method.name == ".ctor" && method.owner.def().is_some_and(|def| def.name.starts_with("Matrix")))
        || (method.name == ".ctor" && method.owner.def().is_some_and(|def| def.name == "Plane"))
}

/// Whether Mono's attribute says that its compiler has an instruction for the method.
fn is_accelerated(method: &Method) -> bool {
    let (Some(def), Some(rid)) = (method.owner.def(), method.rid()) else { return false };
    let token = Token::new(TableId::MethodDef, rid);
    has_attribute(def.image, token, "Mono.Simd", "AccelerationAttribute").expect("readable attributes")
}

fn check(ty: Ty, missing: &mut Vec<String>, found: &mut usize) {
    let Some((family, _)) = family_name(ty) else { return };
    for definition in ty.methods().expect("methods") {
        let methods = if definition.is_generic_definition() {
            let int = universe().library_type(LibraryType::Int32).expect("corlib has it");
            let args = vec![int; definition.generic_args().len()];
            universe().instantiate_method(definition, &args).ok()
        } else {
            Some(definition)
        };
        for method in methods.into_iter().filter(|method| method.flags & ACCESS_MASK == PUBLIC) {
            let row = row_of(method).expect("a signature");
            *found += usize::from(row.is_some());
            let is_known = match row {
                Some(row) if row.call == VectorCall::AsWritten => {
                    !is_accelerated(method) || matches!(method.name, "LoadAligned" | "StoreAligned")
                }
                Some(_) => true,
                None => is_of_another_kind(method, family) && !is_accelerated(method),
            };
            if !is_known {
                missing.push(method.full_name());
            }
        }
    }
}

#[test]
fn every_public_method_of_a_vector_type_has_a_row() {
    let folder = Path::new(ROOT).join("4.5");
    let files = ["mscorlib.dll", "System.Numerics.dll", "Mono.Simd.dll"].map(|name| folder.join(name));
    if !files.iter().all(|file| file.is_file()) {
        return;
    }
    let paths = SearchPaths {
        mono_path: Vec::new(),
        application_base: PathBuf::from("."),
        framework_root: PathBuf::from(ROOT),
        trusted: None,
        resource_roots: vec![],
    };
    saki_types::universe::init(Binder::new(paths), &files[0]).expect("corlib loads");
    let (mut missing, mut found) = (Vec::new(), 0);
    for file in &files {
        let image = universe().binder().load_file(file).expect("an assembly").image;
        for rid in 1..=image.meta.row_count(TableId::TypeDef) {
            let ty = image.type_def(rid).expect("a type");
            if family_name(ty).is_none_or(|(_, name)| !is_vector_class(name)) {
                continue;
            }
            if !ty.is_generic_definition() {
                check(ty, &mut missing, &mut found);
                continue;
            }
            for element in ELEMENTS {
                let element = universe().corlib_type("System", element).expect("corlib has it");
                assert!(lanes_of(element).is_some());
                check(universe().instantiate(ty, &[element]).expect("a vector type"), &mut missing, &mut found);
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(found > 1000, "only {found} rows were found");
}

fn is_vector_class(name: &str) -> bool {
    ["Vector", "Matrix"].iter().any(|prefix| name.starts_with(prefix))
        || matches!(name, "Quaternion" | "Plane" | "ArrayExtensions" | "SimdRuntime")
}
