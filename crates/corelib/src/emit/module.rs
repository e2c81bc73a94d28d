//! A module that is made at run time: the records of its builders, and where the rows of finished types lie.
//!
//! Invariant: under the lock nothing is loaded and no managed code runs.

use super::image::{Written, image_of_attribute, image_of_token, image_of_type};
use super::tables::{AttributeRecord, MemberRefRecord, Tables, TypeRecord, record};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_base::locks::{Mutex, MutexGuard, rank};
use saki_metadata::writer::{SignatureForm, copy_signature};
use saki_metadata::{TableId, Token};
use saki_types::emitted::{EmittedType, TypeReference};
use saki_types::{Assembly, Image, LoadResult, Ty, collectible};

/// The name of the module of every assembly that is made at run time.
pub(super) const MODULE_NAME: &str = "RefEmit_InMemoryManifestModule";

/// The row of the first token for a row that has none in the records: these do not grow so far.
const FIRST_GIVEN_ROW: u32 = 0x80_0000;

/// What the records of a module have become.
#[derive(Default)]
struct Finished {
    /// The image and row of a token of the module.
    places: FxHashMap<Token, (&'static Image, Token)>,
    /// The module's tokens of rows, by the address of the image.
    shown: FxHashMap<(usize, Token), Token>,
    /// The rows of the next tokens for rows that have none in the module's records, by table.
    given: FxHashMap<TableId, u32>,
    /// Images with attributes of what was finished when they were defined, by its token.
    late_attributes: FxHashMap<Token, Vec<(&'static Image, Token)>>,
    /// Types that have images, but could not be used.
    failed: FxHashSet<Token>,
}

#[derive(Default)]
pub(super) struct State {
    pub tables: Tables,
    finished: Finished,
}

/// A module that is made at run time.
pub(super) struct DynamicModule {
    pub image: &'static Image,
    /// The global type.
    global: &'static EmittedType,
    state: Mutex<rank::DynamicModule, State>,
}

/// The modules, by the address of their image.
static MODULES: Mutex<rank::DynamicModules, Option<FxHashMap<usize, &'static DynamicModule>>> = Mutex::new(None);

/// Drops the modules of dead assemblies.
pub(crate) fn forget_dead() {
    if let Some(modules) = MODULES.lock().as_mut() {
        modules.retain(|image, _| !collectible::is_dead(*image));
    }
}

/// Whether tokens of the table are given to rows of one image only, which shows them itself (`ShownTokens`).
fn is_definition(token: Token) -> bool {
    use TableId as T;
    matches!(token.table(), T::TypeDef | T::MethodDef | T::Field | T::Property | T::Event)
}

fn address<T>(of: &'static T) -> usize {
    std::ptr::from_ref(of).addr()
}

impl DynamicModule {
    /// The module of an assembly that has just been made.
    pub(super) fn add(image: &'static Image) {
        let global = EmittedType::new(image, String::new(), "<Module>".to_string(), None, 1);
        let module = collectible::keep_beside(image, DynamicModule { image, global, state: Mutex::default() });
        module.tables().tables.add_type(TypeRecord::new(global, 0, Token::NIL), "<Module>".to_string());
        MODULES.lock().get_or_insert_default().insert(address(image), module);
    }

    /// The module with this image; None for images of other modules and of types.
    pub(super) fn of(image: &'static Image) -> Option<&'static DynamicModule> {
        if !image.assembly().is_dynamic {
            return None;
        }
        MODULES.lock().as_ref()?.get(&address(image)).copied()
    }

    /// The records, to read or change them.
    pub(super) fn tables(&self) -> MutexGuard<'_, rank::DynamicModule, State> {
        self.state.lock()
    }

    /// The module's token of a definition.
    pub(super) fn definition_token(&self, named: TypeReference) -> Token {
        match named {
            TypeReference::Emitted(emitted) if std::ptr::eq(emitted.module, self.image) => {
                Token::new(TableId::TypeDef, emitted.row)
            }
            _ => {
                // The records lie outside the memory in which collections look for references.
                self.global.name_owners(&[named]);
                self.tables().tables.type_ref(named)
            }
        }
    }

    /// The module's token for a type token of another image.
    fn import(&self, from: &'static Image, token: Token) -> LoadResult<Token> {
        let other = DynamicModule::of(from);
        if token.table() != TableId::TypeSpec {
            let named = match other {
                Some(other) => other.tables().tables.definition(token)?,
                None => from.definition_named(token)?,
            };
            return Ok(self.definition_token(named));
        }
        let blob = match other {
            Some(other) => record(&other.tables().tables.type_specs, token)?.clone(),
            None => from.meta.blob(from.meta.type_spec(token.rid())?.signature)?.to_vec(),
        };
        let copied = copy_signature(&blob, SignatureForm::Type, &mut |token| self.import(from, token))?;
        Ok(self.tables().tables.type_spec(&copied))
    }

    /// A MemberRef of this module to a method or field of a module.
    ///
    /// # Errors
    /// Those of loading the types in its signature.
    pub(super) fn member_ref(&self, parent: Token, from: &'static Image, member: Token) -> LoadResult<Token> {
        let (name, blob) = match DynamicModule::of(from) {
            Some(other) => {
                let tables = &other.tables().tables;
                match member.table() {
                    TableId::Field => record(&tables.fields, member).map(|f| (f.name.clone(), f.signature.clone()))?,
                    _ => record(&tables.methods, member).map(|m| (m.name.clone(), m.signature.clone()))?,
                }
            }
            None => {
                let (name, signature) = match member.table() {
                    TableId::Field => from.meta.field(member.rid()).map(|row| (row.name, row.signature))?,
                    _ => from.meta.method_def(member.rid()).map(|row| (row.name, row.signature))?,
                };
                (from.meta.string(name)?.to_string(), from.meta.blob(signature)?.to_vec())
            }
        };
        let signature = match std::ptr::eq(from, self.image) {
            true => blob,
            false => copy_signature(&blob, SignatureForm::Marked, &mut |token| self.import(from, token))?,
        };
        Ok(self.tables().tables.member_ref(MemberRefRecord { parent, name, signature }))
    }

    /// Makes the type of a TypeDef token. It can be found by its name if `check` accepts it.
    ///
    /// # Errors
    /// Those of loading what its definition needs, and of `check`.
    pub(super) fn finish_type(&self, token: Token, check: impl FnOnce(Ty) -> LoadResult<()>) -> LoadResult<Ty> {
        let (emitted, written) = {
            let tables = &self.tables().tables;
            (record(&tables.types, token)?.emitted, image_of_type(tables, MODULE_NAME, token)?)
        };
        let Written { bytes, references, shown, rows } = written;
        let (ty, is_new) = emitted.load(bytes, references, shown)?;
        self.place(ty.image(), rows);
        if let Err(error) = check(ty) {
            self.tables().finished.failed.insert(token);
            return Err(error);
        }
        if is_new {
            emitted.publish(ty);
        }
        Ok(ty)
    }

    /// The types of the module in the order of their definition, without the global one, or why they are not there.
    pub(super) fn types(&self) -> Vec<LoadResult<Ty>> {
        let defined: Vec<_> = self.tables().tables.types.iter().skip(1).map(|record| record.emitted).collect();
        let failure = |emitted: &EmittedType| {
            let token = Token::new(TableId::TypeDef, emitted.row);
            self.tables().finished.failed.contains(&token).then(|| emitted.not_created())
        };
        defined.into_iter().map(|emitted| failure(emitted).map_or_else(|| emitted.require(), Err)).collect()
    }

    /// The CIL of a method, as it was written.
    pub(super) fn code(&self, method: Token) -> Option<Vec<u8>> {
        let tables = &self.tables().tables;
        record(&tables.methods, method).ok()?.body.as_ref().map(|body| body.code.clone())
    }

    /// The assemblies of the types that the module refers to, in the order of the first reference.
    pub(super) fn references(&self) -> Vec<&'static Assembly> {
        let mut found: Vec<&'static Assembly> = Vec::new();
        for &named in &self.tables().tables.type_refs {
            let image = match named {
                TypeReference::Loaded(ty) => ty.image(),
                TypeReference::Emitted(emitted) => emitted.module,
            };
            let assembly = image.assembly();
            if assembly != self.image.assembly() && !found.contains(&assembly) {
                found.push(assembly);
            }
        }
        found
    }

    /// Notes the rows of an image for tokens of the module.
    fn place(&self, image: &'static Image, rows: FxHashMap<Token, Token>) {
        let finished = &mut self.tables().finished;
        for (token, row) in rows {
            // The row of a definition is in the image of its own type; others refer to it.
            if !is_definition(token) || row.table() == token.table() {
                finished.places.entry(token).or_insert((image, row));
            }
            finished.shown.insert((address(image), row), token);
        }
    }

    /// Adds a custom attribute.
    ///
    /// # Errors
    /// `BadImageFormat`: a token names nothing.
    pub(super) fn add_attribute(&self, of: Token, constructor: Token, value: Vec<u8>) -> LoadResult<()> {
        let (parent, written) = {
            let mut state = self.tables();
            let parent = match of.table() {
                TableId::Assembly | TableId::Module => Some(of),
                _ => state.finished.places.get(&of).map(|&(_, row)| row),
            };
            let Some(parent) = parent else {
                if let Some((namespace, class)) = state.tables.class_of_member(constructor)
                    && state.tables.apply_attribute(of, &namespace, &class, &value)?
                {
                    return Ok(());
                }
                let list = state.tables.attributes.entry(of).or_default();
                list.push(AttributeRecord { constructor, value });
                return Ok(());
            };
            (parent, image_of_attribute(&state.tables, MODULE_NAME, parent, constructor, &value)?)
        };
        if of.table() == TableId::Assembly {
            self.open_assembly(constructor, &value);
        }
        let image = self.global.load_rows(written.bytes, written.references)?;
        self.place(image, written.rows);
        self.tables().finished.late_attributes.entry(of).or_default().push((image, parent));
        Ok(())
    }

    /// Heeds an attribute of the assembly by which others see its internals, or it sees theirs.
    fn open_assembly(&self, constructor: Token, value: &[u8]) {
        let class = self.tables().tables.class_of_member(constructor);
        if let Some((namespace, name)) = class
            && namespace == "System.Runtime.CompilerServices"
        {
            self.image.assembly().open_by_attribute(&name, value);
        }
    }

    /// Images with attributes of what the token names, and its row there; besides those in its own image.
    pub(super) fn late_attributes(&self, of: Token) -> Vec<(&'static Image, Token)> {
        self.tables().finished.late_attributes.get(&of).cloned().unwrap_or_default()
    }

    /// The type to which a definition belongs; nil for a reference. None: the records do not have the token.
    pub(super) fn owner(&self, token: Token) -> Option<Token> {
        let tables = &self.tables().tables;
        let found = match token.table() {
            TableId::TypeDef => record(&tables.types, token).map(|_| token),
            TableId::MethodDef => record(&tables.methods, token).map(|record| record.owner),
            TableId::Field => record(&tables.fields, token).map(|record| record.owner),
            TableId::TypeRef => record(&tables.type_refs, token).map(|_| Token::NIL),
            TableId::TypeSpec => record(&tables.type_specs, token).map(|_| Token::NIL),
            TableId::StandAloneSig => record(&tables.signatures, token).map(|_| Token::NIL),
            TableId::MemberRef => record(&tables.member_refs, token).map(|_| Token::NIL),
            TableId::MethodSpec => record(&tables.method_specs, token).map(|_| Token::NIL),
            _ => return None,
        };
        found.ok()
    }

    /// The text of a literal.
    pub(super) fn literal(&self, token: Token) -> Option<&'static [u16]> {
        if token.table() != TableId::UserString {
            return None;
        }
        record(&self.tables().tables.literals, token).ok().copied()
    }

