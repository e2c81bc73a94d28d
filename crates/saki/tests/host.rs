//! A host in Rust: objects, calls in both directions, exceptions, threads, the end. Skipped without `mcs`.
//!
//! One test, which runs itself for each mode and with collections all the time: a process has one machine.

use saki::{Error, Refused, Rooted, Threads, Unscoped, Value, Vm};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

const LIBRARY: &str = r#"
using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Some
{
    public struct Point { public int X; public double Y; public string Text; }
    public delegate string Join (string text, int number, Point point);

    public class Counter
    {
        public static int Made;
        public readonly string Name;
        int count;
        public Counter (string name) { Name = name; Made++; }
        public virtual int Add (int number) { return count += number; }
        public int Count { get { return count; } set { count = value; } }
        public override string ToString () { return Name + ": " + count; }
        public static void Throw (string message) { throw new FormatException (message); }
        public static Point Moved (Point point, int by) { point.X += by; point.Text += "!"; return point; }
        public static string Maybe (int? number, Point? point, byte? small) { return number + "/" + (point == null ? "none" : point.Value.Text) + "/" + small; }
        public int? Half { get; set; }
        public static double Sum (Func<int?, double?> function) { return (function (3) ?? -1) + (function (null) ?? -100); }
        public static double Mean (float a, byte b, long c) { return (a + b + c) / 3.0; }

        [MethodImpl (MethodImplOptions.InternalCall)] extern string Ask (string text, ref Point point, byte number);
        [MethodImpl (MethodImplOptions.InternalCall)] static extern Point Origin (bool wide);
        [MethodImpl (MethodImplOptions.InternalCall)] static extern void Fail (string how);
        [MethodImpl (MethodImplOptions.InternalCall)] static extern string Typed (int number, string text, double? by);
        [MethodImpl (MethodImplOptions.InternalCall)] static extern int Wrong (long number);

        public static string UseTyped ()
        {
            string text = Typed (1, "a", null) + Typed (2, "b", 0.5);
            foreach (Func<object> call in new Func<object> [] { () => Typed (3, null, 1), () => Typed (-1, "c", 1), () => Wrong (1) }) {
                try {
                    text += call () + ".";
                } catch (Exception e) {
                    text += e.GetType ().Name + ": " + e.Message;
                }
            }
            return text;
        }

        public static void Crash ()
        {
            var thread = new Thread (() => { throw new FormatException ("nobody catches it"); });
            thread.Start ();
            thread.Join ();
        }

        public static string Leave ()
        {
            Console.WriteLine ("leaves");
            Console.Error.Write ("an error");
            try {
                Environment.Exit (3);
            } catch (NotSupportedException e) {
                return e.Message;
            }
            return "?";
        }

        public string Both ()
        {
            var point = Origin (true);
            string text = point.X + " " + point.Y + " " + point.Text;
            foreach (string how in new [] { "exception", "panic" }) {
                try {
                    Fail (how);
                } catch (Exception e) {
                    text += " " + e.GetType ().Name + " " + e.Message;
                }
            }
            return text;
        }

        public static string UseJoin (Join join)
        {
            string text = "";
            for (int i = 0; i < 3; i++)
                text = join (text + i, i, new Point { X = i, Text = "p" + i });
            return text;
        }

        public static int WaitFor (Func<int, int> function, int rounds)
        {
            int sum = 0;
            var thread = new Thread (() => { for (int i = 0; i < rounds; i++) sum += function (i); });
            thread.Start ();
            thread.Join ();
            return sum;
        }
    }

    public class Derived : Counter
    {
        public Derived () : base ("derived") { }
        public override int Add (int number) { return base.Add (number * 10); }
    }
}
"#;

const MODE: &str = "SAKI_HOST_MODE";

fn library() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("some.dll")
}

/// Compiles the library once. False without `mcs`.
fn has_library() -> bool {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    *IS_THERE.get_or_init(|| {
        let source = library().with_extension("cs");
        std::fs::write(&source, LIBRARY).expect("written");
        let out = format!("-out:{}", library().display());
        match Command::new("mcs").args(["-nologo", "-nowarn:0649", "-target:library", &out]).arg(&source).status() {
            Ok(status) => status.success() || panic!("mcs: {status}"),
            Err(error) => {
                eprintln!("skipped: mcs: {error}");
                false
            }
        }
    })
}

