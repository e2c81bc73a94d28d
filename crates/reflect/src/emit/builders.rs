//! The fields of the builder classes that the runtime reads, and small readers over them, down to what a finished
//! builder has become.

use crate::handles::{Handle, MODULE_BUILDER_HANDLE};
pub use crate::objects::text;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::{Array, CurrentThread, Managed, ManagedField, Obj, RootCell};
use saki_types::emitted::EmittedType;
use saki_types::method::method_flags;
use saki_types::{Field, Image, LibraryType, Method, Ty, universe};
use std::sync::atomic::{AtomicUsize, Ordering};

macro_rules! fields {
    ($($name:ident = $class:ident $field:literal;)*) => {
        $(pub static $name: ManagedField = ManagedField::new(LibraryType::$class, $field);)*
    };
}

fields! {
    MODULE_ASSEMBLY = ModuleBuilder "assemblyb";
    MODULE_NAME = ModuleBuilder "name";
    MODULE_FILE = ModuleBuilder "fqname";
    MODULE_NATIVE = ModuleBuilder "dynamic_image";

    MODULE_ATTRIBUTES = ModuleBuilder "cattrs";
    ASSEMBLY_ATTRIBUTES = AssemblyBuilder "cattrs";

    TYPE_NAME = TypeBuilder "tname";
    TYPE_NAMESPACE = TypeBuilder "nspace";
    TYPE_PARENT = TypeBuilder "parent";
    TYPE_ENCLOSING = TypeBuilder "nesting_type";
    TYPE_INTERFACES = TypeBuilder "interfaces";
    TYPE_METHOD_COUNT = TypeBuilder "num_methods";
    TYPE_METHODS = TypeBuilder "methods";
    TYPE_CONSTRUCTORS = TypeBuilder "ctors";
    TYPE_PROPERTIES = TypeBuilder "properties";
    TYPE_FIELD_COUNT = TypeBuilder "num_fields";
    TYPE_FIELDS = TypeBuilder "fields";
    TYPE_EVENTS = TypeBuilder "events";
    TYPE_ATTRIBUTES = TypeBuilder "cattrs";
    TYPE_FLAGS = TypeBuilder "attrs";
    TYPE_ROW = TypeBuilder "table_idx";
    TYPE_MODULE = TypeBuilder "pmodule";
    TYPE_SIZE = TypeBuilder "class_size";
    TYPE_PACKING = TypeBuilder "packing_size";
    // Written by the runtime alone: the address of the `EmittedType`.
    TYPE_NATIVE = TypeBuilder "generic_container";
    TYPE_PARAMETERS = TypeBuilder "generic_params";

    ENUM_TYPE = EnumBuilder "_tb";

    PARAMETER_METHOD = GenericTypeParameterBuilder "mbuilder";
    PARAMETER_NAME = GenericTypeParameterBuilder "name";
    PARAMETER_INDEX = GenericTypeParameterBuilder "index";
    PARAMETER_BASE = GenericTypeParameterBuilder "base_type";
    PARAMETER_INTERFACES = GenericTypeParameterBuilder "iface_constraints";
    PARAMETER_ATTRIBUTES = GenericTypeParameterBuilder "cattrs";
    PARAMETER_FLAGS = GenericTypeParameterBuilder "attrs";

    INSTANTIATION_DEFINITION = TypeBuilderInstantiation "generic_type";
    INSTANTIATION_ARGUMENTS = TypeBuilderInstantiation "type_arguments";
    SYMBOL_ELEMENT = SymbolType "m_baseType";
    ARRAY_RANK = ArrayType "rank";

    METHOD_NAME = MethodBuilder "name";
    METHOD_RETURN = MethodBuilder "rtype";
    METHOD_CODE = MethodBuilder "code";
    METHOD_OVERRIDES = MethodBuilder "override_methods";
    METHOD_LIBRARY = MethodBuilder "pi_dll";
    METHOD_IMPORT = MethodBuilder "pi_entry";
    METHOD_CHARSET = MethodBuilder "charset";
    METHOD_IMPORT_FLAGS = MethodBuilder "extra_flags";
    METHOD_CONVENTION = MethodBuilder "native_cc";
    METHOD_PARAMETERS = MethodBuilder "generic_params";
    METHOD_RETURN_REQUIRED = MethodBuilder "returnModReq";
    METHOD_RETURN_OPTIONAL = MethodBuilder "returnModOpt";

    FIELD_FLAGS = FieldBuilder "attrs";
    FIELD_TYPE = FieldBuilder "type";
    FIELD_NAME = FieldBuilder "name";
    FIELD_DEFAULT = FieldBuilder "def_value";
    FIELD_OFFSET = FieldBuilder "offset";
    FIELD_OWNER = FieldBuilder "typeb";
    FIELD_DATA = FieldBuilder "rva_data";
    FIELD_ATTRIBUTES = FieldBuilder "cattrs";
    FIELD_MARSHAL = FieldBuilder "marshal_info";
    FIELD_NATIVE = FieldBuilder "handle";
    FIELD_REQUIRED = FieldBuilder "modReq";
    FIELD_OPTIONAL = FieldBuilder "modOpt";

    PROPERTY_FLAGS = PropertyBuilder "attrs";
    PROPERTY_NAME = PropertyBuilder "name";
    PROPERTY_TYPE = PropertyBuilder "type";
    PROPERTY_PARAMETERS = PropertyBuilder "parameters";
    PROPERTY_ATTRIBUTES = PropertyBuilder "cattrs";
    PROPERTY_DEFAULT = PropertyBuilder "def_value";
    PROPERTY_SETTER = PropertyBuilder "set_method";
    PROPERTY_GETTER = PropertyBuilder "get_method";
    PROPERTY_ROW = PropertyBuilder "table_idx";
    PROPERTY_RETURN_REQUIRED = PropertyBuilder "returnModReq";
    PROPERTY_RETURN_OPTIONAL = PropertyBuilder "returnModOpt";
    PROPERTY_REQUIRED = PropertyBuilder "paramModReq";
    PROPERTY_OPTIONAL = PropertyBuilder "paramModOpt";
    PROPERTY_CONVENTION = PropertyBuilder "callingConvention";

    EVENT_NAME = EventBuilder "name";
    EVENT_TYPE = EventBuilder "type";
    EVENT_ATTRIBUTES = EventBuilder "cattrs";
    EVENT_ADD = EventBuilder "add_method";
    EVENT_REMOVE = EventBuilder "remove_method";
    EVENT_RAISE = EventBuilder "raise_method";
    EVENT_OTHERS = EventBuilder "other_methods";
    EVENT_FLAGS = EventBuilder "attrs";
    EVENT_ROW = EventBuilder "table_idx";

    ARGUMENT_NAME = ParameterBuilder "name";
    ARGUMENT_ATTRIBUTES = ParameterBuilder "cattrs";
    ARGUMENT_MARSHAL = ParameterBuilder "marshal_info";
    ARGUMENT_FLAGS = ParameterBuilder "attrs";
    ARGUMENT_POSITION = ParameterBuilder "position";
    ARGUMENT_DEFAULT = ParameterBuilder "def_value";

    ATTRIBUTE_CONSTRUCTOR = CustomAttributeBuilder "ctor";
    ATTRIBUTE_DATA = CustomAttributeBuilder "data";

    METHOD_INSTANCE_TYPE = MethodOnTypeBuilderInst "instantiation";
    METHOD_INSTANCE_BASE = MethodOnTypeBuilderInst "base_method";
    METHOD_INSTANCE_ARGUMENTS = MethodOnTypeBuilderInst "method_arguments";
    CONSTRUCTOR_INSTANCE_TYPE = ConstructorOnTypeBuilderInst "instantiation";
    CONSTRUCTOR_INSTANCE_BASE = ConstructorOnTypeBuilderInst "cb";
    FIELD_INSTANCE_TYPE = FieldOnTypeBuilderInst "instantiation";
    FIELD_INSTANCE_BASE = FieldOnTypeBuilderInst "fb";

    HELPER_ARGUMENTS = SignatureHelper "arguments";
    HELPER_MODULE = SignatureHelper "module";
    HELPER_RETURN = SignatureHelper "returnType";
    HELPER_CONVENTIONS = SignatureHelper "callConv";
    HELPER_UNMANAGED = SignatureHelper "unmanagedCallConv";

    GENERATOR_CODE = ILGenerator "code";
    GENERATOR_LENGTH = ILGenerator "code_len";
    GENERATOR_STACK = ILGenerator "max_stack";
    GENERATOR_LOCALS = ILGenerator "locals";
}

