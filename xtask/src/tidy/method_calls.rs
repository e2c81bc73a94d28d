//! Which file of a crate calls methods that another file of it defines: the edges that paths (`modules`) do not show.
//!
//! A type whose `impl` blocks lie in thirty files ties the thirty together: each can reach all of the type's state, and
//! none can be read by itself. So `cycles` counts calls as well. A call `.name (` belongs to the file that defines
//! `fn name` with a receiver, and the definition is found by the first of these rules that applies:
//!
//! 1. The receiver is `self`, a parameter of the function, or a field of one of these (`self.core.name ()`), and its type
//!    is one of the crate: the file whose `impl` of that type has the method. References, `Box`, `Rc` and `Arc` are
//!    looked through. `Self::name` and `Type::name` are found by the type's name alike, with or without a receiver.
//! 2. One file of all crates defines a method of the name, and the name is none of the standard library's (`STANDARD`).
//!
//! Whatever else is called belongs to no file, so the count is a lower bound: methods of trait objects and of generic
//! parameters (which is how a lower file may call a higher one), common names behind receivers of unknown type, methods
//! that macros make, and types of one name in two files of a crate whose methods have one name. A local variable that
//! hides a parameter of another type is taken for the parameter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::findings::SourceFile;
use super::modules::{self, Edge};
use super::rust_text::{Token, tokens};

/// Methods of the standard library which a crate may define, too: a call by the name alone says nothing.
const STANDARD: &str = "
    add address align all and_then any as_bytes as_mut as_ptr as_ref as_str begin bytes capacity cast chain chars clear
    clone close cmp collect contains contains_key copied copy count create data default display drain drop end enter
    entry eq err exists expect extend fill filter find find_map finish first flush fmt fold format from get get_mut hash
    index insert into is_empty is_err is_none is_ok is_some iter iter_mut join key keys kill kind last leave len lines
    load lock map max metadata min name new next notify offset ok open or_insert parent parse path peek pop position
    push push_str range read recv record remove repeat replace reserve resize resume retain rev run send set size skip
    slice sort spawn split start step stop store sub sum swap take text to_owned to_vec trim truncate try_lock unlock
    unwrap value values wait with with_capacity write zip";

/// What a method call is found by: a type of a crate, or nothing but the name.
type Definers = BTreeMap<String, BTreeSet<PathBuf>>;

/// The methods of all crates.
pub struct Methods {
    /// Name → the files that define a method of the name.
    by_name: Definers,
}

impl Methods {
    /// Those of the files, tests left out.
    pub fn of(files: &[SourceFile]) -> Methods {
        let mut by_name = Definers::new();
        for file in files.iter().filter(|file| file.path.starts_with("crates")) {
            let facts = FileFacts::read(&tokens(&file.text));
            for function in facts.functions.iter().filter(|function| function.has_receiver) {
                by_name.entry(function.name.clone()).or_default().insert(file.path.clone());
            }
        }
        Methods { by_name }
    }

    /// The calls between files of the crate whose root is `root`, one edge for each pair.
    pub fn edges(&self, root: &Path, files: &[SourceFile]) -> Vec<Edge> {
        let program = modules::program_files(root, files);
        let read: Vec<(&Path, FileFacts)> = files
            .iter()
            .filter(|file| program.contains(&file.path))
            .map(|file| (file.path.as_path(), FileFacts::read(&tokens(&file.text))))
            .collect();
        let mut methods: BTreeMap<(&str, &str), BTreeSet<&Path>> = BTreeMap::new();
        let mut fields: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        for (file, facts) in &read {
            for function in &facts.functions {
                if let Some(owner) = &function.owner {
                    methods.entry((owner, &function.name)).or_default().insert(file);
                }
            }
            for (owner, field, ty) in &facts.fields {
                fields.entry((owner, field)).or_default().insert(ty);
            }
        }
        let mut found: BTreeMap<(PathBuf, PathBuf), (usize, String)> = BTreeMap::new();
        for (file, facts) in &read {
            for call in &facts.calls {
                let owner = call.receiver.as_ref().and_then(|receiver| {
                    receiver.fields.iter().try_fold(receiver.ty.as_str(), |ty, field| {
                        let types = fields.get(&(ty, field.as_str()))?;
                        if types.len() == 1 { types.first().copied() } else { None }
                    })
                });
                let by_type = owner.and_then(|owner| methods.get(&(owner, call.name.as_str())));
                let to = match by_type {
                    Some(definers) if definers.len() == 1 => definers.first().copied(),
                    Some(_) => None,
                    None => self.by_name_alone(call).filter(|to| program.contains(*to)),
                };
                if let Some(to) = to
                    && to != *file
                {
                    let place = (call.line, format!(".{}()", call.name));
                    let known = found.entry((file.to_path_buf(), to.to_path_buf())).or_insert_with(|| place.clone());
                    *known = known.clone().min(place);
                }
            }
        }
        found.into_iter().map(|((from, to), (line, names))| Edge { from, to, line, names }).collect()
    }

