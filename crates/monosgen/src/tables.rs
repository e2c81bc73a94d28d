//! Tables and heaps of `mono/metadata/metadata.h` and `image.h`: rows and cells as they lie in the file, and searches.
//!
//! Mono counts rows from 0 where a function takes an index, and from 1 where it gives one that is part of a token.
//! Cells are raw: rows of other tables, coded indexes, offsets into heaps.

use crate::call::{load, put};
use crate::class_members::with_length;
use crate::host_records;
use saki_metadata::{BlobIdx, TableId, Token};
use saki_types::{GenericContext, Image, Ty};
use std::ffi::{c_char, c_int, c_uint};
use std::ptr;

/// What `MonoTableInfo` stands for: a table of an image.
pub struct MonoTableInfo {
    pub(crate) image: &'static Image,
    pub(crate) table: TableId,
}

/// A cell as Mono counts columns: of a constant it takes the kind and the byte after it for two.
fn mono_cell(image: &Image, table: TableId, index: u32, column: usize) -> u32 {
    match (table, column) {
        (TableId::Constant, 0) => cell(image, table, index, 0) & 0xff,
        (TableId::Constant, 1) => cell(image, table, index, 0) >> 8,
        (TableId::Constant, _) => cell(image, table, index, column - 1),
        _ => cell(image, table, index, column),
    }
}

/// A cell of the row after `index` others; 0 if there is none.
pub(crate) fn cell(image: &Image, table: TableId, index: u32, column: usize) -> u32 {
    let Some(place) = image.meta.cell_place(table, index + 1, column) else { return 0 };
    let bytes = &image.meta.bytes()[place.offset_bytes..][..place.width_bytes];
    bytes.iter().rev().fold(0, |sum, byte| (sum << 8) | u32::from(*byte))
}

/// The number of rows before the first whose cell has at least this value, in a table that is sorted by the column; and
/// whether that row has the value.
fn first(image: &Image, table: TableId, column: usize, value: u32) -> (u32, bool) {
    let (mut low, mut high) = (0, image.meta.row_count(table));
    let rows = high;
    while low < high {
        let middle = low + (high - low) / 2;
        if cell(image, table, middle, column) < value {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low, low < rows && cell(image, table, low, column) == value)
}

/// The row, counted from 1, of the first with this value; 0 if there is none.
fn row_of(image: &Image, table: TableId, column: usize, value: u32) -> u32 {
    match first(image, table, column, value) {
        (index, true) => index + 1,
        _ => 0,
    }
}

/// A table of an image; it lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_get_table_info(image: &'static Image, table: c_int) -> *const MonoTableInfo {
    match u8::try_from(table).map(TableId::from_u8) {
        Ok(table) if table != TableId::Unknown => host_records::table(image, table),
        _ => ptr::null(),
    }
}

/// The number of rows of a table.
#[unsafe(no_mangle)]
pub extern "C" fn mono_image_get_table_rows(image: &'static Image, table: c_int) -> c_int {
    u8::try_from(table).map_or(0, |table| image.meta.row_count(TableId::from_u8(table)) as c_int)
}

/// The number of rows.
#[unsafe(no_mangle)]
pub extern "C" fn mono_table_info_get_rows(table: &MonoTableInfo) -> c_int {
    table.image.meta.row_count(table.table) as c_int
}

/// The cells of the row after `index` others.
///
/// # Safety
/// `cells` has room for `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_decode_row(table: &MonoTableInfo, index: c_int, cells: *mut u32, count: c_int) {
    for column in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: room for so many cells.
        unsafe { cells.add(column).write(mono_cell(table.image, table.table, index as u32, column)) };
    }
}

/// A cell of the row after `index` others.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_decode_row_col(table: &MonoTableInfo, index: c_int, column: c_uint) -> u32 {
    mono_cell(table.image, table.table, index as u32, column as usize)
}

/// The cells of the row after `index` others.
///
/// # Safety
/// `cells` has room for `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_decode_table_row(
    image: &'static Image,
    table: c_int,
    index: c_int,
    cells: *mut u32,
    count: c_int,
) {
    let table = MonoTableInfo { image, table: TableId::from_u8(table as u8) };
    // SAFETY: room for so many cells.
    unsafe { mono_metadata_decode_row(&table, index, cells, count) };
}

