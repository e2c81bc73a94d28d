//! Class libraries that lack types: a profile says which, over the installed mscorlib.

use saki_types::binder::{Binder, SearchPaths};
use saki_types::{LibraryMethod, LibraryProfile, LibraryType, universe};
use std::path::Path;

/// As .NET's class library: no remoting, no second object behind a thread.
static WITHOUT_REMOTING: LibraryProfile = LibraryProfile {
    name: "Mono without remoting",
    absent_types: &[
        LibraryType::MarshalByRefObject,
        LibraryType::ContextBoundObject,
        LibraryType::InternalThread,
        LibraryType::CriticalFinalizerObject,
    ],
    absent_methods: &[LibraryMethod::ArrayGetLength],
    ..LibraryProfile::MONO
};

#[test]
fn absent_types_have_no_objects() {
    let root = Path::new("/usr/lib/mono");
    let corlib = root.join("4.5/mscorlib.dll");
    if !corlib.is_file() {
        return eprintln!("skipped: no class libraries under {}", root.display());
    }
    let paths = SearchPaths {
        mono_path: vec![],
        application_base: root.join("4.5"),
        framework_root: root.into(),
        trusted: None,
        resource_roots: vec![],
    };
    let universe = universe::init_with(Binder::new(paths), &corlib, &WITHOUT_REMOTING).expect("corlib loads");
    assert_eq!(universe.marshal_by_ref().map(|ty| ty.full_name()), None);
    assert!(universe.context_bound().is_none() && universe.internal_thread().is_none());
    assert!(universe.critical_finalizer_object().is_none());

    let domain = universe.library_type(LibraryType::AppDomain).expect("AppDomain");
    let thread = universe.library_type(LibraryType::Thread).expect("Thread");
    assert!(!domain.is_marshal_by_ref() && !domain.is_context_bound() && !domain.may_be_redirected());
    assert!(domain.is_assignable_to(universe.object()).expect("loads"));
    assert!(!domain.is_assignable_to(thread).expect("loads"));
    assert!(thread.vtable_layout().is_ok() && domain.vtable_layout().is_ok());

    // The class of the name is there, without its role.
    let named = universe.corlib().find_type("System", "MarshalByRefObject").expect("loads").expect("is there");
    assert!(!named.is(LibraryType::MarshalByRefObject) && named.library_role().is_none());
    assert!(universe.find_library_type(LibraryType::MarshalByRefObject).expect("loads").is_none());
    let error = universe.library_type(LibraryType::MarshalByRefObject).expect_err("absent");
    assert!(error.message.ends_with("mscorlib.dll has no type System.MarshalByRefObject"), "{}", error.message);

    // Finalizers of critical objects are found as those of others.
    let handle = universe.library_type(LibraryType::SafeHandle).expect("SafeHandle");
    assert!(handle.finalizer().expect("loads").is_some());

    let role_of = |ty: saki_types::Ty, name, params| {
        let method = ty.find_method(name, params).expect("loads").expect("a method");
        method.library_role().expect("a signature")
    };
    assert_eq!(role_of(universe.array(), "get_Length", 0), None);
    assert_eq!(role_of(universe.array(), "get_Rank", 0), Some(LibraryMethod::ArrayGetRank));
}
