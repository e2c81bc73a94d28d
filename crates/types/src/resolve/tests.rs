//! Resolves the tokens of a method body in order of their IL offsets and compares the names.

use super::*;
use crate::fixture::{Fixture, assemble};
use crate::universe;
use saki_metadata::opcodes::{Operand, decode};

const CLASSES: &str = "
.class Base`1<T> extends [mscorlib]System.Object {
  .field public !T f
  .field public !T g
  .field public int32 g
  .method public instance !T Get(!T, int32) { ldarg.1 ret }
  .method public instance int32 Get(int32, !T) { ldarg.1 ret }
  .method public instance void Make<U>(!!U) { ret }
  .method public instance void Make<U, V>(!!U) { ret }
  .method public instance void Own() {
    ldfld !0 class Base`1<!0>::f
    call instance !0 class Base`1<!0>::Get(!0, int32)
    ret
  }
}
.class Uses extends [mscorlib]System.Object {
  .method public static void Fields() {
    ldfld !0 class Base`1<string>::f
    ldfld !0 class Base`1<int32>::g
    ldfld int32 class Base`1<int32>::g
    ldfld string [mscorlib]System.ArgumentNullException::_message
    ret
  }
  .method public static void Methods() {
    call instance !0 class Base`1<int32>::Get(!0, int32)
    call instance int32 class Base`1<int32>::Get(int32, !0)
    call instance void class Base`1<int32>::Make<string>(!!0)
    call instance void class Base`1<int32>::Make<string, object>(!!0)
    call instance string [mscorlib]System.Collections.ArrayList::ToString()
    call instance string [mscorlib]System.IDisposable::ToString()
    call instance void int32[0..., 0...]::Set(int32, int32, int32)
    ret
  }
  .method public static void Missing() {
    ldfld int64 [mscorlib]System.ArgumentNullException::_message
    ldfld int32 [mscorlib]System.String::nothing
    call void [mscorlib]System.Object::Nothing(int32)
    call instance int32 [mscorlib]System.Object::ToString()
    ret
  }
  .method public static void Types() {
    ldtoken class Base`1<int32[]>
    ldtoken class Base`1
    ldtoken int32&
    ldtoken [mscorlib]System.Nothing
    ret
  }
}";

fn tokens(method: &'static Method) -> Vec<Token> {
    let body = method.body().expect("a body").expect("a body");
    let operand = |operand| if let Operand::Token(token) = operand { Some(token) } else { None };
    decode(body.code).filter_map(|instruction| operand(instruction.expect("an instruction").operand)).collect()
}

fn of(f: &Fixture, argument: Ty) -> Ty {
    universe().instantiate(f.ty("Base`1"), &[argument]).expect("an instantiation")
}

#[test]
fn fields_are_found_by_name_and_type_also_in_ancestors() {
    let Some(f) = assemble(CLASSES) else { return };
    let u = universe();
    let found: Vec<&'static Field> = tokens(f.method("Uses", "Fields"))
        .into_iter()
        .map(|token| f.0.resolve_field(token, &GenericContext::NONE).expect("a field"))
        .collect();
    let own = |argument, index: usize| of(&f, argument).fields().expect("fields")[index];
    assert!(found[0] == own(u.string(), 0));
    // Two fields that are alike in the instantiation: distinguished by their types in the definition.
    assert!(found[1] == own(u.int32(), 1) && found[2] == own(u.int32(), 2));
    assert_eq!((found[3].name, found[3].owner), ("_message", u.exception()));
}

#[test]
fn methods_are_found_by_the_definitions_signature() {
    let Some(f) = assemble(CLASSES) else { return };
    let u = universe();
    let found: Vec<&'static Method> = tokens(f.method("Uses", "Methods"))
        .into_iter()
        .map(|token| f.0.resolve_method(token, &GenericContext::NONE).expect("a method"))
        .collect();
    let own = |name, index: usize| of(&f, u.int32()).methods_named(name).expect("methods")[index];
    assert!(found[0] == own("Get", 0) && found[1] == own("Get", 1), "alike in the instantiation");
    assert!(found[2].definition() == Some(own("Make", 0)) && found[2].generic_args() == [u.string()]);
    assert!(found[3].definition() == Some(own("Make", 1)) && found[3].generic_args() == [u.string(), u.object()]);
    // Inherited methods; for an interface those of Object.
    assert!(found[4].owner == u.object() && found[5].owner == u.object());
    assert!(matches!(found[6].kind, crate::MethodKind::Array(crate::ArrayMethod::Set)));
}

#[test]
fn a_body_of_a_generic_type_means_its_own_instantiation() {
    let Some(f) = assemble(CLASSES) else { return };
    let own = tokens(f.method("Base`1", "Own"));
    for argument in [universe().string(), universe().int32()] {
        let context = GenericContext { class_args: of(&f, argument).args, method_args: &[] };
        assert_eq!(f.0.resolve_field(own[0], &context).expect("a field").owner, of(&f, argument));
        assert_eq!(f.0.resolve_method(own[1], &context).expect("a method").owner, of(&f, argument));
    }
}

#[test]
fn what_is_missing_is_named() {
    let Some(f) = assemble(CLASSES) else { return };
    let missing = tokens(f.method("Uses", "Missing"));
    let check = |error: LoadError, kind, text| {
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(text), "{error}");
    };
    for (token, text) in
        [(missing[0], "long System.ArgumentNullException._message"), (missing[1], "int System.String.nothing")]
    {
        let error = f.0.resolve_field(token, &GenericContext::NONE).expect_err("no such field");
        check(error, LoadErrorKind::MissingField, text);
    }
    for (token, text) in [(missing[2], "void System.Object.Nothing(int)"), (missing[3], "int System.Object.ToString()")]
    {
        let error = f.0.resolve_method(token, &GenericContext::NONE).expect_err("no such method");
        check(error, LoadErrorKind::MissingMethod, text);
    }
}

#[test]
fn types_are_what_their_tokens_say() {
    let Some(f) = assemble(CLASSES) else { return };
    let u = universe();
    let types = tokens(f.method("Uses", "Types"));
    let resolve = |token| f.0.resolve_type(token, &GenericContext::NONE);
    assert_eq!(resolve(types[0]), Ok(of(&f, u.sz_array_of(u.int32()))));
    assert_eq!(resolve(types[1]), Ok(f.ty("Base`1")));
    assert_eq!(resolve(types[2]), Ok(u.byref_to(u.int32())));
    let error = resolve(types[3]).expect_err("no such type");
    assert_eq!((error.kind, error.subject.as_str()), (LoadErrorKind::TypeLoad, "System.Nothing"));
    assert_eq!(resolve(Token::new(TableId::MethodDef, 1)).expect_err("no type").kind, LoadErrorKind::BadImageFormat);
    assert_eq!(resolve(Token::new(TableId::TypeDef, 99)).expect_err("no row").kind, LoadErrorKind::BadImageFormat);
}
