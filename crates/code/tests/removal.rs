//! Removal of code: its room is reused, and stack walks never see freed tables.

use saki_code::{CodeInfo, CodeKind, NewBody, free_all, free_all_of_domain, lookup, place, retire, walks};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A body whose name ends with its size.
fn place_body(size: usize, name: &str) -> &'static CodeInfo {
    place(vec![0xcc; size], 32, &[], NewBody::new(CodeKind::Method, std::ptr::null(), format!("{name} {size}")))
        .expect("room")
}

fn remove(info: &'static CodeInfo) {
    // SAFETY: the code never runs; threads look it up inside walks only.
    unsafe { retire(info) };
    let stamp = walks().stamp();
    while !walks().has_passed(stamp) {
        walks().try_advance();
        std::hint::spin_loop();
    }
    // SAFETY: retired, and the stamp has passed.
    unsafe { free_all(&[info]) };
}

#[test]
fn rooms_are_used_again() {
    let mut seen = std::collections::HashSet::new();
    for _ in 0..2000 {
        let info = place_body(3333, "again");
        seen.insert(info.start);
        remove(info);
    }
    assert!(seen.len() < 200, "{} rooms for one body at a time", seen.len());
    assert!(seen.len() > 16, "a room is not used again at once");
}

/// A body ended at the end of its chunk; a body put into its room must not extend beyond the chunk.
#[test]
fn rooms_at_the_end_of_a_chunk_stay_in_it() {
    const CHUNK_BYTES: usize = 64 << 10;
    let base = saki_code::region_range().expect("a region").start;
    let rest_of_chunk = |info: &CodeInfo| CHUNK_BYTES - (info.start + info.len_bytes as usize - base) % CHUNK_BYTES;
    for _ in 0..200 {
        // Up to the next multiple of 32 behind the header of the next body.
        let filler = place_body(15_900, "filler");
        let gap = (8 + filler.len_bytes as usize).next_multiple_of(32) - filler.len_bytes as usize;
        let rest = rest_of_chunk(filler);
        if (200..4000).contains(&rest) {
            let last = place_body(rest - gap, "last");
            let room = (last.len_bytes as usize + 8).div_ceil(32) * 32;
            remove(last);
            for _ in 0..40 {
                let longer = place_body(room - 8, "longer");
                let end = (longer.start - base) % CHUNK_BYTES + longer.len_bytes as usize;
                assert!(
                    end <= CHUNK_BYTES,
                    "a body of {} bytes ends {} behind its chunk",
                    longer.len_bytes,
                    end - CHUNK_BYTES
                );
                remove(longer);
            }
        }
    }
}

#[test]
fn walkers_see_whole_bodies_or_none() {
    const SLOTS: usize = 64;
    let stop = AtomicBool::new(false);
    let starts: [AtomicUsize; SLOTS] = [const { AtomicUsize::new(0) }; SLOTS];
    let found = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let removers: Vec<_> = (0..2_usize)
            .map(|thread| {
                let (starts, found) = (&starts, &found);
                scope.spawn(move || {
                    let mut own = std::collections::VecDeque::new();
                    // On a busy machine the walkers may get little time.
                    for round in 0.. {
                        // Relaxed: a counter of this test.
                        if round > 20_000_usize && found.load(Ordering::Relaxed) > 1000 {
                            break;
                        }
                        let size = 40 + (round * 2_654_435_761 + thread * 977) % 300;
                        let info = place_body(size, "looked up");
                        // Release: a thread that takes the address may look the body up.
                        starts[(round * 2 + thread) % SLOTS].store(info.start, Ordering::Release);
                        own.push_back(info);
                        if own.len() > 20 {
                            remove(own.pop_front().expect("pushed"));
                        }
                    }
                    own.into_iter().for_each(remove);
                })
            })
            .collect();
        for walker in 0..2_usize {
            let (stop, starts, found) = (&stop, &starts, &found);
            scope.spawn(move || {
                let mut step = walker;
                // Relaxed: only ends the loops.
                while !stop.load(Ordering::Relaxed) {
                    step = step.wrapping_add(7);
                    // The address may be stale: the body may be freed, or replaced by another one.
                    // Relaxed: a stale address is what this test is about.
                    let pc = starts[step % SLOTS].load(Ordering::Relaxed) + step % 40;
                    let walk = walks().enter();
                    if let Some(info) = lookup(pc) {
                        assert!(info.covers(pc));
                        // Another test's body may have taken the room.
                        let size = info.name().rsplit(' ').next().map(str::parse);
                        assert_eq!(size, Some(Ok(info.len_bytes)), "a description of something else");
                        // Relaxed: a counter of this test.
                        found.fetch_add(1, Ordering::Relaxed);
                    }
                    drop(walk);
                }
            });
        }
        removers.into_iter().for_each(|remover| remover.join().expect("no panic"));
        // Relaxed: only ends the loops.
        stop.store(true, Ordering::Relaxed);
    });
}

/// The bodies of a domain are freed together: no room waits until others are freed, and large rooms are reused, too.
#[test]
fn rooms_of_a_domain_are_used_again_at_once() {
    const BODIES: usize = 150;
    let mut seen = std::collections::HashSet::new();
    for _ in 0..20 {
        let bodies: Vec<_> = (1..=BODIES).map(|number| place_body(number * 67, "of a domain")).collect();
        seen.extend(bodies.iter().map(|info| info.start));
        for info in &bodies {
            // SAFETY: the code never runs.
            unsafe { retire(info) };
        }
        let stamp = walks().stamp();
        while !walks().has_passed(stamp) {
            walks().try_advance();
            std::hint::spin_loop();
        }
        // SAFETY: retired, and the stamp has passed.
        unsafe { free_all_of_domain(&bodies) };
    }
    // Other tests take some of the rooms.
    assert!(seen.len() < 3 * BODIES, "{} rooms for {BODIES} bodies at a time", seen.len());
}
