//! Models of publication. A body's header and tables are modelled as one `Section` that the placing thread writes and a
//! look-up reads.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | a sampler | `publish`'s `fetch_or` Relaxed; the load in `last_start_in_chunk` Relaxed |
//! | a caller finds what it calls | `publish` as load and store (a body is lost) |
//! | a body over two chunks | `continue_body` left out |
//! | retirement | `unpublish` as load and store (a neighbour is lost) |

use super::*;
use loom::sync::Arc;
use loom::thread;
use saki_sync::facade::atomic::AtomicUsize;
use saki_sync::model::{Section, explore};

/// Two chunks, a header for each body, and an entry cell that leads to the second.
struct Map {
    starts: [AtomicU64; 2 * WORDS_PER_CHUNK],
    kinds: [AtomicU32; 2],
    headers: [Section; 2],
    cell: AtomicUsize,
}

/// Where the bodies start: granules of one word, but for the body that goes on into the next chunk.
const STARTS: [usize; 2] = [3, 9];

impl Map {
    fn new() -> Arc<Map> {
        Arc::new(Map {
            starts: std::array::from_fn(|_| AtomicU64::new(0)),
            kinds: std::array::from_fn(|_| AtomicU32::new(0)),
            headers: Default::default(),
            cell: AtomicUsize::new(0),
        })
    }

    fn place(&self, body: usize) {
        self.headers[body].touch();
        publish(&self.starts, STARTS[body]);
    }

    /// The body that covers the granule. Reads the header of the body that it finds.
    fn look_up(&self, granule: usize) -> Option<usize> {
        let start = find_start(&self.starts, &self.kinds, granule)?;
        let body = STARTS.iter().position(|s| *s == start).expect("a start that was published");
        assert_eq!(self.headers[body].get(), 1);
        Some(body)
    }
}

#[test]
fn model_a_sampler_sees_whole_bodies() {
    explore(None, || {
        let map = Map::new();
        let placing = [0, 1].map(|body| {
            let map = map.clone();
            thread::spawn(move || map.place(body))
        });
        // An address in the second body, or in the part of the first body in the next chunk.
        map.look_up(STARTS[1] + 1);
        for thread in placing {
            thread.join().unwrap();
        }
        assert_eq!([map.look_up(STARTS[0]), map.look_up(STARTS[1])], [Some(0), Some(1)]);
    });
}

#[test]
fn model_a_caller_finds_what_it_calls() {
    explore(None, || {
        let map = Map::new();
        let (other, third) = (map.clone(), map.clone());
        let placing = thread::spawn(move || {
            other.place(1);
            // Release, as `MethodEntry::lead_to`.
            other.cell.store(1, Ordering::Release);
        });
        let neighbour = thread::spawn(move || third.place(0));
        // Acquire stands for the dependency of a jump through the cell.
        if map.cell.load(Ordering::Acquire) != 0 {
            assert_eq!(map.look_up(STARTS[1] + 1), Some(1));
        }
        placing.join().unwrap();
        neighbour.join().unwrap();
    });
}

#[test]
fn model_a_body_over_two_chunks_is_found_from_both() {
    explore(None, || {
        let map = Map::new();
        let other = map.clone();
        let placing = thread::spawn(move || {
            continue_body(&other.kinds, 1, 1);
            other.place(1);
            other.cell.store(1, Ordering::Release);
        });
        let inside = GRANULES_PER_CHUNK + 5;
        let is_callable = map.cell.load(Ordering::Acquire) != 0;
        let found = map.look_up(inside);
        assert!(found == Some(1) || !is_callable && found.is_none());
        placing.join().unwrap();
    });
}

#[test]
fn model_retirement_leaves_the_neighbour() {
    explore(None, || {
        let map = Map::new();
        map.place(0);
        let other = map.clone();
        let placing = thread::spawn(move || other.place(1));
        unpublish(&map.starts, STARTS[0]);
        assert!(matches!(map.look_up(STARTS[0]), None));
        placing.join().unwrap();
        assert_eq!([map.look_up(STARTS[0]), map.look_up(STARTS[1])], [None, Some(1)]);
    });
}
