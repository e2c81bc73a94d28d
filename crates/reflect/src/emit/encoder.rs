//! Type references and signatures, from builder objects and runtime types to metadata. ECMA-335 §II.23.2.
//!
//! One writer serves two kinds of image. The image of a single type refers to all others by rows of TypeRef whose
//! meaning is a list (`saki_types::emitted`); a file refers to its own types by row and to others by assembly and name.

use super::builders::{self as b, elements, emitted_type, length, type_builder};
use super::emitted_module::EmittedModule;
use rustc_hash::FxHashMap;
use saki_metadata::writer::{ImageWriter, put_compressed, put_compressed_signed};
use saki_metadata::{BlobIdx, CodedKind, ElementType, MethodSigRaw, StringIdx, TableId, Token, TypeSig};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{Array, CurrentThread, Managed, Obj};
use saki_types::emitted::{EmittedType, TypeReference};
use saki_types::{Assembly, GenericContext, Image, LibraryType, MethodSig, Ty, TypeKind, universe};
use std::collections::HashMap;

/// Kinds and flags in the first byte of a signature. ECMA-335 §II.23.2.
pub mod first_byte {
    /// A method with a variable number of arguments.
    pub const VARARG: u8 = 5;
    /// A field.
    pub const FIELD: u8 = 6;
    /// Local variables.
    pub const LOCALS: u8 = 7;
    /// A property.
    pub const PROPERTY: u8 = 8;
    /// The type arguments of a generic method.
    pub const METHOD_SPEC: u8 = 10;
    /// Flag: the method has type parameters.
    pub const GENERIC: u8 = 0x10;
    /// Flag: the method is called on an object.
    pub const HAS_THIS: u8 = 0x20;
    /// Flag: the type of that object is the first parameter's.
    pub const EXPLICIT_THIS: u8 = 0x40;
}

/// What is encoded.
pub enum Scope {
    /// One type.
    Type { own: &'static EmittedType, references: Vec<TypeReference> },
    /// All types of a module.
    Module(ModuleRows),
    /// A signature without an image, with the tokens that the module under construction gives out.
    Signature { has_module: bool },
}

/// Rows of the types of a module and of their first members.
#[derive(Default)]
pub struct ModuleRows {
    /// The rows by address of the `EmittedType`.
    pub types: FxHashMap<usize, TypeRows>,
}

/// Where a type stands in the tables of its module. Rows count from 1.
#[derive(Clone, Copy, Default)]
pub struct TypeRows {
    pub row: u32,
    pub first_method: u32,
    pub first_field: u32,
}

/// An image in the making.
pub struct Encoder<'t> {
    pub t: CurrentThread<'t>,
    pub image: ImageWriter,
    /// The module whose tokens the code of builders uses.
    pub module: &'static EmittedModule,
    pub scope: Scope,
    /// The type whose rows are being written: inside it, a generic definition means itself over its own parameters.
    pub current: Option<&'static EmittedType>,
    /// MethodDef row by the row that the builder shows.
    pub method_rows: FxHashMap<u32, u32>,
    type_refs: FxHashMap<usize, Token>,
    assembly_refs: FxHashMap<usize, Token>,
    module_refs: HashMap<String, u32>,
    type_specs: FxHashMap<BlobIdx, u32>,
    pub(super) member_refs: FxHashMap<(Token, StringIdx, BlobIdx), u32>,
    pub(super) method_specs: FxHashMap<(Token, BlobIdx), u32>,
    signatures: FxHashMap<BlobIdx, u32>,
}

fn key(emitted: &'static EmittedType) -> usize {
    emitted as *const EmittedType as usize
}

const CLASS: u8 = ElementType::Class as u8;
const VALUE_TYPE: u8 = ElementType::ValueType as u8;
const GENERIC_INSTANCE: u8 = ElementType::GenericInst as u8;
const FUNCTION_POINTER: u8 = ElementType::FnPtr as u8;
const PINNED: u8 = ElementType::Pinned as u8;

