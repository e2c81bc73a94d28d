//! A heap snapshot as one self-contained HTML file: types, roots, and why the objects of each of the largest types
//! live. Two snapshots compared are such a page, too: types by growth.
//!
//! Invariant: no network, no other file; names go into the page as text only, escaped. Left out: individual objects.

use super::analysis::{Analysis, TypeRow};
use super::graph::HeapGraph;
use super::paths::{Path, Paths};
use crate::html::{COMMON_SCRIPT, fill};
use crate::json;
use rustc_hash::FxHashMap;
use std::fmt::Write;

const PAGE: &str = include_str!("../html/heap.html");
const SCRIPT: &str = include_str!("../html/heap.js");
/// Where the data goes; once in the page.
const PLACE: &str = "__HEAP__";
/// Types whose paths are in the page: the search for each looks at all objects.
const TYPES_WITH_PATHS: usize = 20;
/// Ways of each: shortest ones, and as many further ones.
const PATHS: usize = 8;

/// Objects and bytes of a type in an earlier snapshot.
type Before = (u64, u64);

/// The page of one snapshot.
pub fn write(graph: &HeapGraph, analysis: &Analysis) -> String {
    page(&data(graph, analysis, None))
}

/// The page of the types that have grown or shrunk from one snapshot to the other.
pub fn write_growth(before: &HeapGraph, after: &HeapGraph) -> String {
    let mut sums: FxHashMap<&str, Before> = FxHashMap::default();
    for object in 0..before.object_count() as u32 {
        let sum = sums.entry(&before.types[before.type_of(object) as usize].name).or_default();
        *sum = (sum.0 + 1, sum.1 + before.size_bytes(object));
    }
    page(&data(after, &Analysis::of(after), Some(sums)))
}

fn page(data: &str) -> String {
    fill(PAGE, &[COMMON_SCRIPT, SCRIPT].concat(), PLACE, data)
}

fn data(graph: &HeapGraph, analysis: &Analysis, before: Option<FxHashMap<&str, Before>>) -> String {
    let mut out = String::from("{\"title\":");
    json::string(&mut out, &graph.title);
    let (objects, bytes) = (analysis.reached_objects, analysis.reached_bytes);
    let taken_ms = graph.taken_unix_ns / 1_000_000;
    let _ = write!(out, ",\"takenMs\":{taken_ms},\"objects\":{objects},\"bytes\":{bytes}");
    let is_comparison = before.is_some();
    let mut before = before.unwrap_or_default();
    if is_comparison {
        let whole = before.values().fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
        let _ = write!(out, ",\"isComparison\":true,\"before\":[{},{}]", whole.0, whole.1);
    }
    out.push_str(",\"types\":");
    let mut order: Vec<(u32, Before)> = analysis
        .by_retained()
        .into_iter()
        .map(|ty| (ty, before.remove(&*graph.types[ty as usize].name).unwrap_or_default()))
        .collect();
    if is_comparison {
        let grown = |(ty, before): &(u32, Before)| analysis.types[*ty as usize].own_bytes.saturating_sub(before.1);
        order.sort_by_key(|row| (std::cmp::Reverse(grown(row)), row.0));
    }
    let row = |out: &mut String, name: &str, numbers: [u64; 3], ways: &[&Path], before: Before| {
        out.push('[');
        json::string(out, name);
        let _ = write!(out, ",{},{},{},", numbers[0], numbers[1], numbers[2]);
        json::array(out, ways, |out, path| write_path(out, path));
        if is_comparison {
            let _ = write!(out, ",[{},{}]", before.0, before.1);
        }
        out.push(']');
    };
    let paths = Paths::of(graph);
    out.push('[');
    for (rank, &(ty, before)) in order.iter().enumerate() {
        let TypeRow { count, own_bytes, retained_bytes } = analysis.types[ty as usize];
        let ways = if rank < TYPES_WITH_PATHS { paths.to_type(ty) } else { Vec::new() };
        let (further, shortest): (Vec<&Path>, Vec<&Path>) = ways.iter().partition(|path| path.is_further);
        let shown: Vec<&Path> = shortest.into_iter().take(PATHS).chain(further.into_iter().take(PATHS)).collect();
        out.push_str(if rank > 0 { "," } else { "" });
        row(&mut out, &graph.types[ty as usize].name, [count, own_bytes, retained_bytes], &shown, before);
    }
    // Types without objects now.
    let mut gone: Vec<(&str, Before)> = before.into_iter().collect();
    gone.sort_unstable();
    for (index, (name, before)) in gone.into_iter().enumerate() {
        out.push_str(if index > 0 || !order.is_empty() { "," } else { "" });
        row(&mut out, name, [0; 3], &[], before);
    }
    out.push(']');
    let mut sources: Vec<usize> = (0..graph.sources.len()).filter(|&source| analysis.sources[source] > 0).collect();
    sources.sort_by_key(|&source| (std::cmp::Reverse(analysis.sources[source]), source));
    out.push_str(",\"roots\":");
    json::array(&mut out, sources, |out, source| {
        out.push('[');
        json::string(out, &graph.sources[source]);
        let _ = write!(out, ",{}]", analysis.sources[source]);
    });
    out.push('}');
    out
}

/// Objects, bytes, the root and the steps; and 1 for a path that is not the shortest one of its objects.
fn write_path(out: &mut String, path: &Path) {
    let _ = write!(out, "[{},{},", path.count, path.own_bytes);
    let steps = path.steps.iter().map(|step| match step.most_objects {
        1 => step.text.clone(),
        most => format!("{} (up to {most} in a row, by {})", step.text, step.link.trim_start()),
    });
    let texts: Vec<String> = std::iter::once(path.source.clone()).chain(steps).collect();
    json::strings(out, texts.iter().map(|text| &**text));
    let _ = write!(out, ",{}]", u8::from(path.is_further));
}

#[cfg(test)]
mod tests {
    use super::super::builder::tests::graph;
    use super::*;

    #[test]
    fn names_stay_text_and_nothing_is_asked_of_the_network() {
        let mut graph = graph(&[&[1], &[]], &[0]);
        graph.types[1].name = "</script><script>alert(1)".into();
        let page = write(&graph, &Analysis::of(&graph));
        assert!(!page.contains("<script>alert"), "{page}");
        assert!(!page.contains(PLACE) && !page.contains("http:") && !page.contains("https:"));
        assert!(page.contains("\"objects\":2,\"bytes\":40") && page.contains("static field R.r0"));
        let parts = [PAGE, SCRIPT, COMMON_SCRIPT];
        assert!(!parts.iter().any(|part| ["fetch", " src=", "import(", "url("].iter().any(|word| part.contains(word))));
        assert!(PAGE.contains("default-src 'none'"), "the browser holds the page to it");
    }
}
