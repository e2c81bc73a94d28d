//! What threads wait for, for dumps: locks and who holds them, threads to end, class constructors, handles; and the
//! deadlocks among them.
//!
//! Invariant: the facts are noted while the world is stopped, without a lock of the metadata; texts are made of them
//! when it runs again. A wait with a time-out is not part of a deadlock, since it ends by itself; neither is a wait for
//! a pulse or an event, which any thread could send. Left out: locks that class libraries make of others
//! (ReaderWriterLockSlim, SemaphoreSlim), which have no owner that the machine knows.

use crate::references::{Obj, Str};
use crate::waitables;
use crate::{class_init, monitors, type_objects};
use rustc_hash::FxHashMap;
use saki_abi::{ObjRef, Object};
use saki_thread::{ManagedThread, WaitState};
use saki_types::Ty;
use std::collections::hash_map::Entry;

/// Characters of a string that is used as a lock, as far as they are shown.
const MAX_SHOWN_CHARS: usize = 40;

/// An object whose lock a thread waits for.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LockObject {
    address: usize,
    ty: Ty,
    /// The type, if the object is a System.RuntimeType.
    stands_for: Option<Ty>,
    /// The beginning of the text, if the object is a string.
    text: Option<String>,
}

/// What a stopped thread waits for.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// `holder`: a managed id, 0 = none.
    Lock {
        object: LockObject,
        holder: u32,
    },
    Pulse {
        object: LockObject,
    },
    EndOfThread {
        id: u32,
    },
    Constructor {
        ty: Ty,
        runner: u32,
    },
    /// `description`: "mutex 3"; `holders`: managed ids of those without which the wait does not end.
    Handles {
        description: String,
        holders: Vec<u32>,
    },
}

/// A thread's wait.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Wait {
    pub awaited: Awaited,
    is_timed: bool,
}

impl LockObject {
    /// # Safety
    /// `address` is 0, or that of an object that lives. The world is stopped.
    unsafe fn at(address: usize) -> Option<LockObject> {
        // SAFETY: null, or an object that lives; the world is stopped, so it neither moves nor ends before this
        // function has returned.
        let object = unsafe { Obj::from_word(ObjRef(address as *mut Object)) }?;
        let ty = object.ty();
        let is_type = std::ptr::eq(ty, ty.universe().runtime_type());
        let stands_for = is_type.then(|| type_objects::type_of_object(object)).flatten();
        let text = object.as_str().map(Str::to_rust).map(|text| text.chars().take(MAX_SHOWN_CHARS).collect());
        Some(LockObject { address, ty, stands_for, text })
    }

    fn describe(&self) -> String {
        let (name, address) = (self.ty.full_name(), self.address);
        match (self.stands_for, &self.text) {
            (Some(ty), _) => format!("{name} 0x{address:x} (typeof ({}))", ty.full_name()),
            (None, Some(text)) => format!("{name} 0x{address:x} ({text:?})"),
            (None, None) => format!("{name} 0x{address:x}"),
        }
    }
}

impl Wait {
    /// What the thread waits for, if that is known. The world is stopped.
    pub(crate) fn of(thread: &'static ManagedThread) -> Option<Wait> {
        let target = thread.wait_target();
        let awaited = match thread.wait_state() {
            WaitState::Monitor => {
                // SAFETY: the thread is stopped in a wait for the object's lock, and its stack holds the object.
                let object = unsafe { LockObject::at(target.address()) }?;
                if thread.monitor_node().is_waiting_for_pulse() {
                    Awaited::Pulse { object }
                } else {
                    // SAFETY: the address of the same object; it is not null, since `at` has given a lock.
                    let holder =
                        unsafe { Obj::from_word(ObjRef(target.address() as *mut Object)) }.map(monitors::owner);
                    Awaited::Lock { object, holder: holder.unwrap_or(0) }
                }
            }
            WaitState::Join => {
                // SAFETY: null, or the structure of the thread that is joined, which is never freed.
                let other = unsafe { (target.address() as *const ManagedThread).as_ref() }?;
                Awaited::EndOfThread { id: other.managed_id() }
            }
            WaitState::Handle => {
                // SAFETY: the world is stopped, and this thread in a wait for handles: its stack, or the copy that was
                // restored for this stop, has the record.
                let (description, holders) = unsafe { waitables::awaited(target.address()) }?;
                Awaited::Handles { description, holders }
            }
            _ => {
                let (ty, runner) = class_init::awaited_by(thread.managed_id())?;
                return Some(Wait { awaited: Awaited::Constructor { ty, runner }, is_timed: false });
            }
        };
        Some(Wait { awaited, is_timed: target.is_timed() })
    }

