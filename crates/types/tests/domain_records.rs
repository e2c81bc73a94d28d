//! Records of a domain other than the first: they have one owner, which counts as reachable until the domain is
//! unloaded.

use saki_thread::ThreadKind;
use saki_types::binder::{AssemblyName, Binder, SearchPaths};
use saki_types::collectible::{self, ends_alone, for_each_owner, of, owner_of, owner_of_all};
use saki_types::dynamic::{create_assembly, create_module};
use saki_types::universe;
use saki_types::universe::{bury_unseen, may_judge};
use std::path::Path;

#[test]
fn records_end_with_their_domain() {
    let root = Path::new("/usr/lib/mono");
    if !root.join("4.5/mscorlib.dll").is_file() {
        return eprintln!("skipped: no class libraries under {}", root.display());
    }
    let paths = || SearchPaths {
        mono_path: vec![],
        application_base: root.join("4.5"),
        framework_root: root.into(),
        trusted: None,
        resource_roots: vec![],
    };
    let corlib = root.join("4.5/mscorlib.dll");
    // Only a managed thread enters domains.
    saki_thread::attach_current(ThreadKind::Main);
    let first = universe::init(Binder::new(paths()), &corlib).expect("corlib loads");
    let second = universe::create(Binder::new(paths()), &corlib).expect("again");
    let third = universe::create(Binder::new(paths()), &corlib).expect("again");
    assert!(first.owner().is_none() && owner_of(first.object()).is_none());
    let owner = second.owner().expect("of the second domain");
    assert!(owner.is_domain() && owner.is_kept());
    assert!(!std::ptr::eq(owner, third.owner().expect("of the third domain")));

    // Records composed of the domain's records belong to the domain; records composed of a collectible assembly's
    // records end with the assembly.
    let list = second.corlib_type("System.Collections.Generic", "List`1").expect("a class");
    let list_of_object = second.instantiate(list, &[second.object()]).expect("an instantiation");
    assert!(std::ptr::eq(owner_of(list_of_object).expect("an owner"), owner) && !ends_alone(list_of_object));
    let assembly = {
        let _entered = universe::enter(second);
        let name = AssemblyName { name: "made".into(), ..AssemblyName::default() };
        create_assembly(&name, true, true).expect("an assembly")
    };
    let made = create_module(assembly, "m").expect("a module").type_def(1).expect("the global type");
    let own = owner_of(made).expect("an owner");
    assert!(!own.is_domain() && ends_alone(made));
    for parts in [[made, second.object()], [second.object(), made]] {
        let parts = parts.map(|part| std::ptr::from_ref(part).addr());
        assert!(std::ptr::eq(owner_of_all(parts).expect("an owner"), own), "what ends first");
    }
    let mut named = 0;
    own.for_each_named(&mut |other| named += usize::from(std::ptr::eq(other, owner)));
    assert_eq!(named, 1, "the assembly keeps its domain, once");

    // After unloading, an owner that was not seen is dead. Domains that are in use always count as seen.
    let judge = || {
        for_each_owner(&mut |owner| {
            owner.unsee();
            let _ = owner.is_kept() && owner.see();
        });
        assert!(may_judge());
        bury_unseen()
    };
    assert_eq!(judge().len(), 1, "the assembly alone");
    assert!(collectible::is_dead(std::ptr::from_ref(made).addr()) && !owner.is_dead());
    owner.release();
    assert!(owner.size_bytes() > 0 && !owner.is_kept());
    let dead = judge();
    assert!(dead.len() == 1 && std::ptr::eq(dead[0], owner));
    assert!(second.binder().loaded().is_empty(), "no list leads there");
    let address = std::ptr::from_ref(list).addr();
    // SAFETY: dead, and this test uses nothing of it any more.
    unsafe { second.end() };
    assert!(of(address).is_none() && second.owner().is_none());
    assert!(third.owner().is_some_and(|owner| owner.is_kept()) && third.object().parent().is_ok());
}