#[test]
fn an_exception_that_nobody_catches_is_told_to_the_host() {
    const NAME: &str = "an_exception_that_nobody_catches_is_told_to_the_host";
    if std::env::var_os(MODE).is_some() {
        let vm = Vm::builder().on_unhandled(|text| println!("told: {text}")).start().expect("a machine");
        let crashed = vm.run(|t| {
            t.load(library())?.class(t, "Some.Counter")?.call(t, "Crash", &[]).map(|_| ()).map_err(Error::from)
        });
        panic!("the process goes on: {crashed:?}");
    }
    if !has_library() {
        return;
    }
    let mut host = Command::new(std::env::current_exe().expect("a name"));
    let host = host.args(["--exact", NAME, "--nocapture"]).env(MODE, "native").env("SAKI_NO_CACHE", "1").output();
    let host = host.expect("started");
    let (out, error) = (String::from_utf8_lossy(&host.stdout), String::from_utf8_lossy(&host.stderr));
    assert!(out.contains("told: System.FormatException: nobody catches it"), "{out}\n{error}");
    assert!(!error.contains("Unhandled Exception"), "{error}");
    assert_eq!(host.status.code(), Some(1), "as for a program");
}

#[test]
fn rust_and_managed_code_call_each_other() {
    if std::env::var_os(MODE).is_some() {
        return host();
    }
    if !has_library() {
        return;
    }
    for (mode, stress) in [("native", "0"), ("green", "0"), ("mn", "0"), ("native", "60"), ("mn", "60")] {
        let mut host = Command::new(std::env::current_exe().expect("a name"));
        host.args(["--exact", "rust_and_managed_code_call_each_other", "--nocapture"]);
        let host = host.env(MODE, mode).env("SAKI_GC_STRESS", stress).env("SAKI_NO_CACHE", "1").output();
        let host = host.expect("started");
        let (out, error) = (String::from_utf8_lossy(&host.stdout), String::from_utf8_lossy(&host.stderr));
        assert!(host.status.success(), "{mode}, stress {stress}: {out}\n{error}");
    }
}

fn host() {
    let threads = match std::env::var(MODE).as_deref() {
        Ok("green") => Threads::Green,
        Ok("mn") => Threads::ManyToMany { carriers: 2 },
        _ => Threads::Native,
    };
    let missing = Vm::builder().class_libraries("/no/such/folder").start().err().expect("no class libraries");
    assert!(missing.message().contains("/no/such/folder/4.5/mscorlib.dll"), "{missing}");
    let written = Arc::new(Mutex::new(String::new()));
    let output = Arc::clone(&written);
    let vm = Vm::builder()
        .threads(threads)
        .function("Some.Counter::Origin", |t, arguments| {
            let class = t.load(library())?.class(t, "Some.Point")?;
            let point = class.new_object(t, &[]).or_else(|_| {
                // A struct has no constructor without parameters: an element of a new array is one.
                t.array(class, 1)?.element(t, 0)?.as_object().map_or_else(|| t.throw("System.Exception", "?"), Ok)
            })?;
            let field = |name: &str, value: Value<'_>| class.field(t, name)?.set(t, Some(point), value);
            field("X", Value::I32(i32::from(arguments[0].as_bool().unwrap_or_default())))?;
            field("Y", Value::F64(2.5))?;
            field("Text", Value::Text("origin"))?;
            Ok(point.into())
        })
        .typed_function("Some.Counter::Typed", |number: i32, text: String, by: Option<f64>| match number {
            0.. => Ok(format!("{number}{text}{by:?} ")),
            _ => Err(format!("{number} is too small")),
        })
        .typed_function("Some.Counter::Wrong", |_: i32| 1)
        .on_output(move |stream, bytes| {
            output.lock().expect("no panic").push_str(&format!("{stream:?} {}", String::from_utf8_lossy(bytes)));
        })
        .forbid_exit()
        .function("Some.Counter::Fail(string)", |t, arguments| match arguments[0].as_text(t).as_deref() {
            Some("exception") => t.throw("System.TimeoutException", "too late"),
            how => panic!("the way is {how:?}"),
        })
        .start()
        .expect("a machine, although the start before failed");
    assert!(vm.is_running() && Vm::builder().start().is_err(), "there is one machine in a process");
    let rooted = vm.run(objects).expect("it runs").expect("no exception");
    vm.run(exceptions).expect("it runs");
    let counted = vm.run(|t| -> Result<String, Error> { Ok(both_ways(t)?) }).expect("it runs").expect("no exception");
    assert_eq!(
        counted,
        "1 2.5 origin TimeoutException too late InvalidOperationException A function of the host \
                         panicked: the way is Some(\"panic\")"
    );
    let delegated = vm.run(|t| -> Result<_, Error> {
        let library = t.load(library())?;
        let class = library.class(t, "Some.Counter")?;
        let join = t.delegate(library.class(t, "Some.Join")?, |t, arguments| {
            let point = arguments[2].as_object().expect("a boxed point");
            let text = point.get(t, "Text")?.as_text(t).unwrap_or_default();
            let joined = format!("{}/{:?}/{text}", arguments[0].as_text(t).unwrap_or_default(), arguments[1]);
            t.collect();
            Ok(t.string(&joined)?.into())
        })?;
        Ok(class.call(t, "UseJoin", &[join.into()])?.as_text(t))
    });
    let delegated = delegated.expect("it runs");
    assert_eq!(delegated.expect("no exception").as_deref(), Some("0/I32(0)/p01/I32(1)/p12/I32(2)/p2"));
    let typed = vm.run(typed).expect("it runs").expect("no exception");
    assert_eq!(
        typed,
        "1aNone 2bSome(0.5) ArgumentException: The function wants a string as parameter 2, and gets another value.\
         InvalidOperationException: -1 is too small\
         ArgumentException: The function wants a int as parameter 1, and gets another value.\
         6The host does not let programs end its process."
    );
    assert_eq!(*written.lock().expect("no panic"), "Out leaves\nError an error");
    many_threads(&vm, &rooted);
    assert_eq!(vm.run(|_| vm.end()), Ok(Err(Refused::InsideRun)));
    keeps_and_detaches(&vm);
    assert_eq!(vm.end(), Ok(0));
    assert_eq!(vm.end(), Err(Refused::Ended));
    assert_eq!(vm.run(|_| ()), Err(Refused::Ended));
    assert_eq!(vm.attach().err(), Some(Refused::Ended));
    drop(rooted);
}

