//! `TypeBuilder.CreateType`: from builder objects to a type of the runtime.

use super::builders::{self as b, emitted_type, method_fields};
use super::emitted_module::{EmittedModule, Named, require_module};
use super::encoder::{Encoder, Scope};
use crate::cache::{self, ObjectKind};
use crate::handles::address;
use saki_metadata::{TableId, Token};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::type_objects::bind_type;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};
use saki_types::emitted::{EmittedType, ShownTokens};
use saki_types::ty::type_flags;
use saki_types::{ElementType, LoadError, LoadErrorKind, LoadResult, Ty};

/// Row of the type that every module which can run gets for the wrappers of its methods; Saki has no use for it.
const WRAPPERS_TYPE_ROW: u32 = 0xff_ffff;

/// Encodes an image of this type alone, with stubs for the types around it. Also gives the tokens that reflection shows
/// for its members.
fn encode<'t>(
    t: CurrentThread<'t>,
    builder: Obj,
    emitted: &'static EmittedType,
    module: &'static EmittedModule,
) -> Managed<(Encoder<'t>, ShownTokens)> {
    let mut encoder = Encoder::new(t, module, Scope::Type { own: emitted, references: Vec::new() });
    let mut shown = ShownTokens::default();
    for method in b::methods_of(builder) {
        let Some(fields) = method_fields(method) else { continue };
        let row = fields.row.get::<i32>(method) as u32;
        shown.methods.push(Token::new(TableId::MethodDef, row));
        encoder.method_rows.insert(row, shown.methods.len() as u32);
    }
    shown.fields.extend(b::fields_of(builder).map(|_| module.fresh(TableId::Field)));
    let rows = |table, list, field: &'static saki_runtime::ManagedField| {
        b::elements(list).map(move |item| Token::new(table, field.get::<i32>(item) as u32))
    };
    shown.properties.extend(rows(TableId::Property, b::TYPE_PROPERTIES.array(builder), &b::PROPERTY_ROW));
    shown.events.extend(rows(TableId::Event, b::TYPE_EVENTS.array(builder), &b::EVENT_ROW));

    let name = emitted.module.meta.path().display().to_string();
    let module_name = encoder.string(&name);
    let mvid = encoder.image.heaps.guid([0; 16]).0;
    encoder.image.tables.add(TableId::Module, &[0, module_name, mvid, 0, 0]);
    if emitted.own_row() != 1 {
        let global = encoder.string("<Module>");
        encoder.image.tables.add(TableId::TypeDef, &[0, global, 0, 0, 1, 1]);
    }
    let mut around = Vec::new();
    let mut at = emitted.enclosing;
    while let Some(outer) = at {
        around.push(outer);
        at = outer.enclosing;
    }
    for outer in around.into_iter().rev() {
        let row = encoder.add_type_row(outer, 0, Token::NIL);
        if outer.enclosing.is_some() {
            encoder.image.tables.add(TableId::NestedClass, &[row, row - 1]);
        }
    }
    encoder.add_type(builder, emitted)?;
    Ok((encoder, shown))
}

fn create<'t>(t: CurrentThread<'t>, builder: Obj<'t>, emitted: &'static EmittedType) -> Managed<Ty> {
    let module_object = b::part(&b::TYPE_MODULE, builder);
    let module = require_module(t, Some(module_object))?;
    let (encoder, shown) = encode(t, builder, emitted, module)?;
    let Scope::Type { references, .. } = encoder.scope else { unreachable!("made above") };
    let fields: Vec<Token> = shown.fields.clone();
    let ty = emitted.create(encoder.image.finish_for_loader(), references, shown).to_managed(t)?;
    cache::get_or_make(t, ObjectKind::Module, address(ty.image()), 0, || Ok(module_object))?;
    bind_type(builder, ty);
    for (index, method) in b::methods_of(builder).enumerate() {
        if let Some(fields) = method_fields(method) {
            fields.handle.set(method, address(ty.method_by_rid(index as u32 + 1).to_managed(t)?));
        }
    }
    for (index, field) in b::fields_of(builder).enumerate() {
        let made = ty.field_by_rid(index as u32 + 1).to_managed(t)?;
        b::FIELD_NATIVE.set(field, address(made));
        if let Some(&token) = fields.get(index) {
            module.name(token, Named::Field(made));
        }
    }
    module.name(Token::new(TableId::TypeDef, emitted.row), Named::Type { ty, open: false });
    // Errors of the base type and of an enum's shape are reported now. References to unfinished types, and interface
    // methods without implementation, are reported when the type is used.
    match ty.parent().and_then(|_| check_enum(ty)) {
        Err(error) if error.kind != LoadErrorKind::UnfinishedType => Err(error).to_managed(t),
        _ => Ok(ty),
    }
}

/// An enum has one field in each value, of an integer type, and the layout is the runtime's matter. ECMA-335 §II.14.3.
fn check_enum(ty: Ty) -> LoadResult<()> {
    use ElementType as E;
    if !ty.is_enum() {
        return Ok(());
    }
    let refuse = |reason: &str| {
        let message = format!("Could not load enum '{}': {reason}", ty.full_name());
        Err(LoadError::type_load(message, ty.full_name()))
    };
    if ty.flags() & type_flags::LAYOUT_MASK != 0 {
        return refuse("it has a layout of its own");
    }
    let mut values = ty.fields()?.iter().filter(|field| !field.is_static());
    let (Some(value), None) = (values.next(), values.next()) else {
        return refuse("it needs exactly one field that is not static");
    };
    let element = match value.ty() {
        Ok(ty) => ty.element_type,
        // The field's type is a generic parameter, but an enum has no generic parameters.
        Err(error) if error.kind == LoadErrorKind::BadImageFormat => E::Var,
        Err(error) => return Err(error),
    };
    let is_integer = matches!(
        element,
        E::Boolean | E::Char | E::I1 | E::U1 | E::I2 | E::U2 | E::I4 | E::U4 | E::I8 | E::U8 | E::I | E::U
    );
    if is_integer { Ok(()) } else { refuse("its value is no integer") }
}

/// `TypeBuilder.create_runtime_class()`: null for the wrappers' type, for which the builder stays in the type's place:
/// no program sees that type.
fn create_runtime_class<'t>(t: CurrentThread<'t>, builder: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let Some(builder) = builder else { return Err(exceptions::throw_null_reference(t)) };
    if b::TYPE_ROW.get::<i32>(builder) as u32 == WRAPPERS_TYPE_ROW {
        return Ok(None);
    }
    let emitted = emitted_type(t, builder)?;
    let ty = match emitted.created() {
        Some(ty) => ty,
        None => create(t, builder, emitted)?,
    };
    Obj::of_type(t, ty).map(Some)
}

/// `EnumBuilder.setup_enum_type(Type)`: whether a type is an enum is read from its parent.
fn setup_enum_type(_t: CurrentThread, _this: Option<Obj>, _builder: Option<Obj>) {}

/// The internal calls of `System.Reflection.Emit.TypeBuilder` and `System.Reflection.Emit.EnumBuilder`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.Emit.TypeBuilder::create_runtime_class", &create_runtime_class),
    InternalCall::new("System.Reflection.Emit.EnumBuilder::setup_enum_type", &setup_enum_type),
];
