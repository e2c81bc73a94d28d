//! Two-pass exceptions through code of the real code generator.

use crate::common::{Kind, Stmt, Thunks, call, filter, method, run, try_};

const E1: usize = 0x10_0000;
const E2: usize = 0x20_0000;
const E3: usize = 0x30_0000;

#[test]
fn catch_in_the_same_frame() {
    let t = Thunks::new();
    let body = vec![t.throw(E1), t.log(99)];
    let f = method("f", &[try_(body, Kind::Catch(E1), vec![Stmt::LogException(t.log), Stmt::Return(7)])]);
    let outcome = run(f);
    assert_eq!((outcome.result, outcome.log), (Ok(7), vec![E1 as i64]));
    assert_eq!(outcome.trace, ["f"]);
}

#[test]
fn throw_through_five_frames() {
    let t = Thunks::new();
    let reject = filter("reject", &[t.log(20)], 0);
    let f4 = method("f4", &[t.throw(E1)]);
    let f3 = method("f3", &[try_(vec![call(f4)], Kind::Fault, vec![t.log(3)])]);
    let f2 = method("f2", &[try_(vec![call(f3)], Kind::Filter(reject.start), vec![t.log(99)])]);
    let f1 = method("f1", &[try_(vec![call(f2)], Kind::Finally, vec![t.log(1)])]);
    let wrong = try_(vec![call(f1)], Kind::Catch(E2), vec![t.log(98)]);
    let f0 = method("f0", &[try_(vec![wrong], Kind::Catch(E1), vec![t.log(0), Stmt::Return(5)]), t.log(97)]);
    let outcome = run(f0);
    // The filter runs in the first pass, before any finally.
    assert_eq!((outcome.result, outcome.log), (Ok(5), vec![20, 3, 1, 0]));
    assert_eq!(outcome.trace, ["f4", "f3", "f2", "f1", "f0"]);
}

#[test]
fn filter_accepts_with_the_exception_as_argument() {
    let t = Thunks::new();
    let accept = filter("accept", &[Stmt::LogException(t.log)], 1);
    let f1 = method("f1", &[try_(vec![t.throw(E1)], Kind::Finally, vec![t.log(1)])]);
    let f0 = method("f0", &[try_(vec![call(f1)], Kind::Filter(accept.start), vec![Stmt::LogException(t.log)])]);
    let outcome = run(f0);
    assert_eq!((outcome.result, outcome.log), (Ok(0), vec![E1 as i64, 1, E1 as i64]));
}

#[test]
fn an_exception_inside_a_filter_counts_as_no() {
    let t = Thunks::new();
    let inner = method("inner", &[t.throw(E2)]);
    let failing = filter("failing", &[t.log(1), call(inner)], 1);
    let rejected = try_(vec![t.throw(E1)], Kind::Filter(failing.start), vec![t.log(99)]);
    let f = method("f", &[try_(vec![rejected], Kind::Catch(E1), vec![t.log(2)])]);
    let outcome = run(f);
    assert_eq!((outcome.result, outcome.log), (Ok(0), vec![1, 2]));
}

#[test]
fn an_exception_caught_inside_a_finally_leaves_the_outer_one() {
    let t = Thunks::new();
    let own = method("own", &[try_(vec![t.throw(E2)], Kind::Catch(E2), vec![t.log(2)])]);
    // One caught in a callee, one in the finally's own frame, with finallys nested inside.
    let nested = try_(vec![try_(vec![t.throw(E3)], Kind::Finally, vec![t.log(4)])], Kind::Catch(0), vec![t.log(5)]);
    let handler = vec![t.log(1), call(own), t.log(3), nested];
    let f1 = method("f1", &[try_(vec![t.throw(E1)], Kind::Finally, handler)]);
    let f0 = method("f0", &[try_(vec![call(f1)], Kind::Catch(0), vec![Stmt::LogException(t.log)])]);
    assert_eq!(run(f0).log, [1, 2, 3, 4, 5, E1 as i64]);
}

