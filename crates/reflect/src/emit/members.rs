//! Tokens of methods and fields, and signatures of builders' members.

use super::builders::{self as b, MethodFields, elements, emitted_type, length, method_fields, text, type_builder};
use super::encoder::{Encoder, first_byte};
use crate::handles::{field_of, method_of};
use saki_metadata::writer::put_compressed;
use saki_metadata::{ElementType, MethodSigRaw, TableId, Token};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{Array, Managed, Obj};
use saki_types::emitted::{EmittedType, TypeReference};
use saki_types::method::method_flags;
use saki_types::{Field, LibraryType, LoadError, Method, Ty};

/// System.Reflection.CallingConventions.
pub mod conventions {
    /// A variable number of arguments.
    pub const VARARG: i32 = 2;
    /// The member is called on an object.
    pub const HAS_THIS: i32 = 0x20;
    /// The type of that object is the first parameter's.
    pub const EXPLICIT_THIS: i32 = 0x40;
}

/// Element `index` of an array of arrays; None where there is none.
pub fn nested_list<'t>(array: Option<Array<'t>>, index: usize) -> Option<Array<'t>> {
    array.filter(|array| index < array.length())?.get(index)?.as_array()
}

/// The undecoded signature of a method's definition; None for methods of arrays.
fn raw_signature(method: &'static Method) -> Result<Option<MethodSigRaw>, LoadError> {
    let Some(rid) = method.rid() else { return Ok(None) };
    let meta = &method.image().meta;
    let row = meta.method_def(rid)?;
    Ok(Some(saki_metadata::parse_method_sig(meta.blob(row.signature)?)?))
}

