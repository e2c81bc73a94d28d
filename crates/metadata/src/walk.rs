//! A walk over everything an image holds: rows, look-ups, signatures, bodies, attribute blobs, resources.
//!
//! Invariant: the walk ends on any image and never panics; each problem is counted and the walk goes on.
//! It is the body of the fuzz targets and of the tests over real assemblies. Left out: resolving names in
//! other images, except through the caller's `EnumResolver`.

use crate::custom_attribute::{CaEnumType, CaTypeHint, EnumResolver};
use crate::element_type::ElementType;
use crate::error::BadImage;
use crate::image::Image;
use crate::opcodes::{Operand, OperandKind, decode};
use crate::signature::is_field_sig;
use crate::symbols::SymbolFile;
use crate::token::{Rid, TableId, Token};

/// Problems kept in full; beyond that they are only counted.
const MAX_KEPT_PROBLEMS: usize = 32;

/// The result of a walk.
#[derive(Debug, Default)]
pub struct WalkReport {
    pub row_count: u64,
    pub signature_count: u64,
    pub body_count: u64,
    pub instruction_count: u64,
    pub attribute_count: u64,
    pub problem_count: u64,
    /// The first problems.
    pub problems: Vec<BadImage>,
}

impl WalkReport {
    fn note<T>(&mut self, result: Result<T, BadImage>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(problem) => {
                self.problem_count += 1;
                if self.problems.len() < MAX_KEPT_PROBLEMS {
                    self.problems.push(problem);
                }
                None
            }
        }
    }

    fn note_all<T>(&mut self, results: impl Iterator<Item = Result<T, BadImage>>) {
        for result in results {
            self.note(result);
        }
    }

    fn note_signature<T>(&mut self, result: Result<T, BadImage>) {
        self.signature_count += 1;
        self.note(result);
    }
}

/// Walks over all of `image`.
pub fn walk(image: &Image, enums: &dyn EnumResolver) -> WalkReport {
    let mut report = WalkReport::default();
    for table in TableId::ALL {
        for rid in 1..=image.row_count(table) {
            report.row_count += 1;
            report.note(image.check_row(table, rid));
        }
    }
    for rid in 1..=image.row_count(TableId::TypeDef) {
        walk_type(image, rid, &mut report);
    }
    for rid in 1..=image.row_count(TableId::Field) {
        walk_field(image, rid, &mut report);
    }
    for rid in 1..=image.row_count(TableId::MethodDef) {
        walk_method(image, rid, &mut report);
    }
    walk_signatures(image, &mut report);
    for rid in 1..=image.row_count(TableId::CustomAttribute) {
        report.attribute_count += 1;
        let result = walk_attribute(image, rid, enums);
        report.note(result);
    }
    for rid in 1..=image.row_count(TableId::ManifestResource) {
        let is_embedded = image.manifest_resource(rid).is_ok_and(|row| row.implementation.is_nil());
        if is_embedded {
            report.note(image.embedded_resource(rid));
        }
    }
    for rid in 1..=image.row_count(TableId::ExportedType) {
        if let Some(row) = report.note(image.exported_type(rid))
            && let (Ok(namespace), Ok(name)) = (image.string(row.namespace), image.string(row.name))
        {
            let enclosing = (row.implementation.table() == TableId::ExportedType).then(|| row.implementation.rid());
            image.find_exported_type(namespace, name, enclosing);
        }
    }
    for rid in 1..=image.row_count(TableId::Param) {
        report.note(image.method_of_param(rid));
        let token = Token::new(TableId::Param, rid);
        walk_marshal_and_constant(image, token, &mut report);
    }
    image.mvid();
    image.assembly();
    if let Some(Some(symbols)) = report.note(SymbolFile::embedded_in(image)) {
        walk_positions(&symbols, image.row_count(TableId::MethodDef));
    }
    report
}