impl<'t> Encoder<'t> {
    /// An image without rows.
    pub fn new(t: CurrentThread<'t>, module: &'static EmittedModule, scope: Scope) -> Encoder<'t> {
        Encoder {
            t,
            image: ImageWriter::default(),
            module,
            scope,
            current: None,
            method_rows: FxHashMap::default(),
            type_refs: FxHashMap::default(),
            assembly_refs: FxHashMap::default(),
            module_refs: HashMap::new(),
            type_specs: FxHashMap::default(),
            member_refs: FxHashMap::default(),
            method_specs: FxHashMap::default(),
            signatures: FxHashMap::default(),
        }
    }

    /// Throws NotSupportedException.
    pub fn not_supported<T>(&self, message: &str) -> Managed<T> {
        Err(exceptions::throw(self.t, ExceptionType::NotSupported, message))
    }

    /// The text's offset in the heap of strings.
    pub fn string(&mut self, text: &str) -> u32 {
        self.image.heaps.string(text).0
    }

    /// The blob's offset in the heap of blobs.
    pub fn blob(&mut self, content: &[u8]) -> u32 {
        self.image.heaps.blob(content).0
    }

    /// The row of a type that this image defines.
    pub fn own_row(&self, emitted: &'static EmittedType) -> Option<u32> {
        match &self.scope {
            Scope::Type { own, .. } => std::ptr::eq(*own, emitted).then(|| own.own_row()),
            Scope::Module(rows) => rows.types.get(&key(emitted)).map(|rows| rows.row),
            Scope::Signature { .. } => std::ptr::eq(emitted.module, self.module.image()).then_some(emitted.row),
        }
    }

    /// The rows of the members of a type that this image defines.
    pub fn own_rows(&self, emitted: &'static EmittedType) -> Option<TypeRows> {
        match &self.scope {
            Scope::Type { own, .. } => {
                std::ptr::eq(*own, emitted).then(|| TypeRows { row: own.own_row(), first_method: 1, first_field: 1 })
            }
            Scope::Module(rows) => rows.types.get(&key(emitted)).copied(),
            Scope::Signature { .. } => None,
        }
    }

    /// TypeDef or TypeRef of a definition.
    pub fn definition_token(&mut self, reference: TypeReference) -> Managed<Token> {
        let address = match reference {
            TypeReference::Loaded(ty) => crate::handles::address(ty),
            TypeReference::Emitted(emitted) => {
                if let Some(row) = self.own_row(emitted) {
                    return Ok(Token::new(TableId::TypeDef, row));
                }
                key(emitted)
            }
        };
        if let Scope::Signature { has_module } = self.scope {
            return match reference {
                TypeReference::Loaded(ty) if has_module => Ok(self.module.type_token(ty, false)),
                _ => self.not_supported("A signature without module cannot name this type."),
            };
        }
        if let Some(&known) = self.type_refs.get(&address) {
            return Ok(known);
        }
        let (namespace, name) = match reference {
            TypeReference::Loaded(ty) => match ty.def() {
                Some(def) => (def.namespace, def.name),
                None => return self.not_supported("The type has no definition."),
            },
            TypeReference::Emitted(emitted) => (&*emitted.namespace, &*emitted.name),
        };
        let scope = self.resolution_scope(reference)?;
        let (name, namespace) = (self.string(name), self.string(namespace));
        let row = self.image.tables.add(TableId::TypeRef, &[scope.0, name, namespace]);
        if let Scope::Type { references, .. } = &mut self.scope {
            references.push(reference);
        }
        let token = Token::new(TableId::TypeRef, row);
        self.type_refs.insert(address, token);
        Ok(token)
    }

    /// The ResolutionScope (ECMA-335 §II.22.38) of a type that the image does not define.
    fn resolution_scope(&mut self, reference: TypeReference) -> Managed<Token> {
        if let Scope::Type { .. } = self.scope {
            return Ok(Token::NIL);
        }
        let image = match reference {
            TypeReference::Loaded(ty) => {
                if let Some(outer) = ty.enclosing_type().to_managed(self.t)? {
                    return self.definition_token(TypeReference::to(outer));
                }
                ty.image()
            }
            TypeReference::Emitted(emitted) => {
                if let Some(outer) = emitted.enclosing {
                    return self.definition_token(TypeReference::Emitted(outer));
                }
                emitted.module
            }
        };
        let own = self.module.image();
        if image.assembly() == own.assembly() {
            let name = EmittedModule::file_name_of(image).unwrap_or_default();
            return Ok(Token::new(TableId::ModuleRef, self.module_ref(&name)));
        }
        Ok(self.assembly_ref(image.assembly()))
    }

    /// The ModuleRef row of another module or a native library.
    pub fn module_ref(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.module_refs.get(name) {
            return known;
        }
        let string = self.string(name);
        let row = self.image.tables.add(TableId::ModuleRef, &[string]);
        self.module_refs.insert(name.to_string(), row);
        row
    }

    /// The AssemblyRef of a loaded assembly.
    pub fn assembly_ref(&mut self, assembly: &'static Assembly) -> Token {
        let address = assembly as *const Assembly as usize;
        if let Some(&known) = self.assembly_refs.get(&address) {
            return known;
        }
        let [major, minor, build, revision] = assembly.version.map(u32::from);
        let token = self.blob(&assembly.public_key_token);
        let (name, culture) = (self.string(assembly.name), self.string(assembly.culture));
        let cells = [major, minor, build, revision, 0, token, name, culture, 0];
        let row = Token::new(TableId::AssemblyRef, self.image.tables.add(TableId::AssemblyRef, &cells));
        self.assembly_refs.insert(address, row);
        row
    }

    /// The TypeSpec of a signature.
    pub fn type_spec(&mut self, signature: &[u8]) -> Token {
        let blob = self.image.heaps.blob(signature);
        let tables = &mut self.image.tables;
        let row = *self.type_specs.entry(blob).or_insert_with(|| tables.add(TableId::TypeSpec, &[blob.0]));
        Token::new(TableId::TypeSpec, row)
    }

    /// The StandAloneSig of a signature.
    pub fn stand_alone(&mut self, signature: &[u8]) -> Token {
        let blob = self.image.heaps.blob(signature);
        let tables = &mut self.image.tables;
        let row = *self.signatures.entry(blob).or_insert_with(|| tables.add(TableId::StandAloneSig, &[blob.0]));
        Token::new(TableId::StandAloneSig, row)
    }

    fn put_definition(&mut self, out: &mut Vec<u8>, reference: TypeReference, is_value_type: bool) -> Managed<()> {
        let token = self.definition_token(reference)?;
        out.push(if is_value_type { VALUE_TYPE } else { CLASS });
        put_compressed(out, CodedKind::TypeDefOrRef.encode(token).unwrap_or(0));
        Ok(())
    }

    /// Writes a generic definition over its own parameters, which is what it means inside itself.
    fn put_open(
        &mut self,
        out: &mut Vec<u8>,
        reference: TypeReference,
        is_value_type: bool,
        count: usize,
    ) -> Managed<()> {
        if count == 0 {
            return self.put_definition(out, reference, is_value_type);
        }
        out.push(GENERIC_INSTANCE);
        self.put_definition(out, reference, is_value_type)?;
        put_compressed(out, count as u32);
        for index in 0..count {
            out.push(ElementType::Var as u8);
            put_compressed(out, index as u32);
        }
        Ok(())
    }

    /// Writes the type of a System.Type object: a runtime type or a builder.
    ///
    /// # Errors
    /// NotSupportedException for types of other classes.
    pub fn put_type(&mut self, out: &mut Vec<u8>, object: Option<Obj>) -> Managed<()> {
        let Some(object) = object else {
            return self.not_supported("A signature names no type.");
        };
        let class = object.ty();
        if let Some(builder) = type_builder(object) {
            let emitted = emitted_type(self.t, builder)?;
            let count = length(b::TYPE_PARAMETERS.array(builder));
            return self.put_open(out, TypeReference::Emitted(emitted), b::is_value_type(builder), count);
        }
        if class.is(LibraryType::GenericTypeParameterBuilder) {
            let is_method = b::PARAMETER_METHOD.obj(object).is_some();
            out.push(if is_method { ElementType::MVar as u8 } else { ElementType::Var as u8 });
            put_compressed(out, b::PARAMETER_INDEX.get::<i32>(object) as u32);
            return Ok(());
        }
        if class.is(LibraryType::TypeBuilderInstantiation) {
            return self.put_instantiation(out, object);
        }
        if class.is(LibraryType::ArrayType) {
            let element = b::SYMBOL_ELEMENT.obj(object);
            let rank = b::ARRAY_RANK.get::<i32>(object);
            if rank == 0 {
                out.push(ElementType::SzArray as u8);
                return self.put_type(out, element);
            }
            out.push(ElementType::Array as u8);
            self.put_type(out, element)?;
            put_array_shape(out, rank as u32);
            return Ok(());
        }
        if class.is(LibraryType::ByRefType) || class.is(LibraryType::PointerType) {
            out.push(if class.is(LibraryType::ByRefType) { ElementType::ByRef as u8 } else { ElementType::Ptr as u8 });
            return self.put_type(out, b::SYMBOL_ELEMENT.obj(object));
        }
        match object.as_type() {
            Some(ty) => self.put_ty(out, ty),
            None => self.not_supported(&format!("A signature cannot name a {}.", class.full_name())),
        }
    }

    fn put_instantiation(&mut self, out: &mut Vec<u8>, object: Obj) -> Managed<()> {
        let definition = b::part(&b::INSTANTIATION_DEFINITION, object);
        let arguments = b::INSTANTIATION_ARGUMENTS.array(object);
        out.push(GENERIC_INSTANCE);
        match type_builder(definition) {
            Some(builder) => {
                let emitted = emitted_type(self.t, builder)?;
                self.put_definition(out, TypeReference::Emitted(emitted), b::is_value_type(builder))?;
            }
            None => match definition.as_type() {
                Some(ty) => self.put_definition(out, TypeReference::to(ty), ty.is_value_type())?,
                None => return self.not_supported("An instantiation of an unknown definition."),
            },
        }
        put_compressed(out, length(arguments) as u32);
        for argument in b::all_elements(arguments) {
            self.put_type(out, argument)?;
        }
        Ok(())
    }

    /// Writes a type of the runtime.
    pub fn put_ty(&mut self, out: &mut Vec<u8>, ty: Ty) -> Managed<()> {
        match &ty.kind {
            TypeKind::Def(_) if is_primitive(ty) => out.push(ty.element_type as u8),
            TypeKind::Def(_) => return self.put_open(out, TypeReference::to(ty), ty.is_value_type(), ty.args.len()),
            TypeKind::Inst { definition } => {
                out.push(GENERIC_INSTANCE);
                self.put_definition(out, TypeReference::to(definition), ty.is_value_type())?;
                put_compressed(out, ty.args.len() as u32);
                for arg in ty.args {
                    self.put_ty(out, arg)?;
                }
            }
            TypeKind::SzArray(inner) | TypeKind::Ptr(inner) | TypeKind::ByRef(inner) => {
                out.push(ty.element_type as u8);
                self.put_ty(out, inner)?;
            }
            TypeKind::Array { element, rank } => {
                out.push(ElementType::Array as u8);
                self.put_ty(out, element)?;
                put_array_shape(out, *rank);
            }
            TypeKind::FnPtr(sig) => {
                out.push(FUNCTION_POINTER);
                self.put_method_sig(out, sig)?;
            }
            TypeKind::Var(param) | TypeKind::MVar(param) => {
                out.push(ty.element_type as u8);
                put_compressed(out, param.index);
            }
        }
        Ok(())
    }

    /// Writes a signature that is resolved to runtime types.
    pub fn put_method_sig(&mut self, out: &mut Vec<u8>, sig: &MethodSig) -> Managed<()> {
        let convention = if sig.is_vararg { 5 } else { sig.unmanaged_convention };
        out.push(convention | u8::from(sig.has_this) << 5 | u8::from(sig.explicit_this) << 6);
        put_compressed(out, sig.params.len() as u32);
        self.put_ty(out, sig.ret)?;
        for param in &sig.params {
            self.put_ty(out, param)?;
        }
        Ok(())
    }

    /// Writes a signature of another image, with its custom modifiers.
    pub fn put_raw_method(&mut self, out: &mut Vec<u8>, image: &'static Image, raw: &MethodSigRaw) -> Managed<()> {
        let generic = raw.generic_param_count;
        out.push(
            raw.call_conv as u8
                | u8::from(generic != 0) << 4
                | u8::from(raw.has_this) << 5
                | u8::from(raw.explicit_this) << 6,
        );
        if generic != 0 {
            put_compressed(out, generic);
        }
        put_compressed(out, raw.params.len() as u32);
        self.put_raw_type(out, image, &raw.ret)?;
        for param in &raw.params {
            self.put_raw_type(out, image, param)?;
        }
        Ok(())
    }

    fn put_raw_definition(
        &mut self,
        out: &mut Vec<u8>,
        image: &'static Image,
        token: Token,
        is_value: bool,
    ) -> Managed<()> {
        let ty = image.resolve_type(token, &GenericContext::NONE).to_managed(self.t)?;
        self.put_definition(out, TypeReference::to(ty), is_value)
    }

    /// Writes a type in a signature of another image.
    pub fn put_raw_type(&mut self, out: &mut Vec<u8>, image: &'static Image, sig: &TypeSig) -> Managed<()> {
        match sig {
            TypeSig::Prim(element) => out.push(*element as u8),
            TypeSig::Class(token) => return self.put_raw_definition(out, image, *token, false),
            TypeSig::ValueType(token) => return self.put_raw_definition(out, image, *token, true),
            TypeSig::Var(index) | TypeSig::MVar(index) => {
                let is_method = matches!(sig, TypeSig::MVar(_));
                out.push(if is_method { ElementType::MVar as u8 } else { ElementType::Var as u8 });
                put_compressed(out, *index);
            }
            TypeSig::Ptr(inner) | TypeSig::ByRef(inner) | TypeSig::SzArray(inner) | TypeSig::Pinned(inner) => {
                out.push(match sig {
                    TypeSig::Ptr(_) => ElementType::Ptr as u8,
                    TypeSig::ByRef(_) => ElementType::ByRef as u8,
                    TypeSig::SzArray(_) => ElementType::SzArray as u8,
                    _ => PINNED,
                });
                return self.put_raw_type(out, image, inner);
            }
            TypeSig::Array { elem, rank, sizes, lo_bounds } => {
                out.push(ElementType::Array as u8);
                self.put_raw_type(out, image, elem)?;
                put_compressed(out, *rank);
                put_compressed(out, sizes.len() as u32);
                sizes.iter().for_each(|&size| put_compressed(out, size));
                put_compressed(out, lo_bounds.len() as u32);
                lo_bounds.iter().for_each(|&bound| put_compressed_signed(out, bound));
            }
            TypeSig::GenericInst { is_value_type, token, args } => {
                out.push(GENERIC_INSTANCE);
                self.put_raw_definition(out, image, *token, *is_value_type)?;
                put_compressed(out, args.len() as u32);
                for arg in args {
                    self.put_raw_type(out, image, arg)?;
                }
            }
            TypeSig::FnPtr(raw) => {
                out.push(FUNCTION_POINTER);
                return self.put_raw_method(out, image, raw);
            }
            TypeSig::Modified { required, token, inner } => {
                let modifier = image.resolve_type(*token, &GenericContext::NONE).to_managed(self.t)?;
                let token = self.ty_token(modifier, false)?;
                put_modifier(out, *required, token);
                return self.put_raw_type(out, image, inner);
            }
        }
        Ok(())
    }

    /// Writes a type after its custom modifiers, which are Type[] or null.
    pub fn put_modified(
        &mut self,
        out: &mut Vec<u8>,
        object: Option<Obj>,
        required: Option<Array>,
        optional: Option<Array>,
    ) -> Managed<()> {
        for (is_required, list) in [(true, required), (false, optional)] {
            for modifier in elements(list) {
                let token = self.type_token(Some(modifier), false)?;
                put_modifier(out, is_required, token);
            }
        }
        self.put_type(out, object)
    }

    /// TypeDef, TypeRef or TypeSpec of a System.Type object. `open`: a generic definition means itself over its own
    /// parameters, as it does in instructions other than `ldtoken`.
    pub fn type_token(&mut self, object: Option<Obj>, open: bool) -> Managed<Token> {
        let Some(object) = object else {
            return self.not_supported("A token for no type.");
        };
        if let Some(builder) = type_builder(object)
            && (!open || b::TYPE_PARAMETERS.obj(builder).is_none())
        {
            let emitted = emitted_type(self.t, builder)?;
            return self.definition_token(TypeReference::Emitted(emitted));
        }
        if type_builder(object).is_none()
            && let Some(ty) = object.as_type()
        {
            return self.ty_token(ty, open);
        }
        let mut signature = Vec::new();
        self.put_type(&mut signature, Some(object))?;
        Ok(self.type_spec(&signature))
    }

    /// TypeDef, TypeRef or TypeSpec of a type of the runtime.
    pub fn ty_token(&mut self, ty: Ty, open: bool) -> Managed<Token> {
        if matches!(ty.kind, TypeKind::Def(_)) && (ty.args.is_empty() || !open) {
            return self.definition_token(TypeReference::to(ty));
        }
        let mut signature = Vec::new();
        self.put_ty(&mut signature, ty)?;
        Ok(self.type_spec(&signature))
    }

    /// The StandAloneSig of an ILGenerator's local variables; nil when it has none.
    pub fn locals(&mut self, generator: Obj) -> Managed<Token> {
        let list = b::GENERATOR_LOCALS.array(generator);
        if length(list) == 0 {
            return Ok(Token::NIL);
        }
        let mut signature = vec![first_byte::LOCALS];
        put_compressed(&mut signature, length(list) as u32);
        for local in elements(list) {
            if b::LOCAL_PINNED.get::<u8>(local) != 0 {
                signature.push(PINNED);
            }
            self.put_type(&mut signature, b::LOCAL_TYPE.obj(local))?;
        }
        Ok(self.stand_alone(&signature))
    }
}

/// Whether signatures name the type by one byte.
fn is_primitive(ty: Ty) -> bool {
    ty == universe().primitive(ty.element_type)
}

fn put_modifier(out: &mut Vec<u8>, is_required: bool, token: Token) {
    const REQUIRED: u8 = ElementType::CModReqd as u8;
    const OPTIONAL: u8 = ElementType::CModOpt as u8;
    out.push(if is_required { REQUIRED } else { OPTIONAL });
    put_compressed(out, CodedKind::TypeDefOrRef.encode(token).unwrap_or(0));
}

/// Writes an ArrayShape without sizes and with lower bounds of 0, as compilers do. ECMA-335 §II.23.2.13.
fn put_array_shape(out: &mut Vec<u8>, rank: u32) {
    put_compressed(out, rank);
    put_compressed(out, 0);
    put_compressed(out, rank);
    (0..rank).for_each(|_| put_compressed_signed(out, 0));
}