    /// The image and the row of a token. A definition whose type is not finished is asked for. None: of the records,
    /// none has the token.
    ///
    /// # Errors
    /// `UnfinishedType`; those of loading.
    pub(super) fn locate(&self, token: Token) -> LoadResult<Option<(&'static Image, Token)>> {
        let place = self.tables().finished.places.get(&token).copied();
        if place.is_some() {
            return Ok(place);
        }
        let Some(owner) = self.owner(token) else { return Ok(None) };
        if owner.is_nil() {
            let written = image_of_token(&self.tables().tables, MODULE_NAME, token)?;
            let image = self.global.load_rows(written.bytes, written.references)?;
            self.place(image, written.rows);
        } else {
            let emitted = record(&self.tables().tables.types, owner)?.emitted;
            emitted.require()?;
        }
        Ok(self.tables().finished.places.get(&token).copied())
    }

    /// The module's token of a row of one of its images; rows that no builder has named get one.
    pub(super) fn show(&self, image: &'static Image, row: Token) -> Token {
        if is_definition(row) || row.is_nil() || std::ptr::eq(image, self.image) {
            return image.shown_token(row.table(), row.rid());
        }
        let finished = &mut self.tables().finished;
        if let Some(&known) = finished.shown.get(&(address(image), row)) {
            return known;
        }
        let count = finished.given.entry(row.table()).or_insert(FIRST_GIVEN_ROW);
        let token = Token::new(row.table(), *count);
        *count += 1;
        finished.places.insert(token, (image, row));
        finished.shown.insert((address(image), row), token);
        token
    }