/// Parses the bytes as each kind of signature and as a marshalling descriptor; returns how many of these parses
/// succeed.
pub fn read_signature(bytes: &[u8]) -> usize {
    let read = [
        crate::parse_method_sig(bytes).is_ok(),
        crate::parse_field_sig(bytes).is_ok(),
        crate::parse_property_sig(bytes).is_ok(),
        crate::parse_stand_alone_sig(bytes).is_ok(),
        crate::parse_type_spec(bytes).is_ok(),
        crate::parse_method_spec(bytes).is_ok(),
        crate::parse_native_type(bytes).is_ok(),
    ];
    read.into_iter().filter(|is_read| *is_read).count()
}

/// Parses the bytes as the blobs of attributes with different constructors; returns for how many of these the parse
/// succeeds.
pub fn read_attribute(bytes: &[u8], enums: &dyn EnumResolver) -> usize {
    use CaTypeHint as T;
    let named = T::Enum(CaEnumType::Name("E".to_owned()));
    let arguments: [&[CaTypeHint]; 8] = [
        &[],
        &[T::Prim(ElementType::String)],
        &[T::Prim(ElementType::Boolean), T::Prim(ElementType::I4)],
        &[T::Prim(ElementType::R8), T::Prim(ElementType::Char)],
        &[T::Type],
        &[T::Object],
        &[named],
        &[T::SzArray(Box::new(T::Object))],
    ];
    arguments.into_iter().filter(|hints| crate::parse_custom_attribute(bytes, hints, enums).is_ok()).count()
}

/// Parses the bytes as a method body and decodes its code; returns the number of instructions.
pub fn read_method_body(bytes: &[u8]) -> usize {
    crate::parse_method_body(bytes).map_or(0, |body| decode(body.code).count())
}

/// Reads all resources in an image's tables, by row and by name; returns how many are embedded in it.
pub fn read_resources(image: &Image) -> usize {
    let rids = 1..=image.row_count(TableId::ManifestResource);
    let found = rids.filter(|&rid| {
        let name = image.manifest_resource(rid).and_then(|row| image.string(row.name));
        let by_name = name.is_ok_and(|name| image.embedded_resource_by_name(name).is_ok());
        by_name & image.embedded_resource(rid).is_ok()
    });
    found.count()
}

/// Parses a symbol file of any image and looks up positions in its first `method_count` methods; returns the number of
/// positions found.
pub fn walk_symbols(bytes: Vec<u8>, method_count: u32) -> usize {
    SymbolFile::parse(bytes).map_or(0, |symbols| walk_positions(&symbols, method_count))
}

fn walk_positions(symbols: &SymbolFile, method_count: u32) -> usize {
    let places = (0..=method_count).flat_map(|rid| [0, 10, u32::MAX].map(|il_offset| (rid, il_offset)));
    places.filter_map(|(rid, il_offset)| symbols.line(rid, il_offset)).count()
}

fn walk_type(image: &Image, rid: Rid, report: &mut WalkReport) {
    let token = Token::new(TableId::TypeDef, rid);
    report.note(image.type_def_fields(rid));
    report.note(image.type_def_methods(rid));
    if let Some(properties) = report.note(image.properties(rid)) {
        for property in properties {
            let token = Token::new(TableId::Property, property);
            report.note(image.type_of_property(property));
            walk_marshal_and_constant(image, token, report);
            report.note_all(image.method_semantics(token));
        }
    }
    if let Some(events) = report.note(image.events(rid)) {
        for event in events {
            report.note(image.type_of_event(event));
            let token = Token::new(TableId::Event, event);
            report.note_all(image.method_semantics(token));
        }
    }
    report.note(image.class_layout(rid));
    report.note_all(image.interface_impls(rid));
    report.note_all(image.method_impls(rid));
    report.note_all(image.decl_security(token));
    image.nested_classes(rid).for_each(drop);
    if let Some(params) = report.note(image.generic_params(token)) {
        for param in params {
            report.note_all(image.generic_param_constraints(param));
        }
    }
    if let Ok((namespace, name)) = image.type_name_of_token(token) {
        image.find_type_def(namespace, name, image.enclosing_class(rid));
    }
}

fn walk_marshal_and_constant(image: &Image, token: Token, report: &mut WalkReport) {
    if let Some(Some(row)) = report.note(image.field_marshal(token)) {
        report.note_signature(image.parse_native_type(row.native_type));
    }
    if let Some(Some(row)) = report.note(image.constant(token)) {
        report.note(image.constant_value(&row));
    }
}

