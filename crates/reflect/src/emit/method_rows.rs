//! Rows of methods: MethodDef, Param, bodies, P/Invoke targets. Also custom attributes and generic parameters of any
//! owner.

use super::attributes::is_visible;
use super::blocks::{clauses, structs};
use super::builders::{self as b, MethodFields, bytes, elements, method_fields, text};
use super::encoder::Encoder;
use super::values::{constant, marshal_descriptor};
use saki_metadata::opcodes::{Operand, decode};
use saki_metadata::writer::BodySpec;
use saki_metadata::{TableId, Token};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::{Array, CurrentThread, Managed, ManagedField, Obj};
use saki_types::method::{impl_flags, method_flags};
use saki_types::{LibraryType, Method};

/// Stack depth of a body whose builder does not know it. ECMA-335 §II.25.4.2.
const DEFAULT_MAX_STACK: u16 = 8;

/// The CIL of a builder as the program wrote it, with tokens of its module; None for builders without code.
fn written_code(builder: Obj, fields: &MethodFields) -> Option<Vec<u8>> {
    let Some(generator) = fields.generator.obj(builder) else {
        let code = if b::is_method_builder(builder) { b::METHOD_CODE.array(builder) } else { None };
        return code.map(|code| bytes(Some(code)));
    };
    let mut code = bytes(b::GENERATOR_CODE.array(generator));
    code.truncate(b::GENERATOR_LENGTH.get::<i32>(generator).max(0) as usize);
    Some(code)
}

/// The CIL of a method of a type made at run time, with the tokens that its module resolves (the code in the type's own
/// image has other tokens). None for other methods.
pub fn code_as_written(t: CurrentThread, method: &'static Method) -> Option<Vec<u8>> {
    let builder = b::builder_of(t, method.image().emitted_type()?)?;
    let index = method.rid()?.checked_sub(1)? as usize;
    let own = b::methods_of(builder).nth(index)?;
    written_code(own, method_fields(own)?)
}

