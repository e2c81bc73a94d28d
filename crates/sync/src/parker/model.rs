//! Models of the parker.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | no unpark is lost | `unpark`'s swap Relaxed; `park`'s CAS from NOTIFIED Relaxed; `unpark` never wakes |
//! | a timeout leaves or takes the token | a token found after the timeout is not reported |

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
