//! Declarative security of `mono/metadata/reflection.h`: what the table DeclSecurity says. Nothing here obeys it.
//!
//! Blobs begin behind their length; Mono passes over two bytes, also where the length takes one.

use crate::call::load;
use saki_metadata::{BlobIdx, TableId, Token};
use saki_types::{Assembly, Image, LoadResult, Method, Ty};

/// `MonoDeclSecurityEntry`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct MonoDeclSecurityEntry {
    blob: *const u8,
    size_bytes: u32,
    index: u32,
}

const NOTHING: MonoDeclSecurityEntry = MonoDeclSecurityEntry { blob: std::ptr::null(), size_bytes: 0, index: 0 };

/// `MonoDeclSecurityActions`: the entries of three actions.
#[repr(C)]
pub struct MonoDeclSecurityActions {
    entries: [MonoDeclSecurityEntry; 3],
}

/// A demand, one without code access security, and a choice.
type Actions = [u32; 3];

const DEMANDS: Actions = [0x02, 0x0d, 0x12];
const LINK_DEMANDS: Actions = [0x06, 0x0e, 0x10];
const INHERITANCE_DEMANDS: Actions = [0x07, 0x0f, 0x11];

const METHOD_HAS_SECURITY: u16 = 0x4000;
const TYPE_HAS_SECURITY: u32 = 0x4_0000;

/// The bits of Mono's flags, by the numbers of actions.
fn flag_of(action: u32) -> u32 {
    match action {
        1..=0x12 => 1 << (action - 1),
        _ => 0,
    }
}

/// A row of DeclSecurity: the action, and the index of its blob.
type Row = (u32, BlobIdx);

/// The rows of a method, a type or an assembly.
fn rows_of(image: &'static Image, parent: Token) -> LoadResult<Vec<Row>> {
    let mut rows = Vec::new();
    for found in image.meta.decl_security(parent) {
        let row = found?;
        rows.push((u32::from(row.action), row.permission_set));
    }
    Ok(rows)
}

fn method_rows(method: &'static Method) -> LoadResult<Vec<Row>> {
    match method.rid() {
        Some(rid) if method.flags & METHOD_HAS_SECURITY != 0 => {
            rows_of(method.image(), Token::new(TableId::MethodDef, rid))
        }
        _ => Ok(Vec::new()),
    }
}

fn class_rows(class: Ty) -> LoadResult<Vec<Row>> {
    match class.def() {
        Some(def) if class.flags() & TYPE_HAS_SECURITY != 0 => {
            rows_of(def.image, Token::new(TableId::TypeDef, def.rid))
        }
        _ => Ok(Vec::new()),
    }
}

fn assembly_rows(assembly: &'static Assembly) -> LoadResult<Vec<Row>> {
    rows_of(assembly.image, Token::new(TableId::Assembly, 1))
}

fn flags(rows: &[Row]) -> u32 {
    rows.iter().fold(0, |flags, (action, _)| flags | flag_of(*action))
}

fn entry_of(image: &'static Image, index: BlobIdx) -> LoadResult<MonoDeclSecurityEntry> {
    let blob = image.meta.blob(index)?;
    Ok(MonoDeclSecurityEntry { blob: blob.as_ptr(), size_bytes: blob.len() as u32, index: index.0 })
}

/// Fills the entries that are still empty; whether it filled any.
fn fill(
    image: &'static Image,
    rows: &[Row],
    actions: Actions,
    place: &mut MonoDeclSecurityActions,
) -> LoadResult<bool> {
    let mut is_any = false;
    for (action, index) in rows {
        let wanted = actions.iter().position(|wanted| wanted == action);
        if let Some(entry) = wanted.map(|position| &mut place.entries[position])
            && entry.blob.is_null()
        {
            *entry = entry_of(image, *index)?;
            is_any = true;
        }
    }
    Ok(is_any)
}

/// Bits of the actions that the method declares.
#[unsafe(no_mangle)]
pub extern "C" fn mono_declsec_flags_from_method(method: &'static Method) -> u32 {
    load("mono_declsec_flags_from_method", || Ok(flags(&method_rows(method)?)))
}

/// Bits of the actions that the class declares.
#[unsafe(no_mangle)]
pub extern "C" fn mono_declsec_flags_from_class(class: Ty) -> u32 {
    load("mono_declsec_flags_from_class", || Ok(flags(&class_rows(class)?)))
}

