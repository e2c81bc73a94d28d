//! Bodies written and read again, as they are and changed.

use super::super::encode::encode;
use super::super::module::module_of;
use super::super::settings::{SETTINGS, Settings};
use super::*;
use crate::object::fixture::class_libraries;
use crate::statics;
use saki_abi::{AddressUse, NO_SLOT, RelocKind};
use saki_types::universe;

/// The module of System.dll, in a cache that has no files.
fn home() -> Option<&'static Module> {
    let (universe, root) = class_libraries()?;
    SETTINGS.get_or_init(|| Settings { own: None, installed: None, folder: "test".into(), build_key: 0 });
    let assembly = universe.binder().load_file(&root.join("4.5/System.dll")).expect("System.dll loads");
    Some(module_of(assembly.image).expect("its module"))
}

fn corlib_type(namespace: &str, name: &str) -> Ty {
    universe().corlib().find_type(namespace, name).expect("a type loads").expect("a type of corlib")
}

fn method(ty: Ty, name: &str) -> &'static Method {
    ty.methods_named(name).expect("methods load")[0]
}

/// A body with each kind of name and table.
fn sample(home: &Module) -> CompiledCode {
    let image = home.image.expect("a module of an image");
    let (string, object) = (corlib_type("System", "String"), universe().object());
    let list = corlib_type("System.Collections.Generic", "List`1");
    let list = universe().instantiate(list, &[universe().sz_array_of(string)]).expect("a list");
    let matrix = universe().array_of(string, 2);
    let own = image.find_type("System", "Uri").expect("a type loads").expect("System.Uri");
    let empty = method(corlib_type("System", "Array"), "Empty");
    let empty = universe().instantiate_method(empty, &[list]).expect("an instance");
    let get = matrix.methods().expect("methods load").next().expect("a method of an array");
    let proxied = method(corlib_type("System", "AppDomain"), "GetData");
    let field = string.find_field("Empty").expect("fields load").expect("String.Empty");
    let targets = [
        Symbol::TypeHandle(matrix),
        Symbol::TypeHandle(universe().byref_to(universe().pointer_to(corlib_type("System", "Int32")))),
        Symbol::MethodHandle(get),
        Symbol::FieldHandle(field),
        Symbol::VTable(list),
        Symbol::MethodEntry(empty),
        Symbol::MethodEntry(RemotingStub::Invoke(proxied).method()),
        Symbol::UnboxEntry(method(corlib_type("System", "Int32"), "ToString")),
        Symbol::StaticField(field),
        Symbol::ThreadStaticPlace(field),
        Symbol::ClassInitFlag(own),
        Symbol::StringLiteral(image, 0x7000_0001),
        Symbol::TypeObject(own),
        Symbol::Helper(HelperId::NewObject),
        Symbol::InternalCall(method(object, "MemberwiseClone")),
        Symbol::NativeCell(method(string, "Concat")),
        Symbol::NativeEntry(method(string, "Concat")),
        Symbol::MarshalInfo(method(string, "Concat"), 1),
        Symbol::VarArgCookie(image, 0x0a00_0001),
    ];
    let targets = targets.map(RelocTarget::Symbol).into_iter().chain([
        RelocTarget::Stub(StubId::ALL[1]),
        RelocTarget::HelperFunction(HelperId::NewString),
        RelocTarget::LibCall(LibCall::Memcpy),
        RelocTarget::CallbackDispatcher,
        RelocTarget::CallbackCookie,
    ]);
    let reloc = |(number, target): (usize, RelocTarget)| {
        let (kind, usage) = match target {
            RelocTarget::Symbol(Symbol::MethodEntry(_)) => (RelocKind::X86PcRelative4, AddressUse::Called),
            _ => (RelocKind::Absolute8, AddressUse::AddressTaken),
        };
        Reloc { offset: number as u32 * 8, kind, usage, target, addend: -(number as i64) }
    };
    let tables = CompiledTables {
        frame_size_bytes: 64,
        spill_area: Some(SpillArea { low_bytes: 8, high_bytes: 24, saved_registers: 3 }),
        own_words: [5, 1 << 63].into(),
        protected_calls: [ProtectedCall {
            return_offset: 9,
            frame_offset_bytes: 0,
            first_handler: 0,
            handler_count: 2,
        }]
        .into(),
        handlers: [0, 1].map(|clause_index| EnclosingHandler { clause_index, landing_offset: 40 }).into(),
        clauses: [ClauseKind::Catch(own), ClauseKind::Filter(0), ClauseKind::Finally, ClauseKind::Fault].into(),
        il_map: [IlMapEntry { native_offset: 4, il_offset: 2 }].into(),
        inline_sites: [InlineSite { method: empty, call_position: 7 }].into(),
        traps: [TrapSite { offset: 30, code: 2 }].into(),
        frame_map: Some(Box::new(FrameMap {
            slots: [-8, NO_SLOT].into(),
            makes_pointers: true,
            continued: [50].into(),
        })),
    };
    let filter = CompiledCode { name: "filter".into(), bytes: vec![0xc3], alignment_bytes: 16, ..empty_code() };
    CompiledCode {
        name: "sample".into(),
        bytes: (0..200).collect(),
        alignment_bytes: 32,
        relocs: targets.enumerate().map(reloc).collect(),
        tables,
        filters: vec![filter],
        ..empty_code()
    }
}