/// A cell of the row after `index` others.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_decode_table_row_col(
    image: &'static Image,
    table: c_int,
    index: c_int,
    column: c_uint,
) -> u32 {
    mono_cell(image, TableId::from_u8(table as u8), index as u32, column as usize)
}

/// The address of the row with this number, from 1.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_locate(image: &'static Image, table: c_int, row: c_int) -> *const u8 {
    let place = image.meta.cell_place(TableId::from_u8(table as u8), row as u32, 0);
    place.map_or(ptr::null(), |place| image.meta.bytes()[place.offset_bytes..].as_ptr())
}

/// The address of a token's row.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_locate_token(image: &'static Image, token: u32) -> *const u8 {
    mono_metadata_locate(image, (token >> 24) as c_int, Token(token).rid() as c_int)
}

/// Rows of other tables are never moved: the index itself.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_translate_token_index(_image: &'static Image, _table: c_int, index: u32) -> u32 {
    index
}

/// The address in a heap.
fn in_heap(image: &'static Image, heap: std::ops::Range<usize>, offset: u32) -> *const u8 {
    let bytes = image.meta.bytes().get(heap).and_then(|heap| heap.get(offset as usize..));
    bytes.map_or(ptr::null(), <[u8]>::as_ptr)
}

/// The string at an offset; it ends in NUL.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_string_heap(image: &'static Image, offset: u32) -> *const u8 {
    in_heap(image, image.meta.heap_places().strings, offset)
}

/// The blob at an offset, with its length before it.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_blob_heap(image: &'static Image, offset: u32) -> *const u8 {
    in_heap(image, image.meta.heap_places().blobs, offset)
}

/// The literal at an offset, with its length in bytes before it.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_user_string(image: &'static Image, offset: u32) -> *const u8 {
    in_heap(image, image.meta.heap_places().user_strings, offset)
}

/// The GUID with this number, from 1.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_guid_heap(image: &'static Image, number: u32) -> *const u8 {
    const GUID_BYTES: u32 = 16;
    in_heap(image, image.meta.heap_places().guids, number.wrapping_sub(1).wrapping_mul(GUID_BYTES))
}

/// The TypeDef row, from 1, of a field's class; 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_typedef_from_field(image: &'static Image, field: u32) -> u32 {
    image.meta.type_of_field(Token(field).rid()).unwrap_or(0)
}

/// The TypeDef row, from 1, of a method's class; 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_typedef_from_method(image: &'static Image, method: u32) -> u32 {
    image.meta.type_of_method(Token(method).rid()).unwrap_or(0)
}

/// The token of the class around a nested class; 0 for others.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_nested_in_typedef(image: &'static Image, class: u32) -> u32 {
    image.meta.enclosing_class(Token(class).rid()).map_or(0, |rid| Token::new(TableId::TypeDef, rid).0)
}

/// The row of NestedClass, from 1 and not before `start`, of a class in this one; 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_nesting_typedef(image: &'static Image, class: u32, start: u32) -> u32 {
    const ENCLOSING: usize = 1;
    let rows = image.meta.row_count(TableId::NestedClass);
    let is_inside = |row: &u32| cell(image, TableId::NestedClass, row - 1, ENCLOSING) == Token(class).rid();
    (start.max(1)..=rows).find(is_inside).unwrap_or(0)
}

/// The interfaces of a class that it declares, and their number, for `mono_free`; null without any.
///
/// # Safety
/// `count` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_interfaces_from_typedef(
    image: &'static Image,
    class: u32,
    count: *mut c_uint,
) -> *mut Ty {
    load("mono_metadata_interfaces_from_typedef", || {
        let mut found = Vec::new();
        for token in image.meta.interface_impls(Token(class).rid()) {
            found.push(image.resolve_type(token?, &GenericContext::NONE)?);
        }
        // SAFETY: null or the host's variable.
        unsafe { put(count, found.len() as c_uint) };
        if found.is_empty() {
            return Ok(ptr::null_mut());
        }
        let addresses = found.iter().flat_map(|&ty| ptr::from_ref(ty).addr().to_ne_bytes());
        Ok(crate::text::given(&addresses.collect::<Vec<u8>>()).cast())
    })
}

