//! The cultures and regions, from `data/cultures.txt` (written by `data/dump-cultures.cs`).
//!
//! A record is a header line, `[name<TAB>parent]` for a culture or `{name}` for a region, and `key<TAB>value…` lines. A
//! culture inherits the keys it lacks from its parent. The file is split into records on first use; keys are looked up
//! in a record's text, which has at most 50 lines.

use std::collections::HashMap;
use std::sync::OnceLock;

const TEXT: &str = include_str!("../../data/cultures.txt");

/// One culture.
pub struct Culture {
    /// As in `CultureInfo.Name`: "en-US".
    pub name: &'static str,
    parent: Option<usize>,
    body: &'static str,
}

/// One region.
pub struct Region {
    body: &'static str,
}

struct Tables {
    cultures: Vec<Culture>,
    by_lower_name: HashMap<String, usize>,
    by_lcid: HashMap<i32, usize>,
    regions: HashMap<&'static str, Region>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(parse)
}

/// (header line, body) of each record. One pass over the text: it is part of every start.
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
    let mut cultures: Vec<(Culture, Option<&str>)> = Vec::new();
    let mut regions = HashMap::new();
    for (header, body) in records() {
        let name = &header[1..header.len() - 1];
        if header.starts_with('{') {
            regions.insert(name, Region { body });
            continue;
        }
        let (name, parent) = name.split_once('\t').map_or((name, None), |(name, parent)| (name, Some(parent)));
        cultures.push((Culture { name, parent: None, body }, parent));
    }
    let by_lower_name: HashMap<String, usize> =
        cultures.iter().enumerate().map(|(index, (culture, _))| (culture.name.to_ascii_lowercase(), index)).collect();
    let cultures: Vec<Culture> = cultures
        .into_iter()
        .map(|(culture, parent)| Culture {
            parent: parent.and_then(|name| by_lower_name.get(&name.to_ascii_lowercase()).copied()),
            ..culture
        })
        .collect();
    let by_lcid =
        cultures.iter().enumerate().map(|(index, culture)| (value(culture.body, "lcid").map_or(0, number), index));
    Tables { by_lcid: by_lcid.collect(), cultures, by_lower_name, regions }
}

/// The value of a key in a record's own lines.
fn value(body: &'static str, key: &str) -> Option<&'static str> {
    body.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('\t'))
}

fn number(text: &str) -> i32 {
    text.parse().unwrap_or(0)
}

/// All cultures, in the order of `CultureInfo.GetCultures`; the index is the number other calls pass around.
pub fn cultures() -> &'static [Culture] {
    &tables().cultures
}

/// Index of the culture with this lower-case name.
pub fn culture_named(lower_name: &str) -> Option<usize> {
    tables().by_lower_name.get(lower_name).copied()
}

pub fn culture_with_lcid(lcid: i32) -> Option<usize> {
    tables().by_lcid.get(&lcid).copied()
}

/// The region with this upper-case name: "US".
pub fn region_named(upper_name: &str) -> Option<&'static Region> {
    tables().regions.get(upper_name)
}

impl Culture {
    /// Own or inherited text.
    pub fn text(&'static self, key: &str) -> Option<&'static str> {
        let mut at = self;
        loop {
            if let Some(found) = value(at.body, key) {
                return Some(found);
            }
            at = &cultures()[at.parent?];
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

    /// A culture without a country.
    pub fn is_neutral(&'static self) -> bool {
        self.text("territory").is_none()
    }
}

impl Region {
    pub fn text(&'static self, key: &str) -> Option<&'static str> {
        value(self.body, key)
    }

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