impl Encoder<'_> {
    /// Adds the attributes of a row, from a CustomAttributeBuilder[] or null.
    pub fn add_attributes(&mut self, parent: Token, list: Option<Array>) -> Managed<()> {
        for attribute in elements(list) {
            let constructor = b::part(&b::ATTRIBUTE_CONSTRUCTOR, attribute);
            if !is_visible(constructor, self.module.image().assembly()) {
                continue;
            }
            let constructor = self.method_token(Some(constructor))?;
            let value = self.blob(&bytes(b::ATTRIBUTE_DATA.array(attribute)));
            self.image.tables.add(TableId::CustomAttribute, &[parent.0, constructor.0, value]);
        }
        Ok(())
    }

    /// Adds declarative security, from a RefEmitPermissionSet[] or null.
    pub fn add_permissions(&mut self, parent: Token, list: Option<Array>) -> Managed<()> {
        static ACTION: ManagedField = ManagedField::new(LibraryType::RefEmitPermissionSet, "action");
        static SET: ManagedField = ManagedField::new(LibraryType::RefEmitPermissionSet, "pset");
        for set in structs(list) {
            let (action, permissions) = (set.get::<i32>(&ACTION), set.obj(&SET));
            let utf16: Vec<u8> =
                text(permissions.and_then(Obj::as_str)).encode_utf16().flat_map(u16::to_le_bytes).collect();
            let blob = self.blob(&utf16);
            self.image.tables.add(TableId::DeclSecurity, &[action as u32, parent.0, blob]);
        }
        Ok(())
    }

    /// Adds a constant.
    ///
    /// # Errors
    /// NotSupportedException when `value` cannot be a constant.
    pub fn add_constant(&mut self, parent: Token, value: Option<Obj>) -> Managed<()> {
        let Some((element, content)) = constant(value) else {
            return self.not_supported("The default value is of a type that constants do not have.");
        };
        let blob = self.image.heaps.blob(&content).0;
        self.image.tables.add(TableId::Constant, &[element as u32, parent.0, blob]);
        Ok(())
    }

    /// Adds generic parameters, from a GenericTypeParameterBuilder[] or null.
    pub fn add_generic_parameters(&mut self, owner: Token, list: Option<Array>) -> Managed<()> {
        for parameter in elements(list) {
            let name = self.string(&text(b::PARAMETER_NAME.str(parameter)));
            let index = b::PARAMETER_INDEX.get::<i32>(parameter) as u32;
            let flags = b::PARAMETER_FLAGS.get::<i32>(parameter) as u32;
            let row = self.image.tables.add(TableId::GenericParam, &[index, flags, owner.0, name]);
            self.add_attributes(Token::new(TableId::GenericParam, row), b::PARAMETER_ATTRIBUTES.array(parameter))?;
            if let Some(base) = b::PARAMETER_BASE.obj(parameter) {
                let constraint = self.type_token(Some(base), true)?;
                self.image.tables.add(TableId::GenericParamConstraint, &[row, constraint.0]);
            }
            for interface in elements(b::PARAMETER_INTERFACES.array(parameter)) {
                let constraint = self.type_token(Some(interface), true)?;
                self.image.tables.add(TableId::GenericParamConstraint, &[row, constraint.0]);
            }
        }
        Ok(())
    }

    /// Adds the rows of a MethodBuilder or ConstructorBuilder and returns its MethodDef row.
    pub fn add_method(&mut self, object: Obj, fields: &MethodFields) -> Managed<u32> {
        let is_method = b::is_method_builder(object);
        let library = if is_method { b::METHOD_LIBRARY.str(object) } else { None };
        let mut flags = fields.flags.get::<i32>(object) as u16;
        if library.is_some() {
            flags |= method_flags::PINVOKE;
        }
        let impl_flags = fields.impl_flags.get::<i32>(object) as u16;
        let rva = self.add_body(object, fields, flags, impl_flags)?;
        let name = self.string(&b::method_name(object, fields));
        let signature = self.builder_signature(object, fields, None)?;
        let signature = self.blob(&signature);
        let first_param = self.image.tables.count(TableId::Param) + 1;
        let cells = [rva, u32::from(impl_flags), u32::from(flags), name, signature, first_param];
        let row = self.image.tables.add(TableId::MethodDef, &cells);
        let token = Token::new(TableId::MethodDef, row);
        for argument in elements(fields.arguments.array(object)) {
            self.add_argument(argument)?;
        }
        self.add_attributes(token, fields.attributes.array(object))?;
        if is_method {
            self.add_generic_parameters(token, b::METHOD_PARAMETERS.array(object))?;
        }
        if let Some(library) = library {
            self.add_import(object, token, &library.to_rust());
        }
        Ok(row)
    }

    /// Adds the rows of a ParameterBuilder.
    fn add_argument(&mut self, argument: Obj) -> Managed<()> {
        const HAS_DEFAULT: u32 = 0x1000;
        let flags = b::ARGUMENT_FLAGS.get::<i32>(argument) as u32;
        let position = b::ARGUMENT_POSITION.get::<i32>(argument) as u32;
        let name = self.string(&text(b::ARGUMENT_NAME.str(argument)));
        let row = self.image.tables.add(TableId::Param, &[flags, position, name]);
        let token = Token::new(TableId::Param, row);
        if flags & HAS_DEFAULT != 0 {
            self.add_constant(token, b::ARGUMENT_DEFAULT.obj(argument))?;
        }
        if let Some(marshal) = b::ARGUMENT_MARSHAL.obj(argument) {
            self.add_marshal(token, marshal);
        }
        self.add_attributes(token, b::ARGUMENT_ATTRIBUTES.array(argument))
    }

    /// Adds the marshalling descriptor of an UnmanagedMarshal.
    pub fn add_marshal(&mut self, parent: Token, marshal: Obj) {
        let blob = self.blob(&marshal_descriptor(marshal));
        self.image.tables.add(TableId::FieldMarshal, &[parent.0, blob]);
    }

    /// Adds the P/Invoke target of a MethodBuilder.
    fn add_import(&mut self, method: Obj, token: Token, library: &str) {
        let entry = text(b::METHOD_IMPORT.str(method));
        let entry = if entry.is_empty() { text(b::METHOD_NAME.str(method)) } else { entry };
        // CharSet begins with None = 1; §II.23.1.8 counts from 0, beginning with bit 1. CallingConvention has bits 8 to
        // 10.
        let charset = (b::METHOD_CHARSET.get::<i32>(method) as u32).saturating_sub(1) * 2;
        let convention = (b::METHOD_CONVENTION.get::<i32>(method) as u32) << 8;
        let flags = charset | convention | b::METHOD_IMPORT_FLAGS.get::<u32>(method);
        let (entry, scope) = (self.string(&entry), self.module_ref(library));
        self.image.tables.add(TableId::ImplMap, &[flags, token.0, entry, scope]);
    }

    /// Adds a method's body and returns its address; 0 for methods without body.
    fn add_body(&mut self, object: Obj, fields: &MethodFields, flags: u16, impl_flags: u16) -> Managed<u32> {
        if flags & (method_flags::ABSTRACT | method_flags::PINVOKE) != 0
            || impl_flags & (impl_flags::CODE_TYPE_MASK | impl_flags::INTERNAL_CALL) != 0
        {
            return Ok(0);
        }
        let Some(code) = written_code(object, fields) else { return Ok(0) };
        let generator = fields.generator.obj(object);
        let init_locals = fields.init_locals.get::<u8>(object) != 0;
        let mut body = BodySpec { init_locals, code, max_stack: DEFAULT_MAX_STACK, ..BodySpec::default() };
        if let Some(generator) = generator {
            body.max_stack = b::GENERATOR_STACK.get::<i32>(generator).clamp(0, i32::from(u16::MAX)) as u16;
            body.locals = self.locals(generator)?;
            let t = self.t;
            body.clauses = clauses(t, generator, &mut |caught| {
                if caught.is_none() {
                    return self.ty_token(saki_types::universe().object(), false).map(|token| token.0);
                }
                self.type_token(caught, true).map(|token| token.0)
            })?;
        }
        self.translate_code(&mut body.code)?;
        Ok(self.image.body(&body))
    }

    /// Replaces the module's tokens by those of this image.
    fn translate_code(&mut self, code: &mut [u8]) -> Managed<()> {
        let mut found = Vec::new();
        for instruction in decode(code) {
            match instruction {
                Ok(instruction) => {
                    if let Operand::Token(token) = instruction.operand {
                        found.push((instruction.next_offset as usize - 4, token));
                    }
                }
                // An instruction that cannot be decoded is reported when the method is compiled, as with files.
                Err(_) => break,
            }
        }
        for (at, token) in found {
            let token = self.translate(token)?;
            match code.get_mut(at..at + 4) {
                Some(operand) => operand.copy_from_slice(&token.0.to_le_bytes()),
                None => return Err(exceptions::throw_default(self.t, ExceptionType::InvalidProgram)),
            }
        }
        Ok(())
    }

    /// Adds the methods that a MethodBuilder overrides explicitly.
    pub fn add_overrides(&mut self, class: u32, method: Obj, row: u32) -> Managed<()> {
        for overridden in b::all_elements(b::METHOD_OVERRIDES.array(method)) {
            let declaration = self.method_token(overridden)?;
            let body = Token::new(TableId::MethodDef, row);
            self.image.tables.add(TableId::MethodImpl, &[class, body.0, declaration.0]);
        }
        Ok(())
    }
}
