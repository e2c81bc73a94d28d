//! The image of one type, written from the records of its module when the type is finished; also images without types,
//! for rows of the module that are needed by themselves.
//!
//! Tokens of the module become rows of the image. What belongs to other types is named by MemberRefs, and the types
//! themselves by TypeRefs whose meaning is a list (`saki_types::emitted`).

use super::tables::{AssociationRecord, MemberRefRecord, MethodCode, Tables, record};
use rustc_hash::FxHashMap;
use saki_metadata::opcodes::{Operand, decode};
use saki_metadata::writer::{BodySpec, ImageWriter, SignatureForm, copy_signature};
use saki_metadata::{EhKind, TableId, Token};
use saki_types::LoadResult;
use saki_types::emitted::{EmittedType, ShownTokens, TypeReference};
use saki_types::method::{impl_flags, method_flags};

const FIELD_HAS_RVA: u32 = 0x100;
const FIELD_HAS_DEFAULT: u32 = 0x8000;
const FIELD_HAS_MARSHAL: u32 = 0x1000;
const PARAM_HAS_DEFAULT: u32 = 0x1000;
const PARAM_HAS_MARSHAL: u32 = 0x2000;
const PROPERTY_HAS_DEFAULT: u32 = 0x1000;

/// What was written.
pub(super) struct Written {
    pub bytes: Vec<u8>,
    /// The meaning of its TypeRef rows.
    pub references: Vec<TypeReference>,
    pub shown: ShownTokens,
    /// Rows by tokens of the module.
    pub rows: FxHashMap<Token, Token>,
}

/// An image in the making.
pub(super) struct ImageMaker<'a> {
    tables: &'a Tables,
    writer: ImageWriter,
    references: Vec<TypeReference>,
    rows: FxHashMap<Token, Token>,
    type_refs: FxHashMap<usize, Token>,
    module_refs: FxHashMap<&'a str, u32>,
}

