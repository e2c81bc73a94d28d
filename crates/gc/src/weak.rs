//! The weak phases of a collection, after the strong closure.
//!
//! | step | repeats until | then |
//! |---|---|---|
//! | 1 | ephemerons and conditional roots retain nothing more | short weak handles and weak fields to unreached objects die |
//! | 2 | – | unreached objects with finalizers become ready and are retained |
//! | 3 | ephemerons and conditional roots retain nothing more | long weak handles die, ephemerons are buried, the large-object index is pruned, weak fields of objects retained in 2 die |
//!
//! So an object that only its finalizer can see has lost its short weak handles and keeps its long ones until it is
//! really gone (`WeakReference.TrackResurrection`). Left out: the handle table itself; it is a
//! [`WeakTable`](crate::WeakTable).

use crate::client::{WeakFate, WeakKind, client};
use crate::tracer::Tracer;
use crate::{conditional, ephemeron, finalize, large, weak_fields};
use saki_base::locks::{Mutex, rank};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Strong,
    Resurrected,
}

/// Where the collection that runs has got to.
static STEP: Mutex<rank::WeakStep, Step> = Mutex::new(Step::Strong);

fn update_tables(kind: WeakKind, tracer: &dyn Tracer) {
    for table in client().weak_tables() {
        table.update_weak(kind, tracer.is_full(), &mut |object| match tracer.reached(object) {
            Some(object) => WeakFate::Alive(object),
            None => WeakFate::Dead,
        });
    }
}

/// Does the next part of the weak phases. True if objects were retained: call again when they have been traced.
pub(crate) fn process(tracer: &mut dyn Tracer) -> bool {
    // Both, each time: an object that one of them retains may be a key or an owner for the other.
    if conditional::resolve(tracer) | ephemeron::resolve(tracer) {
        return true;
    }
    let mut step = STEP.lock();
    if *step == Step::Strong {
        update_tables(WeakKind::Short, tracer);
        weak_fields::settle(tracer);
        *step = Step::Resurrected;
        if finalize::process(tracer) {
            return true;
        }
    }
    update_tables(WeakKind::Long, tracer);
    weak_fields::settle(tracer);
    ephemeron::bury_dead();
    conditional::finish();
    large::remove_dead(tracer.is_full(), &|object| tracer.reached(object).is_some());
    *step = Step::Strong;
    false
}
