//! The file of a heap snapshot (`.heap`).
//!
//! ```text
//! "SAKIHEAP" version=1
//! text title    number taken (ns since 1970)    number how long it took (ns)
//! number types:   text name, number kind (0 fields, 1 elements), number names: text...
//! number sources: text...    number of the first source that is a stack
//! number roots:   for each (source - source before), object
//! number objects: for each type, size / 8, number references, each:
//!                 0 = null, else 1 + 2 * (zigzag(target - object)) + (1 if dependent)
//! ```
//!
//! A number is little-endian base 128 (LEB128), a text its length in bytes and UTF-8. References are relative, since
//! most lead to neighbours, and take about two bytes each. Invariant: the reader trusts nothing in the file: it ends
//! with a graph whose numbers are in range, or with an error.

use super::graph::{HeapGraph, HeapType, IS_DEPENDENT, MAX_OBJECTS, NO_OBJECT, Slots};
use std::io::{self, Write};

const MAGIC: &[u8] = b"SAKIHEAP";
const VERSION: u64 = 1;
/// Written at once.
const BUFFER_BYTES: usize = 1 << 16;

/// Whether this may be the beginning of such a file.
pub fn is_heap_file(contents: &[u8]) -> bool {
    contents.starts_with(MAGIC)
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
}

impl Writer<'_> {
    #[inline]
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.buffer.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.buffer.push(value as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.buffer.extend_from_slice(text.as_bytes());
    }

    fn texts(&mut self, texts: &[String]) {
        self.number(texts.len() as u64);
        texts.iter().for_each(|text| self.text(text));
    }

    fn flush(&mut self, more_than: usize) -> io::Result<()> {
        if self.buffer.len() > more_than {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn from_zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Writes the snapshot.
///
/// # Errors
/// Those of `out`.
pub fn write(graph: &HeapGraph, out: &mut dyn Write) -> io::Result<()> {
    let mut to = Writer { out, buffer: MAGIC.to_vec() };
    to.number(VERSION);
    to.text(&graph.title);
    to.number(graph.taken_unix_ns);
    to.number(graph.took_ns);
    to.number(graph.types.len() as u64);
    for ty in &graph.types {
        to.text(&ty.name);
        let (kind, names) = match &ty.slots {
            Slots::Fields(names) => (0, names),
            Slots::Elements(names) => (1, names),
        };
        to.number(kind);
        to.texts(names);
    }
    to.texts(&graph.sources);
    to.number(u64::from(graph.first_stack_source));
    to.number(graph.roots.len() as u64);
    let mut before = 0;
    for &(source, object) in &graph.roots {
        to.number(u64::from(source - before));
        to.number(u64::from(object));
        before = source;
    }
    to.number(graph.object_count() as u64);
    for object in 0..graph.object_count() {
        to.number(u64::from(graph.type_of[object]));
        to.number(u64::from(graph.size_units[object]));
        let edges = &graph.edges[graph.first_edge[object] as usize..graph.first_edge[object + 1] as usize];
        to.number(edges.len() as u64);
        for &edge in edges {
            let distance = i64::from(edge & !IS_DEPENDENT) - object as i64;
            match edge {
                NO_OBJECT => to.number(0),
                _ => to.number(1 + 2 * zigzag(distance) + u64::from(edge & IS_DEPENDENT != 0)),
            }
        }
        to.flush(BUFFER_BYTES)?;
    }
    to.flush(0)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    #[inline]
    fn number(&mut self) -> Result<u64, String> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or("the file ends early")?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number of the file is too long".into())
    }

    /// A number below `end`.
    #[inline]
    fn index(&mut self, end: usize, what: &str) -> Result<u32, String> {
        let value = self.number()?;
        if value < end as u64 { Ok(value as u32) } else { Err(format!("the file names {what} {value} of {end}")) }
    }

    /// How many follow, each of which takes a byte at least.
    fn count(&mut self, what: &str) -> Result<usize, String> {
        let count = self.number()?;
        if count <= self.rest.len() as u64 {
            Ok(count as usize)
        } else {
            Err(format!("the file ends before its {count} {what}"))
        }
    }

    fn text(&mut self) -> Result<String, String> {
        let len = self.count("bytes of text")?;
        let (text, rest) = self.rest.split_at(len);
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| "a text of the file is not UTF-8".into())
    }

    fn texts(&mut self, what: &str) -> Result<Vec<String>, String> {
        (0..self.count(what)?).map(|_| self.text()).collect()
    }

    fn heap_type(&mut self) -> Result<HeapType, String> {
        let name = self.text()?;
        let is_array = self.index(2, "kind of type")? == 1;
        let names = self.texts("names")?;
        Ok(HeapType { name, slots: if is_array { Slots::Elements(names) } else { Slots::Fields(names) } })
    }
}

