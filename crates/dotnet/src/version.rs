//! Versions of runtimes and SDKs, as folders are named: semantic versions (semver.org 2.0.0), "9.0.5" or
//! "10.0.0-rc.1.25451.107".
//!
//! Invariant: versions are ordered by precedence (semver.org, item 11): a preview is lower than its release. Left out:
//! build metadata, which no folder has.

use std::cmp::Ordering;

/// A semantic version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SemanticVersion {
    numbers: [u32; 3],
    /// The identifiers behind the dash; none for a release.
    preview: Vec<String>,
}

impl SemanticVersion {
    /// The version that a folder's name states; None if the name is not a version.
    pub fn parse(name: &str) -> Option<SemanticVersion> {
        let (numbers, preview) = match name.split_once('-') {
            Some((numbers, preview)) => (numbers, preview.split('.').map(str::to_owned).collect()),
            None => (name, Vec::new()),
        };
        let mut parts = numbers.split('.').map(|part| part.parse().ok());
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        let is_whole = parts.next().is_none() && !preview.iter().any(String::is_empty);
        is_whole.then_some(SemanticVersion { numbers, preview })
    }

    /// The first number.
    pub fn major(&self) -> u32 {
        self.numbers[0]
    }

    /// Whether the version is one before a release.
    pub fn is_preview(&self) -> bool {
        !self.preview.is_empty()
    }
}

impl std::fmt::Display for SemanticVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if self.is_preview() { write!(f, "-{}", self.preview.join(".")) } else { Ok(()) }
    }
}

impl Ord for SemanticVersion {
    fn cmp(&self, other: &SemanticVersion) -> Ordering {
        let previews = || match (self.is_preview(), other.is_preview()) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            _ => {
                let pairs = self.preview.iter().zip(&other.preview);
                let differing = pairs.map(|(one, two)| compare_identifiers(one, two)).find(|order| order.is_ne());
                differing.unwrap_or_else(|| self.preview.len().cmp(&other.preview.len()))
            }
        };
        self.numbers.cmp(&other.numbers).then_with(previews)
    }
}

impl PartialOrd for SemanticVersion {
    fn partial_cmp(&self, other: &SemanticVersion) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Numbers are lower than words, and are compared as numbers.
fn compare_identifiers(one: &str, two: &str) -> Ordering {
    match (one.parse::<u64>(), two.parse::<u64>()) {
        (Ok(one), Ok(two)) => one.cmp(&two),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => one.cmp(two),
    }
}

#[cfg(test)]
mod tests {
    use super::SemanticVersion;

    #[test]
    fn versions_are_ordered_by_precedence() {
        let ascending = [
            "8.0.30",
            "9.0.5",
            "9.0.10",
            "10.0.0-preview.2.25163.2",
            "10.0.0-preview.10.1",
            "10.0.0-rc.1",
            "10.0.0-rc.1.25451.107",
            "10.0.0-rc.1.z",
            "10.0.0",
            "10.0.13",
        ];
        let versions: Vec<SemanticVersion> =
            ascending.iter().map(|name| SemanticVersion::parse(name).expect(name)).collect();
        assert!(versions.is_sorted_by(|one, two| one < two), "{versions:?}");
        assert_eq!(versions.iter().map(SemanticVersion::to_string).collect::<Vec<_>>(), ascending);
    }

    #[test]
    fn other_names_are_no_versions() {
        for name in ["", "9", "9.0", "9.0.x", "9.0.5.1", "9.0.5-", "9.0.5-a..b", "v9.0.5", "-1.0.0", "Current"] {
            assert_eq!(SemanticVersion::parse(name), None, "{name}");
        }
    }
}
