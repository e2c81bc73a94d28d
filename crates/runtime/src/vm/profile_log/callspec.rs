//! Which calls are written: `callspec=` of Mono's log and `--trace=`, which have one syntax.
//!
//! The option is a list of items separated by commas; the last item that matches a method decides. Items are `all`,
//! `none`, `program` (the program's own assembly), `wrapper` (calls of native code and by it), `N:Namespace`, `T:Type`,
//! `M:Type:Method`, or the name of an assembly; with a minus in front they leave methods out. For traces alone,
//! `E:Type` names exceptions that are told of (`E:all`: all), and with `disabled` a trace begins when it is switched
//! on.

use saki_types::{Method, Ty};
use std::str::FromStr;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Pattern {
    All,
    Program,
    Wrapper,
    Namespace(String),
    Type(String),
    /// None: of any type.
    Method(Option<String>, String),
    Assembly(String),
    /// "all", or a type's name with or without its namespace.
    Exception(String),
}

/// See the module header. The default is all methods.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallSpec {
    items: Vec<(Pattern, bool)>,
    is_disabled: bool,
}

impl FromStr for CallSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<CallSpec, String> {
        CallSpec::parse(text)
    }
}

impl CallSpec {
    /// # Errors
    /// The reason why an item is invalid.
    pub fn parse(text: &str) -> Result<CallSpec, String> {
        let mut spec = CallSpec::default();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (item, is_wanted) = item.strip_prefix('-').map_or((item, true), |rest| (rest, false));
            let pattern = match item.split_once(':') {
                None => match item {
                    "all" => Pattern::All,
                    "program" => Pattern::Program,
                    "wrapper" => Pattern::Wrapper,
                    "none" => {
                        spec.items.push((Pattern::All, !is_wanted));
                        continue;
                    }
                    "disabled" if is_wanted => {
                        spec.is_disabled = true;
                        continue;
                    }
                    "" | "disabled" => return Err("Expecting an expression".to_owned()),
                    name => Pattern::Assembly(name.to_owned()),
                },
                Some(("N", name)) => Pattern::Namespace(name.to_owned()),
                Some(("T", name)) => Pattern::Type(name.to_owned()),
                Some(("E", name)) => Pattern::Exception(name.to_owned()),
                Some(("M", names)) => match names.rsplit_once(':') {
                    Some(("*", method)) => Pattern::Method(None, method.to_owned()),
                    Some((ty, method)) => Pattern::Method(Some(ty.to_owned()), method.to_owned()),
                    None => return Err(format!("'{item}' names no method")),
                },
                Some(_) => return Err(format!("Syntax error at or around '{item}'")),
            };
            spec.items.push((pattern, is_wanted));
        }
        Ok(spec)
    }

    /// Whether the trace begins only when it is switched on.
    pub fn is_disabled(&self) -> bool {
        self.is_disabled
    }

    /// Whether nothing says which calls are wanted.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What the last item that matches the method says; None if none does. `is_wrapper`: a call of native code, or by
    /// it.
    pub fn decision(&self, method: &Method, is_wrapper: bool) -> Option<bool> {
        let fits = |pattern: &Pattern| match pattern {
            Pattern::All => true,
            Pattern::Program => {
                let program = crate::domains::root_domain().entry_assembly();
                program.is_some_and(|program| program.name == method.image().assembly().name)
            }
            Pattern::Wrapper => is_wrapper,
            Pattern::Namespace(name) => method.owner.def().is_some_and(|def| def.namespace == name),
            Pattern::Type(name) => is_named(method.owner, name),
            Pattern::Method(owner, name) => {
                method.name == name && owner.as_ref().is_none_or(|owner| is_named(method.owner, owner))
            }
            Pattern::Assembly(name) => method.image().assembly().name == name,
            Pattern::Exception(_) => false,
        };
        self.items.iter().rev().find(|(pattern, _)| fits(pattern)).map(|(_, is_wanted)| *is_wanted)
    }

    /// Whether calls of the method are written to a log: the first item decides about methods that match none.
    pub(super) fn includes(&self, method: &Method) -> bool {
        let Some((_, first)) = self.items.first() else { return true };
        self.decision(method, false).unwrap_or(!first)
    }

    /// Whether exceptions of this class are told of.
    pub fn includes_exception(&self, class: Ty) -> bool {
        let own_name = class.def().map_or("", |def| def.name);
        let fits = |pattern: &Pattern| matches!(pattern, Pattern::Exception(name) if name == "all" || name == own_name || is_named(class, name));
        self.items.iter().rev().find(|(pattern, _)| fits(pattern)).is_some_and(|(_, is_wanted)| *is_wanted)
    }
}

/// Whether the type, or the definition that it is an instance of, has this name with its namespace.
fn is_named(ty: Ty, name: &str) -> bool {
    let is_definition = ty.def().is_some_and(|def| match def.namespace {
        "" => def.name == name,
        namespace => name.strip_prefix(namespace).and_then(|rest| rest.strip_prefix('.')) == Some(def.name),
    });
    is_definition || ty.full_name() == name
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
            (Pattern::Method(Some("A.B".into()), "C".into()), true),
            (Pattern::Assembly("prog".into()), false),
        ];
        assert_eq!(spec.items, patterns);
        assert!(CallSpec::parse("M:C").is_err() && CallSpec::parse("Q:x").is_err());
        let trace = CallSpec::parse("disabled,M:*:Main,wrapper,E:all").unwrap();
        assert!(trace.is_disabled() && !spec.is_disabled());
        let patterns = [Pattern::Method(None, "Main".into()), Pattern::Wrapper, Pattern::Exception("all".into())];
        assert_eq!(trace.items, patterns.map(|pattern| (pattern, true)));
        assert_eq!(CallSpec::parse("-disabled").unwrap_err(), "Expecting an expression");
        assert_eq!(CallSpec::parse("none").unwrap().items, [(Pattern::All, false)]);
    }
}
