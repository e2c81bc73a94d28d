//! The records of a module that is made at run time, by its tokens: what its builders have said so far.
//!
//! Blobs and code have tokens of the module. Rows count from 1, and stay.

use rustc_hash::FxHashMap;
use saki_metadata::{BadImage, EhClause, TableId, Token};
use saki_types::emitted::{EmittedType, TypeReference};
use saki_types::{LoadError, LoadResult};

pub(super) struct TypeRecord {
    pub emitted: &'static EmittedType,
    /// `TypeAttributes`.
    pub flags: u32,
    pub extends: Token,
    pub interfaces: Vec<Token>,
    /// Packing and size, in bytes.
    pub layout: Option<(u32, u32)>,
    pub fields: Vec<Token>,
    pub methods: Vec<Token>,
    pub properties: Vec<Token>,
    pub events: Vec<Token>,
    /// Methods with the declarations that they override.
    pub overrides: Vec<(Token, Token)>,
    pub generic_params: Vec<Token>,
}

impl TypeRecord {
    pub(super) fn new(emitted: &'static EmittedType, flags: u32, extends: Token) -> TypeRecord {
        TypeRecord {
            emitted,
            flags,
            extends,
            interfaces: Vec::new(),
            layout: None,
            fields: Vec::new(),
            methods: Vec::new(),
            properties: Vec::new(),
            events: Vec::new(),
            overrides: Vec::new(),
            generic_params: Vec::new(),
        }
    }
}

/// The CIL of a method.
pub(super) struct MethodCode {
    pub code: Vec<u8>,
    /// The signature of the local variables; empty = none.
    pub locals: Vec<u8>,
    pub max_stack: u16,
    pub init_locals: bool,
    pub clauses: Vec<EhClause>,
}

/// The target of a P/Invoke.
pub(super) struct Import {
    pub library: Box<str>,
    pub name: String,
    /// `PInvokeAttributes`.
    pub flags: u16,
}

#[derive(Default)]
pub(super) struct MethodRecord {
    pub owner: Token,
    /// `MethodAttributes`.
    pub flags: u32,
    /// `MethodImplAttributes`.
    pub impl_flags: u32,
    pub name: String,
    pub signature: Vec<u8>,
    pub params: Vec<Token>,
    pub body: Option<MethodCode>,
    pub import: Option<Import>,
    pub generic_params: Vec<Token>,
}

#[derive(Default)]
pub(super) struct FieldRecord {
    pub owner: Token,
    /// `FieldAttributes`.
    pub flags: u32,
    pub name: String,
    pub signature: Vec<u8>,
    /// In bytes, of an explicit layout.
    pub offset: Option<u32>,
    /// The initial value of a static field.
    pub data: Option<Vec<u8>>,
}

#[derive(Default)]
pub(super) struct ParamRecord {
    /// 0 = the return value.
    pub sequence: u16,
    /// `ParameterAttributes`.
    pub flags: u32,
    pub name: String,
}

/// A property or an event.
#[derive(Default)]
pub(super) struct AssociationRecord {
    pub flags: u32,
    pub name: String,
    /// Of a property.
    pub signature: Vec<u8>,
    /// Of an event's handlers.
    pub handler: Token,
    /// `MethodSemanticsAttributes`, and the accessor.
    pub accessors: Vec<(u32, Token)>,
}

#[derive(Default)]
pub(super) struct GenericParamRecord {
    pub owner: Token,
    pub number: u32,
    /// `GenericParameterAttributes`.
    pub flags: u32,
    pub name: String,
    pub constraints: Vec<Token>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct MemberRefRecord {
    pub parent: Token,
    pub name: String,
    pub signature: Vec<u8>,
}

/// A constant: its element type, and its bytes.
pub(super) struct ConstantRecord {
    pub element_type: u32,
    pub bytes: Vec<u8>,
}

/// A custom attribute: its constructor, and its blob.
pub(super) struct AttributeRecord {
    pub constructor: Token,
    pub value: Vec<u8>,
}

/// Distinguishes rows of reference tables, so that each is there once.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    /// By the address of the type's record.
    TypeRef(usize),
    Blob(TableId, Vec<u8>),
    MemberRef(MemberRefRecord),
    MethodSpec(Token, Vec<u8>),
    Text(Vec<u16>),
}

