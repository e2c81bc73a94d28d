//! Types made by `System.Reflection.Emit.TypeBuilder`: the facts that the loader needs besides an image in memory.
//!
//! Every such type has an `Image` of its own with ordinary tables, so that loader, importer and reflection read it as they
//! read files. Its TypeDef rows are the global type, the enclosing types (rows without members, which stand for the real
//! types) and the type itself. TypeRef rows have names, but they are resolved by a list beside the image: names need not be unique
//! among assemblies made at run time, and a type may be named before it is finished. Types of collectible assemblies are freed (`collectible`).

use crate::collectible;
use crate::domain::Image;
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use crate::field::Field;
use crate::requests::{self, Leave, Request};
use crate::ty::{Ty, Type};
use crate::universe::universe;
use saki_base::locks::RwLock;
use saki_metadata::{Rid, TableId, Token};
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

pub use crate::domain::{EmittedImage, EmittedType, ShownTokens, TypeReference};

impl EmittedType {
    pub fn new(
        module: &'static Image,
        namespace: String,
        name: String,
        enclosing: Option<&'static EmittedType>,
        row: Rid,
    ) -> &'static EmittedType {
        let made = EmittedType {
            module,
            namespace,
            name,
            enclosing,
            row,
            builder_cell: AtomicUsize::new(0),
            created: OnceLock::new(),
            nested: RwLock::default(),
        };
        collectible::keep_beside(module, made)
    }

    /// The finished type.
    pub fn created(&self) -> Option<Ty> {
        self.created.get().copied()
    }

    /// The finished type; if it is not finished, the program is asked to finish it now (`AppDomain.TypeResolve`).
    ///
    /// # Errors
    /// `UnfinishedType`; `Unanswered`.
    pub fn require(&'static self) -> LoadResult<Ty> {
        if let Some(ty) = self.created() {
            return Ok(ty);
        }
        if let Leave::Ask = requests::ask(Request::Emitted(self))? {
            universe().binder().events().finish_type(self);
        }
        self.created().ok_or_else(|| {
            let name = self.full_name();
            let message = format!("Could not load type '{name}': it has not been created yet");
            LoadError::new(LoadErrorKind::UnfinishedType, message, name)
        })
    }

    fn full_name(&self) -> String {
        let mut out = String::new();
        self.write_name(&mut out, '+', &|out, part| out.push_str(part));
        out
    }

    /// Writes the namespace, the names of the enclosing types and the type's own name, each by `write_part`.
    pub(crate) fn write_name(&self, out: &mut String, separator: char, write_part: &dyn Fn(&mut String, &str)) {
        match self.enclosing {
            Some(outer) => {
                outer.write_name(out, separator, write_part);
                out.push(separator);
            }
            None if !self.namespace.is_empty() => {
                write_part(out, &self.namespace);
                out.push('.');
            }
            None => {}
        }
        write_part(out, &self.name);
    }

    /// The namespace of the outermost type.
    pub fn outermost_namespace(&self) -> &str {
        self.enclosing.map_or(&self.namespace, |outer| outer.outermost_namespace())
    }

    /// Number of enclosing types.
    fn depth(&self) -> u32 {
        self.enclosing.map_or(0, |outer| 1 + outer.depth())
    }

    /// The TypeDef row of the type in its own image: behind the global type and the enclosing types.
    pub fn own_row(&self) -> Rid {
        if self.row == 1 { 1 } else { 2 + self.depth() }
    }

    /// The enclosing type for which TypeDef row `rid` of this type's image stands.
    fn stub(&'static self, rid: Rid) -> Option<&'static EmittedType> {
        let mut at = self.enclosing;
        while let Some(outer) = at {
            if outer.own_row() == rid {
                return Some(outer);
            }
            at = outer.enclosing;
        }
        None
    }

    /// Loads the image of the type and publishes it.
    ///
    /// # Errors
    /// `BadImageFormat` if `bytes` is malformed, which would be a bug of the caller that wrote them; `TypeLoad`.
    pub fn create(&'static self, bytes: Vec<u8>, references: Vec<TypeReference>, shown: ShownTokens) -> LoadResult<Ty> {
        self.name_owners(&references);
        let _lock = crate::lazy::loader_lock();
        let image = Image::of_emitted_type(self.module, bytes, EmittedImage { of: self, references, shown })?;
        let ty = image.type_def(self.own_row())?;
        if self.created.set(ty).is_ok() {
            match self.enclosing {
                Some(outer) => outer.nested.write().push(ty),
                None => self.module.assembly().add_emitted(&self.namespace, &self.name, ty),
            }
        }
        Ok(self.created().unwrap_or(ty))
    }
}

