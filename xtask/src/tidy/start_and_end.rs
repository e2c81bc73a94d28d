//! One start, one end: no crate gets functions from above by a call that might be forgotten or come too late, and the
//! process's end has one list.
//!
//! A *hook* is a static variable that is filled at run time and holds functions of others: its type has a cell in it,
//! and a function pointer, a closure or an object of a trait of ours, directly or in a struct of ours that the type
//! names. `HOOKS` lists those that the machine fills when it starts, with the reason why each cannot be an argument.
//! The list may only shrink. A function that is kept as a number or an untyped pointer must be made into a function
//! again, so turning one into a function is bound to listed files, too.
//!
//! Not checked: code from macros, nested structs, and hooks that are constructor arguments.

use super::findings::{Findings, SourceFile, source_crate_of};
use super::rust_text::{Token, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The one file that registers a function with the C library for the process's end.
const DOOR_OF_THE_END: &str = "crates/os/src/exit_list.rs";

/// File and name of each hook, and why it is one.
const HOOKS: [(&str, &str, &str); 19] = [
    ("crates/base/src/messages.rs", "LISTENER", "all crates speak by it, also before there is a machine"),
    ("crates/cli/src/main_stack.rs", "COMMAND", "a switch of stacks hands nothing over"),
    ("crates/code/src/hooks.rs", "HOOKS", "assembly reads it"),
    ("crates/code/src/observer.rs", "OBSERVER", "a profiler or debugger, if there is one"),
    ("crates/gc/src/client.rs", "CLIENT", "comes with the heap's options; collector threads have no other way to it"),
    ("crates/gc/src/snapshot_request.rs", "REQUESTED", "lent to the collector for one collection"),
    ("crates/os/src/exit_list.rs", "ACTIONS", "the one list of what runs at the process's end"),
    ("crates/os/src/fork.rs", "ACTIONS", "the one list of what happens around a fork, which the C library calls"),
    ("crates/monosgen/src/host_functions.rs", "FUNCTIONS", "a host of C gives them at any time, and without a handle"),
    ("crates/monosgen/src/profilers.rs", "NEWEST", "profilers, which a host in C installs before there is a machine"),
    ("crates/reactor/src/poller.rs", "BACKEND", "one of the crate's own, by the model of input and output"),
    ("crates/reactor/src/observer.rs", "OBSERVER", "the class library's selector, if the program uses it"),
    ("crates/runtime/src/exec/upper_layers.rs", "LAYERS", "the crates above, which the builder takes as one value"),
    ("crates/runtime/src/object/upcalls.rs", "UPCALLS", "the layers above, the first thing that a machine gives"),
    ("crates/sched/src/poller.rs", "POLLER", "the reactor is above, and polls once the program waits for a descriptor"),
    ("crates/thread/src/registry.rs", "HOOKS", "several parts have data of each thread"),
    ("crates/thread/src/registry.rs", "CARRIER_HOOKS", "several parts have data of each carrier"),
    ("crates/thread/src/scheduler_hooks.rs", "HOOKS", "the scheduler is above"),
    ("crates/unwind/src/callbacks.rs", "CALLBACKS", "stubs and signal handlers have no other way to it"),
];

/// Files that make functions of numbers or untyped pointers, and of which.
const MAKERS_OF_FUNCTIONS: [(&str, &str); 10] = [
    ("crates/corelib/src/native_waits/original.rs", "of the addresses in .NET's native library that ours stand in for"),
    (
        "crates/corelib/src/events.rs",
        "of an event source's callback, managed code that an internal call passes as a word",
    ),
    ("crates/corelib/src/own_executable.rs", "of the addresses in .NET's native library that ours stand in for"),
    ("crates/corelib/src/type_maps.rs", "of function pointers of managed code, which internal calls pass as words"),
    ("crates/coreclr/src/error_writer.rs", "of a word that the host's own call sets, which other threads read"),
    (
        "crates/dotnet/src/hostfxr.rs",
        "of the addresses that the dynamic linker knows of functions in .NET's host resolver",
    ),
    (
        "crates/icall/src/process/unix_signals.rs",
        "of the address that the dynamic linker knows of a function in Mono's library",
    ),
    (
        "crates/monosgen/src/profiler_load.rs",
        "of the address that the dynamic linker knows of a profiler's initialiser",
    ),
    ("crates/os/src/signal.rs", "of the kernel's words: the handlers that were there before"),
    ("crates/sched/src/dispatch.rs", "of a pointer that one load reads, null without a profiler"),
];

/// Types whose content may change after the program has started.
const CELLS: [&str; 10] = [
    "AtomicPtr",
    "Cell",
    "LazyLock",
    "Mutex",
    "OnceCell",
    "OnceLock",
    "RefCell",
    "RwLock",
    "ShardedLock",
    "UnsafeCell",
];

/// What a type is made of, as far as this rule is concerned.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Content {
    has_functions: bool,
    has_cell: bool,
}

