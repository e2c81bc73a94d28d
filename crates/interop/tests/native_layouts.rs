//! The layout of structs in native memory and the registers that pass them: compares CIL structs with the layout that C
//! gives the same structure.

use saki_abi::native::RegisterPart;
use saki_il::synth::marshal::{CharSet, MarshalPosition, native_layout, native_type, struct_class};
use saki_types::binder::{Binder, SearchPaths};
use saki_types::{Image, Ty, universe};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

const CLASSES: &str = r"
.assembly extern mscorlib { }
.assembly layouts { }
.module layouts.dll
.class sequential sealed ansi Plain extends [mscorlib]System.ValueType { .field uint8 a .field int32 b .field int16 c }
.class sequential sealed ansi Bools extends [mscorlib]System.ValueType {
  .field bool a .field marshal(int8) bool b .field marshal(variant bool) bool c .field char d
}
.class sequential sealed ansi Texts extends [mscorlib]System.ValueType {
  .field string a .field marshal(lpwstr) string b .field marshal(fixed sysstring[5]) string c .field int32 d
}
.class sequential sealed ansi Arrays extends [mscorlib]System.ValueType {
  .field uint8 a .field marshal(fixed array[3]) int16[] b .field int64 c
}
.class sequential sealed ansi Packed extends [mscorlib]System.ValueType { .pack 1 .size 0 .field uint8 a .field int64 b .field string c }
.class explicit sealed ansi Union extends [mscorlib]System.ValueType { .field [0] int32 a .field [0] float32 b .field [8] uint8 c }
.class sequential sealed ansi Nested extends [mscorlib]System.ValueType { .field uint8 a .field valuetype Plain b .field uint8 c }
.class sequential ansi Base extends [mscorlib]System.Object { .field uint8 a }
.class sequential ansi Derived extends Base { .field int32 b }
.class auto ansi sealed Automatic extends [mscorlib]System.ValueType { .field bool a .field object b }
.class sequential sealed ansi Floats extends [mscorlib]System.ValueType { .field float32 a .field float32 b .field float64 c }
.class sequential sealed ansi Mixed extends [mscorlib]System.ValueType { .field float32 a .field bool b .field float64 c }
.class sequential sealed ansi Large extends [mscorlib]System.ValueType { .field bool a .field int64 b .field int64 c }
.class sequential sealed ansi Crossing extends [mscorlib]System.ValueType { .pack 1 .size 0 .field uint8 a .field bool b .field float64 c }
";

/// The assembly with the classes. If it cannot be made, None, and a printed line says why.
fn image() -> Option<&'static Image> {
    static IMAGE: OnceLock<Option<&'static Image>> = OnceLock::new();
    *IMAGE.get_or_init(|| {
        let root = Path::new("/usr/lib/mono");
        let corlib = root.join("4.5/mscorlib.dll");
        let folder = std::env::temp_dir().join(format!("saki-layouts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (source, library) = (folder.join("a.il"), folder.join("a.dll"));
        std::fs::write(&source, CLASSES).expect("the source");
        let mut command = Command::new("ilasm");
        let assembled =
            command.args(["/dll", "/quiet"]).arg(format!("/output:{}", library.display())).arg(&source).output();
        let (Ok(output), true) = (assembled, corlib.is_file()) else {
            eprintln!("skipped: no ilasm or no class libraries");
            return None;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let paths = SearchPaths {
            mono_path: vec![],
            application_base: root.join("4.5"),
            framework_root: root.into(),
            trusted: None,
            resource_roots: vec![],
        };
        saki_types::universe::init(Binder::new(paths), &corlib).expect("corlib loads");
        let bytes = std::fs::read(&library).expect("what ilasm wrote");
        std::fs::remove_dir_all(folder).expect("the folder");
        Some(universe().binder().load_bytes(bytes).expect("an assembly").image)
    })
}

fn ty(image: &'static Image, name: &str) -> Ty {
    image.find_type("", name).expect("a type loads").unwrap_or_else(|| panic!("there is no {name}"))
}

/// Offsets of the fields in order, size in bytes and alignment.
fn check(name: &str, offsets: &[u32], size: u32, align: u32) {
    let Some(image) = image() else { return };
    let layout = native_layout(ty(image, name)).expect("a layout");
    assert_eq!(layout.refused, None, "{name}");
    assert_eq!(layout.fields.iter().map(|field| field.offset_bytes).collect::<Vec<_>>(), offsets, "{name}");
    assert_eq!((layout.size_bytes, layout.align_bytes), (size, align), "{name}");
}

#[test]
fn fields_lie_as_c_has_them() {
    check("Plain", &[0, 4, 8], 12, 4);
    check("Nested", &[0, 4, 16], 20, 4);
    check("Packed", &[0, 1, 9], 17, 1);
    check("Union", &[0, 0, 8], 12, 4);
    // In classes, the fields of base classes come first.
    check("Derived", &[0, 4], 8, 4);
}

#[test]
fn what_is_converted_has_its_native_size() {
    // BOOL, one byte, VARIANT_BOOL, an ANSI character.
    check("Bools", &[0, 4, 6, 8], 12, 4);
    check("Texts", &[0, 8, 16, 24], 32, 8);
    check("Arrays", &[0, 2, 8], 16, 8);
}

#[test]
fn only_equal_bytes_are_blittable() {
    let Some(image) = image() else { return };
    let is_blittable = |name| native_layout(ty(image, name)).expect("a layout").blittable;
    for name in ["Plain", "Nested", "Floats"] {
        assert!(is_blittable(name), "{name}");
    }
    for name in ["Bools", "Texts", "Arrays", "Mixed"] {
        assert!(!is_blittable(name), "{name}");
    }
}

#[test]
fn automatic_layout_is_refused() {
    let Some(image) = image() else { return };
    assert!(native_layout(ty(image, "Automatic")).expect("an answer").refused.is_some());
}

#[test]
fn eightbytes_are_classified_by_what_lies_in_them() {
    use RegisterPart::{Float64, Integer};
    let Some(image) = image() else { return };
    let check = |name: &str, expected: Option<&[RegisterPart]>| {
        let ty = ty(image, name);
        let native = native_type(ty, None, CharSet::Ansi, MarshalPosition::Param).expect("a native type");
        assert_eq!(struct_class(&native, ty).expect("classes").registers(), expected, "{name}");
    };
    check("Floats", Some(&[Float64, Float64]));
    // One integer field makes its whole eightbyte an integer one.
    check("Mixed", Some(&[Integer, Float64]));
    check("Bools", Some(&[Integer, Integer]));
    check("Union", Some(&[Integer, Integer]));
    // Structs of more than two eightbytes, or with a field that crosses from one to the next.
    check("Large", None);
    check("Texts", None);
    check("Crossing", None);
}
