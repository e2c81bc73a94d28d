//! What is known of a type made by a TypeBuilder without its members: names, rows, whether it is finished.

use crate::current::universe;
use crate::domain::{EmittedType, Image, TypeReference};
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use crate::requests::{self, Leave, Request};
use crate::ty::{Ty, Type};
use saki_metadata::{Rid, TableId, Token};

impl EmittedType {
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
        self.created().ok_or_else(|| self.not_created())
    }

    /// The error for a type that is not finished.
    pub fn not_created(&self) -> LoadError {
        let name = match self.namespace.as_str() {
            "" => self.name.clone(),
            namespace => format!("{namespace}.{}", self.name),
        };
        let assembly = self.module.assembly().display_name();
        let message = format!("Could not load type '{name}' from assembly '{assembly}'.");
        LoadError::new(LoadErrorKind::UnfinishedType, message, name)
    }

    /// Namespace and names, with '+' between those of nested types.
    pub fn full_name(&self) -> String {
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
    pub(crate) fn stub(&'static self, rid: Rid) -> Option<&'static EmittedType> {
        let mut at = self.enclosing;
        while let Some(outer) = at {
            if outer.own_row() == rid {
                return Some(outer);
            }
            at = outer.enclosing;
        }
        None
    }
}

impl TypeReference {
    /// The reference to a definition: by the emitted type that it was made from, if there is one.
    pub fn to(ty: Ty) -> TypeReference {
        match ty.image().emitted_type() {
            Some(emitted) => TypeReference::Emitted(emitted),
            None => TypeReference::Loaded(ty),
        }
    }

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
            TableId::TypeDef if rid == emitted.of.own_row() => return Token::new(table, emitted.of.row),
            TableId::TypeDef => return Token::new(table, emitted.of.stub(rid).map_or(rid, |outer| outer.row)),
            TableId::MethodDef => &emitted.shown.methods,
            TableId::Field => &emitted.shown.fields,
            TableId::Property => &emitted.shown.properties,
            TableId::Event => &emitted.shown.events,
            _ => return row,
        };
        (rid as usize).checked_sub(1).and_then(|index| list.get(index)).copied().unwrap_or(row)
    }
}
