//! "Did you mean": the known word that a mistyped one is nearest to.

/// Letters that are wrong, missing, too many or exchanged in a word that is still recognised: one, and one more for
/// each four.
fn max_distance(word: &str) -> usize {
    1 + word.chars().count() / 4
}

/// The nearest of `known`, if it is near enough.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().map(|known| (strsim::osa_distance(word, known), known));
    let nearest = distances.min_by_key(|(distance, _)| *distance)?;
    // A short word is near to many.
    let is_near = nearest.0 <= max_distance(word) && nearest.0 < word.chars().count().div_ceil(2).max(2);
    is_near.then_some(nearest.1)
}

/// "; did you mean 'X'?", or nothing.
pub fn clause<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map(|known| format!("; did you mean '{known}'?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_words_are_recognised() {
        let known = ["run", "repl", "info", "doctor", "profile", "cache", "cpu", "alloc"];
        for (word, expected) in [
            ("docter", Some("doctor")),
            ("rnu", Some("run")),
            ("cpuu", Some("cpu")),
            ("proifle", Some("profile")),
            ("chache", Some("cache")),
            ("aloc", Some("alloc")),
            ("test", None),
            ("x", None),
            ("hello", None),
            ("Program", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
