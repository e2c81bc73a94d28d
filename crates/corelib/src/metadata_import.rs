//! System.Reflection.MetadataImport: rows of metadata by token.
//!
//! A scope is the address of a `types::Image`. Names and blobs pass as addresses in the image, which stay as long as
//! it; names end with a NUL there. Results are HRESULTs.

use crate::arguments::ObjectPlace;
use crate::emit;
use saki_metadata::native_type::{NativeTypeRaw, native, parse_native_type};
use saki_metadata::{BadImage, BlobIdx, StringIdx, TableId, Token};
use saki_reflect::module::image_of_module;
use saki_reflect::native_memory::c_string;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Place, ToManaged};
use saki_types::{Image, LoadError, universe};
use std::ffi::{CStr, c_char};

/// HRESULTs.
const OK: i32 = 0;
const RECORD_NOT_FOUND: i32 = 0x8013_1130_u32 as i32;

/// `ConstArray`: a length in bytes, and an address.
#[repr(C)]
#[derive(Clone, Copy)]
struct Bytes {
    length: i32,
    address: usize,
}

impl Bytes {
    fn of(bytes: &'static [u8]) -> Bytes {
        Bytes { length: bytes.len() as i32, address: bytes.as_ptr().addr() }
    }
}

/// The module of a scope.
fn scope_of(scope: isize) -> &'static Image {
    // SAFETY: managed code has scopes from `get_metadata_import` alone.
    unsafe { (scope as *const Image).as_ref() }.unwrap_or_else(|| saki_base::bug!("a null metadata scope"))
}

/// The image that has what the token names, and the row there. They are the module and the token, but for modules that
/// are made at run time, whose rows are shown under tokens of the module.
fn row_of(scope: isize, token: i32) -> (&'static Image, Token) {
    let (module, token) = (scope_of(scope), Token(token as u32));
    emit::locate(module, token).unwrap_or((module, token))
}

/// OK, or the HRESULT for a row that cannot be read.
fn report(result: Result<(), BadImage>) -> i32 {
    match result {
        Ok(()) => OK,
        Err(_) => RECORD_NOT_FOUND,
    }
}

fn get_metadata_import(_t: CurrentThread, module: Option<Obj>) -> isize {
    let image = module.and_then(image_of_module);
    image.map_or(0, |image| std::ptr::from_ref(image).addr().cast_signed())
}

/// The tokens of a table's rows that belong to a parent.
fn children(image: &'static Image, table: TableId, parent: Token) -> Result<Vec<Token>, BadImage> {
    let meta = image.meta;
    let rid = parent.rid();
    let range = match table {
        // Accessors come in pairs with what they do (`MethodSemanticsAttributes`).
        TableId::MethodDef if matches!(parent.table(), TableId::Property | TableId::Event) => {
            let mut found = Vec::new();
            for row in meta.method_semantics(parent) {
                let row = row?;
                found.extend([Token::new(table, row.method), Token(u32::from(row.semantics))]);
            }
            return Ok(found);
        }
        TableId::MethodDef => meta.type_def_methods(rid)?,
        TableId::Field => meta.type_def_fields(rid)?,
        TableId::Property => meta.properties(rid)?,
        TableId::Event => meta.events(rid)?,
        TableId::Param => meta.method_params(rid)?,
        TableId::GenericParam => meta.generic_params(parent)?,
        TableId::CustomAttribute => {
            return Ok(meta.custom_attributes(parent).rids().map(|rid| Token::new(table, rid)).collect());
        }
        TableId::InterfaceImpl => {
            return Ok(meta.interface_impl_rows(rid).rids().map(|rid| Token::new(table, rid)).collect());
        }
        TableId::GenericParamConstraint => {
            return Ok(meta.generic_param_constraint_rows(rid).rids().map(|rid| Token::new(table, rid)).collect());
        }
        TableId::TypeDef if image.emitted_type().is_some() => {
            let nested = image.type_def(rid).and_then(|ty| ty.nested_types()).unwrap_or_default();
            let rows = nested.into_iter().filter_map(|ty| ty.def()).map(|def| def.image.shown_token(table, def.rid));
            return Ok(rows.collect());
        }
        TableId::TypeDef if !parent.is_nil() => {
            return Ok(meta.nested_classes(rid).map(|rid| Token::new(table, rid)).collect());
        }
        _ => 1..meta.row_count(table) + 1,
    };
    Ok(range.map(|rid| Token::new(table, rid)).collect())
}

