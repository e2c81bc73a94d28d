//! Rows of types: TypeDef and everything that belongs to it.

use super::builders::{self as b, bytes, elements, is_method_builder, length, method_fields, text};
use super::encoder::{Encoder, first_byte};
use super::members::nested_list;
use saki_metadata::writer::put_compressed;
use saki_metadata::{TableId, Token};
use saki_runtime::{Managed, ManagedField, Obj};
use saki_types::LibraryType;
use saki_types::emitted::EmittedType;
use saki_types::field::field_flags;
use saki_types::method::method_flags;

/// Kinds of accessors. ECMA-335 §II.23.1.12.
mod semantics {
    /// The accessor that sets a property.
    pub const SETTER: u32 = 1;
    /// The accessor that gets a property.
    pub const GETTER: u32 = 2;
    /// Another method of a property or event.
    pub const OTHER: u32 = 4;
    /// The method that adds a handler to an event.
    pub const ADD: u32 = 8;
    /// The method that removes a handler from an event.
    pub const REMOVE: u32 = 0x10;
    /// The method that raises an event.
    pub const FIRE: u32 = 0x20;
}

/// The initial value of a field that was defined with room for data, but without data: as many zeros as its type has
/// bytes.
fn zeros(field: Obj, flags: u16) -> Vec<u8> {
    if flags & field_flags::HAS_RVA == 0 {
        return Vec::new();
    }
    let builder = b::FIELD_TYPE.obj(field).and_then(b::type_builder);
    vec![0; builder.map_or(0, |builder| b::TYPE_SIZE.get::<i32>(builder).max(0) as usize)]
}