fn walk_field(image: &Image, rid: Rid, report: &mut WalkReport) {
    report.note(image.type_of_field(rid));
    report.note(image.field_layout(rid));
    if let Some(Some(rva)) = report.note(image.field_rva(rid)) {
        report.note(image.rva_to_tail(rva));
    }
    walk_marshal_and_constant(image, Token::new(TableId::Field, rid), report);
    if let Ok(row) = image.field(rid) {
        report.note_signature(image.parse_field_sig(row.signature));
    }
}

fn walk_method(image: &Image, rid: Rid, report: &mut WalkReport) {
    let token = Token::new(TableId::MethodDef, rid);
    report.note(image.type_of_method(rid));
    report.note(image.method_params(rid));
    report.note(image.generic_params(token));
    report.note(image.impl_map(token));
    report.note_all(image.method_semantics_of_method(rid));
    let Ok(row) = image.method_def(rid) else { return };
    report.note_signature(image.parse_method_sig(row.signature));
    // Only CIL bodies (code type 0) have an RVA of this format. §II.23.1.11.
    if row.rva != 0 && row.impl_flags & 0x3 == 0 {
        walk_body(image, row.rva, report);
    }
}

fn walk_body(image: &Image, rva: u32, report: &mut WalkReport) {
    let Some(body) = report.note(image.method_body(rva)) else { return };
    report.body_count += 1;
    if !body.local_var_sig.is_nil()
        && let Some(row) = report.note(image.stand_alone_sig(body.local_var_sig.rid()))
    {
        report.note_signature(image.parse_local_sig(row.signature));
    }
    for instruction in decode(body.code) {
        let instruction = instruction.map_err(|error| image.rebase(error, rva as usize));
        let Some(instruction) = report.note(instruction) else { return };
        report.instruction_count += 1;
        let Operand::Token(token) = instruction.operand else { continue };
        if instruction.opcode.operand_kind() == OperandKind::String {
            report.note(image.user_string(token));
        } else if token.rid() == 0 || token.rid() > image.row_count(token.table()) {
            report.note::<()>(Err(image.no_such_row(token.table(), token.rid())));
        }
    }
}

fn walk_signatures(image: &Image, report: &mut WalkReport) {
    for rid in 1..=image.row_count(TableId::MemberRef) {
        let Ok(row) = image.member_ref(rid) else { continue };
        if image.blob(row.signature).is_ok_and(is_field_sig) {
            report.note_signature(image.parse_field_sig(row.signature));
        } else {
            report.note_signature(image.parse_method_sig(row.signature));
        }
    }
    for rid in 1..=image.row_count(TableId::TypeSpec) {
        if let Ok(row) = image.type_spec(rid) {
            report.note_signature(image.parse_type_spec(row.signature));
        }
    }
    for rid in 1..=image.row_count(TableId::MethodSpec) {
        if let Ok(row) = image.method_spec(rid) {
            report.note_signature(image.parse_method_spec(row.instantiation));
        }
    }
    for rid in 1..=image.row_count(TableId::Property) {
        if let Ok(row) = image.property(rid) {
            report.note_signature(image.parse_property_sig(row.signature));
        }
    }
    for rid in 1..=image.row_count(TableId::StandAloneSig) {
        if let Ok(row) = image.stand_alone_sig(rid) {
            report.note_signature(image.parse_stand_alone_sig(row.signature));
        }
    }
}

fn walk_attribute(image: &Image, rid: Rid, enums: &dyn EnumResolver) -> Result<(), BadImage> {
    let row = image.custom_attribute(rid)?;
    let signature = match row.constructor.table() {
        TableId::MethodDef => image.method_def(row.constructor.rid())?.signature,
        _ => image.member_ref(row.constructor.rid())?.signature,
    };
    let signature = image.parse_method_sig(signature)?;
    let hints = signature.params.iter().map(|param| CaTypeHint::from_sig(image, param));
    let hints = hints.collect::<Result<Vec<_>, _>>()?;
    image.parse_custom_attribute(row.value, &hints, enums).map(drop)
}
