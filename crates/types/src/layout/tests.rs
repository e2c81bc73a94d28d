//! Field layout: each test lays out a class written in CIL and compares its offsets, its size and its reference map.

use super::*;
use crate::fixture::{Fixture, assemble};
use crate::universe::universe;

const HEADER: u32 = OBJECT_HEADER_BYTES;

const CLASSES: &str = "
.class sequential sealed Padded extends [mscorlib]System.ValueType { .field uint8 a .field int64 b .field int16 c }
.class sequential sealed Packed extends [mscorlib]System.ValueType { .pack 2 .field uint8 a .field int64 b .field int16 c }
.class sequential sealed PackedReference extends [mscorlib]System.ValueType { .pack 1 .field uint8 a .field string b .field uint8 c }
.class sequential sealed Large extends [mscorlib]System.ValueType { .pack 0 .size 32 .field int32 a }
.class sequential sealed Small extends [mscorlib]System.ValueType { .pack 0 .size 1 .field int64 a }
.class sequential sealed Empty extends [mscorlib]System.ValueType { }
.class auto sealed AutoStruct extends [mscorlib]System.ValueType { .field uint8 a .field int64 b }
.class sequential sealed Inner extends [mscorlib]System.ValueType { .field int32 a .field object b }
.class sequential sealed Outer extends [mscorlib]System.ValueType { .field uint8 a .field valuetype Inner b .field uint8 c }
.class explicit sealed Union extends [mscorlib]System.ValueType { .field [4] int32 a .field [0] int64 b .field [6] uint8 c }
.class explicit sealed Exact extends [mscorlib]System.ValueType { .pack 0 .size 5 .field [0] int32 a }
.class explicit sealed Shared extends [mscorlib]System.ValueType { .field [0] object a .field [0] string b .field [8] object c .field [8] native int d }
.class explicit sealed Overlapped extends [mscorlib]System.ValueType { .field [0] object a .field [4] int32 b }
.class explicit sealed Inside extends [mscorlib]System.ValueType { .field [0] valuetype Inner a .field [8] int64 b }
.class explicit sealed Unaligned extends [mscorlib]System.ValueType { .field [4] object a }
.class explicit sealed NoOffset extends [mscorlib]System.ValueType { .field int32 a }
.class explicit sealed Generic`1<T> extends [mscorlib]System.ValueType { .field [0] int32 a }
.class sequential sealed Itself extends [mscorlib]System.ValueType { .field valuetype Itself a }
.class sequential sealed One extends [mscorlib]System.ValueType { .field valuetype Two a }
.class sequential sealed Two extends [mscorlib]System.ValueType { .field valuetype One a }
.class auto Sorted extends [mscorlib]System.Object { .field uint8 a .field object b .field int32 c .field int64 d .field int16 e }
.class sequential Ordered extends [mscorlib]System.Object { .field uint8 a .field object b .field int32 c }
.class auto Parent extends [mscorlib]System.Object { .field int64 a .field uint8 b }
.class auto Child extends Parent { .field uint8 c .field object d }
.class sequential sealed Pair`2<T, U> extends [mscorlib]System.ValueType { .field !T a .field !U b }
.class auto Statics extends [mscorlib]System.Object {
  .field static int32 a
  .field static literal int32 constant = int32(1)
  .field static object b
  .field static valuetype Inner c
  .field int64 own
}
.class auto Volatile extends [mscorlib]System.Object {
  .field static int32 modreq([mscorlib]System.Runtime.CompilerServices.IsVolatile) a
  .field static int32 b
}
.class auto ThreadStatics extends [mscorlib]System.Object {
  .field static int64 a
  .field static object b
  .custom instance void [mscorlib]System.ThreadStaticAttribute::.ctor() = (01 00 00 00)
  .field static int32 c
  .custom instance void [mscorlib]System.ThreadStaticAttribute::.ctor() = (01 00 00 00)
}";

/// Offsets of `fields`, which count from the start of a value or an object; size in bytes, alignment and references.
fn check(fixture: &Fixture, name: &str, fields: &[(&str, u32)], size: u32, align: u32, refs: &[u32]) {
    let ty = fixture.ty(name);
    let layout = ty.instance_layout().unwrap_or_else(|error| panic!("{name}: {error}"));
    for &(field, offset) in fields {
        assert_eq!(fixture.field(name, field).offset_bytes().expect("an offset"), offset, "{name}.{field}");
    }
    assert_eq!((layout.size_bytes, layout.align_bytes), (size, align), "{name}");
    assert_eq!(layout.ref_offsets, refs, "{name}");
}

fn check_refused(fixture: &Fixture, name: &str, reason: &str) {
    let error = fixture.ty(name).instance_layout().err().unwrap_or_else(|| panic!("{name} has a layout"));
    assert_eq!(error.kind, LoadErrorKind::TypeLoad, "{name}: {error}");
    assert!(error.message.contains(reason), "{name}: {error}");
}

