//! System.Reflection.Emit.RuntimeTypeBuilder: definitions, and types made from them.

use super::module::split;
use super::module_builder::{bytes_at, change, module_of, number, token};
use super::tables::{
    AssociationRecord, ConstantRecord, FieldRecord, GenericParamRecord, Import, MethodCode, MethodRecord, ParamRecord,
    TypeRecord, record, record_mut,
};
use crate::arguments::{ModuleArgument, ObjectPlace};
use crate::text::{optional_text_at, text_at, units_at};
use saki_metadata::{EhClause, EhKind, TableId, Token};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, ToManaged};
use saki_types::emitted::EmittedType;
use saki_types::{ElementType, LoadError, LoadErrorKind, LoadResult, Ty};

/// The special names of constructors and of the value of an enum have the flags that say so.
mod special_names {
    pub(super) const METHOD_FLAGS: u32 = 0x1800;
    pub(super) const FIELD_FLAGS: u32 = 0x600;

    pub(super) fn is_method(name: &str) -> bool {
        matches!(name, ".ctor" | ".cctor")
    }

    pub(super) fn is_field(name: &str) -> bool {
        name == "value__"
    }
}

/// A TypeDef token that managed code passes. That of the global type has no row there.
fn class_token(class: i32) -> Token {
    match token(class) {
        class if class.table() == TableId::TypeDef && class.rid() == 0 => Token::new(TableId::TypeDef, 1),
        class => class,
    }
}

/// The tokens of an array that ends with 0; none for null.
fn tokens_at(list: *const i32) -> Vec<Token> {
    let mut tokens = Vec::new();
    if list.is_null() {
        return tokens;
    }
    loop {
        // SAFETY: managed code passes an array that it has pinned, whose last element is 0.
        match unsafe { list.add(tokens.len()).read() } {
            0 => return tokens,
            number => tokens.push(token(number)),
        }
    }
}

fn define_type(
    t: CurrentThread,
    module: ModuleArgument,
    full_name: *const u16,
    parent: i32,
    flags: i32,
    enclosing: i32,
    interfaces: *const i32,
) -> Managed<i32> {
    let full_name = text_at(full_name);
    let interfaces = tokens_at(interfaces);
    let image = module_of(module).image;
    change(t, module, |tables| {
        let enclosing = match token(enclosing) {
            Token::NIL => None,
            enclosing => Some(record(&tables.types, enclosing)?.emitted),
        };
        let (namespace, name) = split(&full_name);
        let row = tables.types.len() as u32 + 1;
        let emitted = EmittedType::new(image, namespace.to_string(), name.to_string(), enclosing, row);
        let mut defined = TypeRecord::new(emitted, flags as u32, token(parent));
        defined.interfaces = interfaces;
        Ok(number(tables.add_type(defined, full_name)))
    })
}

fn define_generic_param(
    t: CurrentThread,
    module: ModuleArgument,
    name: *const u16,
    owner: i32,
    flags: i32,
    position: i32,
    constraints: *const i32,
) -> Managed<i32> {
    let param = GenericParamRecord {
        owner: token(owner),
        number: position as u32,
        flags: flags as u32,
        name: text_at(name),
        constraints: tokens_at(constraints),
    };
    change(t, module, |tables| tables.add_generic_param(param).map(number))
}

fn set_parent(t: CurrentThread, module: ModuleArgument, class: i32, parent: i32) -> Managed<()> {
    change(t, module, |tables| {
        record_mut(&mut tables.types, class_token(class))?.extends = token(parent);
        Ok(())
    })
}

fn add_interface(t: CurrentThread, module: ModuleArgument, class: i32, interface: i32) -> Managed<()> {
    change(t, module, |tables| {
        let list = &mut record_mut(&mut tables.types, class_token(class))?.interfaces;
        if !list.contains(&token(interface)) {
            list.push(token(interface));
        }
        Ok(())
    })
}