fn enumerate(
    t: CurrentThread,
    scope: isize,
    kind: i32,
    parent: i32,
    length: *mut i32,
    few: *mut i32,
    many: ObjectPlace,
) -> Managed<()> {
    let (module, of, table) = (scope_of(scope), Token(parent as u32), Token(kind as u32).table());
    let (image, parent) = row_of(scope, parent);
    let mut found = children(image, table, parent).map_err(LoadError::from).to_managed(t)?;
    if module.assembly().is_dynamic {
        // What accessors do is no token, and nested types are in images of their own.
        for found in found.iter_mut().filter(|found| found.table() == table && table != TableId::TypeDef) {
            *found = emit::show(image, *found);
        }
        if table == TableId::CustomAttribute {
            for (image, parent) in emit::late_attributes(module, of) {
                let late = children(image, table, parent).map_err(LoadError::from).to_managed(t)?;
                found.extend(late.into_iter().map(|token| emit::show(image, token)));
            }
        }
    }
    // SAFETY: managed code passes the capacity of its buffer, in a variable of its own.
    let capacity = unsafe { length.replace(found.len() as i32) };
    if found.len() <= usize::try_from(capacity).unwrap_or(0) {
        for (index, token) in found.iter().enumerate() {
            // SAFETY: the buffer has room for all, by the check.
            unsafe { few.add(index).write(token.0 as i32) };
        }
        return Ok(());
    }
    let array = Array::new(t, universe().int32(), found.len())?;
    let numbers: Vec<i32> = found.iter().map(|token| token.0 as i32).collect();
    array.set_numbers(0, &numbers);
    many.set(t, array);
    Ok(())
}

fn get_default_value(
    _t: CurrentThread,
    scope: isize,
    token: i32,
    value: Place<i64>,
    text: Place<usize>,
    length: Place<i32>,
    element_type: Place<i32>,
) -> i32 {
    const VOID: i32 = 1;
    const STRING: i32 = 0x0e;
    let (image, token) = row_of(scope, token);
    value.set(0);
    text.set(0);
    length.set(0);
    element_type.set(VOID);
    report((|| {
        let Some(row) = image.meta.constant(token)? else { return Ok(()) };
        let blob = image.meta.blob(row.value)?;
        let kind = i32::from(row.element_type & 0xff);
        element_type.set(kind);
        if kind == STRING {
            text.set(blob.as_ptr().addr());
            length.set((blob.len() / 2) as i32);
            return Ok(());
        }
        let mut bits = [0; 8];
        let count = blob.len().min(bits.len());
        bits[..count].copy_from_slice(&blob[..count]);
        // Numbers are extended to 64 bits as their type demands.
        let raw = i64::from_le_bytes(bits);
        value.set(match kind {
            0x04 => i64::from(raw as i8),
            0x06 => i64::from(raw as i16),
            0x08 => i64::from(raw as i32),
            _ => raw,
        });
        Ok(())
    })())
}

fn get_user_string(_t: CurrentThread, scope: isize, token: i32, text: Place<usize>, length: Place<i32>) -> i32 {
    if let Some(literal) = emit::literal(scope_of(scope), Token(token as u32)) {
        text.set(literal.as_ptr().addr());
        length.set(literal.len() as i32);
        return OK;
    }
    let (image, token) = row_of(scope, token);
    report(image.meta.user_string_raw(token).map(|bytes| {
        text.set(bytes.as_ptr().addr());
        length.set((bytes.len() / 2) as i32);
    }))
}

fn name_of(image: &'static Image, name: StringIdx) -> Result<usize, BadImage> {
    let bytes = image.meta.string_bytes(name)?;
    // No text may lie nowhere, without a NUL behind it.
    Ok(if bytes.is_empty() { c"".as_ptr().addr() } else { bytes.as_ptr().addr() })
}

fn blob_of(image: &'static Image, blob: BlobIdx) -> Result<Bytes, BadImage> {
    image.meta.blob(blob).map(Bytes::of)
}