/// Bits of the actions that the assembly declares.
#[unsafe(no_mangle)]
pub extern "C" fn mono_declsec_flags_from_assembly(assembly: &'static Assembly) -> u32 {
    load("mono_declsec_flags_from_assembly", || Ok(flags(&assembly_rows(assembly)?)))
}

/// The demands of a method, and those of its class that the method does not have; whether there are any.
#[unsafe(no_mangle)]
pub extern "C" fn mono_declsec_get_demands(method: &'static Method, demands: &mut MonoDeclSecurityActions) -> u8 {
    load("mono_declsec_get_demands", || {
        let (own, of_class) = (method_rows(method)?, class_rows(method.owner)?);
        demands.entries = [NOTHING; 3];
        let is_any = fill(method.image(), &own, DEMANDS, demands)?;
        Ok(u8::from(fill(method.image(), &of_class, DEMANDS, demands)? | is_any))
    })
}

/// The demands to those that link, of a method and of its class; whether there are any.
#[unsafe(no_mangle)]
pub extern "C" fn mono_declsec_get_linkdemands(
    method: &'static Method,
    of_class: &mut MonoDeclSecurityActions,
    of_method: &mut MonoDeclSecurityActions,
) -> u8 {
    load("mono_declsec_get_linkdemands", || {
        (of_class.entries, of_method.entries) = ([NOTHING; 3], [NOTHING; 3]);
        let is_any = fill(method.image(), &method_rows(method)?, LINK_DEMANDS, of_method)?;
        Ok(u8::from(fill(method.image(), &class_rows(method.owner)?, LINK_DEMANDS, of_class)? | is_any))
    })
}

/// The demands to classes that derive from the class; whether there are any.
#[unsafe(no_mangle)]
pub extern "C" fn mono_declsec_get_inheritdemands_class(class: Ty, demands: &mut MonoDeclSecurityActions) -> u8 {
    load("mono_declsec_get_inheritdemands_class", || {
        demands.entries = [NOTHING; 3];
        fill(class.image(), &class_rows(class)?, INHERITANCE_DEMANDS, demands).map(u8::from)
    })
}

/// The demands to methods that override the method; whether there are any.
#[unsafe(no_mangle)]
pub extern "C" fn mono_declsec_get_inheritdemands_method(
    method: &'static Method,
    demands: &mut MonoDeclSecurityActions,
) -> u8 {
    load("mono_declsec_get_inheritdemands_method", || {
        demands.entries = [NOTHING; 3];
        fill(method.image(), &method_rows(method)?, INHERITANCE_DEMANDS, demands).map(u8::from)
    })
}

/// The blob of an action; its index is left as it is, as under Mono. Whether it is there.
fn find_action(image: &'static Image, rows: &[Row], action: u32, entry: &mut MonoDeclSecurityEntry) -> LoadResult<u8> {
    let Some((_, index)) = rows.iter().find(|(known, _)| *known == action) else { return Ok(0) };
    let found = entry_of(image, *index)?;
    (entry.blob, entry.size_bytes) = (found.blob, found.size_bytes);
    Ok(1)
}

/// What the method declares for an action; whether it declares anything.
#[unsafe(no_mangle)]
pub extern "C" fn mono_declsec_get_method_action(
    method: &'static Method,
    action: u32,
    entry: &mut MonoDeclSecurityEntry,
) -> u8 {
    load("mono_declsec_get_method_action", || find_action(method.image(), &method_rows(method)?, action, entry))
}

/// What the class declares for an action; whether it declares anything.
#[unsafe(no_mangle)]
pub extern "C" fn mono_declsec_get_class_action(class: Ty, action: u32, entry: &mut MonoDeclSecurityEntry) -> u8 {
    load("mono_declsec_get_class_action", || find_action(class.image(), &class_rows(class)?, action, entry))
}

/// What the assembly declares for an action; whether it declares anything.
#[unsafe(no_mangle)]
pub extern "C" fn mono_declsec_get_assembly_action(
    assembly: &'static Assembly,
    action: u32,
    entry: &mut MonoDeclSecurityEntry,
) -> u8 {
    load("mono_declsec_get_assembly_action", || find_action(assembly.image, &assembly_rows(assembly)?, action, entry))
}