impl EmittedType {
    /// Makes the owners of the referenced types live as long as this type: for ever, unless it is collectible itself.
    fn name_owners(&'static self, references: &[TypeReference]) {
        let own = collectible::owner_of(self);
        let named = references.iter().filter_map(|reference| match reference {
            TypeReference::Loaded(ty) => collectible::owner_of(*ty),
            TypeReference::Emitted(emitted) => collectible::owner_of(*emitted),
        });
        named.for_each(|named| match own {
            Some(own) => own.name(named),
            None => named.keep_for_ever(),
        });
    }
}

impl TypeReference {
    /// # Errors
    /// `UnfinishedType`; `Unanswered`.
    pub fn require(self) -> LoadResult<Ty> {
        match self {
            TypeReference::Loaded(ty) => Ok(ty),
            TypeReference::Emitted(emitted) => emitted.require(),
        }
    }
}

impl Type {
    /// The enclosing type of this nested type, if it is not finished yet: nested types may be finished first.
    pub fn unfinished_enclosing(&self) -> Option<&'static EmittedType> {
        let def = self.def()?;
        def.image.emitted_stub(def.enclosing?).filter(|outer| outer.created().is_none())
    }

    /// A type made at run time cannot be used before the structs and enums of its static fields are finished. (Those of its
    /// instance fields are needed for its layout.)
    ///
    /// # Errors
    /// `TypeLoad`, naming this type.
    pub fn check_static_structs(&'static self) -> LoadResult<()> {
        if self.image().emitted_type().is_none() {
            return Ok(());
        }
        for field in self.fields()?.iter().filter(|field| field.is_static()) {
            match field.ty() {
                Err(error) if error.kind == LoadErrorKind::UnfinishedType && is_struct_by_signature(field)? => {
                    let message = format!(
                        "Could not load type '{}': the type of field '{}' has not been created yet",
                        self.full_name(),
                        field.name
                    );
                    return Err(LoadError::type_load(message, self.full_name()));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether the signature declares the field's type as a struct or enum, even if the type turns out to be a class.
fn is_struct_by_signature(field: &'static Field) -> LoadResult<bool> {
    let row = field.image.meta.field(field.rid)?;
    let sig = saki_metadata::parse_field_sig(field.image.meta.blob(row.signature)?)?;
    Ok(matches!(sig, saki_metadata::TypeSig::ValueType(_)))
}

impl Image {
    /// The type whose image this is, for images of emitted types.
    pub fn emitted_type(&self) -> Option<&'static EmittedType> {
        self.emitted.as_ref().map(|emitted| emitted.of)
    }

    /// The referent of TypeRef row `rid` in an emitted image; None for images whose TypeRefs are resolved by name.
    pub(crate) fn emitted_reference(&self, rid: Rid) -> Option<TypeReference> {
        self.emitted.as_ref()?.references.get((rid as usize).checked_sub(1)?).copied()
    }

    /// The enclosing type of an emitted type for which TypeDef row `rid` stands, if it is such a row.
    pub(crate) fn emitted_stub(&self, rid: Rid) -> Option<&'static EmittedType> {
        self.emitted_type()?.stub(rid)
    }

    /// The token that reflection shows for a row: the row's own, except in emitted types.
    pub fn shown_token(&self, table: TableId, rid: Rid) -> Token {
        let row = Token::new(table, rid);
        let Some(emitted) = &self.emitted else { return row };
        let list = match table {
            TableId::TypeDef => return Token::new(table, emitted.of.row),
            TableId::MethodDef => &emitted.shown.methods,
            TableId::Field => &emitted.shown.fields,
            TableId::Property => &emitted.shown.properties,
            TableId::Event => &emitted.shown.events,
            _ => return row,
        };
        (rid as usize).checked_sub(1).and_then(|index| list.get(index)).copied().unwrap_or(row)
    }
}

impl Type {
    /// The types nested directly in this definition, or in that of this instantiation.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn nested_types(&'static self) -> LoadResult<Vec<Ty>> {
        let Some(def) = self.def() else { return Ok(Vec::new()) };
        if let Some(emitted) = def.image.emitted_type() {
            return Ok(emitted.nested.read().clone());
        }
        def.image.meta.nested_classes(def.rid).map(|rid| def.image.type_def(rid)).collect()
    }

    /// The type of this name nested directly in this definition.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn find_nested(&'static self, namespace: &str, name: &str) -> LoadResult<Option<Ty>> {
        let Some(def) = self.def() else { return Ok(None) };
        if def.image.emitted_type().is_some() {
            let is_wanted = |ty: &Ty| ty.def().is_some_and(|def| def.name == name && def.namespace == namespace);
            return Ok(self.nested_types()?.into_iter().find(is_wanted));
        }
        match def.image.meta.find_type_def(namespace, name, Some(def.rid)) {
            Some(rid) => def.image.type_def(rid).map(Some),
            None => Ok(None),
        }
    }
}