fn name_index(image: &'static Image, token: Token) -> Result<StringIdx, BadImage> {
    let (meta, rid) = (image.meta, token.rid());
    Ok(match token.table() {
        TableId::Module => meta.module()?.name,
        TableId::TypeRef => meta.type_ref(rid)?.name,
        TableId::TypeDef => meta.type_def(rid)?.name,
        TableId::Field => meta.field(rid)?.name,
        TableId::MethodDef => meta.method_def(rid)?.name,
        TableId::Param => meta.param(rid)?.name,
        TableId::MemberRef => meta.member_ref(rid)?.name,
        TableId::ModuleRef => meta.module_ref(rid)?.name,
        TableId::Event => meta.event(rid)?.name,
        TableId::Property => meta.property(rid)?.name,
        TableId::AssemblyRef => meta.assembly_ref(rid)?.name,
        TableId::Assembly => meta.assembly_row(rid)?.name,
        TableId::GenericParam => meta.generic_param(rid)?.name,
        TableId::ExportedType => meta.exported_type(rid)?.name,
        TableId::ManifestResource => meta.manifest_resource(rid)?.name,
        TableId::File => meta.file(rid)?.name,
        other => return Err(meta.type_spec(u32::MAX).err().unwrap_or_else(|| saki_base::bug!("a name of {other:?}"))),
    })
}

fn get_name(_t: CurrentThread, scope: isize, token: i32, name: Place<usize>) -> i32 {
    let (image, token) = row_of(scope, token);
    report(name_index(image, token).and_then(|index| name_of(image, index)).map(|address| name.set(address)))
}

fn get_namespace(_t: CurrentThread, scope: isize, token: i32, namespace: Place<usize>) -> i32 {
    let (image, token) = row_of(scope, token);
    report((|| {
        let index = match token.table() {
            TableId::TypeRef => image.meta.type_ref(token.rid())?.namespace,
            TableId::ExportedType => image.meta.exported_type(token.rid())?.namespace,
            _ => image.meta.type_def(token.rid())?.namespace,
        };
        namespace.set(name_of(image, index)?);
        Ok(())
    })())
}

fn get_event(_t: CurrentThread, scope: isize, token: i32, name: Place<usize>, attributes: Place<i32>) -> i32 {
    let (image, token) = row_of(scope, token);
    report((|| {
        let row = image.meta.event(token.rid())?;
        name.set(name_of(image, row.name)?);
        attributes.set(i32::from(row.flags));
        Ok(())
    })())
}

fn get_field(_t: CurrentThread, scope: isize, token: i32, attributes: Place<i32>) -> i32 {
    let (image, token) = row_of(scope, token);
    report(image.meta.field(token.rid()).map(|row| attributes.set(i32::from(row.flags))))
}

fn get_property(
    _t: CurrentThread,
    scope: isize,
    token: i32,
    name: Place<usize>,
    attributes: Place<i32>,
    signature: Place<Bytes>,
) -> i32 {
    let (image, token) = row_of(scope, token);
    report((|| {
        let row = image.meta.property(token.rid())?;
        name.set(name_of(image, row.name)?);
        attributes.set(i32::from(row.flags));
        signature.set(blob_of(image, row.signature)?);
        Ok(())
    })())
}

fn get_parent(_t: CurrentThread, scope: isize, token: i32, parent: Place<i32>) -> i32 {
    let (image, token) = row_of(scope, token);
    let (meta, rid) = (image.meta, token.rid());
    report((|| {
        let found = match token.table() {
            TableId::TypeDef => Token::new(TableId::TypeDef, meta.enclosing_class(rid).unwrap_or(0)),
            TableId::MethodDef => Token::new(TableId::TypeDef, meta.type_of_method(rid)?),
            TableId::Field => Token::new(TableId::TypeDef, meta.type_of_field(rid)?),
            TableId::Property => Token::new(TableId::TypeDef, meta.type_of_property(rid)?),
            TableId::Event => Token::new(TableId::TypeDef, meta.type_of_event(rid)?),
            TableId::Param => Token::new(TableId::MethodDef, meta.method_of_param(rid)?),
            TableId::MemberRef => meta.member_ref(rid)?.class,
            TableId::GenericParam => meta.generic_param(rid)?.owner,
            TableId::CustomAttribute => meta.custom_attribute(rid)?.parent,
            _ => Token::new(TableId::TypeDef, 0),
        };
        parent.set(emit::show(image, found).0 as i32);
        Ok(())
    })())
}

fn get_param(_t: CurrentThread, scope: isize, token: i32, sequence: Place<i32>, attributes: Place<i32>) -> i32 {
    let (image, token) = row_of(scope, token);
    report(image.meta.param(token.rid()).map(|row| {
        sequence.set(i32::from(row.sequence));
        attributes.set(i32::from(row.flags));
    }))
}