/// The words in the definitions of structs, enums and aliases, by name and crate.
type Definitions<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Vec<&'a str>>>;

/// By name and crate of the type.
type Contents<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Content>>;

/// Checks that there are no hooks but those listed, and that all that are listed are there.
pub fn check(files: &[SourceFile], findings: &mut Findings) {
    check_with(files, &HOOKS, &MAKERS_OF_FUNCTIONS, findings);
}

fn check_with(files: &[SourceFile], hooks: &[(&str, &str, &str)], makers: &[(&str, &str)], findings: &mut Findings) {
    let sources: Vec<(&str, &Path, Vec<Token<'_>>)> = files
        .iter()
        .filter_map(|file| Some((source_crate_of(&file.path)?, file.path.as_path(), tokens(&file.text))))
        .filter(|(_, path, _)| path.file_name().is_some_and(|name| name != "tests.rs" && name != "model.rs"))
        .collect();
    let mut definitions = Definitions::new();
    let mut traits = BTreeSet::new();
    for (name, _, tokens) in &sources {
        read_definitions(name, tokens, &mut definitions, &mut traits);
    }
    let contents = contents(&definitions, &traits);
    let mut seen = BTreeSet::new();
    for (name, path, tokens) in &sources {
        for token in tokens.iter().filter(|token| matches!(token.text, "atexit" | "__cxa_atexit")) {
            if *path != Path::new(DOOR_OF_THE_END) {
                findings.error(path, token.line, "the process's end is os::exit_list: give it an action and a stage");
            }
        }
        for (line, variable, ty) in statics(tokens) {
            if content_of(name, &ty, &contents, &traits) != (Content { has_functions: true, has_cell: true }) {
                continue;
            }
            match hooks.iter().find(|(file, hook, _)| *path == Path::new(file) && *hook == variable) {
                Some((file, hook, _)) => drop(seen.insert((*file, *hook))),
                None => findings.error(
                    path,
                    line,
                    format!("{variable} is a hook: hand its functions over where the part that calls them is made"),
                ),
            }
        }
        for line in makings_of_functions(tokens, &definitions, name) {
            match makers.iter().find(|(maker, _)| *path == Path::new(maker)) {
                Some((maker, _)) => drop(seen.insert((*maker, ""))),
                None => findings.error(path, line, "a function is kept untyped: keep it as what it is"),
            }
        }
    }
    let this = Path::new("xtask/src/tidy/start_and_end.rs");
    for (file, hook, _) in hooks.iter().filter(|(file, hook, _)| !seen.contains(&(*file, *hook))) {
        findings.error(this, 1, format!("{hook} of {file} is listed, but is no hook (any more)"));
    }
    for (maker, _) in makers.iter().filter(|(maker, _)| !seen.contains(&(*maker, ""))) {
        findings.error(this, 1, format!("{maker} is listed, but makes no functions (any more)"));
    }
}

/// Notes the crate's structs, enums and aliases, and the names of its traits.
fn read_definitions<'a>(
    name: &'a str,
    tokens: &[Token<'a>],
    definitions: &mut Definitions<'a>,
    traits: &mut BTreeSet<&'a str>,
) {
    for (index, window) in tokens.windows(2).enumerate() {
        let [keyword, defined] = window else { continue };
        if !defined.is_word() {
            continue;
        }
        match keyword.text {
            "trait" => drop(traits.insert(defined.text)),
            "struct" | "enum" | "type" => {
                let body = &tokens[index + 2..];
                let words = body[..definition_len(body)].iter().map(|token| token.text);
                definitions.entry(defined.text).or_default().entry(name).or_default().extend(words);
            }
            _ => {}
        }
    }
}

/// Up to the `;` or behind the `}` that ends the definition.
fn definition_len(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" if depth == 0 => return index,
            "}" if depth == 1 => return index + 1,
            "}" | ")" | "]" => depth -= 1,
            ";" if depth == 0 => return index,
            _ => {}
        }
    }
    tokens.len()
}