#[derive(Default)]
pub(super) struct Tables {
    pub types: Vec<TypeRecord>,
    pub methods: Vec<MethodRecord>,
    pub fields: Vec<FieldRecord>,
    pub params: Vec<ParamRecord>,
    pub properties: Vec<AssociationRecord>,
    pub events: Vec<AssociationRecord>,
    pub generic_params: Vec<GenericParamRecord>,
    pub type_refs: Vec<TypeReference>,
    pub type_specs: Vec<Vec<u8>>,
    pub signatures: Vec<Vec<u8>>,
    pub member_refs: Vec<MemberRefRecord>,
    pub method_specs: Vec<(Token, Vec<u8>)>,
    /// Literals stay for ever, since reflection shows their addresses.
    pub literals: Vec<&'static [u16]>,
    pub constants: FxHashMap<Token, ConstantRecord>,
    /// By what has them.
    pub attributes: FxHashMap<Token, Vec<AttributeRecord>>,
    /// Marshalling descriptors of fields and parameters.
    pub marshalling: FxHashMap<Token, Vec<u8>>,
    known: FxHashMap<Key, Token>,
    /// The types by the address of the type around them (0 = none) and their full names.
    by_name: FxHashMap<(usize, String), Token>,
}

fn wrong_token(token: Token) -> LoadError {
    LoadError::from(BadImage::in_blob(0, format!("token {token} names nothing in a module made at run time")))
}

/// The record of a token.
///
/// # Errors
/// `BadImageFormat`: there is none.
pub(super) fn record<T>(list: &[T], token: Token) -> LoadResult<&T> {
    (token.rid() as usize).checked_sub(1).and_then(|index| list.get(index)).ok_or_else(|| wrong_token(token))
}

/// The record of a token, to be changed.
///
/// # Errors
/// `BadImageFormat`: there is none.
pub(super) fn record_mut<T>(list: &mut [T], token: Token) -> LoadResult<&mut T> {
    (token.rid() as usize).checked_sub(1).and_then(|index| list.get_mut(index)).ok_or_else(|| wrong_token(token))
}

fn add<T>(list: &mut Vec<T>, table: TableId, record: T) -> Token {
    list.push(record);
    Token::new(table, list.len() as u32)
}

fn address(emitted: &'static EmittedType) -> usize {
    std::ptr::from_ref(emitted).addr()
}

impl Tables {
    /// Adds a type; its name with the namespace is `full_name`.
    pub(super) fn add_type(&mut self, record: TypeRecord, full_name: String) -> Token {
        let outer = record.emitted.enclosing.map_or(0, address);
        let token = add(&mut self.types, TableId::TypeDef, record);
        self.by_name.insert((outer, full_name), token);
        token
    }

    /// The type of this name in the type around it, or at the top.
    pub(super) fn find_type(&self, outer: Option<&'static EmittedType>, name: &str) -> Option<&'static EmittedType> {
        let token = *self.by_name.get(&(outer.map_or(0, address), name.to_string()))?;
        record(&self.types, token).ok().map(|record| record.emitted)
    }

    /// The type that a TypeDef or TypeRef token names.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub(super) fn definition(&self, token: Token) -> LoadResult<TypeReference> {
        match token.table() {
            TableId::TypeDef => record(&self.types, token).map(|record| TypeReference::Emitted(record.emitted)),
            TableId::TypeRef => record(&self.type_refs, token).copied(),
            _ => Err(wrong_token(token)),
        }
    }

    /// Namespace and name of the class that has the constructor; None for an instantiation.
    pub(super) fn class_of_member(&self, constructor: Token) -> Option<(String, String)> {
        let class = match constructor.table() {
            TableId::MethodDef => record(&self.methods, constructor).ok()?.owner,
            TableId::MemberRef => record(&self.member_refs, constructor).ok()?.parent,
            _ => return None,
        };
        Some(match self.definition(class).ok()? {
            TypeReference::Emitted(emitted) => (emitted.namespace.clone(), emitted.name.clone()),
            TypeReference::Loaded(ty) => ty.def().map(|def| (def.namespace.to_string(), def.name.to_string()))?,
        })
    }

    pub(super) fn add_method(&mut self, method: MethodRecord) -> LoadResult<Token> {
        let owner = record_mut(&mut self.types, method.owner)?;
        let token = add(&mut self.methods, TableId::MethodDef, method);
        owner.methods.push(token);
        Ok(token)
    }