fn get_generic_param(_t: CurrentThread, scope: isize, token: i32, attributes: Place<i32>) -> i32 {
    let (image, token) = row_of(scope, token);
    report(image.meta.generic_param(token.rid()).map(|row| attributes.set(i32::from(row.flags))))
}

fn get_scope(_t: CurrentThread, scope: isize, mvid: Place<[u8; 16]>) -> i32 {
    mvid.set(scope_of(scope).meta.mvid());
    OK
}

fn get_method_signature(_t: CurrentThread, scope: isize, token: i32, signature: Place<Bytes>) -> i32 {
    let (image, token) = row_of(scope, token);
    let row = image.meta.method_def(token.rid());
    report(row.and_then(|row| blob_of(image, row.signature)).map(|bytes| signature.set(bytes)))
}

fn get_signature(_t: CurrentThread, scope: isize, token: i32, signature: Place<Bytes>) -> i32 {
    let (image, token) = row_of(scope, token);
    let row = match token.table() {
        TableId::TypeSpec => image.meta.type_spec(token.rid()).map(|row| row.signature),
        _ => image.meta.stand_alone_sig(token.rid()).map(|row| row.signature),
    };
    report(row.and_then(|blob| blob_of(image, blob)).map(|bytes| signature.set(bytes)))
}

fn get_member_ref(_t: CurrentThread, scope: isize, token: i32, signature: Place<Bytes>) -> i32 {
    let (image, token) = row_of(scope, token);
    let row = image.meta.member_ref(token.rid());
    report(row.and_then(|row| blob_of(image, row.signature)).map(|bytes| signature.set(bytes)))
}

fn get_custom_attribute(
    _t: CurrentThread,
    scope: isize,
    token: i32,
    constructor: Place<i32>,
    value: Place<Bytes>,
) -> i32 {
    let (image, token) = row_of(scope, token);
    report((|| {
        let row = image.meta.custom_attribute(token.rid())?;
        constructor.set(emit::show(image, row.constructor).0 as i32);
        value.set(blob_of(image, row.value)?);
        Ok(())
    })())
}

fn get_class_layout(_t: CurrentThread, scope: isize, token: i32, packing: Place<i32>, size: Place<i32>) -> i32 {
    let (image, token) = row_of(scope, token);
    packing.set(0);
    size.set(0);
    // Most classes have no row: what managed code asks for is 0 then, which is no error.
    report(image.meta.class_layout(token.rid()).map(|row| {
        if let Some(row) = row {
            packing.set(i32::from(row.packing_size));
            size.set(row.class_size as i32);
        }
    }))
}

fn get_field_offset(
    _t: CurrentThread,
    scope: isize,
    _class: i32,
    field: i32,
    offset: Place<i32>,
    is_found: Place<u8>,
) -> i32 {
    let (image, field) = row_of(scope, field);
    let found = image.meta.field_layout(field.rid()).ok().flatten();
    offset.set(found.unwrap_or(0) as i32);
    is_found.set(u8::from(found.is_some()));
    OK
}

fn get_field_signature(_t: CurrentThread, scope: isize, token: i32, signature: Place<Bytes>) -> i32 {
    let (image, token) = row_of(scope, token);
    let row = image.meta.field(token.rid());
    report(row.and_then(|row| blob_of(image, row.signature)).map(|bytes| signature.set(bytes)))
}

fn get_field_marshal(_t: CurrentThread, scope: isize, token: i32, value: Place<Bytes>) -> i32 {
    let (image, token) = row_of(scope, token);
    value.set(Bytes { length: 0, address: 0 });
    report((|| {
        if let Some(row) = image.meta.field_marshal(token)? {
            value.set(blob_of(image, row.native_type)?);
        }
        Ok(())
    })())
}

fn get_pinvoke(
    _t: CurrentThread,
    scope: isize,
    token: i32,
    attributes: Place<i32>,
    name: Place<usize>,
    module: Place<usize>,
) -> i32 {
    let (image, token) = row_of(scope, token);
    attributes.set(0);
    name.set(0);
    module.set(0);
    report((|| {
        if let Some(row) = image.meta.impl_map(token)? {
            attributes.set(i32::from(row.mapping_flags));
            name.set(name_of(image, row.import_name)?);
            module.set(name_of(image, image.meta.module_ref(row.import_scope)?.name)?);
        }
        Ok(())
    })())
}