/// Functions with types of Rust, as internal calls and as a delegate; a program that wants to end the process.
fn typed(t: saki::Thread<'_>) -> Result<String, Error> {
    let class = t.load(library())?.class(t, "Some.Counter")?;
    let int = t.core_class("System.Int32")?;
    let function = t.core_class("System.Func`2")?.generic(t, &[int, int])?;
    let twice = t.typed_delegate(function, |number: i32| number * 2)?;
    let sum = class.call(t, "WaitFor", &[twice.into(), Value::I32(3)])?.as_i32().unwrap_or_default();
    let text = |name: &str| Ok::<_, Error>(class.call(t, name, &[])?.as_text(t).unwrap_or_default());
    Ok(format!("{}{sum}{}", text("UseTyped")?, text("Leave")?))
}

fn objects(t: saki::Thread<'_>) -> Result<Rooted, Error> {
    let class = t.load(library())?.class(t, "Some.Counter")?;
    let counter = class.new_object(t, &[Value::Text("first")])?;
    t.collect();
    assert_eq!(counter.call(t, "Add", &[Value::I32(40)])?.as_i32(), Some(40));
    counter.set(t, "Count", Value::I32(42))?;
    assert_eq!(counter.to_text(t)?, "first: 42");
    assert_eq!(counter.get(t, "Name")?.as_text(t).as_deref(), Some("first"), "a field");
    let derived = t.load(library())?.class(t, "Some.Derived")?.new_object(t, &[])?;
    assert_eq!(class.method(t, "Add", 1)?.invoke(t, Some(derived), &[Value::I32(2)])?.as_i32(), Some(20), "virtual");
    assert!(derived.is(t, class)? && !counter.is(t, derived.class(t))?);
    assert_eq!(class.get(t, "Made")?.as_i32(), Some(2));
    assert_eq!(class.call(t, "Mean", &[Value::F32(1.5), Value::U8(2), Value::I64(4)])?.as_f64(), Some(2.5));
    let list = t.core_class("System.Collections.Generic.List`1")?.generic(t, &[t.core_class("System.Int32")?])?;
    let list = list.new_object(t, &[])?;
    for number in 0..1000 {
        t.scope(|t| list.call(t, "Add", &[Value::I32(number)]).map(|_| ()).map_err(Error::from))?;
    }
    let array = list.call(t, "ToArray", &[])?.as_object().expect("an array");
    assert_eq!((array.len(t), array.element(t, 999)?.as_i32()), (Some(1000), Some(999)));
    nullables(t, class, counter)?;
    array.set_element(t, 0, Value::I32(7))?;
    let mut bytes = [0; 8];
    array.read_elements(t, 998, &mut bytes)?;
    assert_eq!(bytes, [0xe6, 3, 0, 0, 0xe7, 3, 0, 0]);
    array.write_elements(t, 998, &[1, 0, 0, 0])?;
    assert_eq!(array.element(t, 998)?.as_i32(), Some(1));
    for (first, length) in [(999, 8), (1001, 0), (0, 3), (usize::MAX, 4)] {
        let thrown = array.read_elements(t, first, &mut bytes[..length]).expect_err("outside");
        assert_eq!(thrown.class_name(), "System.ArgumentException");
    }
    let made = class.property(t, "Count")?;
    made.set(t, Some(counter), Value::I32(42))?;
    assert_eq!(made.get(t, Some(counter))?.as_i32(), Some(42));
    let boxed = t.core_class("System.Int64")?.boxed(t, Value::I64(-1))?;
    assert_eq!((boxed.class(t).full_name().as_str(), boxed.value(t).as_i64()), ("System.Int64", Some(-1)));
    let exists = t.core_class("System.IO.Directory")?.call(t, "Exists", &[Value::Text("/")])?;
    assert_eq!(exists.as_bool(), Some(true), "native libraries of the class libraries serve");
    assert_eq!(t.load_named("System.Xml")?.name(), "System.Xml");
    assert_eq!(t.load_bytes(&std::fs::read(library()).expect("a file"))?.name(), "some");
    assert_eq!(array.element(t, 0)?.as_i32(), Some(7));
    Ok(counter.root(t))
}