    /// The threads without which the wait does not end.
    fn holders(&self) -> &[u32] {
        match &self.awaited {
            _ if self.is_timed => &[],
            Awaited::Lock { holder: 0, .. } | Awaited::Pulse { .. } => &[],
            Awaited::Lock { holder: id, .. }
            | Awaited::EndOfThread { id }
            | Awaited::Constructor { runner: id, .. } => std::slice::from_ref(id),
            Awaited::Handles { holders, .. } => holders,
        }
    }

    /// "the lock of System.Object 0x7f… , held by "main" (thread 1)"; `who` names a thread by its id.
    pub(crate) fn describe(&self, who: impl Fn(u32) -> String) -> String {
        match &self.awaited {
            Awaited::Lock { object, holder: 0 } => format!("the lock of {}, which is free now", object.describe()),
            Awaited::Lock { object, holder } => format!("the lock of {}, held by {}", object.describe(), who(*holder)),
            Awaited::Pulse { object } => format!("a pulse of {}", object.describe()),
            Awaited::EndOfThread { id } => format!("the end of {}", who(*id)),
            Awaited::Constructor { ty, runner } => {
                format!("the class constructor of {}, run by {}", ty.full_name(), who(*runner))
            }
            Awaited::Handles { description, holders } if holders.is_empty() => description.clone(),
            Awaited::Handles { description, holders } => {
                let names: Vec<String> = holders.iter().map(|id| who(*id)).collect();
                format!("{description}, held by {}", names.join(" and "))
            }
        }
    }
}

/// Cycles of threads each of which waits for the next one, and the last for the first: each thread is named in one
/// cycle at most.
pub(crate) fn deadlocks<'w>(waits: impl Iterator<Item = (u32, &'w Wait)>) -> Vec<Vec<u32>> {
    let (mut order, mut edges) = (Vec::new(), FxHashMap::default());
    for (id, wait) in waits {
        order.push(id);
        edges.insert(id, wait.holders());
    }
    cycles(&order, &edges)
}

/// The cycles that a search in this order finds.
fn cycles(order: &[u32], edges: &FxHashMap<u32, &[u32]>) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    // Threads from which the search has found all that there is.
    let mut done: FxHashMap<u32, bool> = FxHashMap::default();
    for &start in order {
        // The path of the search: each thread, and how many of its edges were followed.
        let mut path: Vec<(u32, usize)> = Vec::new();
        if let Entry::Vacant(entry) = done.entry(start) {
            entry.insert(false);
            path.push((start, 0));
        }
        while let Some((id, followed)) = path.last_mut() {
            let next = edges.get(id).and_then(|edges| edges.get(*followed)).copied();
            *followed += 1;
            match next {
                None => {
                    done.insert(*id, true);
                    path.pop();
                }
                Some(next) => match done.get(&next) {
                    Some(true) => {}
                    Some(false) => {
                        let begin = path.iter().position(|(id, _)| *id == next).unwrap_or(0);
                        let cycle: Vec<u32> = path[begin..].iter().map(|(id, _)| *id).collect();
                        let is_new = |id: &u32| !found.iter().any(|other: &Vec<u32>| other.contains(id));
                        if cycle.iter().all(is_new) {
                            found.push(cycle);
                        }
                    }
                    None => {
                        done.insert(next, false);
                        path.push((next, 0));
                    }
                },
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edges: &[(u32, &[u32])], expect: &[&[u32]]) {
        let order: Vec<u32> = edges.iter().map(|(id, _)| *id).collect();
        assert_eq!(cycles(&order, &edges.iter().copied().collect()), expect);
    }

    #[test]
    fn cycles_of_waits_are_found_and_chains_are_none() {
        check(&[], &[]);
        check(&[(1, &[2]), (2, &[3]), (3, &[])], &[]);
        check(&[(1, &[2]), (2, &[1])], &[&[1, 2]]);
        // A thread that waits for one of a cycle is not in it.
        check(&[(1, &[2]), (2, &[3]), (3, &[2])], &[&[2, 3]]);
        check(&[(1, &[2]), (2, &[1]), (3, &[4]), (4, &[5]), (5, &[3])], &[&[1, 2], &[3, 4, 5]]);
        // A thread that joins itself, and one that waits for several mutexes.
        check(&[(7, &[7])], &[&[7]]);
        check(&[(1, &[2, 3]), (2, &[]), (3, &[1])], &[&[1, 3]]);
        // The threads ahead of a cycle are searched once, however many lead there.
        let chain: Vec<(u32, [u32; 1])> = (0..100_000).map(|id| (id, [id + 1])).collect();
        let edges: Vec<(u32, &[u32])> = chain.iter().map(|(id, next)| (*id, &next[..])).collect();
        check(&edges, &[]);
    }
}