fn is_valid(_t: CurrentThread, scope: isize, token: i32) -> bool {
    if emit::names_something(scope_of(scope), Token(token as u32)) {
        return true;
    }
    let (image, token) = row_of(scope, token);
    match token.table() {
        TableId::Unknown => false,
        TableId::UserString => image.meta.user_string_raw(token).is_ok(),
        table => !token.is_nil() && token.rid() <= image.meta.row_count(table),
    }
}

/// What a native type says, with the addresses of its texts; see `MarshalAsAttribute`.
#[derive(Default)]
struct MarshalAs {
    native_type: i32,
    safe_array_type: i32,
    safe_array_class: usize,
    array_type: i32,
    size_parameter: i32,
    size: i32,
    marshaller: usize,
    cookie: usize,
    iid_parameter: i32,
}

impl MarshalAs {
    fn read(blob: &[u8]) -> Option<MarshalAs> {
        let text = |text: &str| if text.is_empty() { 0 } else { c_string(text).addr() };
        let absent = MarshalAs::default();
        Some(match parse_native_type(blob).ok()? {
            NativeTypeRaw::Simple(kind) => MarshalAs { native_type: i32::from(kind), ..absent },
            NativeTypeRaw::FixedString { char_count } => {
                MarshalAs { native_type: i32::from(native::BYVALTSTR), size: char_count as i32, ..absent }
            }
            NativeTypeRaw::FixedArray { elem_count, elem } => MarshalAs {
                native_type: i32::from(native::BYVALARRAY),
                size: elem_count as i32,
                array_type: elem.map_or(0, i32::from),
                ..absent
            },
            NativeTypeRaw::Array { elem, size_param, size_const, flags } => {
                let is_absent = flags.is_some_and(|flags| flags & 1 == 0);
                MarshalAs {
                    native_type: i32::from(native::LPARRAY),
                    array_type: elem.map_or(0, i32::from),
                    size_parameter: size_param.filter(|_| !is_absent).map_or(0, i32::from),
                    size: size_const.unwrap_or(0) as i32,
                    ..absent
                }
            }
            NativeTypeRaw::SafeArray { variant_type, record_type } => MarshalAs {
                native_type: i32::from(native::SAFEARRAY),
                safe_array_type: variant_type.unwrap_or(0) as i32,
                safe_array_class: text(record_type.as_deref().unwrap_or_default()),
                ..absent
            },
            NativeTypeRaw::Interface { kind, iid_param } => {
                MarshalAs { native_type: i32::from(kind), iid_parameter: iid_param.unwrap_or(0) as i32, ..absent }
            }
            NativeTypeRaw::Custom { marshaler_type, cookie, .. } => MarshalAs {
                native_type: i32::from(native::CUSTOM),
                marshaller: text(&marshaler_type),
                cookie: text(&cookie),
                ..absent
            },
        })
    }
}

/// The parts of a marshalling descriptor. The texts' copies live for ever: few programs ask.
#[expect(clippy::too_many_arguments, reason = "the signature of the call")]
fn get_marshal_as(
    _t: CurrentThread,
    blob: isize,
    length: i32,
    native_type: Place<i32>,
    safe_array_type: Place<i32>,
    safe_array_class: Place<usize>,
    array_type: Place<i32>,
    size_parameter: Place<i32>,
    size: Place<i32>,
    marshaller: Place<usize>,
    cookie: Place<usize>,
    iid_parameter: Place<i32>,
) -> bool {
    // SAFETY: managed code passes a blob that it got from `get_field_marshal`.
    let blob = unsafe { std::slice::from_raw_parts(blob as *const u8, usize::try_from(length).unwrap_or(0)) };
    let read = MarshalAs::read(blob);
    let is_read = read.is_some();
    let read = read.unwrap_or_default();
    native_type.set(read.native_type);
    safe_array_type.set(read.safe_array_type);
    safe_array_class.set(read.safe_array_class);
    array_type.set(read.array_type);
    size_parameter.set(read.size_parameter);
    size.set(read.size);
    marshaller.set(read.marshaller);
    cookie.set(read.cookie);
    iid_parameter.set(read.iid_parameter);
    is_read
}