impl Encoder<'_> {
    /// Adds a type. `method_rows` must know the rows that its methods get.
    pub fn add_type(&mut self, builder: Obj, emitted: &'static EmittedType) -> Managed<()> {
        static PERMISSIONS: ManagedField = ManagedField::new(LibraryType::TypeBuilder, "permissions");
        self.current = Some(emitted);
        let parent = b::TYPE_PARENT.obj(builder);
        let extends = if parent.is_none() { Token::NIL } else { self.type_token(parent, true)? };
        let row = self.add_type_row(emitted, b::TYPE_FLAGS.get::<u32>(builder), extends);
        let token = Token::new(TableId::TypeDef, row);
        if let Some(outer) = emitted.enclosing.and_then(|outer| self.enclosing_row(emitted, outer)) {
            self.image.tables.add(TableId::NestedClass, &[row, outer]);
        }
        for interface in elements(b::TYPE_INTERFACES.array(builder)) {
            let interface = self.type_token(Some(interface), true)?;
            self.image.tables.add(TableId::InterfaceImpl, &[row, interface.0]);
        }
        let (size, packing) = (b::TYPE_SIZE.get::<i32>(builder), b::TYPE_PACKING.get::<i32>(builder));
        if size > 0 || packing > 0 {
            self.image.tables.add(TableId::ClassLayout, &[packing.max(0) as u32, size.max(0) as u32, row]);
        }
        self.add_generic_parameters(token, b::TYPE_PARAMETERS.array(builder))?;
        for field in b::fields_of(builder) {
            self.add_field(field)?;
        }
        for method in b::methods_of(builder) {
            let Some(fields) = method_fields(method) else { continue };
            let method_row = self.add_method(method, fields)?;
            if is_method_builder(method) {
                self.add_overrides(row, method, method_row)?;
            }
        }
        self.add_properties(builder, row)?;
        self.add_events(builder, row)?;
        self.add_attributes(token, b::TYPE_ATTRIBUTES.array(builder))?;
        self.add_permissions(token, PERMISSIONS.array(builder))
    }

    /// Adds a TypeDef row, whose members are the Field and MethodDef rows added next.
    pub fn add_type_row(&mut self, emitted: &EmittedType, flags: u32, extends: Token) -> u32 {
        let (name, namespace) = (self.string(&emitted.name), self.string(&emitted.namespace));
        let tables = &mut self.image.tables;
        let (field, method) = (tables.count(TableId::Field) + 1, tables.count(TableId::MethodDef) + 1);
        tables.add(TableId::TypeDef, &[flags, name, namespace, extends.0, field, method])
    }

    /// The row of the type around `emitted`: its own, or the stub in the image of a single type.
    fn enclosing_row(&self, emitted: &EmittedType, outer: &'static EmittedType) -> Option<u32> {
        self.own_row(outer).or_else(|| Some(emitted.own_row() - 1))
    }

    fn add_field(&mut self, field: Obj) -> Managed<()> {
        let data = b::FIELD_DATA.array(field);
        let default = b::FIELD_DEFAULT.obj(field);
        const HAS_DEFAULT: u16 = 0x8000;
        let mut flags = b::FIELD_FLAGS.get::<i32>(field) as u16;
        if data.is_some() {
            flags |= field_flags::HAS_RVA;
        }
        let content = if data.is_none() { zeros(field, flags) } else { bytes(data) };
        if default.is_some() {
            flags |= HAS_DEFAULT;
        }
        let name = self.string(&text(b::FIELD_NAME.str(field)));
        let signature = self.field_signature(field)?;
        let signature = self.blob(&signature);
        let row = self.image.tables.add(TableId::Field, &[u32::from(flags), name, signature]);
        let token = Token::new(TableId::Field, row);
        if default.is_some() || flags & field_flags::LITERAL != 0 {
            self.add_constant(token, default)?;
        }
        let offset = b::FIELD_OFFSET.get::<i32>(field);
        if offset >= 0 {
            self.image.tables.add(TableId::FieldLayout, &[offset as u32, row]);
        }
        if flags & field_flags::HAS_RVA != 0 {
            let rva = self.image.field_data(&content);
            self.image.tables.add(TableId::FieldRva, &[rva, row]);
        }
        if let Some(marshal) = b::FIELD_MARSHAL.obj(field) {
            self.add_marshal(token, marshal);
        }
        self.add_attributes(token, b::FIELD_ATTRIBUTES.array(field))
    }

    /// The MethodDef row of a MethodBuilder of this image.
    fn accessor_row(&self, method: Option<Obj>) -> Option<u32> {
        let method = method?;
        let fields = method_fields(method)?;
        self.method_rows.get(&(fields.row.get::<i32>(method) as u32)).copied()
    }

    fn add_accessor(&mut self, kind: u32, method: Option<Obj>, association: Token) {
        if let Some(row) = self.accessor_row(method) {
            self.image.tables.add(TableId::MethodSemantics, &[kind, row, association.0]);
        }
    }

    fn add_properties(&mut self, builder: Obj, class: u32) -> Managed<()> {
        const HAS_DEFAULT: u32 = 0x1000;
        let list = b::TYPE_PROPERTIES.array(builder);
        if length(list) == 0 {
            return Ok(());
        }
        let first = self.image.tables.count(TableId::Property) + 1;
        self.image.tables.add(TableId::PropertyMap, &[class, first]);
        for property in elements(list) {
            let default = b::PROPERTY_DEFAULT.obj(property);
            let mut flags = b::PROPERTY_FLAGS.get::<i32>(property) as u32;
            if default.is_some() {
                flags |= HAS_DEFAULT;
            }
            let name = self.string(&text(b::PROPERTY_NAME.str(property)));
            let signature = self.property_signature(property)?;
            let signature = self.blob(&signature);
            let row = self.image.tables.add(TableId::Property, &[flags, name, signature]);
            let token = Token::new(TableId::Property, row);
            self.add_accessor(semantics::GETTER, b::PROPERTY_GETTER.obj(property), token);
            self.add_accessor(semantics::SETTER, b::PROPERTY_SETTER.obj(property), token);
            if flags & HAS_DEFAULT != 0 {
                self.add_constant(token, default)?;
            }
            self.add_attributes(token, b::PROPERTY_ATTRIBUTES.array(property))?;
        }
        Ok(())
    }

    /// A property belongs to instances if its accessors do.
    fn property_signature(&mut self, property: Obj) -> Managed<Vec<u8>> {
        let has_this = match b::PROPERTY_GETTER.obj(property).or_else(|| b::PROPERTY_SETTER.obj(property)) {
            Some(accessor) => method_fields(accessor)
                .is_some_and(|fields| fields.flags.get::<i32>(accessor) as u16 & method_flags::STATIC == 0),
            None => b::PROPERTY_CONVENTION.get::<i32>(property) & super::members::conventions::HAS_THIS != 0,
        };
        let mut out = vec![first_byte::PROPERTY | if has_this { first_byte::HAS_THIS } else { 0 }];
        let parameters = b::PROPERTY_PARAMETERS.array(property);
        put_compressed(&mut out, length(parameters) as u32);
        let ty = b::PROPERTY_TYPE.obj(property);
        if ty.is_none() {
            self.put_ty(&mut out, saki_types::universe().void())?;
        } else {
            let required = b::PROPERTY_RETURN_REQUIRED.array(property);
            let optional = b::PROPERTY_RETURN_OPTIONAL.array(property);
            self.put_modified(&mut out, ty, required, optional)?;
        }
        let (required, optional) = (b::PROPERTY_REQUIRED.array(property), b::PROPERTY_OPTIONAL.array(property));
        for (index, parameter) in b::all_elements(parameters).enumerate() {
            self.put_modified(&mut out, parameter, nested_list(required, index), nested_list(optional, index))?;
        }
        Ok(out)
    }

    fn add_events(&mut self, builder: Obj, class: u32) -> Managed<()> {
        let list = b::TYPE_EVENTS.array(builder);
        if length(list) == 0 {
            return Ok(());
        }
        let first = self.image.tables.count(TableId::Event) + 1;
        self.image.tables.add(TableId::EventMap, &[class, first]);
        for event in elements(list) {
            let flags = b::EVENT_FLAGS.get::<i32>(event) as u32;
            let name = self.string(&text(b::EVENT_NAME.str(event)));
            let ty = self.type_token(b::EVENT_TYPE.obj(event), true)?;
            let row = self.image.tables.add(TableId::Event, &[flags, name, ty.0]);
            let token = Token::new(TableId::Event, row);
            self.add_accessor(semantics::ADD, b::EVENT_ADD.obj(event), token);
            self.add_accessor(semantics::REMOVE, b::EVENT_REMOVE.obj(event), token);
            self.add_accessor(semantics::FIRE, b::EVENT_RAISE.obj(event), token);
            for other in elements(b::EVENT_OTHERS.array(event)) {
                self.add_accessor(semantics::OTHER, Some(other), token);
            }
            self.add_attributes(token, b::EVENT_ATTRIBUTES.array(event))?;
        }
        Ok(())
    }
}
