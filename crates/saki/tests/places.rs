//! Structs of Rust, variables by reference and domains. Skipped without `mcs`.
//!
//! One test, which runs itself for each mode and with collections all the time: a process has one machine.

use saki::{Error, Rooted, Thread, Threads, Value, Vm};
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARY: &str = r#"
using System;
using System.Runtime.CompilerServices;

namespace Some
{
    public struct Point { public int X; public double Y; }
    public struct Named { public string Name; public int Number; }
    public enum Color : byte { Red, Green }

    public class Calls
    {
        public static int Loaded;
        public Point Held;

        public static Point Mirror (Point point) { return new Point { X = -point.X, Y = -point.Y }; }

        public static int Change (ref int number, ref string text, out Point point, ref Named named, ref int? maybe, out Color color, in long fixedNumber)
        {
            number += 1;
            GC.Collect ();
            text = text + text;
            point = new Point { X = number, Y = 0.5 };
            named.Name = (named.Name ?? "nobody") + "!";
            named.Number++;
            maybe = maybe == null ? 7 : (int?) null;
            color = Color.Green;
            return (int) fixedNumber;
        }

        public static void Fail (ref int number) { number = 100; throw new InvalidOperationException ("fails"); }

        [MethodImpl (MethodImplOptions.InternalCall)]
        static extern bool Turn (ref string text, ref Point point, out int number, ref int? maybe, Point other);
        [MethodImpl (MethodImplOptions.InternalCall)]
        static extern Point Middle (Point a, Point b);

        string field = "field";

        public static string Use ()
        {
            string text = "local";
            var point = new Point { X = 1, Y = 2 };
            int number;
            int? maybe = 3;
            bool turned = Turn (ref text, ref point, out number, ref maybe, Middle (point, new Point { X = 5, Y = 4 }));
            string all = turned + " " + text + " " + point.X + " " + point.Y + " " + number + " " + (maybe == null);
            // References into objects and arrays.
            var calls = new Calls ();
            var points = new Point [3];
            var numbers = new int [4];
            Turn (ref calls.field, ref points [1], out numbers [2], ref maybe, calls.Held);
            GC.Collect ();
            return all + ", " + calls.field + " " + points [1].X + " " + numbers [2] + " " + maybe;
        }

        public static string Where () { Loaded++; return AppDomain.CurrentDomain.FriendlyName + " " + Loaded; }
        public static int Length (string text) { return text.Length; }
    }
}
"#;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    x: i32,
    y: f64,
}

// SAFETY: the fields are those of `Some.Point`, which has no references.
saki::managed_struct!(unsafe Point = "Some.Point");

/// A struct that is not laid out as its namesake.
#[repr(C)]
#[derive(Clone, Copy)]
struct Wrong {
    x: i32,
}

// SAFETY: never read, since its size is another.
saki::managed_struct!(unsafe Wrong = "Some.Point");

const MODE: &str = "SAKI_HOST_MODE";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("places")
}

fn library() -> PathBuf {
    folder().join("some.dll")
}