/// .NET 10: the texts have lengths, and the results are passed by pointers.
#[expect(clippy::too_many_arguments, reason = "the signature of the call")]
fn get_marshal_as_by_pointers(
    _t: CurrentThread,
    blob: isize,
    length: i32,
    native_type: *mut i32,
    safe_array_type: *mut i32,
    safe_array_class: *mut usize,
    safe_array_class_length: *mut i32,
    array_type: *mut i32,
    size_parameter: *mut i32,
    size: *mut i32,
    marshaller: *mut usize,
    marshaller_length: *mut i32,
    cookie: *mut usize,
    cookie_length: *mut i32,
    iid_parameter: *mut i32,
) -> i32 {
    // SAFETY: managed code passes a blob that it got from `get_field_marshal`.
    let blob = unsafe { std::slice::from_raw_parts(blob as *const u8, usize::try_from(length).unwrap_or(0)) };
    let Some(read) = MarshalAs::read(blob) else { return 0 };
    let numbers = [
        (native_type, read.native_type),
        (safe_array_type, read.safe_array_type),
        (array_type, read.array_type),
        (size_parameter, read.size_parameter),
        (size, read.size),
        (iid_parameter, read.iid_parameter),
    ];
    for (place, number) in numbers {
        // SAFETY: managed code passes the addresses of locals, which live as long as the call.
        unsafe { place.write(number) };
    }
    let texts = [
        (safe_array_class, safe_array_class_length, read.safe_array_class),
        (marshaller, marshaller_length, read.marshaller),
        (cookie, cookie_length, read.cookie),
    ];
    for (place, length, text) in texts {
        let start = text as *const c_char;
        // SAFETY: `MarshalAs::read` gives null or the address of a text with a NUL, which stays.
        let bytes = if start.is_null() { 0 } else { unsafe { CStr::from_ptr(start) }.count_bytes() };
        // SAFETY: managed code passes the addresses of locals, which live as long as the call.
        unsafe { place.write(text) };
        // SAFETY: managed code passes the addresses of locals, which live as long as the call.
        unsafe { length.write(bytes as i32) };
    }
    1
}

/// The internal calls of `System.Reflection.MetadataImport`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net System.Reflection.MetadataImport::GetMetadataImport", &get_metadata_import),
    InternalCall::new("@net QCall::MetadataImport_Enum", &enumerate),
    InternalCall::new("@net System.Reflection.MetadataImport::GetDefaultValue", &get_default_value),
    InternalCall::new("@net System.Reflection.MetadataImport::GetUserString", &get_user_string),
    InternalCall::new("@net System.Reflection.MetadataImport::GetName", &get_name),
    InternalCall::new("@net System.Reflection.MetadataImport::GetNamespace", &get_namespace),
    InternalCall::new("@net System.Reflection.MetadataImport::GetEventProps", &get_event),
    InternalCall::new("@net System.Reflection.MetadataImport::GetFieldDefProps", &get_field),
    InternalCall::new("@net System.Reflection.MetadataImport::GetPropertyProps", &get_property),
    InternalCall::new("@net System.Reflection.MetadataImport::GetParentToken", &get_parent),
    InternalCall::new("@net System.Reflection.MetadataImport::GetParamDefProps", &get_param),
    InternalCall::new("@net System.Reflection.MetadataImport::GetGenericParamProps", &get_generic_param),
    InternalCall::new("@net System.Reflection.MetadataImport::GetScopeProps", &get_scope),
    InternalCall::new("@net System.Reflection.MetadataImport::GetSigOfMethodDef", &get_method_signature),
    InternalCall::new("@net System.Reflection.MetadataImport::GetSignatureFromToken", &get_signature),
    InternalCall::new("@net System.Reflection.MetadataImport::GetMemberRefProps", &get_member_ref),
    InternalCall::new("@net System.Reflection.MetadataImport::GetCustomAttributeProps", &get_custom_attribute),
    InternalCall::new("@net System.Reflection.MetadataImport::GetClassLayout", &get_class_layout),
    InternalCall::new("@net System.Reflection.MetadataImport::GetFieldOffset", &get_field_offset),
    InternalCall::new("@net System.Reflection.MetadataImport::GetSigOfFieldDef", &get_field_signature),
    InternalCall::new("@net System.Reflection.MetadataImport::GetFieldMarshal", &get_field_marshal),
    InternalCall::new("@net System.Reflection.MetadataImport::GetPInvokeMap", &get_pinvoke),
    InternalCall::new("@net System.Reflection.MetadataImport::IsValidToken", &is_valid),
    InternalCall::new("@net9 System.Reflection.MetadataImport::GetMarshalAs", &get_marshal_as),
    InternalCall::new("@net10 QCall::MetadataImport_GetMarshalAs", &get_marshal_as_by_pointers),
];
