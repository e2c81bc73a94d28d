//! A signature with a `void` parameter, which no compiler writes. Needs the class library.

use saki_types::binder::{Binder, SearchPaths};
use saki_types::signature::resolve_method_sig;
use saki_types::{GenericContext, LoadErrorKind, universe};
use std::path::Path;

#[test]
fn a_parameter_of_type_void_is_a_bad_image() {
    let root = Path::new("/usr/lib/mono");
    let corlib = root.join("4.5/mscorlib.dll");
    if !corlib.is_file() {
        return eprintln!("skipped: {} is not there", corlib.display());
    }
    let paths = SearchPaths {
        mono_path: vec![],
        application_base: root.join("4.5"),
        framework_root: root.into(),
        trusted: None,
        resource_roots: vec![],
    };
    universe::init(Binder::new(paths), &corlib).expect("corlib loads");
    let resolve = |blob: &[u8]| {
        let raw = saki_metadata::parse_method_sig(blob).expect("the blob is well-formed");
        resolve_method_sig(saki_types::universe().corlib(), &raw, &GenericContext::NONE)
    };
    // DEFAULT, one parameter, returns void, takes an int or void.
    assert_eq!(resolve(&[0x00, 1, 0x01, 0x08]).expect("fine").params.len(), 1);
    assert_eq!(resolve(&[0x00, 1, 0x01, 0x01]).expect_err("refused").kind, LoadErrorKind::BadImageFormat);
}