/// What each defined type contains itself. Not through the types that it names: by a few steps nearly every type leads
/// to some function.
fn contents<'a>(definitions: &Definitions<'a>, traits: &BTreeSet<&'a str>) -> Contents<'a> {
    let nothing = Contents::new();
    let of_one = |owners: &BTreeMap<&'a str, Vec<&'a str>>| {
        owners.iter().map(|(owner, words)| (*owner, content_of(owner, words, &nothing, traits))).collect()
    };
    definitions.iter().map(|(ty, owners)| (*ty, of_one(owners))).collect()
}

/// What is in a type that crate `name` writes with these words.
fn content_of(name: &str, words: &[&str], known: &Contents<'_>, traits: &BTreeSet<&str>) -> Content {
    let mut content = Content::default();
    for (index, word) in words.iter().enumerate() {
        // `dyn a::B<C>`: the word before the first that is no part of a path.
        let object = words[index + 1..].iter().take_while(|word| is_word(word) || **word == "::").last();
        content.has_functions |= match *word {
            "fn" | "Fn" | "FnMut" | "FnOnce" => true,
            "dyn" => object.is_some_and(|object| traits.contains(object)),
            _ => false,
        };
        content.has_cell |= CELLS.contains(word);
        // A crate's own type goes before others of the same name.
        let Some(owners) = known.get(word) else { continue };
        let own = owners.get(name);
        for inner in owners.values().filter(|_| own.is_none()).chain(own) {
            content.has_functions |= inner.has_functions;
            content.has_cell |= inner.has_cell;
        }
    }
    content
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Line, name and the words of the type of each static variable.
fn statics<'a>(tokens: &[Token<'a>]) -> Vec<(usize, &'a str, Vec<&'a str>)> {
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate().filter(|(_, token)| token.text == "static") {
        let at = index + 1 + usize::from(tokens.get(index + 1).is_some_and(|token| token.text == "mut"));
        let Some([name, colon]) = tokens.get(at..at + 2) else { continue };
        if name.is_word() && colon.text == ":" {
            let ty = tokens[at + 2..].iter().map(|token| token.text).take_while(|text| !matches!(*text, "=" | ";"));
            found.push((token.line, name.text, ty.collect()));
        }
    }
    found
}

