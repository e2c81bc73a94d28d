//! Heap snapshots as text: the table by type, why objects of a type live, what grew between two snapshots.
//!
//! Left out: computing these facts (`analysis`, `paths`).

use super::analysis::{Analysis, TypeRow};
use super::graph::{DOMAIN_MARK, HeapGraph};
use super::paths::{Path, Paths};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Rows of a table, unless asked otherwise.
pub const ROWS: usize = 25;
/// Sources of roots shown.
const SOURCE_ROWS: usize = 10;
/// Ways shown.
const PATHS: usize = 10;
/// How many similar names are shown when there is no type of the requested name.
const NEAR_NAMES: usize = 5;

/// `1,234`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn objects(count: u64) -> String {
    if count == 1 { "1 object".into() } else { format!("{} objects", thousands(count)) }
}

/// Types with their own and retained sizes, and the roots that retain most.
pub fn table(graph: &HeapGraph, analysis: &Analysis) -> String {
    let mut out = format!(
        "heap: {} of {} types, {} bytes, {} references\n",
        objects(analysis.reached_objects),
        thousands(analysis.types.iter().filter(|row| row.count > 0).count() as u64),
        thousands(analysis.reached_bytes),
        thousands(graph.reference_count() as u64)
    );
    if graph.took_ns > 0 {
        let _ = writeln!(out, "the program stood still for {:.1} ms", graph.took_ns as f64 / 1e6);
    }
    let _ = writeln!(out, "{:>15} {:>15} {:>12}  type", "retained bytes", "own bytes", "objects");
    let order = analysis.by_retained();
    for &ty in order.iter().take(ROWS) {
        let TypeRow { count, own_bytes, retained_bytes } = analysis.types[ty as usize];
        let (retained, own, count) = (thousands(retained_bytes), thousands(own_bytes), thousands(count));
        let _ = writeln!(out, "{retained:>15} {own:>15} {count:>12}  {}", graph.types[ty as usize].name);
    }
    if order.len() > ROWS {
        let _ = writeln!(out, "... and {} types more", thousands((order.len() - ROWS) as u64));
    }
    let mut sources: Vec<usize> = (0..graph.sources.len()).filter(|&source| analysis.sources[source] > 0).collect();
    sources.sort_by_key(|&source| (std::cmp::Reverse(analysis.sources[source]), source));
    let _ = writeln!(out, "{:>15}  kept by one root alone", "retained bytes");
    for &source in sources.iter().take(SOURCE_ROWS) {
        let _ = writeln!(out, "{:>15}  {}", thousands(analysis.sources[source]), graph.sources[source]);
    }
    out
}

/// The type called `name`: by its whole name, or by its end if that is one type's only.
///
/// # Errors
/// A message with names that are near.
pub fn find_type(graph: &HeapGraph, name: &str) -> Result<u32, String> {
    let all = || graph.types.iter().zip(0_u32..);
    if let Some((_, ty)) = all().find(|(ty, _)| ty.name == name) {
        return Ok(ty);
    }
    let is_last_part = |full: &str| {
        let without_domain = full.split_once(DOMAIN_MARK).map_or(full, |(before, _)| before);
        let before = full.strip_suffix(name).or_else(|| without_domain.strip_suffix(name));
        before.is_some_and(|before| before.is_empty() || before.ends_with(['.', '/', '+']))
    };
    let by_end: Vec<u32> = all().filter(|(ty, _)| is_last_part(&ty.name)).map(|(_, ty)| ty).collect();
    match by_end[..] {
        [ty] => return Ok(ty),
        [] => {}
        _ => {
            let names: Vec<&str> = by_end.iter().map(|&ty| &*graph.types[ty as usize].name).collect();
            return Err(format!("several types are called {name}: {}", names.join(", ")));
        }
    }
    let near = near_names(graph, name);
    if near.is_empty() {
        return Err(format!("no object of a type {name} is alive"));
    }
    Err(format!("no object of a type {name} is alive; alive are, for example: {}", near.join(", ")))
}

