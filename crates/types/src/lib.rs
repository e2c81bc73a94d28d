//! The type system: assemblies, types, methods, fields, generic instantiation, layout, vtables, assignability.
//!
//! A CLI type is one `Type`, which lives as long as its domain, so that type identity is pointer identity; the same
//! holds for `Method` and `Field`. Everything about them is computed on first use. Generic instantiations have exact
//! types throughout: a signature is decoded with the instantiation's arguments substituted at once, and a generic
//! definition is its own instantiation over its parameters.
//!
//! The crate has three layers, which tidy checks (`xtask/src/tidy/layers.rs`). At the bottom are the records, which
//! hold data and cells for facts: `ty`, `method`, `field` and `domain` (the tables of a domain, its assemblies and
//! images), with what they are made of (`lazy`, `error`, `identity`, `well_known`) and what is read from them without
//! loading anything: names (`names`), parsed names (`type_name`), rows of unfinished types (`emitted_records`), code of
//! dynamic methods (`dynamic_code`). Above them, the modules in the table below fill these cells, level by level. On
//! top are assemblies (`binder`, `assembly`, `dynamic`) and the questions that other crates ask of the facts (`access`,
//! `accessors`, `remoting`, `native_call`). `universe` makes and ends the tables of a domain; `current` says whose a
//! thread uses. The levels are those of CoreCLR's `classloadlevel.h` in idea, but no type is brought to a level as a
//! whole: each fact is computed when it is first asked for.
//!
//! | level | what a type has there | filled by | asks |
//! |---|---|---|---|
//! | 1 named | its record: kind, generic arguments, attributes, whether it is a value type (by its base class's name) | `class`, `constructed`, `emitted` | level 1 of the arguments |
//! | 2 listed | records of fields and methods, without types | `class` | 1 of their generic parameters |
//! | 3 related | base class, interfaces, ancestors | `class`, `interfaces`, `cast` | 3 of the base class and the interfaces, 1 of their arguments; for a type parameter 2 of the method that declares it |
//! | 4 signed | types of fields, signatures of methods | `signature` | 1 of the types named |
//! | 5 laid out | sizes, offsets, places of references; the same of statics | `layout` | 5 of the base class and of structs in fields, 4 of the fields |
//! | 6 slotted | virtual slots, interface maps | `variance`, `vtable` | 6 of the base class, 4 of the methods, 3 of the interfaces |
//!
//! Invariant of the levels: computing a fact needs facts of lower levels and, of its own level, only those of the types
//! that it is made of. Levels 5 and 6 do not need each other. A fact that needs itself is an error (`lazy::Lazy`).
//! Resolving a token (`resolve`) needs levels 1 to 4 of the type that has the member.
//!
//! Invariants: no managed object is created here and no managed code is run; errors are `LoadError`s, which the runtime
//! turns into the .NET exceptions. One reentrant lock (`lazy::loader_lock`) orders all first uses; its holder never
//! waits for a safepoint. Left out: code, vtable memory and static storage, which `runtime` hangs on `Type::runtime`.

pub mod access;
pub mod accessors;
pub mod app_config;
pub mod assembly;
pub mod assumptions;
mod attributes;
pub mod binder;
mod byref_like;
pub mod cast;
pub mod class;
pub mod collectible;
mod computation;
pub mod constrained_calls;
mod constructed;
mod current;
pub mod domain;
pub mod dynamic;
mod dynamic_code;
pub mod dynamic_records;
pub mod emitted;
mod emitted_records;
pub mod error;
pub mod field;
pub mod files;
#[cfg(test)]
mod fixture;
pub mod identity;
mod image_types;
pub mod interfaces;
pub mod interop_attributes;
pub mod layout;
pub mod lazy;
mod lazy_word;
mod library;
mod library_members;
pub mod load_texts;
pub mod member_texts;
pub mod method;
mod modifiers;
pub mod names;
pub mod native_call;
pub mod remoting;
pub mod requests;
pub mod resolve;
pub mod signature;
pub mod stand_ins;
pub mod ty;
pub mod type_name;
pub mod universe;
mod variance;
pub mod vtable;
pub mod well_known;

pub use assumptions::Assumption;
pub use attributes::has_attribute;
pub use current::universe;
pub use domain::{Assembly, Image, LoaderEvents, TrustedAssemblies, Universe};
pub use error::{LoadError, LoadErrorKind, LoadResult};
pub use field::Field;
pub use method::{ArrayMethod, LocalSig, Method, MethodKind, MethodRuntime, MethodSig, RemotingStub};
pub use saki_contract::{LibraryMethod, LibraryProfile, LibraryType, VectorLibrary};
pub use saki_metadata::ElementType;
pub use ty::{GenericContext, GenericParam, Ty, Type, TypeDef, TypeKind};
pub use vtable::imt_slot_index;

#[cfg(test)]
mod tests {
    //! Over the installed class libraries; silent where they are absent.
    use super::*;

    #[test]
    fn class_libraries_have_all_types_with_roles() {
        if fixture::class_libraries().is_none() {
            return;
        }
        for &role in LibraryType::ALL {
            if universe().profile().type_name(role).is_none() {
                continue;
            }
            let ty = universe().library_type(role).unwrap_or_else(|error| panic!("{role:?}: {error}"));
            let name = role.name();
            if name.assembly == saki_contract::LibraryAssembly::Core && !name.name.contains('/') {
                assert!(ty.is(role), "{role:?}");
            }
        }
        let handle = universe().library_type(LibraryType::WeakReferenceOf).expect("WeakReference<T>");
        let instance = universe().instantiate(handle, &[universe().object()]).expect("WeakReference<object>");
        assert!(
            instance.is(LibraryType::WeakReferenceOf)
                && !universe().sz_array_of(instance).is(LibraryType::WeakReferenceOf)
        );
    }

    /// Loads every type of these assemblies through all levels and reports what fails.
    #[test]
    fn every_class_library_type_loads() {
        let Some(root) = fixture::class_libraries() else { return };
        let mut failures = Vec::new();
        for file in ["mscorlib.dll", "System.dll", "System.Core.dll", "System.Xml.dll"] {
            let assembly = universe().binder().load_file(&root.join("4.5").join(file)).expect(file);
            let count = assembly.image.meta.row_count(saki_metadata::TableId::TypeDef);
            for rid in 1..=count {
                let ty = assembly.image.type_def(rid).expect("type def");
                let mut note =
                    |what: &str, error: LoadError| failures.push(format!("{what} of {}: {error}", ty.full_name()));
                for method in ty.methods().expect("methods") {
                    if let Err(e) = method.sig() {
                        note("signature", e);
                    }
                }
                if let Err(e) = ty.vtable_layout() {
                    note("vtable", e);
                }
                if !ty.is_open
                    && let Err(e) = ty.instance_layout()
                {
                    note("layout", e);
                }
                if let Err(e) = ty.static_layout()
                    && !ty.is_open
                {
                    note("statics", e);
                }
            }
        }
        assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    }
}