/// Reads a snapshot.
///
/// # Errors
/// What is wrong with the file.
pub fn read(contents: &[u8]) -> Result<HeapGraph, String> {
    let rest = contents.strip_prefix(MAGIC).ok_or("this is no heap snapshot")?;
    let mut from = Reader { rest };
    match from.number()? {
        VERSION => {}
        version => return Err(format!("version {version} of heap snapshots is not known here")),
    }
    let (title, taken_unix_ns, took_ns) = (from.text()?, from.number()?, from.number()?);
    let types = (0..from.count("types")?).map(|_| from.heap_type()).collect::<Result<Vec<_>, _>>()?;
    let sources = from.texts("sources of roots")?;
    let first_stack_source = from.index(sources.len() + 1, "source")?;
    let root_count = from.count("roots")?;
    let mut roots = Vec::with_capacity(root_count);
    let mut source = 0_u64;
    for _ in 0..root_count {
        source = source.saturating_add(from.number()?);
        if source >= sources.len() as u64 {
            return Err(format!("the file names source {source} of {}", sources.len()));
        }
        roots.push((source as u32, from.index(MAX_OBJECTS, "object")?));
    }
    let count = from.count("objects")?;
    if count > MAX_OBJECTS || roots.iter().any(|root| root.1 as usize >= count) || !roots.is_sorted() {
        return Err("the file's roots and objects do not fit together".into());
    }
    let mut graph =
        HeapGraph { title, taken_unix_ns, took_ns, types, sources, first_stack_source, roots, ..HeapGraph::default() };
    for object in 0..count {
        graph.type_of.push(from.index(graph.types.len(), "type")?);
        graph.size_units.push(from.index(u32::MAX as usize + 1, "size")?);
        graph.first_edge.push(graph.edges.len() as u32);
        for _ in 0..from.count("references")? {
            let edge = match from.number()? {
                0 => NO_OBJECT,
                edge => {
                    let target = (object as i64).wrapping_add(from_zigzag((edge - 1) >> 1));
                    if target < 0 || target >= count as i64 {
                        return Err(format!("the file names object {target} of {count}"));
                    }
                    target as u32 | if (edge - 1) & 1 != 0 { IS_DEPENDENT } else { 0 }
                }
            };
            graph.edges.push(edge);
        }
        if graph.edges.len() > u32::MAX as usize {
            return Err("the file has too many references".into());
        }
    }
    graph.first_edge.push(graph.edges.len() as u32);
    Ok(graph)
}

#[cfg(test)]
mod tests {
    use super::super::builder::tests::graph;
    use super::*;
    use proptest::prelude::*;

    fn written(graph: &HeapGraph) -> Vec<u8> {
        let mut out = Vec::new();
        write(graph, &mut out).unwrap();
        out
    }

    fn example() -> HeapGraph {
        let mut graph = graph(&[&[1, 2], &[], &[2, 0], &[0]], &[2, 3]);
        graph.types[1].slots = Slots::Elements(vec!["key".into(), "value".into()]);
        graph.edges[0] |= IS_DEPENDENT;
        graph.edges[1] = NO_OBJECT;
        graph.title = "prøgram.exe".into();
        (graph.taken_unix_ns, graph.took_ns) = (u64::MAX, 300);
        graph
    }

    #[test]
    fn what_was_written_is_read() {
        let graph = example();
        let file = written(&graph);
        assert!(is_heap_file(&file));
        assert_eq!(read(&file), Ok(graph));
        assert_eq!(read(b"profile"), Err("this is no heap snapshot".into()));
        assert!(read(b"SAKIHEAP\x02").unwrap_err().starts_with("version 2 "));
    }

    #[test]
    fn every_beginning_is_refused() {
        let file = written(&example());
        (0..file.len()).for_each(|len| assert!(read(&file[..len]).is_err(), "{len} bytes"));
    }

    proptest! {
        /// Whatever a file contains, a graph read from it can be analysed.
        #[test]
        fn damaged_files_do_no_harm(at in 9_usize..120, byte: u8) {
            let mut file = written(&example());
            let at = at.min(file.len() - 1);
            file[at] = byte;
            if let Ok(graph) = read(&file) {
                let analysis = super::super::Analysis::of(&graph);
                prop_assert!(analysis.reached_objects <= graph.object_count() as u64);
                for ty in 0..graph.types.len() as u32 {
                    super::super::paths::Paths::of(&graph).to_type(ty);
                }
            }
        }
    }
}