/// Made by `ModuleBuilder.GetArrayMethod`.
pub static ARRAY_METHOD_PARENT: ManagedField = ManagedField::new(LibraryType::MonoArrayMethod, "parent");
/// What the method returns: a Type.
pub static ARRAY_METHOD_RETURN: ManagedField = ManagedField::new(LibraryType::MonoArrayMethod, "ret");
/// The types of its parameters: a Type[].
pub static ARRAY_METHOD_PARAMETERS: ManagedField = ManagedField::new(LibraryType::MonoArrayMethod, "parameters");
/// Its name.
pub static ARRAY_METHOD_NAME: ManagedField = ManagedField::new(LibraryType::MonoArrayMethod, "name");
/// Its calling convention (`conventions`).
pub static ARRAY_METHOD_CONVENTION: ManagedField = ManagedField::new(LibraryType::MonoArrayMethod, "call_conv");
/// The type of a local variable.
pub static LOCAL_TYPE: ManagedField = ManagedField::new(LibraryType::LocalVariableInfo, "type");
/// Whether a local variable is pinned.
pub static LOCAL_PINNED: ManagedField = ManagedField::new(LibraryType::LocalVariableInfo, "is_pinned");

/// What MethodBuilder and ConstructorBuilder have in common.
pub struct MethodFields {
    pub handle: ManagedField,
    pub parameters: ManagedField,
    pub flags: ManagedField,
    pub impl_flags: ManagedField,
    pub row: ManagedField,
    pub generator: ManagedField,
    pub owner: ManagedField,
    pub arguments: ManagedField,
    pub attributes: ManagedField,
    pub conventions: ManagedField,
    pub init_locals: ManagedField,
    pub required: ManagedField,
    pub optional: ManagedField,
}

