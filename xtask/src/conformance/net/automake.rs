//! A small reader of automake files: variables that are set, and added to, under conditions that are known.

use std::collections::HashMap;

/// Deeper than any list of lists.
const MAX_DEPTH: usize = 10;

/// The variables of a file.
pub struct Variables(HashMap<String, String>);

impl Variables {
    /// The conditions named are true, all others false.
    pub fn read(text: &str, conditions: &[&str]) -> Variables {
        let mut values: HashMap<String, String> = HashMap::new();
        let mut stack = Vec::new();
        for line in text.replace("\\\n", " ").lines() {
            let mut words = line.split_whitespace();
            match if line.starts_with(char::is_whitespace) { None } else { words.next() } {
                Some("if") => {
                    let name = words.next().unwrap_or_default();
                    let (name, is_negated) = name.strip_prefix('!').map_or((name, false), |name| (name, true));
                    stack.push(conditions.contains(&name) != is_negated);
                }
                Some("else") => {
                    if let Some(last) = stack.last_mut() {
                        *last = !*last;
                    }
                }
                Some("endif") => {
                    stack.pop();
                }
                Some(_) if stack.iter().all(|is_true| *is_true) => {
                    if let Some((name, value)) = line.split_once('=') {
                        let (name, is_added) =
                            name.strip_suffix('+').map_or((name.trim(), false), |name| (name.trim(), true));
                        let value = value.split('#').next().unwrap_or_default();
                        let entry = values.entry(name.to_owned()).or_default();
                        *entry = if is_added { format!("{entry} {value}") } else { value.to_owned() };
                    }
                }
                _ => {}
            }
        }
        Variables(values)
    }

    /// The words of a variable, with those of the variables that it names in their place.
    pub fn words(&self, name: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.expand(name, 0, &mut words);
        words
    }

    fn expand(&self, name: &str, depth: usize, words: &mut Vec<String>) {
        for word in self.0.get(name).map_or("", String::as_str).split_whitespace() {
            match word.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')) {
                Some(inner) if depth < MAX_DEPTH => self.expand(inner, depth + 1, words),
                Some(_) => {}
                None => words.push(word.to_owned()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_additions_and_lists_of_lists() {
        let text = "A = a.cs \\\n\tb.cs\nif X\nA += c.cs\nelse\nA += d.cs\nendif\nif !Y\nB = $(A) e.cs # f\nendif\n";
        assert_eq!(Variables::read(text, &["X"]).words("B"), ["a.cs", "b.cs", "c.cs", "e.cs"]);
        assert!(Variables::read(text, &["Y"]).words("B").is_empty());
    }
}