/// Defines a method, or a field: the two calls have the same parameters.
fn define_member<const IS_METHOD: bool>(
    t: CurrentThread,
    module: ModuleArgument,
    owner: i32,
    name: *const u16,
    signature: *const u8,
    length: i32,
    flags: i32,
) -> Managed<i32> {
    let (owner, name, flags) = (class_token(owner), text_at(name), flags as u32);
    let signature = bytes_at(signature, length).to_vec();
    change(t, module, |tables| {
        let token = if IS_METHOD {
            let special = if special_names::is_method(&name) { special_names::METHOD_FLAGS } else { 0 };
            let flags = flags | special;
            tables.add_method(MethodRecord { owner, flags, name, signature, ..MethodRecord::default() })
        } else {
            let special = if special_names::is_field(&name) { special_names::FIELD_FLAGS } else { 0 };
            let flags = flags | special;
            tables.add_field(FieldRecord { owner, flags, name, signature, ..FieldRecord::default() })
        };
        token.map(number)
    })
}

fn define_method_spec(_t: CurrentThread, module: ModuleArgument, method: i32, spec: *const u8, length: i32) -> i32 {
    number(module_of(module).tables().tables.method_spec(token(method), bytes_at(spec, length)))
}

fn define_property(
    t: CurrentThread,
    module: ModuleArgument,
    owner: i32,
    name: *const u16,
    flags: i32,
    signature: *const u8,
    length: i32,
) -> Managed<i32> {
    let property = AssociationRecord {
        flags: flags as u32,
        name: text_at(name),
        signature: bytes_at(signature, length).to_vec(),
        ..AssociationRecord::default()
    };
    change(t, module, |tables| tables.add_property(class_token(owner), property).map(number))
}

fn define_event(
    t: CurrentThread,
    module: ModuleArgument,
    owner: i32,
    name: *const u16,
    flags: i32,
    handler: i32,
) -> Managed<i32> {
    let event = AssociationRecord {
        flags: flags as u32,
        name: text_at(name),
        handler: token(handler),
        ..AssociationRecord::default()
    };
    change(t, module, |tables| tables.add_event(class_token(owner), event).map(number))
}

fn define_accessor(
    t: CurrentThread,
    module: ModuleArgument,
    association: i32,
    semantics: i32,
    method: i32,
) -> Managed<()> {
    change(t, module, |tables| {
        tables.accessors(token(association))?.push((semantics as u32, token(method)));
        Ok(())
    })
}

fn define_override(t: CurrentThread, module: ModuleArgument, class: i32, body: i32, declaration: i32) -> Managed<()> {
    change(t, module, |tables| {
        record_mut(&mut tables.types, class_token(class))?.overrides.push((token(body), token(declaration)));
        Ok(())
    })
}

fn set_impl_flags(t: CurrentThread, module: ModuleArgument, method: i32, flags: i32) -> Managed<()> {
    change(t, module, |tables| {
        record_mut(&mut tables.methods, token(method))?.impl_flags = flags as u32;
        Ok(())
    })
}

fn set_param(
    t: CurrentThread,
    module: ModuleArgument,
    method: i32,
    sequence: i32,
    flags: i32,
    name: *const u16,
) -> Managed<i32> {
    let name = optional_text_at(name).unwrap_or_default();
    let param = ParamRecord { sequence: sequence as u16, flags: flags as u32, name };
    change(t, module, |tables| tables.set_param(token(method), param).map(number))
}

fn get_signature_token(_t: CurrentThread, module: ModuleArgument, signature: *const u8, length: i32) -> i32 {
    number(module_of(module).tables().tables.stand_alone_signature(bytes_at(signature, length)))
}

fn set_field_offset(t: CurrentThread, module: ModuleArgument, field: i32, offset: i32) -> Managed<()> {
    change(t, module, |tables| {
        record_mut(&mut tables.fields, token(field))?.offset = Some(offset as u32);
        Ok(())
    })
}

fn set_class_layout(t: CurrentThread, module: ModuleArgument, class: i32, packing: i32, size: i32) -> Managed<()> {
    change(t, module, |tables| {
        let layout = (packing.max(0) as u32, size.max(0) as u32);
        record_mut(&mut tables.types, class_token(class))?.layout = Some(layout);
        Ok(())
    })
}