    pub(super) fn add_field(&mut self, field: FieldRecord) -> LoadResult<Token> {
        let owner = record_mut(&mut self.types, field.owner)?;
        let token = add(&mut self.fields, TableId::Field, field);
        owner.fields.push(token);
        Ok(token)
    }

    pub(super) fn add_property(&mut self, owner: Token, property: AssociationRecord) -> LoadResult<Token> {
        let owner = record_mut(&mut self.types, owner)?;
        let token = add(&mut self.properties, TableId::Property, property);
        owner.properties.push(token);
        Ok(token)
    }

    pub(super) fn add_event(&mut self, owner: Token, event: AssociationRecord) -> LoadResult<Token> {
        let owner = record_mut(&mut self.types, owner)?;
        let token = add(&mut self.events, TableId::Event, event);
        owner.events.push(token);
        Ok(token)
    }

    /// The list of accessors of a property or event.
    pub(super) fn accessors(&mut self, association: Token) -> LoadResult<&mut Vec<(u32, Token)>> {
        let list = if association.table() == TableId::Event { &mut self.events } else { &mut self.properties };
        record_mut(list, association).map(|record| &mut record.accessors)
    }

    /// Sets name and flags of a method's parameter, which it makes if there is none yet.
    pub(super) fn set_param(&mut self, method: Token, param: ParamRecord) -> LoadResult<Token> {
        let owner = record_mut(&mut self.methods, method)?;
        for &token in &owner.params {
            let known = record_mut(&mut self.params, token)?;
            if known.sequence == param.sequence {
                *known = param;
                return Ok(token);
            }
        }
        let token = add(&mut self.params, TableId::Param, param);
        owner.params.push(token);
        Ok(token)
    }

    pub(super) fn add_generic_param(&mut self, param: GenericParamRecord) -> LoadResult<Token> {
        let list = match param.owner.table() {
            TableId::MethodDef => &mut record_mut(&mut self.methods, param.owner)?.generic_params,
            _ => &mut record_mut(&mut self.types, param.owner)?.generic_params,
        };
        let token = add(&mut self.generic_params, TableId::GenericParam, param);
        list.push(token);
        Ok(token)
    }

    fn once(&mut self, key: Key, make: impl FnOnce(&mut Tables) -> Token) -> Token {
        if let Some(&token) = self.known.get(&key) {
            return token;
        }
        let token = make(self);
        self.known.insert(key, token);
        token
    }

    pub(super) fn type_ref(&mut self, named: TypeReference) -> Token {
        let key = match named {
            TypeReference::Loaded(ty) => std::ptr::from_ref(ty).addr(),
            TypeReference::Emitted(emitted) => address(emitted),
        };
        self.once(Key::TypeRef(key), |tables| add(&mut tables.type_refs, TableId::TypeRef, named))
    }

    pub(super) fn type_spec(&mut self, signature: &[u8]) -> Token {
        let key = Key::Blob(TableId::TypeSpec, signature.to_vec());
        self.once(key, |tables| add(&mut tables.type_specs, TableId::TypeSpec, signature.to_vec()))
    }

    pub(super) fn stand_alone_signature(&mut self, signature: &[u8]) -> Token {
        let key = Key::Blob(TableId::StandAloneSig, signature.to_vec());
        self.once(key, |tables| add(&mut tables.signatures, TableId::StandAloneSig, signature.to_vec()))
    }

    pub(super) fn member_ref(&mut self, member: MemberRefRecord) -> Token {
        let key = Key::MemberRef(member.clone());
        self.once(key, |tables| add(&mut tables.member_refs, TableId::MemberRef, member))
    }

    pub(super) fn method_spec(&mut self, method: Token, arguments: &[u8]) -> Token {
        let key = Key::MethodSpec(method, arguments.to_vec());
        self.once(key, |tables| add(&mut tables.method_specs, TableId::MethodSpec, (method, arguments.to_vec())))
    }

    pub(super) fn literal(&mut self, text: &[u16]) -> Token {
        self.once(Key::Text(text.to_vec()), |tables| {
            add(&mut tables.literals, TableId::UserString, Box::leak(text.into()))
        })
    }
}
