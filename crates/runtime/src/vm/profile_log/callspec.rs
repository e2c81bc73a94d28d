//! `callspec=`: the methods whose calls are written, in the syntax of Mono's `--trace=`.
//!
//! The option is a list of items separated by commas; the last item that matches a method decides. Items are `all`, `none`, `program` (the program's own assembly),
//! `N:Namespace`, `T:Type`, `M:Type:Method`, or the name of an assembly; with a minus in front they leave methods out. Left out: `E:` (exceptions) and
//! `disabled`, which concern tracing only.

use saki_types::Method;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Pattern {
    All,
    Program,
    Namespace(String),
    Type(String),
    Method(String, String),
    Assembly(String),
}

/// See the module header. The default is all methods.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallSpec {
    items: Vec<(Pattern, bool)>,
}

impl CallSpec {
    /// # Errors
    /// The reason why an item is invalid.
    pub fn parse(text: &str) -> Result<CallSpec, String> {
        let mut items = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (item, is_wanted) = item.strip_prefix('-').map_or((item, true), |rest| (rest, false));
            let pattern = match item.split_once(':') {
                None => match item {
                    "all" => Pattern::All,
                    "program" => Pattern::Program,
                    "none" => {
                        items.push((Pattern::All, !is_wanted));
                        continue;
                    }
                    name => Pattern::Assembly(name.to_owned()),
                },
                Some(("N", name)) => Pattern::Namespace(name.to_owned()),
                Some(("T", name)) => Pattern::Type(name.to_owned()),
                Some(("M", names)) => match names.rsplit_once(':') {
                    Some((ty, method)) => Pattern::Method(ty.to_owned(), method.to_owned()),
                    None => return Err(format!("'{item}' names no method")),
                },
                Some(_) => return Err(format!("Syntax error at or around '{item}'")),
            };
            items.push((pattern, is_wanted));
        }
        Ok(CallSpec { items })
    }

    /// Whether calls of the method are written.
    pub(super) fn includes(&self, method: &Method) -> bool {
        // The first item decides about methods that match none.
        let Some((_, first)) = self.items.first() else { return true };
        let fits = |pattern: &Pattern| {
            let ty = || method.owner.full_name();
            match pattern {
                Pattern::All => true,
                Pattern::Program => {
                    let program = crate::domains::root_domain().entry_assembly();
                    program.is_some_and(|program| program.name == method.image().assembly().name)
                }
                Pattern::Namespace(name) => method.owner.def().is_some_and(|def| def.namespace == name),
                Pattern::Type(name) => ty() == *name,
                Pattern::Method(owner, name) => method.name == name && ty() == *owner,
                Pattern::Assembly(name) => method.image().assembly().name == name,
            }
        };
        let last = self.items.iter().rev().find(|(pattern, _)| fits(pattern));
        last.map_or(!first, |(_, is_wanted)| *is_wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read() {
        let spec = CallSpec::parse("all,-N:System,M:A.B:C,-prog").unwrap();
        let patterns = [
            (Pattern::All, true),
            (Pattern::Namespace("System".into()), false),
            (Pattern::Method("A.B".into(), "C".into()), true),
            (Pattern::Assembly("prog".into()), false),
        ];
        assert_eq!(spec.items, patterns);
        assert!(CallSpec::parse("M:C").is_err() && CallSpec::parse("Q:x").is_err());
        assert_eq!(CallSpec::parse("none").unwrap().items, [(Pattern::All, false)]);
    }
}