fn exceptions(t: saki::Thread<'_>) {
    let class = t.load(library()).expect("loaded").class(t, "Some.Counter").expect("there");
    let thrown = class.call(t, "Throw", &[Value::Text("bad")]).expect_err("it throws");
    assert_eq!(thrown.to_string(), "System.FormatException: bad");
    let error = Error::from(thrown);
    assert!(error.text().contains("at Some.Counter.Throw"), "{}", error.text());
    let kind = |result: Result<Value<'_>, saki::Exception<'_>>| result.expect_err("it throws").class_name();
    assert_eq!(kind(class.call(t, "Nothing", &[])), "System.MissingMethodException");
    assert_eq!(kind(class.call(t, "Throw", &[Value::I32(1)])), "System.ArgumentException");
    assert_eq!(
        kind(class.call(t, "Mean", &[Value::F64(1.0), Value::U8(1), Value::I64(1)])),
        "System.ArgumentException"
    );
    assert_eq!(
        kind(class.method(t, "Add", 1).expect("there").invoke(t, None, &[Value::I32(1)])),
        "System.NullReferenceException"
    );
    let core = |name: &str| t.core_class(name).expect("there");
    let list = core("System.Collections.Generic.List`1");
    let refused = "System.NotSupportedException";
    assert_eq!(list.new_object(t, &[]).expect_err("it is open").class_name(), refused);
    assert_eq!(core("System.IO.Stream").new_object(t, &[]).expect_err("it is abstract").class_name(), refused);
    assert_eq!(t.array(core("System.Void"), 1).expect_err("void").class_name(), refused);
    let nullable = core("System.Nullable`1").generic(t, &[core("System.String")]);
    assert_eq!(nullable.expect_err("a constraint").class_name(), refused);
    assert_eq!(kind(list.method(t, "Clear", 0).expect("there").invoke(t, None, &[])), refused);
    let missing = t.load("/no/such/file.dll").expect_err("it is not there");
    assert_eq!(missing.class_name(), "System.IO.FileNotFoundException");
}

