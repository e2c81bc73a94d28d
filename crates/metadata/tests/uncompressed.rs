//! Look-ups in unoptimised metadata: `Ptr` tables and unsorted tables.

mod builder;

use builder::{Tables, image_bytes};
use saki_metadata::walk::walk;
use saki_metadata::{CaEnumType, ElementType, Image, TableId, Token};

const STRINGS: &[u8] = b"\0A\0B\0C\0D\0";
const BLOBS: &[u8] = &[0, 2, 6, 8, 3, 0x20, 0, 1];

const MODULE: &[&[u16]] = &[&[0, 1, 0, 0, 0]];

fn open(tables: &Tables<'_>) -> Image {
    Image::from_bytes("test".to_owned(), image_bytes(tables, STRINGS, BLOBS)).expect("a valid image")
}

/// Three types; fields 1–2 in A and 3 in B through FieldPtr; nothing in C. Custom attributes and nested
/// classes are not sorted.
const FIELD_PTR_ROWS: &[(u8, &[&[u16]])] = &[
    (0x00, MODULE),
    (0x02, &[&[0, 0, 1, 0, 0, 1, 1], &[0, 0, 3, 0, 0, 3, 1], &[0, 0, 5, 0, 0, 4, 3]]),
    (0x03, &[&[2], &[3], &[1]]),
    (0x04, &[&[0, 1, 1], &[0, 3, 1], &[0, 5, 1]]),
    (0x06, &[&[0, 0, 0, 6, 1, 4, 1], &[0, 0, 0, 6, 3, 4, 1]]),
    (0x0c, &[&[3 << 5 | 3, 2 << 3 | 2, 0], &[1 << 5 | 3, 1 << 3 | 2, 0], &[3 << 5 | 3, 1 << 3 | 2, 0]]),
    (0x29, &[&[3, 1], &[2, 1]]),
];

#[test]
fn lists_go_through_ptr_tables() {
    let image = open(&Tables { stream_name: "#-", sorted: 0, rows: FIELD_PTR_ROWS });
    assert_eq!(image.type_def_fields(1), Ok(2..4));
    assert_eq!(image.type_def_fields(2), Ok(1..2));
    assert!(image.type_def_fields(3).expect("a list").is_empty());
    assert!(image.type_def_fields(4).is_err());
    assert_eq!(image.type_of_field(1), Ok(2));
    assert_eq!(image.type_of_field(2), Ok(1));
    assert_eq!(image.type_of_field(3), Ok(1));
    assert!(image.type_of_field(4).is_err());
    assert_eq!(image.type_of_method(2), Ok(2));
    assert_eq!(image.type_def_methods(2), Ok(1..3));
    assert!(image.type_def_methods(1).expect("a list").is_empty());
}

#[test]
fn ptr_table_out_of_order_is_an_error() {
    let rows: &[(u8, &[&[u16]])] =
        &[(0x00, MODULE), (0x02, &[&[0, 0, 1, 0, 0, 1, 1]]), (0x03, &[&[2], &[1]]), (0x04, &[&[0, 1, 1], &[0, 3, 1]])];
    let image = open(&Tables { stream_name: "#-", sorted: 0, rows });
    assert!(image.type_def_fields(1).is_err());
}

#[test]
fn unsorted_tables_are_searched_by_key() {
    let image = open(&Tables { stream_name: "#-", sorted: 0, rows: FIELD_PTR_ROWS });
    let attributes = image.custom_attributes(Token::new(TableId::TypeDef, 3));
    assert_eq!(attributes.rids().collect::<Vec<_>>(), [1, 3]);
    assert_eq!(image.custom_attributes(Token::new(TableId::TypeDef, 1)).rids().collect::<Vec<_>>(), [2]);
    assert_eq!(image.custom_attributes(Token::new(TableId::TypeDef, 2)).len(), 0);
    assert_eq!(image.enclosing_class(2), Some(1));
    assert_eq!(image.enclosing_class(1), None);
    assert_eq!(image.nested_classes(1).collect::<Vec<_>>(), [3, 2]);
    assert_eq!(image.find_type_def("", "B", Some(1)), Some(2));
    assert_eq!(image.find_type_def("", "B", None), None);
    assert_eq!(image.find_type_def("", "A", None), Some(1));
}

#[test]
fn walk_finds_no_problem_but_the_missing_attribute_blobs() {
    let image = open(&Tables { stream_name: "#-", sorted: 0, rows: FIELD_PTR_ROWS });
    let report = walk(&image, &|_: &CaEnumType| Some(ElementType::I4));
    assert_eq!(report.problem_count, 0, "{:#?}", report.problems);
}