#[test]
fn an_exception_that_leaves_a_finally_replaces_the_first() {
    let t = Thunks::new();
    let f2 = method("f2", &[try_(vec![t.throw(E1)], Kind::Finally, vec![t.log(1), t.throw(E2)])]);
    let outer = try_(vec![call(f2)], Kind::Finally, vec![t.log(2)]);
    let f1 = method("f1", &[try_(vec![outer], Kind::Catch(E1), vec![t.log(98)])]);
    let f0 = method("f0", &[try_(vec![call(f1)], Kind::Catch(E2), vec![Stmt::LogException(t.log)])]);
    assert_eq!(run(f0).log, [1, 2, E2 as i64]);
}

#[test]
fn a_throw_in_a_catch_meets_the_outer_clauses_only() {
    let t = Thunks::new();
    let inner = try_(vec![t.throw(E1)], Kind::Catch(E1), vec![t.log(1), t.throw(E1)]);
    let outer = try_(vec![inner], Kind::Finally, vec![t.log(2)]);
    let f = method("f", &[try_(vec![outer], Kind::Catch(E1), vec![t.log(3)]), t.log(4)]);
    assert_eq!(run(f).log, [1, 2, 3, 4]);
}

#[test]
fn nested_finallys_of_one_frame_run_innermost_first() {
    let t = Thunks::new();
    let mut body = vec![t.throw(E1)];
    for number in 0..6 {
        body = vec![try_(body, Kind::Finally, vec![t.log(number)])];
    }
    let f = method("f", &[try_(body, Kind::Catch(0), vec![t.log(6)])]);
    assert_eq!(run(f).log, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn finally_runs_on_normal_completion_and_fault_does_not() {
    let t = Thunks::new();
    let fault = try_(vec![t.log(0)], Kind::Fault, vec![t.log(99)]);
    let f = method("f", &[try_(vec![fault], Kind::Finally, vec![t.log(1)])]);
    assert_eq!(run(f).log, [0, 1]);
}

#[test]
fn an_unhandled_exception_comes_out_of_enter() {
    let t = Thunks::new();
    let f1 = method("f1", &[try_(vec![t.throw(E1)], Kind::Finally, vec![t.log(1)])]);
    let f0 = method("f0", &[try_(vec![call(f1)], Kind::Catch(E2), vec![t.log(99)])]);
    let outcome = run(f0);
    assert_eq!((outcome.result, outcome.log), (Err(E1), vec![1]));
}

#[test]
fn an_exception_passes_through_rust() {
    let t = Thunks::new();
    let f2 = method("f2", &[try_(vec![t.throw(E1)], Kind::Finally, vec![t.log(1)])]);
    let f1 = method("f1", &[t.nested(f2), t.log(99)]);
    let f0 = method("f0", &[try_(vec![call(f1)], Kind::Catch(E1), vec![t.log(3)]), Stmt::Return(1)]);
    let outcome = run(f0);
    assert_eq!((outcome.result, outcome.log), (Ok(1), vec![1, -1, 3]));
    assert_eq!(outcome.trace, ["f2", "f1", "f0"]);
}

#[test]
fn walks_continue_behind_entry_frames() {
    let t = Thunks::new();
    let f2 = method("f2", &[Stmt::Helper(t.walk, 0)]);
    let f1 = method("f1", &[t.nested(f2)]);
    let f0 = method("f0", &[call(f1)]);
    // A thunk's own frame is the exit frame, where the walk starts: it is not part of it.
    assert_eq!(run(f0).trace, ["f2", "<entry>", "f1", "f0", "<entry>"]);
}

#[test]
fn throws_from_many_threads() {
    let t = Thunks::new();
    let f1 = method("f1", &[try_(vec![t.throw(E1)], Kind::Finally, vec![t.log(1)])]);
    let f0 = method("f0", &[try_(vec![call(f1)], Kind::Catch(0), vec![t.log(2), Stmt::Return(3)])]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2000 {
                    let outcome = run(f0);
                    assert_eq!((outcome.result, outcome.log), (Ok(3), vec![1, 2]));
                }
            });
        }
    });
}