    /// The type around which a type token of the module names a nested type, or that it names itself.
    pub(super) fn named_type(&self, token: Token) -> LoadResult<TypeReference> {
        self.tables().tables.definition(token)
    }
}

/// The nested type of this name.
///
/// # Errors
/// Those of loading; `Ok(None)` where there is none.
pub(super) fn nested_type(outer: TypeReference, name: &str) -> LoadResult<Option<TypeReference>> {
    match outer {
        TypeReference::Emitted(emitted) => Ok(find_in(emitted.module, Some(emitted), name)),
        TypeReference::Loaded(ty) => {
            let (namespace, simple) = split(name);
            let found = match ty.find_nested("", name)? {
                Some(found) => Some(found),
                None => ty.find_nested(namespace, simple)?,
            };
            Ok(found.map(TypeReference::to))
        }
    }
}

/// The type of this name that is not nested.
///
/// # Errors
/// Those of loading; `Ok(None)` where there is none.
pub(super) fn top_type(image: &'static Image, name: &str) -> LoadResult<Option<TypeReference>> {
    if let Some(found) = find_in(image, None, name) {
        return Ok(Some(found));
    }
    let (namespace, simple) = split(name);
    Ok(image.find_type(namespace, simple)?.map(TypeReference::to))
}

fn find_in(image: &'static Image, outer: Option<&'static EmittedType>, name: &str) -> Option<TypeReference> {
    DynamicModule::of(image)?.tables().tables.find_type(outer, name).map(TypeReference::Emitted)
}

/// The namespace and the name.
pub(super) fn split(full_name: &str) -> (&str, &str) {
    match full_name.rsplit_once('.') {
        Some((namespace, name)) if !namespace.is_empty() => (namespace, name),
        _ => ("", full_name),
    }
}
