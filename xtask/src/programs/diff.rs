//! A line diff for the report of a failing program.
//!
//! Longest common subsequence by dynamic programming: test outputs are a few hundred lines. Beyond
//! `MAX_LINES` only the first difference is shown, because the table would be too large.

/// 2,000 × 2,000 cells of 4 bytes are 16 MB.
const MAX_LINES: usize = 2000;

/// Unchanged lines shown on either side of a change.
const CONTEXT_LINES: usize = 2;

/// The changes that turn `expected` into `actual`, one line each with a prefix `-`, `+` or a space, at most
/// `max_lines` of them.
pub fn diff(expected: &str, actual: &str, max_lines: usize) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    let mut rows =
        if old.len().max(new.len()) > MAX_LINES { first_difference(&old, &new) } else { common_lines(&old, &new) };
    if rows.iter().all(|(mark, _)| *mark == ' ') && expected != actual {
        rows.push(('!', "(the difference is in line ends or a last line without one)"));
    }
    let shown: Vec<bool> = (0..rows.len())
        .map(|i| {
            let near = i.saturating_sub(CONTEXT_LINES)..(i + CONTEXT_LINES + 1).min(rows.len());
            rows[near].iter().any(|(mark, _)| *mark != ' ')
        })
        .collect();
    let mut out = String::new();
    let mut printed = 0;
    for (i, (mark, line)) in rows.iter().enumerate() {
        if !shown[i] {
            continue;
        }
        if printed == max_lines {
            out.push_str("    ...\n");
            break;
        }
        if i > 0 && !shown[i - 1] && printed > 0 {
            out.push_str("    ...\n");
        }
        out.push_str(&format!("    {mark} {line}\n"));
        printed += 1;
    }
    out
}

type Rows<'a> = Vec<(char, &'a str)>;

fn first_difference<'a>(old: &[&'a str], new: &[&'a str]) -> Rows<'a> {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let context = old[same.saturating_sub(CONTEXT_LINES)..same].iter().map(|&line| (' ', line));
    context.chain(old.get(same).map(|&line| ('-', line))).chain(new.get(same).map(|&line| ('+', line))).collect()
}

fn common_lines<'a>(old: &[&'a str], new: &[&'a str]) -> Rows<'a> {
    // length[i][j]: the longest common subsequence of old[i..] and new[j..].
    let width = new.len() + 1;
    let mut length = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            length[i * width + j] = if old[i] == new[j] {
                length[(i + 1) * width + j + 1] + 1
            } else {
                length[(i + 1) * width + j].max(length[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut rows) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            rows.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && length[(i + 1) * width + j] >= length[i * width + j + 1] {
            rows.push(('-', old[i]));
            i += 1;
        } else {
            rows.push(('+', new[j]));
            j += 1;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::diff;

    fn check(expected: &str, actual: &str, want: &str) {
        assert_eq!(diff(expected, actual, 20), want);
    }

    #[test]
    fn changed_added_and_missing_lines() {
        check("a\nb\nc\n", "a\nx\nc\n", "      a\n    - b\n    + x\n      c\n");
        check("a\n", "a\nb\n", "      a\n    + b\n");
        check("a\nb\n", "b\n", "    - a\n      b\n");
    }

    #[test]
    fn far_context_is_left_out() {
        check("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nx\n", "      3\n      4\n    - 5\n    + x\n");
    }

    #[test]
    fn a_missing_last_line_end_is_named() {
        assert!(diff("a\n", "a", 20).contains("line ends"));
    }
}