/// Names that contain it or are spelt like it.
fn near_names<'a>(graph: &'a HeapGraph, name: &str) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let last_part = |name: &str| name.rsplit(['.', '/', '+']).next().unwrap_or_default().to_owned();
    let wanted_part = last_part(&wanted);
    let mut rated: Vec<(usize, &str)> = Vec::new();
    for ty in &graph.types {
        let lower = ty.name.to_lowercase();
        let rating = if !wanted_part.is_empty() && lower.contains(&wanted_part) {
            lower.len() - wanted_part.len()
        } else {
            match distance(&wanted_part, &last_part(&lower)) {
                few if few <= wanted_part.len() / 3 => 1000 + few,
                _ => continue,
            }
        };
        rated.push((rating, &ty.name));
    }
    rated.sort_unstable();
    rated.dedup();
    rated.into_iter().take(NEAR_NAMES).map(|(_, name)| name).collect()
}

/// Letters to insert, drop or change to make one the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, from) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (place, &to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != to);
            diagonal = row[place + 1];
            row[place + 1] = changed.min(row[place] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Why the objects of a type live.
///
/// # Errors
/// See `find_type`.
pub fn why(graph: &HeapGraph, analysis: &Analysis, name: &str) -> Result<String, String> {
    let ty = find_type(graph, name)?;
    let name = &graph.types[ty as usize].name;
    let TypeRow { count, own_bytes, retained_bytes } = analysis.types[ty as usize];
    if count == 0 {
        return Err(format!("no root leads to the objects of {name}"));
    }
    let (own, retained) = (thousands(own_bytes), thousands(retained_bytes));
    let mut out = format!("{name}: {}, {own} bytes, retaining {retained}\n", objects(count));
    let paths = Paths::around(graph, ty).to_type(ty);
    let (further, shortest): (Vec<&Path>, Vec<&Path>) = paths.iter().partition(|path| path.is_further);
    for path in shortest.iter().take(PATHS) {
        out += &way(path);
    }
    if shortest.len() > PATHS {
        let rest = shortest[PATHS..].iter().map(|path| path.count).sum();
        let ways = thousands((shortest.len() - PATHS) as u64);
        let _ = writeln!(out, "... and {} by {ways} other ways", objects(rest));
    }
    for path in further.iter().take(PATHS) {
        out += &way(path);
    }
    if further.len() > PATHS {
        let _ = writeln!(out, "... and {} further ways to the same objects", thousands((further.len() - PATHS) as u64));
    }
    Ok(out)
}

fn way(path: &Path) -> String {
    let also = if path.is_further { " also" } else { "" };
    let mut out =
        format!("\n{} ({} bytes){also}:\n    {}\n", objects(path.count), thousands(path.own_bytes), path.source);
    for step in &path.steps {
        let _ = write!(out, "    -> {}", step.text);
        if step.most_objects > 1 {
            let _ = write!(
                out,
                "   (up to {} in a row, by {})",
                thousands(u64::from(step.most_objects)),
                step.link.trim_start()
            );
        }
        out.push('\n');
    }
    out
}

/// Which types have more objects in the second snapshot, and which fewer.
pub fn growth(before: &HeapGraph, after: &HeapGraph) -> String {
    let mut rows: FxHashMap<&str, [(i64, i64); 2]> = FxHashMap::default();
    let mut total = [(0_i64, 0_i64); 2];
    for (index, graph) in [before, after].into_iter().enumerate() {
        for object in 0..graph.object_count() as u32 {
            let row = &mut rows.entry(&graph.types[graph.type_of(object) as usize].name).or_default()[index];
            for sums in [row, &mut total[index]] {
                sums.0 += 1;
                sums.1 += graph.size_bytes(object) as i64;
            }
        }
    }
    let mut rows: Vec<_> = rows.into_iter().map(|(name, [a, b])| (b.1 - a.1, b.0 - a.0, b, name)).collect();
    rows.retain(|row| (row.0, row.1) != (0, 0));
    rows.sort_by_key(|&(bytes, count, _, name)| (std::cmp::Reverse(bytes.unsigned_abs()), -count, name));
    let signed = |number: i64| {
        let sign = if number < 0 { '-' } else { '+' };
        format!("{sign}{}", thousands(number.unsigned_abs()))
    };
    let [a, b] = total;
    let mut out = format!("heap: {} bytes in {} objects\n", signed(b.1 - a.1), signed(b.0 - a.0));
    let _ = writeln!(out, "{:>15} {:>12} {:>15} {:>12}  type", "bytes", "objects", "bytes now", "objects now");
    for (bytes, count, now, name) in rows.iter().take(ROWS) {
        let (bytes, count) = (signed(*bytes), signed(*count));
        let (bytes_now, now) = (thousands(now.1 as u64), thousands(now.0 as u64));
        let _ = writeln!(out, "{bytes:>15} {count:>12} {bytes_now:>15} {now:>12}  {name}");
    }
    if rows.len() > ROWS {
        let _ = writeln!(out, "... and {} types more", thousands((rows.len() - ROWS) as u64));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::builder::tests::graph;
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!([7, 100, 1234, 1_000_000].map(thousands), ["7", "100", "1,234", "1,000,000"]);
    }

    fn named(names: &[&str]) -> HeapGraph {
        let mut graph = graph(&vec![&[][..]; names.len()], &[0]);
        for (ty, name) in graph.types.iter_mut().zip(names) {
            ty.name = (*name).into();
        }
        graph
    }

    #[test]
    fn types_are_found_by_the_end_of_their_names() {
        let graph =
            named(&["A.B.Session", "A.Other", "C.Other", "System.String", "System.String[]", "A.Thing (domain 3)"]);
        assert_eq!(find_type(&graph, "Session"), Ok(0));
        assert_eq!(find_type(&graph, "B.Session"), Ok(0));
        assert_eq!(find_type(&graph, "Thing"), Ok(5));
        assert_eq!(find_type(&graph, "A.Thing"), Ok(5));
        assert_eq!(find_type(&graph, "System.String"), Ok(3));
        assert_eq!(find_type(&graph, "Other").unwrap_err(), "several types are called Other: A.Other, C.Other");
        let unknown = "no object of a type Sesion is alive; alive are, for example: A.B.Session";
        assert_eq!(find_type(&graph, "Sesion").unwrap_err(), unknown);
        assert_eq!(find_type(&graph, "Q.Xyzzy").unwrap_err(), "no object of a type Q.Xyzzy is alive");
        assert_eq!(
            find_type(&graph, "string").unwrap_err(),
            "no object of a type string is alive; alive are, for example: System.String, System.String[]"
        );
    }

    #[test]
    fn reasons_name_roots_types_and_fields() {
        let graph = graph(&[&[1], &[2], &[]], &[0]);
        let analysis = Analysis::of(&graph);
        let expect = "T2: 1 object, 32 bytes, retaining 32\n\n1 object (32 bytes):\n    static field R.r0\n    -> T0.f0\n    -> T1.f0\n    -> T2\n";
        assert_eq!(why(&graph, &analysis, "T2").as_deref(), Ok(expect));
        let table = table(&graph, &analysis);
        assert!(table.starts_with("heap: 3 objects of 3 types, 72 bytes, 2 references\n"), "{table}");
        assert!(table.contains("             72              16            1  T0\n"), "{table}");
        assert!(table.ends_with("             72  static field R.r0\n"), "{table}");
    }

    #[test]
    fn growth_is_by_type() {
        let text = growth(&named(&["A", "B", "C"]), &named(&["B", "D", "C"]));
        let lines: Vec<&str> = text.lines().skip(2).map(str::trim_start).collect();
        assert_eq!(text.lines().next(), Some("heap: +0 bytes in +0 objects"));
        assert_eq!(lines[0], "+24           +1              24            1  D");
        assert!(lines.iter().any(|line| line.starts_with("-16           -1") && line.ends_with(" A")), "{text}");
        assert!(!text.contains(" C"), "{text}");
    }
}