/// The bytes of a constant of a type that has a size, or of a text.
fn set_constant(t: CurrentThread, module: ModuleArgument, of: i32, element_type: i32, value: *const ()) -> Managed<()> {
    const STRING: i32 = 0x0e;
    let size = match element_type {
        0x02 | 0x04 | 0x05 => 1,
        0x03 | 0x06 | 0x07 => 2,
        0x08 | 0x09 | 0x0c => 4,
        0x0a | 0x0b | 0x0d => 8,
        // A null reference.
        _ => 4,
    };
    let bytes = match value.is_null() {
        true => vec![0; if element_type == STRING { 0 } else { size }],
        false if element_type == STRING => units_at(value.cast()).iter().flat_map(|unit| unit.to_le_bytes()).collect(),
        false => bytes_at(value.cast(), size as i32).to_vec(),
    };
    change(t, module, |tables| {
        tables.constants.insert(token(of), ConstantRecord { element_type: element_type as u32, bytes });
        Ok(())
    })
}

fn set_import(
    t: CurrentThread,
    module: ModuleArgument,
    library: *const u16,
    name: *const u16,
    method: i32,
    flags: i32,
) -> Managed<()> {
    let (library, name) = (text_at(library), text_at(name));
    change(t, module, |tables| {
        record_mut(&mut tables.methods, token(method))?.import =
            Some(Import { library: library.into_boxed_str(), name, flags: flags as u16 });
        Ok(())
    })
}

fn define_attribute(
    t: CurrentThread,
    module: ModuleArgument,
    of: i32,
    constructor: i32,
    value: *const u8,
    length: i32,
) -> Managed<()> {
    let value = bytes_at(value, length).to_vec();
    module_of(module).add_attribute(token(of), token(constructor), value).to_managed(t)
}

/// `ExceptionHandler`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Handler {
    class: i32,
    try_start: i32,
    try_end: i32,
    filter_start: i32,
    start: i32,
    end: i32,
    /// `ExceptionHandlingClauseOptions`.
    kind: i32,
}

