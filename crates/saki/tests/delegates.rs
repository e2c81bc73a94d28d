//! Functions of delegates live as long as their delegates, and not much longer.
//!
//! One test, which runs itself for each mode and with collections all the time: a process has one machine.

use saki::{Class, Error, Object, Thread, Threads, Value, Vm};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// The functions that exist.
static ALIVE: AtomicI32 = AtomicI32::new(0);

/// What a function owns.
struct Owned {
    number: i32,
}

impl Owned {
    fn new(number: i32) -> Owned {
        // Relaxed: a count of its own.
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Owned { number }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.number = -1;
        // Relaxed: a count of its own.
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

const MODE: &str = "SAKI_TEST_DELEGATES_MODE";

#[test]
fn functions_of_dead_delegates_are_dropped_and_those_of_others_are_not() {
    if std::env::var_os(MODE).is_some() {
        return host().expect("no exception");
    }
    for (mode, stress) in [("native", "0"), ("green", "0"), ("mn", "0"), ("native", "60")] {
        let mut host = Command::new(std::env::current_exe().expect("a name"));
        host.arg("--nocapture").env(MODE, mode).env("SAKI_GC_STRESS", stress).env("SAKI_NO_CACHE", "1");
        let host = host.output().expect("started");
        let (out, error) = (String::from_utf8_lossy(&host.stdout), String::from_utf8_lossy(&host.stderr));
        assert!(host.status.success(), "{mode}, stress {stress}: {out}\n{error}");
    }
}

fn host() -> Result<(), Error> {
    let threads = match std::env::var(MODE).as_deref() {
        Ok("green") => Threads::Green,
        Ok("mn") => Threads::ManyToMany { carriers: 2 },
        _ => Threads::Native,
    };
    let vm = Vm::builder().threads(threads).start()?;
    vm.run(|t| -> Result<(), Error> {
        let int = t.core_class("System.Int32")?;
        let function = t.core_class("System.Func`2")?.generic(t, &[int, int])?;
        many(t, function)?;
        clones(t, function)?;
        inside(t, function)?;
        told_apart(t, function)
    })??;
    assert!(vm.end().is_ok());
    Ok(())
}

fn adder<'t>(t: Thread<'t>, function: Class, number: i32) -> Result<Object<'t>, Error> {
    let owned = Arc::new(Owned::new(number));
    Ok(t.delegate(function, move |_, arguments| {
        Ok(Value::I32(owned.number + arguments[0].as_i32().unwrap_or_default()))
    })?)
}

fn added(t: Thread<'_>, adder: Object<'_>, number: i32) -> Result<Option<i32>, Error> {
    Ok(adder.call(t, "Invoke", &[Value::I32(number)])?.as_i32())
}

/// Thousands one after another, of which one is kept.
fn many(t: Thread<'_>, function: Class) -> Result<(), Error> {
    let kept = adder(t, function, 1_000_000)?;
    for round in 0..20 {
        for number in 0..200 {
            t.scope(|t| -> Result<(), Error> {
                let one = adder(t, function, number)?;
                assert_eq!(added(t, one, round)?, Some(number + round));
                Ok(())
            })?;
        }
        t.collect();
    }
    // Relaxed: this thread has counted.
    let alive = ALIVE.load(Ordering::Relaxed);
    assert!(alive < 1000, "{alive} of 4001 functions are alive");
    assert_eq!(added(t, kept, 1)?, Some(1_000_001));
    Ok(())
}

/// A clone calls the function of its original, which is gone.
fn clones(t: Thread<'_>, function: Class) -> Result<(), Error> {
    let clone = t.scope(|inner| -> Result<_, Error> {
        let original = adder(inner, function, 7)?;
        let clone = original.call(t, "Clone", &[])?;
        Ok(clone.as_object().expect("a delegate"))
    })?;
    for number in 100..300 {
        t.scope(|t| adder(t, function, number).map(|_| ()))?;
        if number % 50 == 0 {
            t.collect();
        }
    }
    assert_eq!(added(t, clone, 1)?, Some(8));
    Ok(())
}

/// A delegate that nothing refers to while its function runs.
fn inside(t: Thread<'_>, function: Class) -> Result<(), Error> {
    let result = t.scope(|t| -> Result<_, Error> {
        let owned = Owned::new(5);
        let one = t.delegate(function, move |t, _| {
            for number in 0..50 {
                t.collect();
                t.scope(|t| adder(t, function, number).map(|_| ())).expect("no error");
            }
            Ok(Value::I32(owned.number))
        })?;
        added(t, one, 0)
    })?;
    assert_eq!(result, Some(5));
    Ok(())
}

/// Delegates over two functions are not equal, and one is equal to its clone.
fn told_apart(t: Thread<'_>, function: Class) -> Result<(), Error> {
    let (one, other) = (adder(t, function, 1)?, adder(t, function, 1)?);
    let clone = one.call(t, "Clone", &[])?;
    assert_eq!(one.call(t, "Equals", &[other.into()])?.as_bool(), Some(false));
    assert_eq!(one.call(t, "Equals", &[clone])?.as_bool(), Some(true));
    Ok(())
}
