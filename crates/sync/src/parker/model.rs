//! Models of the parker.
//!
//! | model | weakened by hand, and then seen to fail |
//! |---|---|
//! | no unpark is lost | `unpark`'s swap Relaxed; `park`'s CAS from NOTIFIED and its swap Relaxed; `park` sleeps without PARKED |
//! | a timeout leaves or takes the token | the swap after the timeout replaced by `false` without a look |

use super::*;
use crate::facade::{Arc, thread};
use crate::model::{Section, TIMED, explore};

#[test]
fn model_no_unpark_is_lost() {
    explore(None, || {
        let shared = Arc::new((Parker::new(), Section::default()));
        let other = shared.clone();
        let unparker = thread::spawn(move || {
            other.1.touch();
            other.0.unpark();
        });
        assert!(shared.0.park(None));
        shared.1.touch();
        unparker.join().unwrap();
    });
}

#[test]
fn model_a_timeout_leaves_or_takes_the_token() {
    explore(None, || {
        let shared = Arc::new((Parker::new(), Section::default()));
        let other = shared.clone();
        let unparker = thread::spawn(move || {
            other.1.touch();
            other.0.unpark();
        });
        let in_time = shared.0.park(TIMED);
        if !in_time {
            // Hangs, which loom reports, if the timeout lost the token.
            assert!(shared.0.park(None));
        }
        shared.1.touch();
        unparker.join().unwrap();
        assert!(!shared.0.park(Some(Duration::ZERO)), "one token was left, one was taken");
    });
}