    fn by_name_alone(&self, call: &Call) -> Option<&Path> {
        let definers = self.by_name.get(&call.name)?;
        let is_standard = STANDARD.split_whitespace().any(|name| name == call.name);
        if call.is_method && definers.len() == 1 && !is_standard {
            definers.first().map(PathBuf::as_path)
        } else {
            None
        }
    }
}

struct Function {
    /// The type or trait around it.
    owner: Option<String>,
    name: String,
    has_receiver: bool,
}

struct Receiver {
    /// The type of what the expression begins with.
    ty: String,
    /// The fields after it.
    fields: Vec<String>,
}

struct Call {
    line: usize,
    name: String,
    /// None: an expression whose type needs a compiler.
    receiver: Option<Receiver>,
    /// `.name (`, not `Type::name`.
    is_method: bool,
}

/// What one file defines and calls.
#[derive(Default)]
struct FileFacts {
    functions: Vec<Function>,
    /// Struct, field, type.
    fields: Vec<(String, String, String)>,
    calls: Vec<Call>,
}

/// A brace that is open.
enum Scope {
    /// `impl` or `trait`, with the type's name if it is one word.
    Type(Option<String>),
    /// A function's body, with its parameters and their types.
    Function(BTreeMap<String, String>),
    Other,
}

impl FileFacts {
    fn read(all: &[Token]) -> FileFacts {
        let mut facts = FileFacts::default();
        let mut scopes: Vec<Scope> = Vec::new();
        // What the next brace opens.
        let mut next = None;
        let mut at = 0;
        let text = |at: usize| all.get(at).map_or("", |token| token.text);
        while at < all.len() {
            match text(at) {
                "{" => scopes.push(next.take().unwrap_or(Scope::Other)),
                "}" => drop(scopes.pop()),
                // A function of a trait without a body.
                ";" => next = None,
                "impl" | "trait" if begins_item(all, at) => {
                    let (ty, body) = head(all, at);
                    next = Some(Scope::Type(ty));
                    at = body;
                    continue;
                }
                "struct" if all.get(at + 1).is_some_and(Token::is_word) => {
                    let owner = text(at + 1);
                    let open = skip_generics(all, at + 2);
                    if text(open) == "{" {
                        let (fields, end) = typed_names(all, open + 1);
                        facts.fields.extend(fields.into_iter().map(|(name, ty)| (owner.to_owned(), name, ty)));
                        at = end;
                    }
                }
                "fn" if all.get(at + 1).is_some_and(Token::is_word) => {
                    let open = skip_generics(all, at + 2);
                    let has_receiver = (open + 1..open + 5)
                        .take_while(|&at| matches!(text(at), "&" | "mut" | "self"))
                        .any(|at| text(at) == "self");
                    let owner = scopes.iter().rev().find_map(|scope| match scope {
                        Scope::Type(ty) => Some(ty.clone()),
                        _ => None,
                    });
                    facts.functions.push(Function {
                        owner: owner.flatten(),
                        name: text(at + 1).to_owned(),
                        has_receiver,
                    });
                    let (params, end) = typed_names(all, open + 1);
                    next = Some(Scope::Function(params.into_iter().collect()));
                    at = end;
                }
                "." if all.get(at + 1).is_some_and(Token::is_word) && is_call(all, at + 2) => {
                    let token = all[at + 1];
                    facts.calls.push(Call {
                        line: token.line,
                        name: token.text.to_owned(),
                        receiver: receiver(all, at, &scopes),
                        is_method: true,
                    });
                }
                "::" if at > 0
                    && text(at - 1).starts_with(char::is_uppercase)
                    && text(at + 1).starts_with(|c: char| c.is_lowercase() || c == '_') =>
                {
                    let ty = if text(at - 1) == "Self" { own_type(&scopes) } else { Some(text(at - 1).to_owned()) };
                    facts.calls.push(Call {
                        line: all[at].line,
                        name: text(at + 1).to_owned(),
                        receiver: ty.map(|ty| Receiver { ty, fields: Vec::new() }),
                        is_method: false,
                    });
                }
                _ => {}
            }
            at += 1;
        }
        facts
    }
}