#[test]
fn structs_variables_and_domains_pass_between_rust_and_managed_code() {
    if std::env::var_os(MODE).is_some() {
        return host().expect("no exception");
    }
    let source = folder().join("some.cs");
    std::fs::create_dir_all(folder()).expect("a folder");
    std::fs::write(&source, LIBRARY).expect("written");
    let out = format!("-out:{}", library().display());
    let compiler = ["-nologo", "-langversion:latest", "-nowarn:0649", "-target:library", &out];
    match Command::new("mcs").args(compiler).arg(&source).status() {
        Ok(status) => assert!(status.success(), "mcs: {status}"),
        Err(error) => return eprintln!("skipped: no mcs: {error}"),
    }
    for (mode, stress) in [("native", "0"), ("green", "0"), ("mn", "0"), ("native", "60"), ("mn", "60")] {
        let mut host = Command::new(std::env::current_exe().expect("a name"));
        host.args(["structs_variables_and_domains_pass_between_rust_and_managed_code", "--exact", "--nocapture"]);
        let host = host.env(MODE, mode).env("SAKI_GC_STRESS", stress).env("SAKI_NO_CACHE", "1").output();
        let host = host.expect("started");
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
    let vm = Vm::builder()
        .threads(threads)
        .typed_function("Some.Calls::Middle", |a: Point, b: Point| Point { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2.0 })
        .function("Some.Calls::Turn", |t, arguments| {
            let place = |index: usize| arguments[index].as_place().expect("a variable");
            let text = place(0).get(t)?.as_text(t).expect("a string");
            t.collect();
            place(0).set(t, Value::Text(&text.chars().rev().collect::<String>()))?;
            let other = arguments[4].as_object().and_then(|other| other.read_struct::<Point>(t)).expect("a point");
            place(1).set(t, Value::of(&other))?;
            assert_eq!(place(1).class().full_name(), "Some.Point");
            place(2).set(t, Value::I32(42))?;
            let maybe = if place(3).get(t)?.is_null() { Value::I32(8) } else { Value::Null };
            place(3).set(t, maybe)?;
            let refused = place(2).set(t, Value::Text("no number")).expect_err("a string is no int");
            assert_eq!(refused.class_name(), "System.ArgumentException");
            Ok(Value::Bool(true))
        })
        .start()?;
    vm.run(|t| -> Result<(), Error> {
        structs(t)?;
        by_reference(t)?;
        let calls = t.load(library())?.class(t, "Some.Calls")?;
        let used = calls.call(t, "Use", &[])?.as_text(t);
        assert_eq!(used.as_deref(), Some("True lacol 3 3 42 True, dleif 0 42 8"));
        domains(t)
    })??;
    assert!(vm.end().is_ok());
    Ok(())
}

fn structs(t: Thread<'_>) -> Result<(), Error> {
    let library = t.load(library())?;
    let calls = library.class(t, "Some.Calls")?;
    let point = Point { x: 3, y: -1.5 };
    let mirrored = calls.call(t, "Mirror", &[Value::of(&point)])?.as_object().expect("a box");
    assert_eq!(mirrored.read_struct::<Point>(t), Some(Point { x: -3, y: 1.5 }));
    assert!(mirrored.read_struct::<Wrong>(t).is_none());
    let refused = calls.call(t, "Mirror", &[Value::of(&Wrong { x: 1 })]).expect_err("another size");
    assert_eq!(refused.class_name(), "System.ArgumentException");
    let made = calls.new_object(t, &[])?;
    calls.field(t, "Held")?.set(t, Some(made), Value::of(&point))?;
    let held = calls.field(t, "Held")?.get(t, Some(made))?.as_object().expect("a box");
    assert_eq!(held.read_struct::<Point>(t), Some(point));
    let named = library.class(t, "Some.Named")?;
    assert!(named.boxed(t, Value::of(&point)).is_err(), "another name");
    Ok(())
}

fn by_reference(t: Thread<'_>) -> Result<(), Error> {
    let library = t.load(library())?;
    let calls = library.class(t, "Some.Calls")?;
    let change = calls.method(t, "Change", 7)?;
    let unit = Value::Unit;
    let mut arguments = [Value::I32(4), Value::Text("ab"), unit, unit, Value::Null, unit, Value::I64(9)];
    for round in 0..3 {
        let result = change.invoke_by_ref(t, None, &mut arguments)?;
        assert_eq!(result.as_i32(), Some(9));
        assert_eq!(arguments[0].as_i32(), Some(5 + round));
        assert_eq!(arguments[1].as_text(t), Some("ab".repeat(2 << round)));
        let point = arguments[2].as_object().and_then(|point| point.read_struct::<Point>(t));
        assert_eq!(point, Some(Point { x: 5 + round, y: 0.5 }));
        let named = arguments[3].as_object().expect("a box");
        assert_eq!(named.get(t, "Name")?.as_text(t), Some(format!("nobody{}", "!".repeat(round as usize + 1))));
        assert_eq!(arguments[4].as_i32(), (round != 1).then_some(7));
        assert_eq!(arguments[5].as_u8(), Some(1));
    }
    let refused = change.invoke(t, None, &arguments).expect_err("references");
    assert_eq!(refused.class_name(), "System.NotSupportedException");
    let mut number = [Value::I32(1)];
    assert!(calls.method(t, "Fail", 1)?.invoke_by_ref(t, None, &mut number).is_err());
    assert_eq!(number[0].as_i32(), Some(1));
    assert!(change.invoke_by_ref(t, None, &mut [Value::Text("no number"); 7]).is_err());
    Ok(())
}

fn domains(t: Thread<'_>) -> Result<(), Error> {
    let root = t.domain();
    assert!(root.is_root());
    let here = |t: Thread<'_>| -> Result<Option<String>, Error> {
        let calls = t.load(library())?.class(t, "Some.Calls")?;
        Ok(calls.call(t, "Where", &[])?.as_text(t))
    };
    let first = here(t)?;
    for round in 0..3 {
        let name = format!("domain {round}");
        let other = t.create_domain(&name, folder())?;
        assert!(!other.is_root() && other != root && other.name() == name);
        let kept: Rooted = other.run(t, |t| -> Result<Rooted, Error> {
            assert_eq!(t.domain(), other);
            let calls = t.load_named("some")?.class(t, "Some.Calls")?;
            for count in 1..4 {
                assert_eq!(calls.call(t, "Where", &[])?.as_text(t), Some(format!("{name} {count}")));
            }
            assert_eq!(calls.call(t, "Length", &[Value::Text("four")])?.as_i32(), Some(4));
            t.collect();
            Ok(t.string("of the domain")?.root(t))
        })??;
        drop(kept);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = other.run(t, |_| panic!("out of the domain"));
        }));
        assert!(panicked.is_err());
        assert_eq!(t.domain(), root);
        // SAFETY: nothing of the domain is used any more.
        unsafe { other.unload(t) }?;
        assert!(other.run(t, |_| ()).is_err(), "unloaded");
        // SAFETY: as above.
        assert!(unsafe { other.unload(t) }.is_err());
    }
    // SAFETY: the first domain cannot be unloaded.
    assert!(unsafe { root.unload(t) }.is_err());
    let again = here(t)?;
    assert_ne!(first, again, "the statics are the domain's");
    Ok(())
}