impl MethodFields {
    const fn of(class: LibraryType) -> Self {
        MethodFields {
            handle: ManagedField::new(class, "mhandle"),
            parameters: ManagedField::new(class, "parameters"),
            flags: ManagedField::new(class, "attrs"),
            impl_flags: ManagedField::new(class, "iattrs"),
            row: ManagedField::new(class, "table_idx"),
            generator: ManagedField::new(class, "ilgen"),
            owner: ManagedField::new(class, "type"),
            arguments: ManagedField::new(class, "pinfo"),
            attributes: ManagedField::new(class, "cattrs"),
            conventions: ManagedField::new(class, "call_conv"),
            init_locals: ManagedField::new(class, "init_locals"),
            required: ManagedField::new(class, "paramModReq"),
            optional: ManagedField::new(class, "paramModOpt"),
        }
    }
}

static METHOD: MethodFields = MethodFields::of(LibraryType::MethodBuilder);
static CONSTRUCTOR: MethodFields = MethodFields::of(LibraryType::ConstructorBuilder);

/// The fields of a MethodBuilder or ConstructorBuilder; None for objects of other classes.
pub fn method_fields(object: Obj) -> Option<&'static MethodFields> {
    let class = object.ty();
    if class.is(LibraryType::MethodBuilder) {
        Some(&METHOD)
    } else {
        class.is(LibraryType::ConstructorBuilder).then_some(&CONSTRUCTOR)
    }
}

/// Whether the object is a MethodBuilder, not a ConstructorBuilder.
pub fn is_method_builder(object: Obj) -> bool {
    object.ty().is(LibraryType::MethodBuilder)
}

/// The name of a MethodBuilder or ConstructorBuilder.
pub fn method_name(object: Obj, fields: &MethodFields) -> String {
    if is_method_builder(object) {
        return text(METHOD_NAME.str(object));
    }
    let is_static = fields.flags.get::<i32>(object) as u16 & method_flags::STATIC != 0;
    if is_static { ".cctor" } else { ".ctor" }.to_string()
}

/// The object in a field that managed code has filled before the runtime sees the builder.
pub fn part<'t>(field: &ManagedField, object: Obj<'t>) -> Obj<'t> {
    field.obj(object).unwrap_or_else(|| saki_base::bug!("{} of a {} is null", field.name(), object.ty().full_name()))
}

/// The length of an array; 0 for null.
pub fn length(array: Option<Array>) -> usize {
    array.map_or(0, Array::length)
}

/// The elements of an array of references, nulls among them; none for null.
pub fn all_elements<'t>(array: Option<Array<'t>>) -> impl Iterator<Item = Option<Obj<'t>>> {
    array.into_iter().flat_map(Array::iter)
}

/// The elements of an array of references that are not null; none for null.
pub fn elements<'t>(array: Option<Array<'t>>) -> impl Iterator<Item = Obj<'t>> {
    all_elements(array).flatten()
}

/// The bytes of a byte[]; none for null.
pub fn bytes(array: Option<Array>) -> Vec<u8> {
    array.and_then(Array::bytes).unwrap_or_default().to_vec()
}

/// The methods of a TypeBuilder in the order of their rows: constructors first.
pub fn methods_of<'t>(builder: Obj<'t>) -> impl Iterator<Item = Obj<'t>> {
    let count = TYPE_METHOD_COUNT.get::<i32>(builder).max(0) as usize;
    elements(TYPE_CONSTRUCTORS.array(builder)).chain(elements(TYPE_METHODS.array(builder)).take(count))
}