/// `impl` and `trait` as items, not in types (`-> impl Iterator`).
fn begins_item(all: &[Token], at: usize) -> bool {
    at == 0 || matches!(all[at - 1].text, "}" | ";" | "{" | "]" | ")" | "unsafe" | "pub")
}

/// The type's name in the head of an `impl` or a `trait`, and where its brace is.
fn head(all: &[Token], start: usize) -> (Option<String>, usize) {
    let mut at = skip_generics(all, start + 1);
    let mut ty = None;
    while let Some(token) = all.get(at) {
        match token.text {
            "{" | ";" => break,
            // What follows are bounds.
            "where" | ":" => {
                while !matches!(all.get(at).map_or("{", |token| token.text), "{" | ";") {
                    at += 1;
                }
                break;
            }
            "for" => ty = None,
            "<" => {
                at = skip_generics(all, at);
                continue;
            }
            "&" | "mut" | "dyn" | "::" | "crate" | "super" | "self" => {}
            _ if token.is_word() => ty = Some(token.text.to_owned()),
            // Slices, tuples.
            _ => {}
        }
        at += 1;
    }
    (ty, at)
}

/// The place behind `<…>`, or the same place without one.
fn skip_generics(all: &[Token], start: usize) -> usize {
    if all.get(start).is_none_or(|token| token.text != "<") {
        return start;
    }
    let (mut depth, mut at) = (0usize, start);
    while let Some(token) = all.get(at) {
        match token.text {
            "<" => depth += 1,
            ">" if all[at - 1].text != "-" => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Whether arguments follow, perhaps after `::<…>`.
fn is_call(all: &[Token], at: usize) -> bool {
    let behind = if all.get(at).is_some_and(|token| token.text == "::") { skip_generics(all, at + 1) } else { at };
    all.get(behind).is_some_and(|token| token.text == "(")
}

/// The pairs `name: Type` of parameters or fields up to the closing mark, whose place is the second result.
fn typed_names(all: &[Token], start: usize) -> (Vec<(String, String)>, usize) {
    let mut found = Vec::new();
    let (mut depth, mut at) = (0usize, start);
    while let Some(token) = all.get(at) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => break,
            ")" | "]" | "}" => depth -= 1,
            "<" => {
                at = skip_generics(all, at);
                continue;
            }
            ":" if depth == 0 && all[at - 1].is_word() => {
                if let Some(ty) = type_name(all, at + 1) {
                    found.push((all[at - 1].text.to_owned(), ty));
                }
            }
            _ => {}
        }
        at += 1;
    }
    (found, at)
}

/// The name of the type at this place, behind references and boxes. None: a tuple, slice, function or trait.
fn type_name(all: &[Token], start: usize) -> Option<String> {
    let mut at = start;
    let mut last = None;
    while let Some(token) = all.get(at) {
        match token.text {
            "&" | "mut" | "::" => {}
            "<" if matches!(last, Some("Box" | "Rc" | "Arc")) => last = None,
            "impl" | "dyn" | "fn" => return None,
            word if token.is_word() && (last.is_none() || all[at - 1].text == "::") => last = Some(word),
            _ => break,
        }
        at += 1;
    }
    last.filter(|name| name.starts_with(char::is_uppercase)).map(str::to_owned)
}

/// The type around the place, which `self` and `Self` are.
fn own_type(scopes: &[Scope]) -> Option<String> {
    let around = scopes.iter().rev().find_map(|scope| match scope {
        Scope::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    around.flatten()
}

/// What stands before the dot at `dot`, if it is a chain of fields from `self` or a parameter.
fn receiver(all: &[Token], dot: usize, scopes: &[Scope]) -> Option<Receiver> {
    let mut fields = Vec::new();
    let mut at = dot.checked_sub(1)?;
    loop {
        let token = all[at];
        if !token.is_word() {
            return None;
        }
        if at == 0 || all[at - 1].text != "." {
            let ty = match token.text {
                "self" => own_type(scopes),
                name => scopes.iter().rev().find_map(|scope| match scope {
                    Scope::Function(params) => params.get(name).cloned(),
                    _ => None,
                }),
            };
            // `a::b.c ()`: a constant.
            let is_path = at > 0 && all[at - 1].text == "::";
            let ty = ty.filter(|_| !is_path)?;
            let ty = if ty == "Self" { own_type(scopes)? } else { ty };
            fields.reverse();
            return Some(Receiver { ty, fields });
        }
        fields.push(token.text.to_owned());
        at = at.checked_sub(2)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The edges between files of a crate `crates/a`, as "a -> b: name".
    fn check(texts: &[(&str, &str)], expected: &[&str]) {
        let file = |(name, text): &(&str, &str)| SourceFile {
            path: Path::new("crates/a/src").join(name),
            text: (*text).to_owned(),
        };
        let mut files: Vec<SourceFile> = texts.iter().map(file).collect();
        let declared = texts.iter().map(|(name, _)| format!("mod {};", name.trim_end_matches(".rs"))).collect();
        files.push(SourceFile { path: PathBuf::from("crates/a/src/lib.rs"), text: declared });
        files.push(SourceFile {
            path: PathBuf::from("crates/b/src/lib.rs"),
            text: "impl Other { fn shared (&self) {} }".to_owned(),
        });
        let name = |path: &Path| path.file_stem().map_or_else(String::new, |stem| stem.display().to_string());
        let edges = Methods::of(&files).edges(Path::new("crates/a/src/lib.rs"), &files);
        let found: Vec<String> =
            edges.iter().map(|edge| format!("{} -> {}: {}", name(&edge.from), name(&edge.to), edge.names)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_call_on_self_belongs_to_the_file_of_the_impl() {
        check(
            &[
                (
                    "a.rs",
                    "pub struct A; impl<'a, F: Fn(u8) -> u8> A<F> { fn get(&self) { self.push(1); self.shared() } }",
                ),
                ("b.rs", "impl<T> Debug for super::a::A<T> where T: X { fn push(&mut self, x: u8) { Self::make() } }"),
                ("c.rs", "impl A { fn make() {} fn shared(&self) {} } impl C { fn get(&self) {} }"),
            ],
            &["a -> b: .push()", "a -> c: .shared()", "b -> c: .make()"],
        );
    }

    #[test]
    fn parameters_and_fields_have_types() {
        check(
            &[
                (
                    "a.rs",
                    "pub struct A { pub b: Box<B>, n: u8 } impl A { fn f(&mut self) { self.b.take(); self.n.take() } }",
                ),
                ("b.rs", "pub struct B; impl B { fn take(self: Self) {} fn end(&self) {} }"),
                ("c.rs", "fn f(g: impl Fn(u8), a: &'a mut crate::a::A, n: &[B]) { a.b.end(); n.end() }"),
                ("d.rs", "fn f(a: u8) { a.take(); x::a.take(); a.b().take() }"),
            ],
            &["a -> b: .take()", "c -> b: .end()"],
        );
    }

    #[test]
    fn other_receivers_are_found_by_names_that_one_file_defines() {
        check(
            &[
                ("a.rs", "impl A { fn only(&self) {} fn len(&self) {} fn shared(&self) {} fn free() {} }"),
                ("b.rs", "fn f() { x().only::<u8>(); x().shared(); x().free() }"),
                ("c.rs", "fn f() { x().len(); x.only; #[cfg(test)] mod tests { fn f() { x().only() } } }"),
            ],
            &["b -> a: .only()"],
        );
    }

    #[test]
    fn methods_of_traits_with_implementations_elsewhere_are_no_edges() {
        check(
            &[
                ("a.rs", "pub trait T { fn told(&self); fn own(&self) { self.told() } } fn f(t: &dyn T) { t.told() }"),
                ("b.rs", "impl super::a::T for B { fn told(&self) { self.inner() } } impl B { fn inner(&self) {} }"),
            ],
            &[],
        );
    }
}