#[test]
fn structs_are_laid_out_as_c_does() {
    let Some(f) = assemble(CLASSES) else { return };
    check(&f, "Padded", &[("a", 0), ("b", 8), ("c", 16)], 24, 8, &[]);
    check(&f, "Packed", &[("a", 0), ("b", 2), ("c", 10)], 12, 2, &[]);
    check(&f, "AutoStruct", &[("a", 0), ("b", 8)], 16, 8, &[]);
    check(&f, "Large", &[("a", 0)], 32, 4, &[]);
    check(&f, "Small", &[("a", 0)], 8, 8, &[]);
    check(&f, "Empty", &[], 1, 1, &[]);
    check(&f, "Inner", &[("a", 0), ("b", 8)], 16, 8, &[8]);
    check(&f, "Outer", &[("a", 0), ("b", 8), ("c", 24)], 32, 8, &[16]);
    // References stay on word boundaries whatever the packing.
    check(&f, "PackedReference", &[("a", 0), ("b", 8), ("c", 16)], 24, 8, &[8]);
    let is_blittable = |name| f.ty(name).instance_layout().expect("a layout").is_blittable;
    assert!(is_blittable("Padded") && is_blittable("Union") && !is_blittable("Inner") && !is_blittable("Parent"));
}

#[test]
fn explicit_offsets_are_kept() {
    let Some(f) = assemble(CLASSES) else { return };
    check(&f, "Union", &[("a", 4), ("b", 0), ("c", 6)], 8, 8, &[]);
    check(&f, "Exact", &[("a", 0)], 5, 4, &[]);
    // A reference may share its word with references; a word shared with a native number is not traced by the
    // collector.
    check(&f, "Shared", &[("a", 0), ("b", 0), ("c", 8), ("d", 8)], 16, 8, &[0]);
    check_refused(&f, "Overlapped", "overlapped by a non-object field");
    // The fields were placed before the overlap was found.
    for field in ["a", "b", "a"] {
        assert!(f.field("Overlapped", field).offset_bytes().is_err(), "{field} lies in no layout");
    }
    check_refused(&f, "Inside", "overlapped by a non-object field");
    check_refused(&f, "Unaligned", "not pointer-size aligned");
    check_refused(&f, "NoOffset", "no explicit offset");
}

#[test]
fn what_has_no_end_or_no_arguments_has_no_layout() {
    let Some(f) = assemble(CLASSES) else { return };
    check_refused(&f, "Itself", "Recursive type definition");
    check_refused(&f, "One", "Recursive type definition");
    check_refused(&f, "Pair`2", "open generic type");
    let of_int = f.ty("Generic`1").universe().instantiate(f.ty("Generic`1"), &[universe().int32()]);
    let error = of_int.expect("an instantiation").instance_layout().err().expect("explicit layout of a generic type");
    assert!(error.message.contains("Generic class cannot have explicit layout"), "{error}");
}

#[test]
fn objects_begin_behind_their_header_and_their_parent() {
    let Some(f) = assemble(CLASSES) else { return };
    let at = |offset| HEADER + offset;
    // Fields with the largest alignment come first, so that there is no padding in between.
    check(
        &f,
        "Sorted",
        &[("b", at(0)), ("d", at(8)), ("c", at(16)), ("e", at(20)), ("a", at(22))],
        at(23),
        8,
        &[at(0)],
    );
    check(&f, "Ordered", &[("a", at(0)), ("b", at(8)), ("c", at(16))], at(20), 8, &[at(8)]);
    // The size of a class is not rounded up: derived classes use the rest.
    check(&f, "Parent", &[("a", at(0)), ("b", at(8))], at(9), 8, &[]);
    check(&f, "Child", &[("d", at(16)), ("c", at(24))], at(25), 8, &[at(16)]);
    assert_eq!(f.ty("Child").instance_size_bytes().expect("a size"), at(25).next_multiple_of(8));
    assert_eq!(f.ty("Inner").instance_size_bytes().expect("the boxed size"), at(16));
}

#[test]
fn instantiations_have_layouts_of_their_own() {
    let Some(f) = assemble(CLASSES) else { return };
    let u = universe();
    let refs = |args: &[Ty]| {
        let layout =
            u.instantiate(f.ty("Pair`2"), args).expect("an instantiation").instance_layout().expect("a layout");
        (layout.size_bytes, layout.ref_offsets.clone())
    };
    assert_eq!(refs(&[u.byte(), u.int16()]), (4, vec![]));
    assert_eq!(refs(&[u.byte(), u.string()]), (16, vec![8]));
    assert_eq!(refs(&[u.string(), u.object()]), (16, vec![0, 8]));
    assert_eq!(refs(&[f.ty("Inner"), u.double()]), (24, vec![8]));
}

#[test]
fn statics_are_apart_from_instances_threads_and_written_neighbours() {
    let Some(f) = assemble(CLASSES) else { return };
    let layout = f.ty("Statics").static_layout().expect("a layout");
    assert_eq!((layout.size_bytes, layout.ref_offsets.as_slice()), (32, &[8, 24][..]));
    assert_eq!((layout.thread_size_bytes, layout.thread_ref_offsets.len()), (0, 0));
    assert!(f.field("Statics", "constant").offset_bytes().is_err(), "a constant has no storage");
    let layout = f.ty("ThreadStatics").static_layout().expect("a layout");
    assert_eq!((layout.size_bytes, layout.ref_offsets.len()), (8, 0));
    assert_eq!((layout.thread_size_bytes, layout.thread_ref_offsets.as_slice()), (12, &[0][..]));
    let place = |name| f.field("Volatile", name).offset_bytes().expect("an offset");
    assert!(place("a") >= place("b") + CACHE_LINE_BYTES, "{} and {}", place("a"), place("b"));
}
