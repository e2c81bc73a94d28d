//! Comparing text without regard to the case of ASCII's letters, and converting its case.
//!
//! `OrdinalIgnoreCase` compares the results of the invariant culture's `ToUpper` for each unit. An ASCII letter results
//! from ASCII letters only; the results for other characters are in the class library's tables, so pairs of different
//! characters of which one is not ASCII are declined.

use super::slices::{may_decline, slices};
use super::spans::{Span, overlap};
use saki_loops::ascii_case::{Case, first_difference, upper};
use saki_loops::transcode;
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::object::fields::ManagedField;
use saki_runtime::{CurrentThread, Managed, Obj, Str};
use saki_types::LibraryType;

/// `CompareInfo.CompareOrdinalIgnoreCase`: by the first units that differ, else by the lengths: their difference if all
/// units were ASCII, otherwise their order only.
fn compare(t: CurrentThread, a: &Span<u16>, b: &Span<u16>) -> i32 {
    let (Some(a), Some(b)) = (a.elements(), b.elements()) else { return DECLINED };
    let count = a.len().min(b.len());
    let mut is_ascii = true;
    let different = slices(t, count, 2, |first, number| {
        let (different, is_ascii_here) = first_difference(&a[first..first + number], &b[first..first + number]);
        is_ascii &= is_ascii_here;
        different.map(|place| first + place)
    });
    match different.map(|place| (a[place], b[place])) {
        Some((x, y)) if x | y < 0x80 => i32::from(upper(x)) - i32::from(upper(y)),
        Some(_) => DECLINED,
        None if is_ascii => a.len() as i32 - b.len() as i32,
        None => a.len().cmp(&b.len()) as i32,
    }
}

/// Whether the culture changes the case of ASCII's letters as most cultures do. Two bytes: whether that is known, and
/// whether it is so.
static ASCII_CASE_IS_PLAIN: ManagedField = ManagedField::new(LibraryType::TextInfo, "m_IsAsciiCasingSameAsInvariant");

/// Writes the text in this case. False: it is not all ASCII, and not all of the text was written.
fn convert(t: CurrentThread, case: Case, source: &[u16], target: &mut [u16]) -> bool {
    let other = slices(t, source.len(), 2, |from, number| {
        (!case.convert(&source[from..from + number], &mut target[from..from + number])).then_some(())
    });
    other.is_none()
}

fn is_plain(text_info: Option<Obj>) -> bool {
    text_info.is_some_and(|text_info| ASCII_CASE_IS_PLAIN.get::<[u8; 2]>(text_info) == [1, 1])
}

/// The string in that case. Null, which declines, if the string is empty or not all ASCII, or the culture's rules
/// differ or are not known yet.
fn string_in_case<'t>(
    t: CurrentThread<'t>,
    text_info: Option<Obj>,
    text: Option<Str<'t>>,
    case: Case,
) -> Managed<Option<Str<'t>>> {
    let units = text.map_or(&[][..], Str::units);
    if units.is_empty() || !is_plain(text_info) {
        return Ok(None);
    }
    let other = slices(t, units.len(), 2, |first, number| {
        (!transcode::is_ascii_utf16(&units[first..first + number])).then_some(())
    });
    if other.is_some() {
        return Ok(None);
    }
    let made = Str::filled(t, units.len(), |target| {
        convert(t, case, units, target);
    });
    made.map(Some)
}

/// `TextInfo.ToUpperInternal(string)`
fn to_upper<'t>(t: CurrentThread<'t>, text_info: Option<Obj>, text: Option<Str<'t>>) -> Managed<Option<Str<'t>>> {
    string_in_case(t, text_info, text, Case::Upper)
}

/// `TextInfo.ToLowerInternal(string)`
fn to_lower<'t>(t: CurrentThread<'t>, text_info: Option<Obj>, text: Option<Str<'t>>) -> Managed<Option<Str<'t>>> {
    string_in_case(t, text_info, text, Case::Lower)
}

/// `TextInfo.ChangeCase(span, span, bool)`, by which hash codes without case are made. Declined as in `string_in_case`;
/// the body writes all of the target again.
fn change_case(
    t: CurrentThread,
    text_info: Option<Obj>,
    source: &Span<u16>,
    target: &Span<u16>,
    to_upper: bool,
) -> i32 {
    let len_bytes = 2 * source.count();
    if !is_plain(text_info)
        || target.count() < source.count()
        || overlap(source.start(), len_bytes, target.start(), len_bytes)
    {
        return DECLINED;
    }
    // SAFETY: the part of the target does not overlap the source.
    let (Some(source), Some(target)) = (source.elements(), unsafe { target.first_mut(source.count()) }) else {
        return DECLINED;
    };
    let case = if to_upper { Case::Upper } else { Case::Lower };
    if convert(t, case, source, target) { 0 } else { DECLINED }
}

pub(super) const TABLE: &[LoopRow] = &[
    may_decline(
        "static System.Globalization.CompareInfo::CompareOrdinalIgnoreCase(System.ReadOnlySpan`1[System.Char],System.ReadOnlySpan`1[System.Char]) System.Int32",
        &compare,
    ),
    may_decline("System.Globalization.TextInfo::ToUpperInternal(System.String) System.String", &to_upper),
    may_decline("System.Globalization.TextInfo::ToLowerInternal(System.String) System.String", &to_lower),
    may_decline(
        "System.Globalization.TextInfo::ChangeCase(System.ReadOnlySpan`1[System.Char],System.Span`1[System.Char],System.Boolean) System.Void",
        &change_case,
    ),
];
