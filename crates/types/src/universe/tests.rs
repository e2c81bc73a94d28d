//! Interning: a type has one record, however it was constructed, and different types have different records.

use super::*;
use crate::constructed::MAX_GENERIC_DEPTH;
use crate::fixture::assemble;
use crate::method::MethodSig;

const CLASSES: &str = "
.class Box`1<T> extends [mscorlib]System.Object {
  .field public !T content
  .method public instance void Put<U>(!T, !!U) { ret }
}
.class Pair`2<T, U> extends [mscorlib]System.Object { }
.class Plain extends [mscorlib]System.Object { .method public void Call() { ret } }";

fn signature(ret: Ty, params: &[Ty], unmanaged_convention: u8) -> MethodSig {
    MethodSig {
        has_this: false,
        explicit_this: false,
        is_vararg: false,
        unmanaged_convention,
        generic_param_count: 0,
        ret,
        params: params.to_vec(),
        sentinel: None,
    }
}

#[test]
fn constructed_types_are_interned() {
    let Some(f) = assemble(CLASSES) else { return };
    let u = universe();
    let (boxed, plain) = (f.ty("Box`1"), f.ty("Plain"));
    let of = |definition, args: &[Ty]| u.instantiate(definition, args).expect("an instantiation");
    assert!(of(boxed, &[plain]) == of(boxed, &[plain]) && of(boxed, &[plain]) != of(boxed, &[u.object()]));
    assert!(of(boxed, &[of(boxed, &[plain])]) == of(boxed, &[of(boxed, &[plain])]));
    assert!(of(boxed, boxed.args) == boxed, "a definition is its own instantiation over its parameters");
    assert!(of(f.ty("Pair`2"), &[plain, u.object()]) != of(f.ty("Pair`2"), &[u.object(), plain]));

    let shapes: [fn(&Universe, Ty) -> Ty; 6] = [
        |u, ty| u.sz_array_of(ty),
        |u, ty| u.array_of(ty, 1),
        |u, ty| u.array_of(ty, 2),
        |u, ty| u.pointer_to(ty),
        |u, ty| u.byref_to(ty),
        |u, ty| u.function_pointer(signature(ty, &[], 0)),
    ];
    for (index, make) in shapes.iter().enumerate() {
        assert!(make(u, plain) == make(u, plain), "shape {index}");
        assert!(make(u, plain) != make(u, u.object()), "shape {index}");
        for other in &shapes[index + 1..] {
            assert!(make(u, plain) != other(u, plain), "shape {index}: {:?}", other(u, plain));
        }
    }
    let pointer = |params: &[Ty], convention| u.function_pointer(signature(u.void(), params, convention));
    assert!(pointer(&[plain], 0) == pointer(&[plain], 0) && pointer(&[plain], 0) != pointer(&[plain], 1));
    assert!(pointer(&[plain], 0) != pointer(&[u.object()], 0) && pointer(&[], 0) != pointer(&[plain], 0));
}

#[test]
fn what_mentions_a_parameter_is_open() {
    let Some(f) = assemble(CLASSES) else { return };
    let u = universe();
    let boxed = f.ty("Box`1");
    let parameter = boxed.args[0];
    let of_parameter = u.instantiate(f.ty("Pair`2"), &[parameter, u.object()]).expect("an instantiation");
    for ty in [boxed, u.sz_array_of(parameter), u.pointer_to(parameter), of_parameter] {
        assert!(ty.is_open, "{ty:?}");
    }
    assert!(u.function_pointer(signature(u.void(), &[parameter], 0)).is_open);
    assert!(!u.instantiate(boxed, &[u.int32()]).expect("an instantiation").is_open);
}

#[test]
fn arguments_must_fit_the_definition() {
    let Some(f) = assemble(CLASSES) else { return };
    let u = universe();
    let boxed = f.ty("Box`1");
    for (definition, args) in [
        (f.ty("Plain"), vec![u.object()]),
        (boxed, vec![]),
        (boxed, vec![u.object(); 2]),
        (u.instantiate(boxed, &[u.object()]).expect("an instantiation"), vec![u.object()]),
    ] {
        let error = u.instantiate(definition, &args).err().unwrap_or_else(|| panic!("{definition:?}"));
        assert_eq!(error.kind, crate::LoadErrorKind::TypeLoad, "{error}");
    }
    // Endless expansion is refused at some depth; nesting that people write is not.
    let mut ty = u.object();
    let depth = (0..1000).take_while(|_| u.instantiate(boxed, &[ty]).map(|next| ty = next).is_ok()).count();
    assert!((MAX_GENERIC_DEPTH as usize..1000).contains(&depth), "{depth} levels");
}

#[test]
fn members_of_instantiations_are_their_own() {
    let Some(f) = assemble(CLASSES) else { return };
    let u = universe();
    let of = |argument| u.instantiate(f.ty("Box`1"), &[argument]).expect("an instantiation");
    let (of_int, of_text) = (of(u.int32()), of(u.string()));
    let put = |ty: Ty| ty.methods_named("Put").expect("methods")[0];
    assert!(put(of_int) == put(of_int) && put(of_int) != put(of_text) && put(of_int).rid() == put(of_text).rid());
    let params = |method: &'static Method| method.sig().expect("a signature").params.clone();
    assert_eq!(params(put(of_int))[0], u.int32());
    assert_eq!(params(put(of_text))[0], u.string());
    let content = |ty: Ty| ty.find_field("content").expect("fields").expect("a field");
    assert!(content(of_int) != content(of_text));
    assert_eq!((content(of_int).ty(), content(of_text).ty()), (Ok(u.int32()), Ok(u.string())));

    let made = |argument| u.instantiate_method(put(of_int), &[argument]).expect("an instantiation");
    assert!(made(u.object()) == made(u.object()) && made(u.object()) != made(u.string()));
    assert_eq!(params(made(u.string())), [u.int32(), u.string()]);
    // The result is the same from an instantiation as from the definition.
    assert!(u.instantiate_method(made(u.object()), &[u.string()]).expect("again") == made(u.string()));
    assert!(u.instantiate_method(made(u.object()), put(of_int).generic_args()).expect("again") == put(of_int));
    assert!(u.instantiate_method(put(of_int), &[]).is_err());
    assert!(u.instantiate_method(f.method("Plain", "Call"), &[u.object()]).is_err());
}