fn empty_code() -> CompiledCode {
    CompiledCode { compiled_by: CompiledBy::EarlierRun, ..CompiledCode::default() }
}

fn encoded(home: &Module, code: &CompiledCode, initialised: &[Ty]) -> Vec<u8> {
    encoded_with(home, code, &Conditions { initialised: initialised.to_vec(), ..Conditions::default() })
}

fn encoded_with(home: &Module, code: &CompiledCode, conditions: &Conditions) -> Vec<u8> {
    let images = [universe().corlib(), home.image.expect("a module of an image")];
    encode(home, code, CodeKind::Stub, &images, conditions).expect("all of it has names")
}

#[test]
fn a_body_is_read_as_it_was_written() {
    let Some(home) = home() else { return };
    let code = sample(home);
    let Ok((read, kind)) = decode(home, &encoded(home, &code, &[universe().object()]), None) else { panic!("refused") };
    assert_eq!(kind, CodeKind::Stub);
    assert_eq!(format!("{read:?}"), format!("{code:?}"));
}

#[test]
fn a_body_waits_for_the_classes_that_it_takes_for_initialised() {
    let Some(home) = home() else { return };
    let waited_for = home.image.expect("an image").find_type("System", "UriParser").unwrap().expect("System.UriParser");
    assert!(waited_for.class_constructor().expect("methods load").is_some(), "a class with a constructor");
    match decode(home, &encoded(home, &sample(home), &[universe().object(), waited_for]), None) {
        Err(Refused::Conditions(conditions)) => {
            assert_eq!(conditions.initialised, [universe().object(), waited_for]);
        }
        _ => panic!("the class is not initialised"),
    }
}

#[test]
fn a_body_is_refused_where_a_constant_has_another_value() {
    let Some(home) = home() else { return };
    // Nothing has run, so the field is zero.
    let path = home.image.expect("an image").find_type("System", "UriParser").unwrap().expect("System.UriParser");
    let fields = path.fields().expect("fields load");
    let number = fields.iter().copied().find(|field| statics::number(field) == Some(0)).expect("a static number");
    let with_value = |bits| {
        let conditions = Conditions { constants: vec![(number, bits)], ..Conditions::default() };
        decode(home, &encoded_with(home, &sample(home), &conditions), None)
    };
    assert!(with_value(0).is_ok());
    match with_value(7 << 32 | 1) {
        Err(Refused::Conditions(conditions)) => assert_eq!(conditions.constants, [(number, 7 << 32 | 1)]),
        _ => panic!("the value is another one"),
    }
}

#[test]
fn a_type_of_no_possible_shape_is_refused() {
    let Some(home) = home() else { return };
    let string = corlib_type("System", "String");
    let with_type = |ty: Ty| {
        let target = RelocTarget::Symbol(Symbol::TypeHandle(ty));
        let (kind, usage) = (RelocKind::Absolute8, AddressUse::AddressTaken);
        let relocs = vec![Reloc { offset: 0, kind, usage, target, addend: 0 }];
        encoded(home, &CompiledCode { bytes: vec![0; 8], alignment_bytes: 16, relocs, ..empty_code() }, &[])
    };
    let by_ref = universe().byref_to(string);
    for (ty, is_possible) in [
        (universe().array_of(string, 1), true),
        (universe().array_of(string, 32), true),
        (universe().array_of(string, 0), false),
        (universe().array_of(string, 33), false),
        (universe().array_of(by_ref, 2), false),
        (universe().sz_array_of(by_ref), false),
        (universe().byref_to(by_ref), false),
        (universe().pointer_to(by_ref), false),
        (universe().byref_to(universe().sz_array_of(string)), true),
    ] {
        assert_eq!(decode(home, &with_type(ty), None).is_ok(), is_possible, "{}", ty.full_name());
    }
}

#[test]
fn fuzz_bodies_of_the_code_cache() {
    let Some(home) = home() else { return };
    let code = sample(home);
    let seeds = [encoded(home, &code, &[universe().object()]), encoded(home, &empty_filter(), &[])];
    saki_mutation::survive("code_cache_bodies", &seeds, |bytes| {
        let Ok((code, _)) = decode(home, bytes, None) else { return };
        // Every name leads to something that has a name.
        let mut named = (Vec::new(), Vec::new());
        super::super::encode::add_named(&code, &mut named.0, &mut named.1);
        assert!(!format!("{code:?}").is_empty());
    });
}

fn empty_filter() -> CompiledCode {
    CompiledCode { bytes: vec![0xc3], alignment_bytes: 16, ..empty_code() }
}