/// Lines of `transmute` whose result is said to be a function: by its arguments in brackets, or by the type of the
/// variable that it fills.
fn makings_of_functions(tokens: &[Token<'_>], definitions: &Definitions<'_>, name: &str) -> Vec<usize> {
    let is_function = |words: &[Token<'_>]| {
        words.iter().any(|word| {
            let alias = definitions.get(word.text).and_then(|owners| owners.get(name));
            let alias = alias.is_some_and(|words| words.contains(&"fn"));
            word.text == "fn" || alias
        })
    };
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate().filter(|(_, token)| token.text == "transmute") {
        let statement = tokens[..index].iter().rposition(|token| matches!(token.text, ";" | "{" | "}")).unwrap_or(0);
        // `let x: T = unsafe { transmute (…) }`: the statement begins before the block.
        let begin = match statement.checked_sub(1).map(|before| tokens[before].text) {
            Some("unsafe") => tokens[..statement].iter().rposition(|t| matches!(t.text, ";" | "{" | "}")).unwrap_or(0),
            _ => statement,
        };
        if is_function(&tokens[begin..index]) || is_function(generic_arguments(&tokens[index + 1..])) {
            found.push(token.line);
        }
    }
    found
}

/// What stands between `::<` and `>`, if the tokens begin with that.
fn generic_arguments<'a, 'b>(tokens: &'a [Token<'b>]) -> &'a [Token<'b>] {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "::" if index == 0 => {}
            "<" => depth += 1,
            ">" if tokens[index - 1].text != "-" => depth -= 1,
            _ => {}
        }
        if index > 0 && depth == 0 {
            return &tokens[..index];
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sources: &[(&str, &str)], expected: &[&str]) {
        let file = |(path, text): &(&str, &str)| SourceFile { path: path.into(), text: (*text).to_owned() };
        let files: Vec<SourceFile> = sources.iter().map(file).collect();
        let mut findings = Findings::default();
        check_with(&files, &[], &[], &mut findings);
        assert_eq!(findings.errors.len(), expected.len(), "{sources:?}: {:?}", findings.errors);
        for (found, want) in findings.errors.iter().zip(expected) {
            assert!(found.contains(want), "{found} / {want}");
        }
    }

    #[test]
    fn a_hook_that_a_crate_gains_is_found() {
        for hook in [
            "static H: OnceLock<fn(u8) -> u8> = OnceLock::new();",
            "static H: RwLock<Vec<&'static Hooks>> = x; pub struct Hooks { pub attached: unsafe fn() }",
            "pub type Observer = fn(i32); static H: OnceLock<(Observer, u8)> = OnceLock::new();",
            "static H: OnceLock<&'static dyn a::Client<u8>> = x; pub trait Client<T> {}",
            "fn f() { static H: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None); }",
            "static H: Once<Hooks> = x; struct Once<T>(UnsafeCell<T>); struct Hooks { f: extern \"C\" fn() }",
            "static H: Installed = x; struct Installed(UnsafeCell<MaybeUninit<extern \"C\" fn()>>);",
            "static mut H: Cell<Option<fn()>> = x;",
        ] {
            check(&[("crates/a/src/b.rs", hook)], &["H is a hook"]);
        }
        let definition = ("crates/low/src/a.rs", "pub struct Layers { pub start: fn() }");
        check(
            &[definition, ("crates/high/src/a.rs", "static H: OnceLock<Layers> = OnceLock::new();")],
            &["H is a hook"],
        );
    }

    #[test]
    fn what_is_no_hook() {
        for other in [
            // A table is there when the program starts.
            "pub static HOOKS: Hooks = Hooks { attached }; pub struct Hooks { attached: fn() }",
            "static ROWS: [fn(); 2] = [a, b];",
            // An object of another's trait is a choice among its types.
            "static ISA: OnceLock<Arc<dyn TargetIsa>> = OnceLock::new();",
            "static COUNT: AtomicUsize = AtomicUsize::new(0); fn f(g: fn()) {}",
            "#[cfg(test)] mod tests { static H: OnceLock<fn()> = OnceLock::new(); }",
            "// static H: OnceLock<fn()> = OnceLock::new();",
        ] {
            check(&[("crates/a/src/b.rs", other)], &[]);
        }
        let hook = "static H: OnceLock<fn()> = OnceLock::new();";
        check(&[("crates/a/tests/b.rs", hook), ("crates/a/src/tests.rs", hook), ("xtask/src/b.rs", hook)], &[]);
        // A crate's own type goes before another's.
        let other = ("crates/a/src/a.rs", "pub struct Part { f: fn() }");
        check(&[other, ("crates/b/src/a.rs", "struct Part(u8); static P: OnceLock<Part> = OnceLock::new();")], &[]);
    }

    #[test]
    fn a_function_kept_as_a_number_is_found() {
        for made in [
            "let f: fn() = unsafe { std::mem::transmute(word) };",
            "let f: unsafe extern \"C\" fn(u8) -> u8 = unsafe { transmute(word) };",
            "let f = unsafe { std::mem::transmute::<usize, fn()>(word) };",
            "type F = fn(u8) -> u8; fn g() { let f = unsafe { transmute::<*mut (), F>(word) }; }",
        ] {
            check(&[("crates/a/src/b.rs", &format!("fn f() {{ {made} }}"))], &["kept untyped"]);
        }
        check(&[("crates/a/src/b.rs", "fn f(g: fn()) { let x: *mut u8 = unsafe { transmute(y) }; }")], &[]);
    }

    #[test]
    fn the_end_has_one_list() {
        for call in ["unsafe { libc::atexit(run) };", "__cxa_atexit(a, b, c);"] {
            let text = format!("fn f() {{ {call} }}");
            check(&[("crates/a/src/b.rs", &text)], &["exit_list"]);
            check(&[(DOOR_OF_THE_END, &text)], &[]);
        }
    }

    #[test]
    fn what_is_listed_needlessly_is_found() {
        let file = SourceFile { path: "crates/a/src/b.rs".into(), text: "static H: OnceLock<fn()> = x;".to_owned() };
        let mut findings = Findings::default();
        let gone = ("crates/a/src/b.rs", "GONE", "it was needed once");
        let hook = ("crates/a/src/b.rs", "H", "it is needed");
        check_with(&[file], &[hook, gone], &[("crates/a/src/c.rs", "none")], &mut findings);
        assert_eq!(findings.errors.len(), 2, "{:?}", findings.errors);
        assert!(findings.errors[0].contains("GONE") && findings.errors[1].contains("c.rs"), "{:?}", findings.errors);
    }
}
