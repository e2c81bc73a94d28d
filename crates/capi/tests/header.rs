//! `include/saki.h` declares what the library has: the same functions with the same types, and the same kinds of
//! values; and the library exports nothing else. The last is skipped without `nm`.

use saki_interop::host::EXPORTED_SYMBOLS;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The header without comments and lines of the preprocessor.
fn header() -> String {
    let text = std::fs::read_to_string(here().join("include/saki.h")).expect("a header");
    let mut code = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find("/*") {
        code.push_str(&rest[..start]);
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    code.push_str(rest);
    let mut is_continued = false;
    let lines = code.lines().filter(|line| {
        let is_code = !is_continued && !line.trim_start().starts_with('#');
        is_continued = !is_code && line.ends_with('\\');
        is_code
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn sources() -> String {
    let entries = std::fs::read_dir(here().join("src")).expect("a folder").flatten();
    entries.map(|entry| std::fs::read_to_string(entry.path()).expect("a file")).collect()
}

/// The parts between commas that lie in no brackets.
fn parts(list: &str) -> Vec<String> {
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for c in list.chars() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("one").push(c);
    }
    parts.iter().map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|p| !p.is_empty()).collect()
}

/// The C type of a parameter's or result's type in the sources.
fn c_type(rust: &str) -> String {
    let inside = |start: &str| rust.strip_prefix(start)?.strip_suffix('>').map(str::to_owned);
    if let Some(pointed) = inside("Out<") {
        return format!("{}*", c_type(&pointed)).replace(" *", "*");
    }
    if let Some(handle) = inside("Option<") {
        let handle = handle.trim_start_matches("&mut ").trim_start_matches("Box<").trim_end_matches('>').to_owned();
        let (constant, name) = match handle.strip_prefix('&') {
            Some(name) => ("const ", name.to_owned()),
            None => ("", handle),
        };
        let name =
            name.trim_start_matches("Saki").trim_start_matches("Host").trim_start_matches("Machine").to_lowercase();
        return format!("{constant}saki_{name}*");
    }
    let known = [
        ("", "void"),
        ("Text", "const char*"),
        ("TextOut", "char**"),
        ("Items<SakiValue>", "const saki_value*"),
        ("Items<u8>", "const void*"),
        ("Items<Option<Class>>", "saki_class*const*"),
        ("Room<u8>", "void*"),
        ("Room<SakiValue>", "saki_value*"),
        ("ObjectHandle", "saki_object*"),
        ("Returned", "saki_error*"),
        ("SakiValue", "saki_value"),
        ("*mut c_void", "void*"),
        ("*mut c_char", "char*"),
        ("*const c_char", "const char*"),
        ("usize", "size_t"),
        ("i32", "int32_t"),
        ("bool", "bool"),
    ];
    let found = known.iter().find(|(name, _)| *name == rust);
    found.unwrap_or_else(|| panic!("{rust} has no type of C here")).1.to_owned()
}

/// Functions by name: the types of parameters and result.
type Functions = BTreeMap<String, (Vec<String>, String)>;

fn implemented() -> Functions {
    let mut functions = Functions::new();
    for text in sources().split("#[unsafe(no_mangle)]").skip(1) {
        let (head, _) = text.split_once(" {").expect("a body");
        let head = head.trim().strip_prefix("pub extern \"C\" fn ").expect("a function");
        let (name, rest) = head.split_once('(').expect("parameters");
        let (parameters, result) = rest.rsplit_once(')').expect("parameters");
        let types = parts(parameters).iter().map(|p| c_type(p.split_once(": ").expect("a type").1)).collect();
        functions.insert(name.to_owned(), (types, c_type(result.trim_start_matches(" -> ").trim())));
    }
    functions
}

fn declared() -> Functions {
    let mut functions = Functions::new();
    for statement in header().split(';') {
        let statement = statement.replace("extern \"C\" {", "").replace(" SAKI_CHECKED", "");
        // Not what lies in the bodies of functions.
        let statement = statement.rsplit('}').next().unwrap_or_default().trim();
        if ["typedef", "static", "return"].iter().any(|word| statement.starts_with(word)) || statement.contains('{') {
            continue;
        }
        let Some((head, parameters)) = statement.split_once('(') else { continue };
        if !head.contains(' ') {
            continue;
        }
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" *", "*");
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let split = |text: &str| {
            let text = text.trim();
            let start = text.rfind(|c| !is_name(c)).map_or(0, |place| place + 1);
            (squeezed(&text[..start]).trim().to_owned(), text[start..].to_owned())
        };
        let (result, name) = split(head);
        let parameters = parameters.trim_end_matches(')');
        let parameters = if parameters == "void" { "" } else { parameters };
        let types = parts(parameters).iter().map(|parameter| split(parameter).0).collect();
        functions.insert(name, (types, result));
    }
    functions
}

#[test]
fn the_header_declares_the_functions_of_the_library_with_their_types() {
    let (implemented, mut declared) = (implemented(), declared());
    assert!(implemented.len() > 60, "{} functions", implemented.len());
    for (name, (types, _)) in &mut declared {
        // A text with a length, which need not end in NUL.
        let takes_length = types.get(1).is_some_and(|second| second == "size_t");
        if name == "saki_string_new" && takes_length && types[0] == "const char*" {
            types[0] = "const void*".to_owned();
        }
    }
    let missing: Vec<_> = implemented.keys().filter(|name| !declared.contains_key(*name)).collect();
    assert!(missing.is_empty(), "not in saki.h: {missing:?}");
    for (name, types) in &declared {
        assert_eq!(Some(types), implemented.get(name), "{name}: saki.h beside the sources");
    }
}

#[test]
fn the_header_numbers_the_kinds_of_values_as_the_library_does() {
    let header = header();
    let kinds = header.split("enum saki_kind {").nth(1).and_then(|rest| rest.split('}').next()).expect("an enum");
    let of_header: BTreeMap<String, String> = parts(kinds)
        .iter()
        .map(|kind| kind.split_once(" = ").expect("a number"))
        .map(|(name, number)| (name.trim_start_matches("SAKI_").to_owned(), number.to_owned()))
        .collect();
    let sources = sources();
    let kinds = sources.split("\nkinds! {").nth(1).and_then(|rest| rest.split('}').next()).expect("kinds");
    let of_library: BTreeMap<String, String> = kinds
        .lines()
        .filter_map(|line| line.trim().split_once(' '))
        .map(|(name, number)| (name.to_owned(), number.to_owned()))
        .collect();
    assert_eq!(of_header, of_library);
    assert_eq!(of_header.len(), 17);
}

/// The file that cargo builds beside this test.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().expect("a folder");
    let places = [folder.join("libsaki_capi.so"), folder.parent().expect("a folder").join("libsaki_capi.so")];
    places.into_iter().find(|file| file.is_file()).expect("cargo test -p saki-capi builds it")
}

#[test]
fn the_library_exports_what_the_header_declares_and_what_monos_native_library_needs() {
    let Ok(output) = Command::new("nm").args(["-D", "--defined-only"]).arg(built()).output() else {
        return eprintln!("skipped: no nm");
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let symbol =
        |line: &str| line.split_whitespace().nth(2).map(|name| name.split('@').next().unwrap_or(name).to_owned());
    let exported: BTreeSet<String> = text.lines().filter_map(symbol).collect();
    let mut wanted: BTreeSet<String> = declared().into_keys().collect();
    wanted.extend(EXPORTED_SYMBOLS.iter().map(|name| (*name).to_owned()));
    assert_eq!(exported, wanted);
}
