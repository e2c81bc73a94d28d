//! Types made by `System.Reflection.Emit.TypeBuilder`: the facts that the loader needs besides an image in memory.
//!
//! Every such type has an `Image` of its own with ordinary tables, so that loader, importer and reflection read it as
//! they read files. Its TypeDef rows are the global type, the enclosing types (rows without members, which stand for
//! the real types) and the type itself. TypeRef rows have names, but they are resolved by a list beside the image:
//! names need not be unique among assemblies made at run time, and a type may be named before it is finished. Types of
//! collectible assemblies are freed (`collectible`).

use crate::collectible;
use crate::domain::Image;
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use crate::field::Field;
use crate::ty::{Ty, Type};
use saki_base::locks::RwLock;
use saki_metadata::{Rid, TableId, Token, TypeSig};
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

pub use crate::domain::{EmittedImage, EmittedType, ShownTokens, TypeReference};

impl EmittedType {
    /// A type that is not finished; `row` is its row in the module.
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

    /// Loads the image of the type and publishes it.
    ///
    /// # Errors
    /// `BadImageFormat` if `bytes` is malformed, which would be a bug of the caller that wrote them; `TypeLoad`.
    pub fn create(&'static self, bytes: Vec<u8>, references: Vec<TypeReference>, shown: ShownTokens) -> LoadResult<Ty> {
        let (ty, is_new) = self.load(bytes, references, shown)?;
        if is_new {
            self.publish(ty);
        }
        Ok(ty)
    }

    /// Loads the image of the type, which other types can then refer to, although it is found by name only when it is
    /// published. Also says whether no image was loaded before.
    ///
    /// # Errors
    /// `BadImageFormat` if `bytes` is malformed, which would be a bug of the caller that wrote them; `TypeLoad`.
    pub fn load(
        &'static self,
        bytes: Vec<u8>,
        references: Vec<TypeReference>,
        shown: ShownTokens,
    ) -> LoadResult<(Ty, bool)> {
        self.name_owners(&references);
        let _lock = crate::lazy::loader_lock();
        let image = Image::of_emitted_type(self.module, bytes, EmittedImage { of: self, references, shown })?;
        let ty = image.type_def(self.own_row())?;
        let is_new = self.created.set(ty).is_ok();
        Ok((self.created().unwrap_or(ty), is_new))
    }

    /// Lets the loaded type be found by name.
    pub fn publish(&'static self, ty: Ty) {
        match self.enclosing {
            Some(outer) => outer.nested.write().push(ty),
            None => self.module.assembly().add_emitted(&self.namespace, &self.name, ty),
        }
    }
}

impl EmittedType {
    /// Loads an image without types of its own: rows that refer to others, or attributes of what has no image. It
    /// passes for one of this type's.
    ///
    /// # Errors
    /// `BadImageFormat` if `bytes` is malformed.
    pub fn load_rows(&'static self, bytes: Vec<u8>, references: Vec<TypeReference>) -> LoadResult<&'static Image> {
        self.name_owners(&references);
        let shown = ShownTokens::default();
        Image::of_emitted_type(self.module, bytes, EmittedImage { of: self, references, shown })
    }

    /// Makes the owners of the referenced types live as long as this type: for ever, unless it is collectible itself.
    pub fn name_owners(&'static self, references: &[TypeReference]) {
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

impl Type {
    /// A type made at run time cannot be used before the structs and enums of its static fields are finished. (Those of
    /// its instance fields are needed for its layout.)
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

impl Image {
    /// The definition that a TypeDef or TypeRef row names, which need not be finished.
    ///
    /// # Errors
    /// `BadImageFormat`; those of loading the type of a TypeRef row.
    pub fn definition_named(&'static self, token: Token) -> LoadResult<TypeReference> {
        if let Some(emitted) = self.emitted_type() {
            let found = match token.table() {
                TableId::TypeDef if token.rid() == emitted.own_row() => Some(TypeReference::Emitted(emitted)),
                TableId::TypeDef => emitted.stub(token.rid()).map(TypeReference::Emitted),
                TableId::TypeRef => self.emitted_reference(token.rid()),
                _ => None,
            };
            return found.ok_or_else(|| self.bad_token(token));
        }
        let ty = match token.table() {
            TableId::TypeDef => self.type_def(token.rid())?,
            TableId::TypeRef => self.type_ref(token.rid())?,
            _ => return Err(self.bad_token(token)),
        };
        Ok(TypeReference::to(ty))
    }
}

/// Whether the field holds references by its signature, which names a type that is not finished. Such a field has a
/// place in objects, and its type is needed later.
pub(crate) fn refers_to_unfinished_type(field: &'static Field) -> LoadResult<bool> {
    if field.image().emitted_type().is_none() {
        return Ok(false);
    }
    let sig = field_sig(field)?;
    let (sig, is_reference) = (without_modifiers(&sig), is_reference(&sig));
    Ok(is_reference && names_unfinished_type(field.image(), sig))
}

/// The field's type as the metadata has it.
pub(crate) fn field_sig(field: &Field) -> LoadResult<TypeSig> {
    let row = field.image().meta.field(field.rid)?;
    Ok(saki_metadata::parse_field_sig(field.image().meta.blob(row.signature)?)?)
}

fn without_modifiers(mut sig: &TypeSig) -> &TypeSig {
    while let TypeSig::Modified { inner, .. } = sig {
        sig = inner;
    }
    sig
}

/// Whether the type is known to be a reference type without a look at its definition.
pub(crate) fn is_reference(sig: &TypeSig) -> bool {
    matches!(
        without_modifiers(sig),
        TypeSig::Class(_)
            | TypeSig::SzArray(_)
            | TypeSig::Array { .. }
            | TypeSig::GenericInst { is_value_type: false, .. }
    )
}

fn names_unfinished_type(image: &'static Image, sig: &TypeSig) -> bool {
    let is_unfinished = |token: Token| match image.definition_named(token) {
        Ok(TypeReference::Emitted(emitted)) => emitted.created().is_none(),
        _ => false,
    };
    match sig {
        TypeSig::Class(token) | TypeSig::ValueType(token) => is_unfinished(*token),
        TypeSig::SzArray(inner) | TypeSig::Ptr(inner) | TypeSig::ByRef(inner) => names_unfinished_type(image, inner),
        TypeSig::Array { elem, .. } => names_unfinished_type(image, elem),
        TypeSig::GenericInst { token, args, .. } => {
            is_unfinished(*token) || args.iter().any(|argument| names_unfinished_type(image, argument))
        }
        _ => false,
    }
}

/// Whether the signature declares the field's type as a struct or enum, even if the type turns out to be a class.
fn is_struct_by_signature(field: &'static Field) -> LoadResult<bool> {
    let row = field.image().meta.field(field.rid)?;
    let sig = saki_metadata::parse_field_sig(field.image().meta.blob(row.signature)?)?;
    Ok(matches!(sig, TypeSig::ValueType(_)))
}