/// The rows before the first and before the one after the last of a list that a map gives to a class.
///
/// # Safety
/// `end` is the host's variable.
unsafe fn listed(image: &Image, map: TableId, items: TableId, class: u32, end: *mut c_uint) -> u32 {
    const LIST: usize = 1;
    let (index, is_there) = first(image, map, 0, class + 1);
    if !is_there {
        // SAFETY: the host's variable.
        unsafe { put(end, 0) };
        return 0;
    }
    let is_last = index + 1 >= image.meta.row_count(map);
    let last = if is_last { image.meta.row_count(items) } else { cell(image, map, index + 1, LIST) - 1 };
    // SAFETY: the host's variable.
    unsafe { put(end, last) };
    cell(image, map, index, LIST) - 1
}

/// The events of the class after `class` others: the rows before the first, and before the one after the last.
///
/// # Safety
/// `end` is the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_events_from_typedef(image: &'static Image, class: u32, end: *mut c_uint) -> u32 {
    // SAFETY: the host's variable.
    unsafe { listed(image, TableId::EventMap, TableId::Event, class, end) }
}

/// The properties of the class after `class` others: the rows before the first, and before the one after the last.
///
/// # Safety
/// `end` is the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_properties_from_typedef(
    image: &'static Image,
    class: u32,
    end: *mut c_uint,
) -> u32 {
    // SAFETY: the host's variable.
    unsafe { listed(image, TableId::PropertyMap, TableId::Property, class, end) }
}

/// The rows of MethodSemantics of an event or property.
///
/// # Safety
/// `end` is the host's variable.
unsafe fn accessors(image: &Image, association: u32, end: *mut c_uint) -> u32 {
    const ASSOCIATION: usize = 2;
    let (start, _) = first(image, TableId::MethodSemantics, ASSOCIATION, association);
    let (after, _) = first(image, TableId::MethodSemantics, ASSOCIATION, association + 1);
    // SAFETY: the host's variable.
    unsafe { put(end, after) };
    start
}

/// The methods of the event after `event` others: the rows of MethodSemantics before the first, and before the one
/// after the last.
///
/// # Safety
/// `end` is the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_methods_from_event(image: &'static Image, event: u32, end: *mut c_uint) -> u32 {
    // SAFETY: the host's variable.
    unsafe { accessors(image, (event + 1) << 1, end) }
}

/// The methods of the property after `property` others, as [`mono_metadata_methods_from_event`].
///
/// # Safety
/// `end` is the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_methods_from_property(
    image: &'static Image,
    property: u32,
    end: *mut c_uint,
) -> u32 {
    // SAFETY: the host's variable.
    unsafe { accessors(image, ((property + 1) << 1) | 1, end) }
}

/// The row of ClassLayout, from 1, of a class, its packing and size in bytes; 0 if there is none.
///
/// # Safety
/// `packing` and `size` are null or the host's variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_packing_from_typedef(
    image: &'static Image,
    class: u32,
    packing: *mut u32,
    size: *mut u32,
) -> u32 {
    const PARENT: usize = 2;
    let row = row_of(image, TableId::ClassLayout, PARENT, Token(class).rid());
    if row != 0 {
        // SAFETY: null or the host's variable.
        unsafe { put(packing, cell(image, TableId::ClassLayout, row - 1, 0)) };
        // SAFETY: null or the host's variable.
        unsafe { put(size, cell(image, TableId::ClassLayout, row - 1, 1)) };
    }
    row
}

/// Bytes of a row of the table, and in the host's word two bits for each column, its bytes less one, with the number of
/// columns in the highest byte.
///
/// # Safety
/// `columns` is the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_compute_size(image: &'static Image, table: c_int, columns: *mut u32) -> c_int {
    let Some(table) = u8::try_from(table).ok().map(TableId::from_u8) else { return 0 };
    let bytes = (0..).map_while(|column| image.meta.column_bytes(table, column));
    let widths: Vec<usize> = match table {
        // As Mono counts columns: the kind and the byte after it are two.
        TableId::Constant => [1, 1].into_iter().chain(bytes.skip(1)).collect(),
        _ => bytes.collect(),
    };
    let bits = widths.iter().enumerate().fold(0, |bits, (column, width)| bits | ((*width as u32 - 1) << (2 * column)));
    // SAFETY: the host's variable.
    unsafe { put(columns, bits | (widths.len() as u32) << 24) };
    widths.iter().sum::<usize>() as c_int
}