impl Handler {
    fn clause(&self) -> EhClause {
        let (kind, class_or_filter) = match self.kind & 7 {
            1 => (EhKind::Filter, self.filter_start),
            2 => (EhKind::Finally, 0),
            4 => (EhKind::Fault, 0),
            _ => (EhKind::Catch, self.class),
        };
        EhClause {
            kind,
            try_offset: self.try_start as u32,
            try_len: self.try_end.wrapping_sub(self.try_start) as u32,
            handler_offset: self.start as u32,
            handler_len: self.end.wrapping_sub(self.start) as u32,
            class_token_or_filter_offset: class_or_filter as u32,
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "the signature of the call")]
fn set_method_code(
    t: CurrentThread,
    module: ModuleArgument,
    method: i32,
    init_locals: i32,
    code: *const u8,
    code_bytes: i32,
    locals: *const u8,
    locals_bytes: i32,
    max_stack: i32,
    handlers: *const Handler,
    handler_count: i32,
    _fixups: *const i32,
    _fixup_count: i32,
) -> Managed<()> {
    // SAFETY: managed code passes an array that it has pinned, of that many elements.
    let handler = |index: usize| unsafe { handlers.add(index).read() };
    let count = if handlers.is_null() { 0 } else { usize::try_from(handler_count).unwrap_or(0) };
    let body = MethodCode {
        code: bytes_at(code, code_bytes).to_vec(),
        locals: bytes_at(locals, locals_bytes).to_vec(),
        max_stack: max_stack.clamp(0, i32::from(u16::MAX)) as u16,
        init_locals: init_locals != 0,
        clauses: (0..count).map(|index| handler(index).clause()).collect(),
    };
    change(t, module, |tables| {
        record_mut(&mut tables.methods, token(method))?.body = Some(body);
        Ok(())
    })
}

/// An enum has a field in each value, of a primitive type or another enum. ECMA-335 §II.14.3.
fn check_enum(ty: Ty) -> LoadResult<()> {
    let Some(value) = ty.fields()?.iter().find(|field| !field.is_static()) else {
        return Err(LoadError::type_load("No Instance Field in an Enum.", ty.full_name()));
    };
    let has_numbers = |value: Ty| {
        value.is_enum()
            || value.element_type.is_simple()
                && !matches!(value.element_type, ElementType::Void | ElementType::String | ElementType::Object)
    };
    match value.ty() {
        Ok(value) if has_numbers(value) => return Ok(()),
        // A generic parameter is no type here, since an enum has none.
        Err(error) if error.kind != LoadErrorKind::BadImageFormat => return Err(error),
        _ => {}
    }
    let (name, assembly) = (ty.full_name(), ty.image().assembly().display_name());
    let message = format!("Type '{name}' from assembly '{assembly}' has a field of an illegal type.");
    Err(LoadError::type_load(message, name))
}

/// What .NET reports when it loads a class.
fn check(ty: Ty) -> LoadResult<()> {
    ty.parent()?;
    ty.interface_list()?;
    if ty.is_enum() {
        check_enum(ty)?;
    }
    if ty.args.is_empty() && !ty.is_interface() {
        ty.instance_layout()?;
    }
    match ty.vtable_layout() {
        // What signatures name may be finished later.
        Err(error) if error.kind != LoadErrorKind::UnfinishedType => Err(error),
        _ => Ok(()),
    }
}

fn finish_type(t: CurrentThread, module: ModuleArgument, class: i32, result: ObjectPlace) -> Managed<()> {
    let module = module_of(module);
    let ty = module.finish_type(class_token(class), check).to_managed(t)?;
    if class_token(class) == Token::new(TableId::TypeDef, 1) {
        saki_reflect::objects::set_global_type(t, module.image, ty)?;
    }
    result.set(t, Obj::of_type(t, ty)?);
    Ok(())
}

/// The internal calls of `System.Reflection.Emit.RuntimeTypeBuilder`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::TypeBuilder_DefineType", &define_type),
    InternalCall::new("@net QCall::TypeBuilder_DefineGenericParam", &define_generic_param),
    InternalCall::new("@net QCall::TypeBuilder_SetParentType", &set_parent),
    InternalCall::new("@net QCall::TypeBuilder_AddInterfaceImpl", &add_interface),
    InternalCall::new("@net QCall::TypeBuilder_DefineMethod", &define_member::<true>),
    InternalCall::new("@net QCall::TypeBuilder_DefineMethodSpec", &define_method_spec),
    InternalCall::new("@net QCall::TypeBuilder_DefineField", &define_member::<false>),
    InternalCall::new("@net QCall::TypeBuilder_DefineProperty", &define_property),
    InternalCall::new("@net QCall::TypeBuilder_DefineEvent", &define_event),
    InternalCall::new("@net QCall::TypeBuilder_DefineMethodSemantics", &define_accessor),
    InternalCall::new("@net QCall::TypeBuilder_DefineMethodImpl", &define_override),
    InternalCall::new("@net QCall::TypeBuilder_SetMethodImpl", &set_impl_flags),
    InternalCall::new("@net QCall::TypeBuilder_SetParamInfo", &set_param),
    InternalCall::new("@net QCall::TypeBuilder_GetTokenFromSig", &get_signature_token),
    InternalCall::new("@net QCall::TypeBuilder_SetFieldLayoutOffset", &set_field_offset),
    InternalCall::new("@net QCall::TypeBuilder_SetClassLayout", &set_class_layout),
    InternalCall::new("@net QCall::TypeBuilder_SetConstantValue", &set_constant),
    InternalCall::new("@net QCall::TypeBuilder_SetPInvokeData", &set_import),
    InternalCall::new("@net QCall::TypeBuilder_DefineCustomAttribute", &define_attribute),
    InternalCall::new("@net QCall::TypeBuilder_SetMethodIL", &set_method_code),
    InternalCall::new("@net QCall::TypeBuilder_TermCreateClass", &finish_type),
];