impl Encoder<'_> {
    fn member_ref(&mut self, class: Token, name: &str, signature: &[u8]) -> Token {
        let (name, signature) = (self.image.heaps.string(name), self.image.heaps.blob(signature));
        let tables = &mut self.image.tables;
        let make = || tables.add(TableId::MemberRef, &[class.0, name.0, signature.0]);
        Token::new(TableId::MemberRef, *self.member_refs.entry((class, name, signature)).or_insert_with(make))
    }

    /// The signature of a MethodBuilder or ConstructorBuilder. `extra`: types of the variable arguments of a call site.
    pub fn builder_signature(&mut self, object: Obj, fields: &MethodFields, extra: Option<Array>) -> Managed<Vec<u8>> {
        let is_method = b::is_method_builder(object);
        let conventions = fields.conventions.get::<i32>(object);
        let is_static = fields.flags.get::<i32>(object) as u16 & method_flags::STATIC != 0;
        let generic = if is_method { length(b::METHOD_PARAMETERS.array(object)) } else { 0 };
        let mut first = if is_static { 0 } else { first_byte::HAS_THIS };
        if conventions & conventions::VARARG != 0 {
            first |= first_byte::VARARG;
        }
        if conventions & conventions::EXPLICIT_THIS != 0 {
            first |= first_byte::EXPLICIT_THIS;
        }
        let mut out = vec![first];
        if generic != 0 {
            out[0] |= first_byte::GENERIC;
            put_compressed(&mut out, generic as u32);
        }
        let parameters = fields.parameters.array(object);
        put_compressed(&mut out, (length(parameters) + length(extra)) as u32);
        let ret = if is_method { b::METHOD_RETURN.obj(object) } else { None };
        if ret.is_none() {
            out.push(ElementType::Void as u8);
        } else {
            let required = b::METHOD_RETURN_REQUIRED.array(object);
            let optional = b::METHOD_RETURN_OPTIONAL.array(object);
            self.put_modified(&mut out, ret, required, optional)?;
        }
        let (required, optional) = (fields.required.array(object), fields.optional.array(object));
        for (index, parameter) in b::all_elements(parameters).enumerate() {
            self.put_modified(&mut out, parameter, nested_list(required, index), nested_list(optional, index))?;
        }
        self.put_variable(&mut out, extra)?;
        Ok(out)
    }

    /// Writes the sentinel and the types of the variable arguments of a vararg call site.
    fn put_variable(&mut self, out: &mut Vec<u8>, extra: Option<Array>) -> Managed<()> {
        if length(extra) != 0 {
            out.push(ElementType::Sentinel as u8);
        }
        for ty in b::all_elements(extra) {
            self.put_type(out, ty)?;
        }
        Ok(())
    }

    /// The name and signature of the definition of a method object: a builder or a method of the runtime.
    fn definition_of(&mut self, object: Obj) -> Managed<(String, Vec<u8>)> {
        if let Some(fields) = method_fields(object) {
            return Ok((b::method_name(object, fields), self.builder_signature(object, fields, None)?));
        }
        match method_of(object) {
            Some(method) => Ok((method.name.to_string(), self.method_signature(method, None)?)),
            None => {
                let class = object.ty().full_name();
                self.not_supported(&format!("A method of class {class} cannot be named by code."))
            }
        }
    }

    fn method_signature(&mut self, method: &'static Method, extra: Option<Array>) -> Managed<Vec<u8>> {
        let mut out = Vec::new();
        match raw_signature(method).to_managed(self.t)? {
            Some(raw) if extra.is_none() => self.put_raw_method(&mut out, method.image(), &raw)?,
            Some(raw) => {
                out.push(first_byte::VARARG | if raw.has_this { first_byte::HAS_THIS } else { 0 });
                put_compressed(&mut out, (raw.params.len() + length(extra)) as u32);
                self.put_raw_type(&mut out, method.image(), &raw.ret)?;
                for param in &raw.params {
                    self.put_raw_type(&mut out, method.image(), param)?;
                }
                self.put_variable(&mut out, extra)?;
            }
            None => {
                let sig = method.sig().to_managed(self.t)?;
                self.put_method_sig(&mut out, sig)?;
            }
        }
        Ok(out)
    }

    /// The token by which references to members name their type: its definition, or a TypeSpec.
    fn class_token(&mut self, owner: Ty) -> Managed<Token> {
        if !owner.is_array() && owner.args.is_empty() {
            return self.definition_token(TypeReference::to(owner));
        }
        let mut signature = Vec::new();
        self.put_ty(&mut signature, owner)?;
        Ok(self.type_spec(&signature))
    }

    /// MethodDef, MemberRef or MethodSpec of a method object.
    ///
    /// # Errors
    /// NotSupportedException for objects of other classes.
    pub fn method_token(&mut self, object: Option<Obj>) -> Managed<Token> {
        let Some(object) = object else {
            return self.not_supported("A token for no method.");
        };
        let class = object.ty();
        if let Some(fields) = method_fields(object) {
            return self.builder_token(object, fields, None);
        }
        if class.is(LibraryType::MethodOnTypeBuilderInst) {
            let owner = b::part(&b::METHOD_INSTANCE_TYPE, object);
            let generic = self.method_on(owner, b::part(&b::METHOD_INSTANCE_BASE, object))?;
            let arguments = b::METHOD_INSTANCE_ARGUMENTS.array(object);
            let Some(arguments) = arguments else {
                return Ok(generic);
            };
            let mut signature = vec![first_byte::METHOD_SPEC];
            put_compressed(&mut signature, arguments.length() as u32);
            for argument in arguments.iter() {
                self.put_type(&mut signature, argument)?;
            }
            return Ok(self.method_spec(generic, &signature));
        }
        if class.is(LibraryType::ConstructorOnTypeBuilderInst) {
            let owner = b::part(&b::CONSTRUCTOR_INSTANCE_TYPE, object);
            return self.method_on(owner, b::part(&b::CONSTRUCTOR_INSTANCE_BASE, object));
        }
        if class.is(LibraryType::MonoArrayMethod) {
            return self.array_method_token(object);
        }
        match method_of(object) {
            Some(method) => self.loaded_method_token(method),
            None => self.not_supported(&format!("Code cannot name a method of class {}.", class.full_name())),
        }
    }

    /// The token of a builder's method; at a vararg call site with the types of its variable arguments.
    fn builder_token(&mut self, object: Obj, fields: &MethodFields, extra: Option<Array>) -> Managed<Token> {
        let builder = b::part(&fields.owner, object);
        let emitted = emitted_type(self.t, builder)?;
        let is_generic = b::TYPE_PARAMETERS.obj(builder).is_some();
        let own = self.own_row(emitted).filter(|_| !is_generic).and_then(|_| {
            let row = self.method_rows.get(&(fields.row.get::<i32>(object) as u32))?;
            Some(Token::new(TableId::MethodDef, *row))
        });
        let class = match own {
            Some(own) if extra.is_none() => return Ok(own),
            Some(own) => own,
            None => self.owner_token(builder, emitted)?,
        };
        let signature = self.builder_signature(object, fields, extra)?;
        Ok(self.member_ref(class, &b::method_name(object, fields), &signature))
    }

    /// The token by which references to members of a builder name its type.
    fn owner_token(&mut self, builder: Obj, emitted: &'static EmittedType) -> Managed<Token> {
        let is_inside = self.current.is_some_and(|current| std::ptr::eq(current, emitted));
        self.type_token(Some(builder), is_inside)
    }

    /// The method of `owner` that `base` defines.
    fn method_on(&mut self, owner: Obj, base: Obj) -> Managed<Token> {
        let is_instantiation = owner.ty().is(LibraryType::TypeBuilderInstantiation)
            || type_builder(owner).is_none() && owner.as_type().is_some_and(|ty| !ty.args.is_empty());
        if !is_instantiation {
            return self.method_token(Some(base));
        }
        let class = self.type_token(Some(owner), true)?;
        let (name, signature) = self.definition_of(base)?;
        Ok(self.member_ref(class, &name, &signature))
    }

    fn array_method_token(&mut self, object: Obj) -> Managed<Token> {
        let mut signature = Vec::new();
        self.put_type(&mut signature, b::ARRAY_METHOD_PARENT.obj(object))?;
        let class = self.type_spec(&signature);
        let has_this = b::ARRAY_METHOD_CONVENTION.get::<i32>(object) & conventions::HAS_THIS != 0;
        let mut signature = vec![if has_this { first_byte::HAS_THIS } else { 0 }];
        let parameters = b::ARRAY_METHOD_PARAMETERS.array(object);
        put_compressed(&mut signature, length(parameters) as u32);
        let ret = b::ARRAY_METHOD_RETURN.obj(object);
        if ret.is_none() {
            signature.push(ElementType::Void as u8);
        } else {
            self.put_type(&mut signature, ret)?;
        }
        for parameter in elements(parameters) {
            self.put_type(&mut signature, Some(parameter))?;
        }
        Ok(self.member_ref(class, &text(b::ARRAY_METHOD_NAME.str(object)), &signature))
    }

    fn method_spec(&mut self, generic: Token, signature: &[u8]) -> Token {
        let blob = self.image.heaps.blob(signature);
        let tables = &mut self.image.tables;
        let make = || tables.add(TableId::MethodSpec, &[generic.0, blob.0]);
        Token::new(TableId::MethodSpec, *self.method_specs.entry((generic, blob)).or_insert_with(make))
    }

    /// The token that stands for a generic method definition in code: its instantiation over the type parameters of the
    /// method that the code belongs to.
    pub fn open_method(&mut self, definition: Token, generic: usize) -> Token {
        if generic == 0 {
            return definition;
        }
        let mut signature = vec![first_byte::METHOD_SPEC];
        put_compressed(&mut signature, generic as u32);
        for index in 0..generic as u32 {
            signature.push(ElementType::MVar as u8);
            put_compressed(&mut signature, index);
        }
        self.method_spec(definition, &signature)
    }

    /// The token of a method of the runtime.
    pub fn loaded_method_token(&mut self, method: &'static Method) -> Managed<Token> {
        let definition = method.definition().unwrap_or(method);
        let own = definition.owner.args.is_empty().then(|| definition.image().emitted_type()).flatten();
        let own = own.and_then(|emitted| self.own_rows(emitted)).zip(definition.rid());
        let generic = match own {
            Some((rows, rid)) => Token::new(TableId::MethodDef, rows.first_method + rid - 1),
            None => {
                let class = self.class_token(definition.owner)?;
                let signature = self.method_signature(definition, None)?;
                self.member_ref(class, definition.name, &signature)
            }
        };
        if method.definition().is_none() {
            return Ok(generic);
        }
        let mut signature = vec![first_byte::METHOD_SPEC];
        put_compressed(&mut signature, method.generic_args().len() as u32);
        for arg in method.generic_args() {
            self.put_ty(&mut signature, arg)?;
        }
        Ok(self.method_spec(generic, &signature))
    }

    /// The token of a method at a vararg call site.
    pub fn vararg_token(&mut self, object: Obj, extra: Array) -> Managed<Token> {
        if let Some(fields) = method_fields(object) {
            return self.builder_token(object, fields, Some(extra));
        }
        let Some(method) = method_of(object) else {
            return self.not_supported("A variable argument list needs a method of the runtime or a builder.");
        };
        let class = self.class_token(method.owner)?;
        let signature = self.method_signature(method, Some(extra))?;
        Ok(self.member_ref(class, method.name, &signature))
    }

    /// Field or MemberRef of a field object.
    ///
    /// # Errors
    /// NotSupportedException for objects of other classes.
    pub fn field_token(&mut self, object: Option<Obj>) -> Managed<Token> {
        let Some(object) = object else {
            return self.not_supported("A token for no field.");
        };
        let class = object.ty();
        if class.is(LibraryType::FieldBuilder) {
            return self.field_builder_token(object);
        }
        if class.is(LibraryType::FieldOnTypeBuilderInst) {
            let owner = self.type_token(b::FIELD_INSTANCE_TYPE.obj(object), true)?;
            let base = b::part(&b::FIELD_INSTANCE_BASE, object);
            let (name, signature) = if base.ty().is(LibraryType::FieldBuilder) {
                (text(b::FIELD_NAME.str(base)), self.field_signature(base)?)
            } else {
                match field_of(base) {
                    Some(field) => (field.name.to_string(), self.loaded_field_signature(field)?),
                    None => return self.not_supported("Code cannot name this field."),
                }
            };
            return Ok(self.member_ref(owner, &name, &signature));
        }
        match field_of(object) {
            Some(field) => self.loaded_field_token(field),
            None => self.not_supported(&format!("Code cannot name a field of class {}.", class.full_name())),
        }
    }

    fn field_builder_token(&mut self, object: Obj) -> Managed<Token> {
        let builder = b::part(&b::FIELD_OWNER, object);
        let emitted = emitted_type(self.t, builder)?;
        if b::TYPE_PARAMETERS.obj(builder).is_none()
            && let Some(rows) = self.own_rows(emitted)
            && let Some(index) = b::fields_of(builder).position(|field| field == object)
        {
            return Ok(Token::new(TableId::Field, rows.first_field + index as u32));
        }
        let class = self.owner_token(builder, emitted)?;
        let signature = self.field_signature(object)?;
        Ok(self.member_ref(class, &text(b::FIELD_NAME.str(object)), &signature))
    }

    /// The signature of a FieldBuilder.
    pub fn field_signature(&mut self, object: Obj) -> Managed<Vec<u8>> {
        let mut out = vec![first_byte::FIELD];
        let (required, optional) = (b::FIELD_REQUIRED.array(object), b::FIELD_OPTIONAL.array(object));
        self.put_modified(&mut out, b::FIELD_TYPE.obj(object), required, optional)?;
        Ok(out)
    }

    fn loaded_field_signature(&mut self, field: &'static Field) -> Managed<Vec<u8>> {
        let meta = &field.image().meta;
        let raw = meta.field(field.rid).and_then(|row| saki_metadata::parse_field_sig(meta.blob(row.signature)?));
        let raw = raw.map_err(LoadError::from).to_managed(self.t)?;
        let mut out = vec![first_byte::FIELD];
        self.put_raw_type(&mut out, field.image(), &raw)?;
        Ok(out)
    }

    /// The token of a field of the runtime.
    pub fn loaded_field_token(&mut self, field: &'static Field) -> Managed<Token> {
        if field.owner.args.is_empty()
            && let TypeReference::Emitted(emitted) = TypeReference::to(field.owner)
            && let Some(rows) = self.own_rows(emitted)
        {
            return Ok(Token::new(TableId::Field, rows.first_field + field.rid - 1));
        }
        let class = self.class_token(field.owner)?;
        let signature = self.loaded_field_signature(field)?;
        Ok(self.member_ref(class, field.name, &signature))
    }

    /// The signature of a SignatureHelper for `calli`.
    pub fn call_signature(&mut self, helper: Obj) -> Managed<Vec<u8>> {
        let flags = b::HELPER_CONVENTIONS.get::<i32>(helper);
        // Values of CallingConvention are greater by 1 than those of signatures; Winapi, which is 1, is C on this
        // platform.
        let mut first = match b::HELPER_UNMANAGED.get::<i32>(helper) {
            0 if flags & conventions::VARARG != 0 => first_byte::VARARG,
            0 => 0,
            convention => (convention - 1).clamp(1, 4) as u8,
        };
        if flags & conventions::HAS_THIS != 0 {
            first |= first_byte::HAS_THIS;
        }
        if flags & conventions::EXPLICIT_THIS != 0 {
            first |= first_byte::EXPLICIT_THIS;
        }
        let mut out = vec![first];
        let arguments = b::HELPER_ARGUMENTS.array(helper);
        put_compressed(&mut out, length(arguments) as u32);
        let ret = b::HELPER_RETURN.obj(helper);
        if ret.is_none() {
            out.push(ElementType::Void as u8);
        } else {
            self.put_type(&mut out, ret)?;
        }
        for argument in elements(arguments) {
            self.put_type(&mut out, Some(argument))?;
        }
        Ok(out)
    }
}
