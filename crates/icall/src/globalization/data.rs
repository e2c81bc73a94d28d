//! The cultures and regions, from `data/cultures.txt` (written by `data/dump-cultures.cs`).
//!
//! A record is a header line, `[name<TAB>parent]` for a culture or `{name}` for a region, and `key<TAB>value…` lines. A
//! culture inherits the keys it lacks from its parent. The file is split into records on first use, which many programs
//! reach while they start; everything else is looked up in the text, which has at most 50 lines a record.

use std::sync::OnceLock;

const TEXT: &str = include_str!("../../data/cultures.txt");

/// One culture.
pub struct Culture {
    /// As in `CultureInfo.Name`: "en-US".
    pub name: &'static str,
    parent: Option<&'static str>,
    body: &'static str,
}

/// One region.
pub struct RegionTexts {
    name: &'static str,
    body: &'static str,
}

struct Tables {
    cultures: Vec<Culture>,
    regions: Vec<RegionTexts>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(parse)
}

/// (header line, body) of each record, in one pass over the text.
fn records() -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_header = |at: &usize| matches!(TEXT.as_bytes().get(*at), Some(b'[' | b'{'));
    let line_starts = std::iter::once(0).chain(TEXT.match_indices('\n').map(|(at, _)| at + 1));
    let mut headers = line_starts.filter(is_header).peekable();
    std::iter::from_fn(move || {
        let start = headers.next()?;
        let end = headers.peek().copied().unwrap_or(TEXT.len());
        TEXT[start..end].split_once('\n')
    })
}

fn parse() -> Tables {
    let mut tables = Tables { cultures: Vec::new(), regions: Vec::new() };
    for (header, body) in records() {
        let name = &header[1..header.len() - 1];
        if header.starts_with('{') {
            tables.regions.push(RegionTexts { name, body });
            continue;
        }
        let (name, parent) = name.split_once('\t').map_or((name, None), |(name, parent)| (name, Some(parent)));
        tables.cultures.push(Culture { name, parent, body });
    }
    tables
}

/// The value of a key in a record's own lines.
fn value(body: &'static str, key: &str) -> Option<&'static str> {
    body.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('\t'))
}

fn number(text: &str) -> i32 {
    text.parse().unwrap_or(0)
}

/// All cultures, in the order of `CultureInfo.GetCultures`; other calls name a culture by its index.
pub fn cultures() -> &'static [Culture] {
    &tables().cultures
}

/// Index of the culture with this lower-case name. The invariant culture, which "" and "c" (a locale of the C library)
/// ask for, is not in the data.
pub fn culture_named(lower_name: &str) -> Option<usize> {
    if matches!(lower_name, "" | "c") {
        return None;
    }
    cultures().iter().position(|culture| culture.name.eq_ignore_ascii_case(lower_name))
}

/// The culture with this Windows number.
pub fn culture_with_lcid(lcid: i32) -> Option<usize> {
    // Where cultures share a number (zh-Hans and zh-CHS), it means the culture that is not marked as shadowed.
    cultures().iter().position(|culture| {
        value(culture.body, "lcid").map_or(0, number) == lcid && value(culture.body, "shadowed").is_none()
    })
}

/// The region with this upper-case name: "US".
pub fn region_named(upper_name: &str) -> Option<&'static RegionTexts> {
    tables().regions.iter().find(|region| region.name == upper_name)
}

impl Culture {
    /// Own or inherited text.
    pub fn text(&'static self, key: &str) -> Option<&'static str> {
        let mut at = self;
        loop {
            if let Some(found) = value(at.body, key) {
                return Some(found);
            }
            let parent = at.parent?;
            at = cultures().iter().find(|culture| culture.name == parent)?;
        }
    }

    /// Own or inherited number; 0 when there is none.
    pub fn number(&'static self, key: &str) -> i32 {
        self.text(key).map_or(0, number)
    }

    /// Own or inherited list.
    pub fn list(&'static self, key: &str) -> Option<Vec<&'static str>> {
        self.text(key).map(|text| text.split('\t').collect())
    }

    /// Whether the culture has no country.
    pub fn is_neutral(&'static self) -> bool {
        self.text("territory").is_none()
    }
}

impl RegionTexts {
    /// A text of the region's record.
    pub fn text(&'static self, key: &str) -> Option<&'static str> {
        value(self.body, key)
    }

    /// A number of the region's record.
    pub fn number(&'static self, key: &str) -> i32 {
        self.text(key).map_or(0, number)
    }
}

#[cfg(test)]
mod tests {
    use super::{culture_named, culture_with_lcid, cultures, region_named};

    #[test]
    fn american_english() {
        let index = culture_named("en-us").expect("en-US is known");
        let culture = &cultures()[index];
        assert_eq!((culture.name, culture.number("lcid"), culture.text("sAM1159")), ("en-US", 1033, Some("AM")));
        assert_eq!(culture_with_lcid(1033), Some(index));
        assert_eq!(culture.list("saDayNames").expect("days")[0], "Sunday");
        assert!(!culture.is_neutral());
        assert_eq!(region_named("US").expect("US").text("isoCurrencySymbol"), Some("USD"));
    }

    #[test]
    fn every_culture_is_complete() {
        assert_eq!(cultures().len(), 339);
        for culture in cultures() {
            for key in
                ["englishname", "nativename", "iso2lang", "numberDecimalSeparator", "saLongTimes", "saMonthNames"]
            {
                assert!(culture.text(key).is_some(), "{} has no {key}", culture.name);
            }
        }
    }
}
