//! The end of a process whose stack overflowed, on class libraries for which that is no exception (.NET's): a report on
//! standard error, then SIGABRT.
//!
//! The report has the frames from the innermost one, as .NET writes them: what repeats is written once, with its
//! number.
//! Left out: the StackOverflowException of Mono's class libraries (`object::exceptions`).

use crate::stack_trace;
use crate::thread::CurrentThread;
use saki_types::names::NameStyle;
use saki_types::{ElementType, Method, Ty};

/// The longest sequence of frames that is looked for, and the most frames in front of it.
const MAX_SEQUENCE: usize = 64;

/// Frames that repeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Repetition {
    /// Frames in front of it.
    start: usize,
    len: usize,
    count: usize,
}

impl Repetition {
    fn end(self) -> usize {
        self.start + self.len * self.count
    }
}

/// Writes the report and ends the process.
pub fn end_process(t: CurrentThread) -> ! {
    let frames: Vec<&'static Method> = stack_trace::walk(t)
        .into_iter()
        .map(|frame| frame.method)
        .filter(|method| !method.is_pinvoke() && !method.is_internal_call())
        .collect();
    saki_base::messages::tell(format_args!("Stack overflow.\n{}", report(&frames)));
    saki_thread::abort_process()
}

fn report(frames: &[&'static Method]) -> String {
    let lines = |frames: &[&'static Method]| -> String {
        frames.iter().map(|method| format!("   at {}\n", name_of(method))).collect()
    };
    match repetition(frames, |a, b| std::ptr::eq(*a, *b)) {
        None => lines(frames),
        Some(found) => {
            let ruler = "-".repeat(32);
            let (before, sequence) = (&frames[..found.start], &frames[found.start..][..found.len]);
            let after = &frames[found.end()..];
            let (before, sequence, after) = (lines(before), lines(sequence), lines(after));
            format!("{before}Repeated {} times:\n{ruler}\n{sequence}{ruler}\n{after}", found.count)
        }
    }
}

/// The repetition that covers the most frames; None if that is less than half of them.
fn repetition<T>(frames: &[T], is_same: impl Fn(&T, &T) -> bool) -> Option<Repetition> {
    for start in 0..MAX_SEQUENCE.min(frames.len()) {
        for len in 1..=MAX_SEQUENCE {
            let rest = &frames[start..];
            let matching = rest.iter().zip(rest.iter().skip(len)).take_while(|(a, b)| is_same(a, b)).count();
            let count = 1 + matching / len;
            if count > 1 && 2 * count * len > frames.len() {
                return Some(Repetition { start, len, count });
            }
        }
    }
    None
}

/// `Ns.Type.Method(Int32, System.String)`.
fn name_of(method: &'static Method) -> String {
    let owner = method.owner.name_in(NameStyle::Reflection);
    let arguments = match method.generic_args() {
        [] => String::new(),
        arguments => {
            let names: Vec<String> =
                arguments.iter().map(|ty| format!("[{}]", ty.name_in(NameStyle::AssemblyQualified))).collect();
            format!("[{}]", names.join(","))
        }
    };
    let parameters: Vec<String> =
        method.sig().map_or_else(|_| Vec::new(), |sig| sig.params.iter().map(|ty| name_of_parameter(ty)).collect());
    format!("{owner}.{}{arguments}({})", method.name, parameters.join(", "))
}

/// The types that signatures name by one byte and the report by their short name.
fn is_basic(ty: Ty) -> bool {
    use ElementType as E;
    let number = ty.element_type as u8;
    (E::Void as u8..=E::R8 as u8).contains(&number) && !ty.is_enum()
        || matches!(ty.element_type, E::I | E::U | E::TypedByRef)
}

/// Primitive types without namespace, nested ones without the type around them, by-references as "Int32 ByRef".
fn name_of_parameter(ty: Ty) -> String {
    if let Some(element) = ty.element().filter(|_| ty.is_byref()) {
        return format!("{} ByRef", name_of_parameter(element));
    }
    if let Some(element) = ty.element().filter(|_| ty.is_pointer() || ty.is_array()) {
        let suffix = match (ty.is_pointer(), ty.array_rank()) {
            (true, _) => "*".to_owned(),
            (false, rank) => format!("[{}]", ",".repeat((rank as usize).saturating_sub(1))),
        };
        return name_of_parameter(element) + &suffix;
    }
    let Some(def) = ty.def() else { return ty.full_name() };
    let is_short = def.namespace.is_empty() || is_basic(ty);
    let name = if is_short { def.name.to_owned() } else { format!("{}.{}", def.namespace, def.name) };
    if ty.args.is_empty() {
        return name;
    }
    let arguments: Vec<String> = ty.args.iter().map(|argument| name_of_parameter(argument)).collect();
    format!("{name}<{}>", arguments.join(","))
}

#[cfg(test)]
mod tests {
    use super::{Repetition, repetition};

    fn of(frames: &str) -> Option<Repetition> {
        repetition(&frames.chars().collect::<Vec<_>>(), |a, b| a == b)
    }

    #[test]
    fn what_repeats_most_is_found_behind_frames_that_do_not() {
        assert_eq!(of("xyabcabcabcabm"), Some(Repetition { start: 2, len: 3, count: 3 }));
        assert_eq!(of("aaaaaaM"), Some(Repetition { start: 0, len: 1, count: 6 }));
    }

    #[test]
    fn a_short_repetition_is_none() {
        assert_eq!(of("abcdefaag"), None);
        assert_eq!(of(""), None);
    }
}