impl<'a> ImageMaker<'a> {
    /// An image of a module of this name, with the row of the global type alone.
    fn new(tables: &'a Tables, module_name: &str) -> ImageMaker<'a> {
        let mut writer = ImageWriter::default();
        let name = writer.heaps.string(module_name).0;
        let mvid = writer.heaps.guid([0; 16]).0;
        writer.tables.add(TableId::Module, &[0, name, mvid, 0, 0]);
        ImageMaker {
            tables,
            writer,
            references: Vec::new(),
            rows: FxHashMap::default(),
            type_refs: FxHashMap::default(),
            module_refs: FxHashMap::default(),
        }
    }

    fn finish(self, shown: ShownTokens) -> Written {
        Written { bytes: self.writer.finish_for_loader(), references: self.references, shown, rows: self.rows }
    }

    fn string(&mut self, text: &str) -> u32 {
        self.writer.heaps.string(text).0
    }

    fn blob(&mut self, bytes: &[u8]) -> u32 {
        self.writer.heaps.blob(bytes).0
    }

    fn add(&mut self, table: TableId, cells: &[u32]) -> Token {
        Token::new(table, self.writer.tables.add(table, cells))
    }

    /// TypeDef or TypeRef of a definition.
    fn reference(&mut self, named: TypeReference) -> Token {
        let (address, namespace, name) = match named {
            TypeReference::Emitted(emitted) => {
                (std::ptr::from_ref::<EmittedType>(emitted).addr(), emitted.namespace.as_str(), emitted.name.as_str())
            }
            TypeReference::Loaded(ty) => {
                let (namespace, name) = ty.def().map_or(("", ""), |def| (def.namespace, def.name));
                (std::ptr::from_ref(ty).addr(), namespace, name)
            }
        };
        if let Some(&known) = self.type_refs.get(&address) {
            return known;
        }
        let (name, namespace) = (self.string(name), self.string(namespace));
        let token = self.add(TableId::TypeRef, &[0, name, namespace]);
        self.references.push(named);
        self.type_refs.insert(address, token);
        token
    }

    fn signature(&mut self, blob: &[u8], form: SignatureForm) -> LoadResult<u32> {
        let copied = copy_signature(blob, form, &mut |token| self.token(token))?;
        Ok(self.blob(&copied))
    }

    fn member_ref(&mut self, parent: Token, name: &str, signature: &[u8]) -> LoadResult<Token> {
        let parent = self.token(parent)?;
        let name = self.string(name);
        let signature = self.signature(signature, SignatureForm::Marked)?;
        Ok(self.add(TableId::MemberRef, &[parent.0, name, signature]))
    }

    /// The row of this image for a token of the module.
    ///
    /// # Errors
    /// `BadImageFormat`: the token names nothing.
    fn token(&mut self, token: Token) -> LoadResult<Token> {
        if token.is_nil() {
            return Ok(Token::NIL);
        }
        if let Some(&known) = self.rows.get(&token) {
            return Ok(known);
        }
        let tables = self.tables;
        let row = match token.table() {
            TableId::TypeSpec => {
                let blob = self.signature(record(&tables.type_specs, token)?, SignatureForm::Type)?;
                self.add(TableId::TypeSpec, &[blob])
            }
            TableId::StandAloneSig => {
                let blob = self.signature(record(&tables.signatures, token)?, SignatureForm::Marked)?;
                self.add(TableId::StandAloneSig, &[blob])
            }
            TableId::MethodDef => {
                let method = record(&tables.methods, token)?;
                self.member_ref(method.owner, &method.name, &method.signature)?
            }
            TableId::Field => {
                let field = record(&tables.fields, token)?;
                self.member_ref(field.owner, &field.name, &field.signature)?
            }
            TableId::MemberRef => {
                let MemberRefRecord { parent, name, signature } = record(&tables.member_refs, token)?;
                // The call of a vararg method names the method, of which other images have no row.
                let parent = match parent.table() {
                    TableId::MethodDef if !self.rows.contains_key(parent) => record(&tables.methods, *parent)?.owner,
                    _ => *parent,
                };
                self.member_ref(parent, name, signature)?
            }
            TableId::MethodSpec => {
                let (method, arguments) = record(&tables.method_specs, token)?;
                let method = self.token(*method)?;
                let blob = self.signature(arguments, SignatureForm::Marked)?;
                self.add(TableId::MethodSpec, &[method.0, blob])
            }
            TableId::UserString => self.writer.heaps.user_string(record(&tables.literals, token)?),
            _ => self.reference(tables.definition(token)?),
        };
        self.rows.insert(token, row);
        Ok(row)
    }

    /// Replaces the module's tokens in code.
    fn code(&mut self, code: &[u8]) -> LoadResult<Vec<u8>> {
        let mut copy = code.to_vec();
        for instruction in decode(code) {
            // What cannot be decoded is reported when the method is compiled, as with files.
            let Ok(instruction) = instruction else { break };
            let Operand::Token(token) = instruction.operand else { continue };
            let row = self.token(token)?;
            let end = instruction.next_offset as usize;
            copy[end - 4..end].copy_from_slice(&row.0.to_le_bytes());
        }
        Ok(copy)
    }

    fn add_body(&mut self, body: &MethodCode) -> LoadResult<u32> {
        let mut clauses = body.clauses.clone();
        for clause in clauses.iter_mut().filter(|clause| clause.kind == EhKind::Catch) {
            clause.class_token_or_filter_offset = self.token(Token(clause.class_token_or_filter_offset))?.0;
        }
        let locals = match body.locals[..] {
            // No local variables.
            [] | [_, 0] => Token::NIL,
            _ => {
                let blob = self.signature(&body.locals, SignatureForm::Marked)?;
                self.add(TableId::StandAloneSig, &[blob])
            }
        };
        let code = self.code(&body.code)?;
        let spec = BodySpec { code, max_stack: body.max_stack, init_locals: body.init_locals, locals, clauses };
        Ok(self.writer.body(&spec))
    }

    /// Adds the attributes that a token of the module has.
    fn add_attributes(&mut self, of: Token, parent: Token) -> LoadResult<()> {
        let tables = self.tables;
        for attribute in tables.attributes.get(&of).into_iter().flatten() {
            let constructor = self.token(attribute.constructor)?;
            let value = self.blob(&attribute.value);
            self.add(TableId::CustomAttribute, &[parent.0, constructor.0, value]);
        }
        Ok(())
    }

    fn add_constant(&mut self, of: Token, parent: Token) {
        if let Some(constant) = self.tables.constants.get(&of) {
            let blob = self.blob(&constant.bytes);
            self.add(TableId::Constant, &[constant.element_type, parent.0, blob]);
        }
    }

    fn add_marshalling(&mut self, of: Token, parent: Token) {
        if let Some(descriptor) = self.tables.marshalling.get(&of) {
            let blob = self.blob(descriptor);
            self.add(TableId::FieldMarshal, &[parent.0, blob]);
        }
    }

    fn add_field(&mut self, token: Token) -> LoadResult<()> {
        let tables = self.tables;
        let field = record(&tables.fields, token)?;
        let mut flags = field.flags;
        for (flag, is_set) in [
            (FIELD_HAS_RVA, field.data.is_some()),
            (FIELD_HAS_DEFAULT, tables.constants.contains_key(&token)),
            (FIELD_HAS_MARSHAL, tables.marshalling.contains_key(&token)),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        let name = self.string(&field.name);
        let signature = self.signature(&field.signature, SignatureForm::Marked)?;
        let row = self.add(TableId::Field, &[flags, name, signature]);
        self.add_constant(token, row);
        self.add_marshalling(token, row);
        if let Some(offset) = field.offset {
            self.add(TableId::FieldLayout, &[offset, row.rid()]);
        }
        if let Some(data) = &field.data {
            let rva = self.writer.field_data(data);
            self.add(TableId::FieldRva, &[rva, row.rid()]);
        }
        self.add_attributes(token, row)
    }

    fn add_params(&mut self, params: &[Token]) -> LoadResult<()> {
        let tables = self.tables;
        let mut params = params.to_vec();
        params.sort_by_key(|&token| record(&tables.params, token).map_or(0, |param| param.sequence));
        for token in params {
            let param = record(&tables.params, token)?;
            let mut flags = param.flags;
            for (flag, is_set) in [
                (PARAM_HAS_DEFAULT, tables.constants.contains_key(&token)),
                (PARAM_HAS_MARSHAL, tables.marshalling.contains_key(&token)),
            ] {
                flags |= if is_set { flag } else { 0 };
            }
            let name = self.string(&param.name);
            let row = self.add(TableId::Param, &[flags, u32::from(param.sequence), name]);
            self.rows.insert(token, row);
            self.add_constant(token, row);
            self.add_marshalling(token, row);
            self.add_attributes(token, row)?;
        }
        Ok(())
    }

    fn add_method(&mut self, token: Token) -> LoadResult<()> {
        let tables = self.tables;
        let method = record(&tables.methods, token)?;
        let has_code = method.flags & u32::from(method_flags::ABSTRACT | method_flags::PINVOKE) == 0
            && method.impl_flags & u32::from(impl_flags::CODE_TYPE_MASK | impl_flags::INTERNAL_CALL) == 0;
        let rva = match &method.body {
            Some(body) if has_code => self.add_body(body)?,
            _ => 0,
        };
        let name = self.string(&method.name);
        let signature = self.signature(&method.signature, SignatureForm::Marked)?;
        let first_param = self.writer.tables.count(TableId::Param) + 1;
        let row = self.add(TableId::MethodDef, &[rva, method.impl_flags, method.flags, name, signature, first_param]);
        self.add_params(&method.params)?;
        if let Some(import) = &method.import {
            let scope = match self.module_refs.get(&*import.library) {
                Some(&known) => known,
                None => {
                    let library = self.string(&import.library);
                    let row = self.add(TableId::ModuleRef, &[library]).rid();
                    self.module_refs.insert(&import.library, row);
                    row
                }
            };
            let name = self.string(&import.name);
            self.add(TableId::ImplMap, &[u32::from(import.flags), row.0, name, scope]);
        }
        self.add_attributes(token, row)
    }

    /// Adds the generic parameters of a type and its methods, in the order that the table has (ECMA-335 §II.22.20), so
    /// that their rows are final.
    fn add_generic_params(&mut self, tokens: &[Token]) -> LoadResult<()> {
        let tables = self.tables;
        let mut params = Vec::new();
        for &token in tokens {
            let param = record(&tables.generic_params, token)?;
            let owner = self.token(param.owner)?;
            let tag = u32::from(owner.table() == TableId::MethodDef);
            params.push((owner.rid() << 1 | tag, param.number, token, owner));
        }
        params.sort_by_key(|&(owner, number, ..)| (owner, number));
        for (_, number, token, owner) in params {
            let param = record(&tables.generic_params, token)?;
            let name = self.string(&param.name);
            let row = self.add(TableId::GenericParam, &[number, param.flags, owner.0, name]);
            self.rows.insert(token, row);
            for &constraint in &param.constraints {
                let constraint = self.token(constraint)?;
                self.add(TableId::GenericParamConstraint, &[row.rid(), constraint.0]);
            }
            self.add_attributes(token, row)?;
        }
        Ok(())
    }

    fn add_accessors(&mut self, association: &AssociationRecord, row: Token) -> LoadResult<()> {
        for &(semantics, accessor) in &association.accessors {
            // Accessors are methods of the type itself.
            if let Some(accessor) = self.rows.get(&accessor).filter(|row| row.table() == TableId::MethodDef) {
                let accessor = accessor.rid();
                self.add(TableId::MethodSemantics, &[semantics, accessor, row.0]);
            }
        }
        Ok(())
    }

    fn add_properties(&mut self, class: u32, properties: &[Token]) -> LoadResult<()> {
        let tables = self.tables;
        if properties.is_empty() {
            return Ok(());
        }
        self.add(TableId::PropertyMap, &[class, 1]);
        for &token in properties {
            let property = record(&tables.properties, token)?;
            let default = if tables.constants.contains_key(&token) { PROPERTY_HAS_DEFAULT } else { 0 };
            let name = self.string(&property.name);
            let signature = self.signature(&property.signature, SignatureForm::Marked)?;
            let row = self.add(TableId::Property, &[property.flags | default, name, signature]);
            self.rows.insert(token, row);
            self.add_accessors(property, row)?;
            self.add_constant(token, row);
            self.add_attributes(token, row)?;
        }
        Ok(())
    }

    fn add_events(&mut self, class: u32, events: &[Token]) -> LoadResult<()> {
        let tables = self.tables;
        if events.is_empty() {
            return Ok(());
        }
        self.add(TableId::EventMap, &[class, 1]);
        for &token in events {
            let event = record(&tables.events, token)?;
            let name = self.string(&event.name);
            let handler = self.token(event.handler)?;
            let row = self.add(TableId::Event, &[event.flags, name, handler.0]);
            self.rows.insert(token, row);
            self.add_accessors(event, row)?;
            self.add_attributes(token, row)?;
        }
        Ok(())
    }

    /// Adds a TypeDef row, whose members are the Field and MethodDef rows added next.
    fn add_type_row(&mut self, name: &str, namespace: &str, flags: u32, extends: Token) -> Token {
        let (name, namespace) = (self.string(name), self.string(namespace));
        self.add(TableId::TypeDef, &[flags, name, namespace, extends.0, 1, 1])
    }

    /// Adds rows without members for the types around `emitted`, the outermost first.
    fn add_enclosing(&mut self, emitted: &EmittedType) {
        let Some(outer) = emitted.enclosing else { return };
        self.add_enclosing(outer);
        let row = self.add_type_row(&outer.name, &outer.namespace, 0, Token::NIL).rid();
        if outer.enclosing.is_some() {
            self.add(TableId::NestedClass, &[row, row - 1]);
        }
    }

    fn add_type(&mut self, token: Token) -> LoadResult<ShownTokens> {
        let tables = self.tables;
        let ty = record(&tables.types, token)?;
        let emitted = ty.emitted;
        if emitted.own_row() != 1 {
            self.add_type_row("<Module>", "", 0, Token::NIL);
        }
        self.add_enclosing(emitted);
        let own = Token::new(TableId::TypeDef, emitted.own_row());
        self.rows.insert(token, own);
        self.type_refs.insert(std::ptr::from_ref(emitted).addr(), own);
        for (list, table) in [(&ty.methods, TableId::MethodDef), (&ty.fields, TableId::Field)] {
            self.rows.extend(list.iter().zip(1..).map(|(&token, rid)| (token, Token::new(table, rid))));
        }
        let extends = self.token(ty.extends)?;
        let row = self.add_type_row(&emitted.name, &emitted.namespace, ty.flags, extends);
        debug_assert_eq!(row, own);
        if emitted.enclosing.is_some() {
            self.add(TableId::NestedClass, &[row.rid(), row.rid() - 1]);
        }
        for &interface in &ty.interfaces {
            let interface = self.token(interface)?;
            self.add(TableId::InterfaceImpl, &[row.rid(), interface.0]);
        }
        if let Some((packing, size)) = ty.layout {
            self.add(TableId::ClassLayout, &[packing, size, row.rid()]);
        }
        let mut generic_params = ty.generic_params.clone();
        for &field in &ty.fields {
            self.add_field(field)?;
        }
        for &method in &ty.methods {
            self.add_method(method)?;
            generic_params.extend(&record(&tables.methods, method)?.generic_params);
        }
        self.add_generic_params(&generic_params)?;
        for &(body, declaration) in &ty.overrides {
            let (body, declaration) = (self.token(body)?, self.token(declaration)?);
            self.add(TableId::MethodImpl, &[row.rid(), body.0, declaration.0]);
        }
        self.add_properties(row.rid(), &ty.properties)?;
        self.add_events(row.rid(), &ty.events)?;
        self.add_attributes(token, row)?;
        Ok(ShownTokens {
            methods: ty.methods.clone(),
            fields: ty.fields.clone(),
            properties: ty.properties.clone(),
            events: ty.events.clone(),
        })
    }
}

/// The image of the type of a TypeDef token.
///
/// # Errors
/// `BadImageFormat`: a record names something that is not there, or its signature is malformed.
pub(super) fn image_of_type(tables: &Tables, module_name: &str, token: Token) -> LoadResult<Written> {
    let mut maker = ImageMaker::new(tables, module_name);
    let shown = maker.add_type(token)?;
    Ok(maker.finish(shown))
}

/// An image without types, with a row for a token of the module.
///
/// # Errors
/// `BadImageFormat`: the token names nothing.
pub(super) fn image_of_token(tables: &Tables, module_name: &str, token: Token) -> LoadResult<Written> {
    let mut maker = ImageMaker::new(tables, module_name);
    maker.add_type_row("<Module>", "", 0, Token::NIL);
    maker.token(token)?;
    Ok(maker.finish(ShownTokens::default()))
}

/// An image without types, with one attribute of what has the row `parent` elsewhere.
///
/// # Errors
/// `BadImageFormat`: the constructor's token names nothing.
pub(super) fn image_of_attribute(
    tables: &Tables,
    module_name: &str,
    parent: Token,
    constructor: Token,
    value: &[u8],
) -> LoadResult<Written> {
    let mut maker = ImageMaker::new(tables, module_name);
    maker.add_type_row("<Module>", "", 0, Token::NIL);
    let constructor = maker.token(constructor)?;
    let value = maker.blob(value);
    maker.add(TableId::CustomAttribute, &[parent.0, constructor.0, value]);
    Ok(maker.finish(ShownTokens::default()))
}
