//! Owners of records: which owner a record belongs to, when an owner is dead, and how it ends.

use saki_types::binder::{AssemblyName, Binder, SearchPaths};
use saki_types::collectible::{self, Hold, for_each_owner, of, owner_of};
use saki_types::dynamic::{create_assembly, create_module};
use saki_types::universe;
use saki_types::universe::{bury_unseen, may_judge};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

static DROPPED: AtomicU32 = AtomicU32::new(0);

struct Noisy(u64);

impl Drop for Noisy {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn records_end_with_their_owner() {
    let root = Path::new("/usr/lib/mono");
    if !root.join("4.5/mscorlib.dll").is_file() {
        return eprintln!("skipped: no class libraries under {}", root.display());
    }
    let paths = SearchPaths {
        mono_path: vec![],
        application_base: root.join("4.5"),
        framework_root: root.into(),
        trusted: None,
        resource_roots: vec![],
    };
    universe::init(Binder::new(paths), &root.join("4.5/mscorlib.dll")).expect("corlib loads");
    let name = |name: &str| AssemblyName { name: name.into(), ..AssemblyName::default() };
    let first = create_assembly(&name("first"), true, true).expect("an assembly");
    let second = create_assembly(&name("second"), true, true).expect("an assembly");
    let plain = create_assembly(&name("plain"), true, false).expect("an assembly");
    assert!(owner_of(plain).is_none() && owner_of(universe().object()).is_none());
    let owner = owner_of(first).expect("a collectible assembly has an owner");
    let other = owner_of(second).expect("as above");
    assert!(!std::ptr::eq(owner, other));

    // Records derived from a record belong to its owner, large ones too.
    let module = create_module(first, "m").expect("a module");
    assert!(std::ptr::eq(owner_of(module).expect("an owner"), owner));
    let list = universe().sz_array_of(module.type_def(1).expect("the global type"));
    assert!(std::ptr::eq(owner_of(list).expect("an owner"), owner));
    let large = collectible::keep_slice_with(Some(owner), vec![7_u64; 100_000]);
    let last = &raw const large[99_999];
    assert!(std::ptr::eq(of(last.addr()).expect("an owner"), owner) && large.iter().all(|&word| word == 7));
    let noisy = collectible::keep_beside(module, Noisy(3));
    assert_eq!(noisy.0, 3);

    for_each_owner(&mut |owner| owner.unsee());
    assert!(other.see() && !other.see());
    {
        let _hold = Hold::new();
        assert!(!may_judge(), "held");
    }
    let loaded = |wanted: &str| universe().binder().loaded().iter().any(|assembly| assembly.name == wanted);
    assert!(loaded("first"));
    assert!(may_judge());
    let dead = bury_unseen();
    assert!(dead.len() == 1 && std::ptr::eq(dead[0], owner) && owner.is_dead());
    assert!(!loaded("first") && loaded("second") && loaded("plain"));
    assert_eq!(DROPPED.load(Ordering::Relaxed), 0);
    universe().forget_dead();
    let address = std::ptr::from_ref(module).addr();
    // SAFETY: dead, and this test uses nothing of it any more.
    unsafe { owner.end() };
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
    assert!(of(address).is_none() && !collectible::is_dead(address));
}