fn both_ways(t: saki::Thread<'_>) -> Result<String, saki::Exception<'_>> {
    let class = t.load(library())?.class(t, "Some.Counter")?;
    let counter = class.new_object(t, &[Value::Text("both")])?;
    Ok(counter.call(t, "Both", &[])?.as_text(t).unwrap_or_default())
}

/// Threads of the host that come and go, with and without attachment; a managed thread that calls Rust.
fn many_threads(vm: &Vm, rooted: &Rooted) {
    let calls = Arc::new(AtomicU32::new(0));
    std::thread::scope(|scope| {
        for attaches in [true, false, true, false] {
            let (vm, rooted) = (vm.clone(), &*rooted);
            scope.spawn(move || {
                let _attachment = attaches.then(|| vm.attach().expect("it runs"));
                for _ in 0..50 {
                    vm.run(|t| {
                        let text = rooted.get(t).to_text(t).expect("no exception");
                        assert_eq!(text, "first: 42");
                        t.outside(std::thread::yield_now);
                        vm.run(|t| t.string("inner").map(|_| ()).expect("no exception")).expect("it runs");
                    })
                    .expect("it runs");
                }
            });
        }
    });
    let seen = Arc::clone(&calls);
    let sum = vm.run(|t| -> Result<Option<i32>, Error> {
        let class = t.load(library())?.class(t, "Some.Counter")?;
        let int = t.core_class("System.Int32")?;
        let function = t.core_class("System.Func`2")?.generic(t, &[int, int])?;
        let twice = t.delegate(function, move |_, arguments| {
            seen.fetch_add(1, Ordering::Relaxed);
            Ok(Value::I32(arguments[0].as_i32().unwrap_or_default() * 2))
        })?;
        Ok(class.call(t, "WaitFor", &[twice.into(), Value::I32(100)])?.as_i32())
    });
    let sum = sum.expect("it runs");
    assert_eq!((sum.expect("no exception"), calls.load(Ordering::Relaxed)), (Some(9900), 100));
}

/// An attachment that lasts until it is ended, or as long as its thread; numbers of objects pass from one to the other.
fn keeps_and_detaches(vm: &Vm) {
    let number = vm.run(|t| Unscoped::new(t, t.string("kept").expect("no exception")).expect("a handle").number());
    let number = number.expect("it runs");
    for detaches in [true, false] {
        let vm = vm.clone();
        let thread = std::thread::spawn(move || {
            assert!(!saki::detach() && !saki::is_attached());
            vm.attach().expect("it runs").keep();
            let text = vm.run(|t| {
                assert!(!saki::detach(), "inside a run");
                t.collect();
                Unscoped::from_number(number).and_then(|kept| kept.get(t)?.text(t))
            });
            assert_eq!(text.expect("it runs").as_deref(), Some("kept"));
            assert!(saki::is_attached());
            if detaches {
                assert!(saki::detach() && !saki::is_attached() && !saki::detach());
            }
        });
        thread.join().expect("it ends");
    }
    let freed = vm.run(|t| {
        let kept = Unscoped::from_number(number).expect("a handle");
        (kept.free(t), kept.free(t), kept.get(t).is_none())
    });
    assert_eq!(freed, Ok((true, false, true)));
}

/// Nullable parameters, results, properties and arguments of functions: null, a number, or a box of a struct.
fn nullables(t: saki::Thread<'_>, class: saki::Class, counter: saki::Object<'_>) -> Result<(), Error> {
    let point = t.array(t.load(library())?.class(t, "Some.Point")?, 1)?.element(t, 0)?;
    point.as_object().expect("a box").set(t, "Text", Value::Text("p"))?;
    let maybe = |arguments: &[Value<'_>]| Ok::<_, Error>(class.call(t, "Maybe", arguments)?.as_text(t));
    assert_eq!(maybe(&[Value::Null, Value::Null, Value::Null])?.as_deref(), Some("/none/"));
    assert_eq!(maybe(&[Value::I32(-5), point, Value::U8(255)])?.as_deref(), Some("-5/p/255"));
    let boxed = t.core_class("System.Int32")?.boxed(t, Value::I32(9))?;
    assert_eq!(maybe(&[boxed.into(), Value::Null, Value::U8(1)])?.as_deref(), Some("9/none/1"));
    let unfit = class.call(t, "Maybe", &[Value::I64(1), Value::Null, Value::Null]).expect_err("no long");
    assert_eq!(unfit.class_name(), "System.ArgumentException");
    assert!(counter.get(t, "Half")?.is_null());
    counter.set(t, "Half", Value::I32(21))?;
    assert_eq!(counter.get(t, "Half")?.as_i32(), Some(21));
    counter.set(t, "Half", Value::Null)?;
    assert!(counter.get(t, "Half")?.is_null());
    let nullable = |name: &str| t.core_class("System.Nullable`1")?.generic(t, &[t.core_class(name)?]);
    let function = t.core_class("System.Func`2")?;
    let function = function.generic(t, &[nullable("System.Int32")?, nullable("System.Double")?])?;
    let halves = t.delegate(function, |_, arguments| {
        Ok(arguments[0].as_i32().map_or(Value::Null, |number| Value::F64(f64::from(number) / 2.0)))
    })?;
    assert_eq!(class.call(t, "Sum", &[halves.into()])?.as_f64(), Some(-98.5));
    Ok(())
}
