//! Names of functions in little room: of a method its own name says more than its namespace. (`html/names.js` does the
//! same for the page.)

use crate::model::FunctionKind;

/// The name as a whole if it has no more than `room` characters; else without parameters, then without namespaces, then
/// the method alone, and of that as much as there is room for.
pub fn fitting(name: &str, kind: FunctionKind, room: usize) -> String {
    let fits = |text: &str| text.chars().count() <= room;
    let mut shortest = name.to_owned();
    for shorter in shorter(name, kind) {
        if fits(&shortest) {
            return shortest;
        }
        shortest = shorter;
    }
    if fits(&shortest) {
        return shortest;
    }
    shortest.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// Shorter and shorter.
fn shorter(name: &str, kind: FunctionKind) -> Vec<String> {
    let plain = name.split_once(" (").map_or(name, |(before, _)| before);
    match kind {
        FunctionKind::Note if name.starts_with('[') => Vec::new(),
        FunctionKind::Note => vec![without_namespaces(name)],
        FunctionKind::Native => vec![plain.to_owned(), plain.rsplit("::").next().unwrap_or(plain).to_owned()],
        FunctionKind::Managed => {
            let short = without_namespaces(plain);
            let (ty, method) = short.rsplit_once(':').unwrap_or(("", &short));
            // Constructors are known by their types.
            let alone = match method.starts_with('.') {
                true => format!("{}:{method}", ty.split(['`', '<', '[']).next().unwrap_or(ty)),
                false => method.to_owned(),
            };
            vec![plain.to_owned(), short.clone(), alone]
        }
    }
}

/// `A.B.C` is `C`, also in the arguments of generic types.
fn without_namespaces(text: &str) -> String {
    let is_in_word = |c: char| !c.is_whitespace() && !".,:<>()[]+/".contains(c);
    let mut out = String::new();
    // Where the word begins that the text is in.
    let mut word = 0;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '.' && out.len() > word && rest.peek().copied().is_some_and(is_in_word) {
            out.truncate(word);
            continue;
        }
        out.push(c);
        if !is_in_word(c) {
            word = out.len();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_method_stays_longest() {
        let check = |name: &str, kind, room: usize, expect: &str| {
            assert_eq!(fitting(name, kind, room), expect, "{name} in {room}")
        };
        let resolve = "Mono.CSharp.Expression:Resolve (Mono.CSharp.ResolveContext)";
        check(resolve, FunctionKind::Managed, 80, resolve);
        check(resolve, FunctionKind::Managed, 40, "Mono.CSharp.Expression:Resolve");
        check(resolve, FunctionKind::Managed, 20, "Expression:Resolve");
        check(resolve, FunctionKind::Managed, 10, "Resolve");
        check(resolve, FunctionKind::Managed, 4, "Res…");
        check("System.Collections.Generic.List`1[System.Int32]:.ctor", FunctionKind::Managed, 12, "List:.ctor");
        check("A.B:System.IDisposable.Dispose", FunctionKind::Managed, 12, "B:Dispose");
        check("saki_gc::heap::alloc", FunctionKind::Native, 9, "alloc");
        check(
            "System.Collections.Generic.Dictionary`2[System.Int32,A.B]",
            FunctionKind::Note,
            30,
            "Dictionary`2[Int32,B]",
        );
        check("[waiting for a lock]", FunctionKind::Note, 8, "[waitin…");
        check("", FunctionKind::Managed, 3, "");
    }
}