/// The fields of a TypeBuilder in the order of their rows.
pub fn fields_of<'t>(builder: Obj<'t>) -> impl Iterator<Item = Obj<'t>> {
    let count = TYPE_FIELD_COUNT.get::<i32>(builder).max(0) as usize;
    elements(TYPE_FIELDS.array(builder)).take(count)
}

/// The TypeBuilder itself, or that of an EnumBuilder; None for other types.
pub fn type_builder<'t>(object: Obj<'t>) -> Option<Obj<'t>> {
    let class = object.ty();
    if class.is(LibraryType::EnumBuilder) {
        return ENUM_TYPE.obj(object);
    }
    class.is(LibraryType::TypeBuilder).then_some(object)
}

/// Whether a TypeBuilder makes a value type: by its parent, as ECMA-335 §II.10.1.3 says.
pub fn is_value_type(builder: Obj) -> bool {
    let parent = TYPE_PARENT.obj(builder).filter(|&parent| type_builder(parent).is_none());
    let parent = parent.and_then(Obj::as_type);
    parent.is_some_and(|parent| parent == universe().value_type() || parent == universe().enum_type())
}

/// The native side of a TypeBuilder, made on first use.
///
/// # Errors
/// NotSupportedException when its module is not a builder's.
pub fn emitted_type(t: CurrentThread, builder: Obj) -> Managed<&'static EmittedType> {
    // SAFETY: an aligned word inside a live object that only this function writes.
    let cell = unsafe { AtomicUsize::from_ptr(TYPE_NATIVE.address(builder)) };
    // Acquire: pairs with the Release below.
    let known = cell.load(Ordering::Acquire);
    if known != 0 {
        // SAFETY: the address of a leaked `EmittedType`, stored below.
        return Ok(unsafe { &*(known as *const EmittedType) });
    }
    let module = TYPE_MODULE.obj(builder);
    let Some(image) = module.and_then(|module| MODULE_BUILDER_HANDLE.get::<Handle<Image>>(module).get()) else {
        return Err(exceptions::throw(t, ExceptionType::NotSupported, "The module of the type is no builder's."));
    };
    let enclosing = match TYPE_ENCLOSING.obj(builder).and_then(type_builder) {
        Some(outer) => Some(emitted_type(t, outer)?),
        None => None,
    };
    let (namespace, name) = (text(TYPE_NAMESPACE.str(builder)), text(TYPE_NAME.str(builder)));
    let made = EmittedType::new(image, namespace, name, enclosing, TYPE_ROW.get::<i32>(builder) as u32);
    let root = RootCell::beside(crate::handles::address(made), builder);
    // Relaxed: the compare-and-swap below publishes it with the rest.
    made.builder_cell.store(root.address(), Ordering::Relaxed);
    // Release: publishes what was made; two threads may make it at once, the first wins.
    match cell.compare_exchange(0, made as *const EmittedType as usize, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(made),
        Err(earlier) => {
            root.set(None::<Obj>);
            // SAFETY: the cell holds zero or the address of an `EmittedType`, which lives as long as its module.
            Ok(unsafe { &*(earlier as *const EmittedType) })
        }
    }
}

/// The TypeBuilder of a type; None when the type was made without one.
pub fn builder_of<'t>(t: CurrentThread<'t>, emitted: &EmittedType) -> Option<Obj<'t>> {
    // Relaxed: stored before the type was published.
    match emitted.builder_cell.load(Ordering::Relaxed) {
        0 => None,
        // SAFETY: the address of a cell that lives for ever.
        address => unsafe { RootCell::from_address(address) }.obj(t),
    }
}

/// The TypeBuilder of a type that has one.
pub fn own_builder<'t>(t: CurrentThread<'t>, emitted: &EmittedType) -> Obj<'t> {
    builder_of(t, emitted).unwrap_or_else(|| saki_base::bug!("{} without its builder", emitted.name))
}

/// The method that a MethodBuilder or ConstructorBuilder became.
pub fn finished_builder_method(object: Obj) -> Option<&'static Method> {
    let fields = method_fields(object)?;
    fields.handle.get::<Handle<Method>>(object).get()
}

/// The field that a FieldBuilder became.
pub fn finished_builder_field(object: Obj) -> Option<&'static Field> {
    if !object.ty().is(LibraryType::FieldBuilder) {
        return None;
    }
    FIELD_NATIVE.get::<Handle<Field>>(object).get()
}

/// The type that a TypeBuilder or EnumBuilder became.
pub fn finished_builder_type(object: Obj) -> Option<Ty> {
    type_builder(object)?.as_type()
}
