//! A heap snapshot as one self-contained HTML file: types, roots, and why the objects of each of the largest types live.
//!
//! Invariant: no network, no other file; names go into the page as text only, escaped. Left out: individual objects.

use super::analysis::Analysis;
use super::graph::HeapGraph;
use super::paths::Paths;
use crate::json;
use std::fmt::Write;

const PAGE: &str = include_str!("page.html");
/// Where the data goes; once in the page.
const PLACE: &str = "__HEAP__";
/// Types whose paths are in the page: the search for each looks at all objects.
const TYPES_WITH_PATHS: usize = 20;
/// Ways of each.
const PATHS: usize = 8;

pub fn write(graph: &HeapGraph, analysis: &Analysis) -> String {
    PAGE.replacen(PLACE, &data(graph, analysis), 1)
}

fn data(graph: &HeapGraph, analysis: &Analysis) -> String {
    let mut out = String::from("{\"title\":");
    json::string(&mut out, &graph.title);
    let (objects, bytes) = (analysis.reached_objects, analysis.reached_bytes);
    let taken_ms = graph.taken_unix_ns / 1_000_000;
    let _ = write!(out, ",\"takenMs\":{taken_ms},\"objects\":{objects},\"bytes\":{bytes},\"types\":");
    let order = analysis.by_retained();
    let paths = Paths::of(graph);
    json::array(&mut out, order.iter().enumerate(), |out, (rank, &ty)| {
        out.push('[');
        json::string(out, &graph.types[ty as usize].name);
        let row = analysis.types[ty as usize];
        let _ = write!(out, ",{},{},{},", row.count, row.own_bytes, row.retained_bytes);
        let ways = if rank < TYPES_WITH_PATHS { paths.to_type(ty) } else { Vec::new() };
        json::array(out, ways.iter().take(PATHS), |out, path| {
            let _ = write!(out, "[{},{},", path.count, path.own_bytes);
            let steps = path.steps.iter().map(|step| match step.most_objects {
                1 => step.text.clone(),
                most => format!("{} (up to {most} in a row, by {})", step.text, step.link.trim_start()),
            });
            let texts: Vec<String> = std::iter::once(path.source.clone()).chain(steps).collect();
            json::strings(out, texts.iter().map(|text| &**text));
            out.push(']');
        });
        out.push(']');
    });
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
    }
}