/// The marshalling of the field or parameter after `index` others: a blob with its length; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_get_marshal_info(image: &'static Image, index: u32, is_field: c_int) -> *const u8 {
    let parent = ((index + 1) << 1) | u32::from(is_field == 0);
    match row_of(image, TableId::FieldMarshal, 0, parent) {
        0 => ptr::null(),
        row => {
            let blob = image.meta.blob(BlobIdx(cell(image, TableId::FieldMarshal, row - 1, 1)));
            blob.map_or(ptr::null(), with_length)
        }
    }
}

/// The first row of CustomAttribute, from 1, of a coded index; 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_custom_attrs_from_index(image: &'static Image, parent: u32) -> u32 {
    row_of(image, TableId::CustomAttribute, 0, parent)
}

/// The rows of DeclSecurity before the first of a coded index; 0xffffffff if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_declsec_from_index(image: &'static Image, parent: u32) -> u32 {
    row_of(image, TableId::DeclSecurity, 1, parent).wrapping_sub(1)
}

/// The row of ImplMap, from 1, of the method after `method` others; 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_implmap_from_method(image: &'static Image, method: u32) -> u32 {
    row_of(image, TableId::ImplMap, 1, ((method + 1) << 1) | 1)
}

/// The place, the address of the initial bytes of the field after `field` others: 0xffffffff and 0 if there is none.
///
/// # Safety
/// `offset` and `rva` are null or the host's variables; `marshalling` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_field_info(
    image: &'static Image,
    field: u32,
    offset: *mut u32,
    rva: *mut u32,
    marshalling: *mut usize,
) {
    if !marshalling.is_null() {
        crate::machine::end("mono_metadata_field_info", "does not give descriptions of marshalling");
    }
    let rid = field + 1;
    // SAFETY: null or the host's variable.
    unsafe { put(offset, image.meta.field_layout(rid).ok().flatten().unwrap_or(u32::MAX)) };
    // SAFETY: null or the host's variable.
    unsafe { put(rva, image.meta.field_rva(rid).ok().flatten().unwrap_or(0)) };
}

/// The row of Constant, from 1, of a Field, Param or Property token; 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_get_constant_index(image: &'static Image, token: u32, _hint: u32) -> u32 {
    let tag = match Token(token).table() {
        TableId::Field => 0,
        TableId::Param => 1,
        TableId::Property => 2,
        _ => return 0,
    };
    row_of(image, TableId::Constant, 1, (Token(token).rid() << 2) | tag)
}

/// The token of a coded TypeDefOrRef index.
#[unsafe(no_mangle)]
pub extern "C" fn mono_metadata_token_from_dor(index: u32) -> u32 {
    let table = match index & 3 {
        0 => TableId::TypeDef,
        1 => TableId::TypeRef,
        _ => TableId::TypeSpec,
    };
    Token::new(table, index >> 2).0
}

/// A GUID in the form of the registry, for `mono_free`.
///
/// # Safety
/// `guid` has 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_guid_to_string(guid: *const [u8; 16]) -> *mut c_char {
    // SAFETY: the host's 16 bytes.
    crate::text::given(guid_text(unsafe { &*guid }).as_bytes())
}

/// "00112233-4455-6677-8899-AABBCCDDEEFF".
pub(crate) fn guid_text(guid: &[u8; 16]) -> String {
    let digits = |order: &[usize]| order.iter().map(|&index| format!("{:02X}", guid[index])).collect::<String>();
    let parts: [&[usize]; 5] = [&[3, 2, 1, 0], &[5, 4], &[7, 6], &[8, 9], &[10, 11, 12, 13, 14, 15]];
    parts.map(digits).join("-")
}

/// A GUID as digits alone, for `mono_free`.
///
/// # Safety
/// `guid` has 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_guid_to_string_minimal(guid: *const [u8; 16]) -> *mut c_char {
    // SAFETY: the host's 16 bytes.
    let text = guid_text(unsafe { &*guid }).replace('-', "").to_lowercase();
    crate::text::given(text.as_bytes())
}
