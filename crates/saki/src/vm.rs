//! The machine: its start, its threads, its end.

use crate::calls::{self, Closure};
use crate::thread::Scope;
use crate::{Error, Exception, Thread, Value};
use saki_base::locks::{Mutex, rank};
use saki_hosting::settings;
use saki_interop::reverse_calls::ReverseCall;
use saki_os::signal::SignalMask;
use saki_runtime::exec::host_calls;
use saki_runtime::vm::VmOptions;
use saki_runtime::{CurrentThread, Vm as Machine};
use saki_sched::ThreadMode;
use saki_sync::WaitWord;
use std::cell::Cell;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The stack of the machine's main thread.
const MAIN_STACK_BYTES: usize = 8 << 20;

/// How managed threads run. Threads of the host are native in each mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Threads {
    /// Each on an OS thread of its own.
    #[default]
    Native,
    /// All on one OS thread.
    Green,
    /// On so many OS threads.
    ManyToMany {
        /// The number of OS threads, at least 1.
        carriers: usize,
    },
}

/// What a machine is to be like.
pub struct VmBuilder {
    options: VmOptions,
    functions: Vec<(String, Arc<Closure>)>,
}

/// The machine of the process. Clones are the same machine.
#[derive(Clone)]
pub struct Vm(Arc<Shared>);

type Ends = (Sender<()>, Receiver<i32>);

struct Shared {
    /// How many threads are in a run, and `ENDED`. A thread adds itself first and looks for `ENDED` then (AcqRel); the
    /// thread that ends the machine sets `ENDED` (AcqRel) and waits until no other thread is left (Acquire, which pairs
    /// with the Release of those that leave).
    runs: WaitWord,
    /// Tells the main thread to end the machine, and gets the exit code.
    ends: Mutex<rank::HostEnds, Option<Ends>>,
}

/// In `Shared::runs`: the machine has ended, or is about to.
const ENDED: u32 = 1 << 31;

/// Keeps the calling thread known to the machine between runs, which are then cheaper.
pub struct Attachment {
    is_ours: bool,
    /// It ends on its thread.
    thread: PhantomData<*const ()>,
}

thread_local! {
    /// Runs that the thread is in, one in the other.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Attachments of the thread.
    static ATTACHMENTS: Cell<usize> = const { Cell::new(0) };
}

impl VmBuilder {
    /// How managed threads run.
    #[must_use]
    pub fn threads(mut self, threads: Threads) -> VmBuilder {
        self.options.threads = match threads {
            Threads::Native => ThreadMode::Native,
            Threads::Green => ThreadMode::Green,
            Threads::ManyToMany { carriers } => ThreadMode::Mn { carriers },
        };
        self
    }

    /// The most memory for objects.
    #[must_use]
    pub fn max_heap_bytes(mut self, bytes: usize) -> VmBuilder {
        self.options.heap.max_heap_bytes = Some(bytes);
        self
    }

    /// Where the class libraries are: the folder that holds `4.5`. Without it /usr/lib/mono.
    #[must_use]
    pub fn class_libraries(mut self, folder: impl Into<PathBuf>) -> VmBuilder {
        self.options.framework_root = folder.into();
        self
    }

    /// Compiled code is neither taken from the user's cache nor kept there.
    #[must_use]
    pub fn without_code_cache(mut self) -> VmBuilder {
        self.options.code_cache = None;
        self
    }

    /// A function for an internal call: "Namespace.Type::Method", with "(int,string)" where a name is overloaded. It
    /// gets `this` of an instance method as first value. A panic in it becomes an InvalidOperationException.
    #[must_use]
    pub fn function<F>(mut self, name: &str, function: F) -> VmBuilder
    where
        F: for<'t> Fn(Thread<'t>, &[Value<'t>]) -> Result<Value<'t>, Exception<'t>> + Send + Sync + 'static,
    {
        self.functions.push((name.to_owned(), Arc::new(function)));
        self
    }

    /// Starts the machine, on a thread of its own, which becomes the main thread of managed code. The variables
    /// SAKI_THREADS, SAKI_GC_STRESS and their like count, as for the command.
    ///
    /// # Errors
    /// Why it cannot start: there was one in this process, class libraries are missing, no memory.
    pub fn start(mut self) -> Result<Vm, Error> {
        settings::apply_environment(&mut self.options).map_err(Error::start)?;
        for (name, closure) in self.functions {
            host_calls::add_made(&name, calls::maker(closure));
        }
        let options = self.options;
        let (told, tell) = channel();
        let (ends, is_to_end) = channel::<()>();
        let (is_over, over) = channel();
        let run = move || match Machine::builder(saki_icall::upper_layers()).options(options).start() {
            Ok(machine) => {
                let _ = told.send(Ok(()));
                // A machine that nobody ends runs as long as the process: then the other end is gone, too.
                let is_ended = machine.main_thread().managed().blocking(|| is_to_end.recv().is_ok());
                if is_ended {
                    let _ = is_over.send(machine.end());
                } else {
                    loop {
                        machine.main_thread().managed().blocking(std::thread::park);
                    }
                }
            }
            Err(error) => {
                let _ = told.send(Err(error.to_string()));
            }
        };
        let body = |mask: SignalMask| {
            mask.set();
            run();
        };
        saki_os::thread::start(Some("saki-main"), MAIN_STACK_BYTES, body)
            .map_err(|error| Error::start(format!("no thread for the machine: {error}")))?;
        tell.recv().unwrap_or_else(|_| Err("the machine's thread has ended".to_owned())).map_err(Error::start)?;
        Ok(Vm(Arc::new(Shared { runs: WaitWord::new(0), ends: Mutex::new(Some((ends, over))) })))
    }
}

impl Vm {
    /// A builder with the defaults.
    pub fn builder() -> VmBuilder {
        VmBuilder { options: settings::of_guest(), functions: Vec::new() }
    }

    /// Runs `body` on the calling thread, inside the machine. Runs may lie in each other.
    ///
    /// # Panics
    /// When the machine has ended.
    pub fn run<R>(&self, body: impl for<'t> FnOnce(Thread<'t>) -> R) -> R {
        let _entered = Entered::new(&self.0);
        let call = Inside::enter();
        Scope::with(call.t, body)
    }

    /// Makes the calling thread known to the machine until the guard is dropped.
    ///
    /// # Panics
    /// When the machine has ended.
    pub fn attach(&self) -> Attachment {
        let _entered = Entered::new(&self.0);
        let is_ours = saki_thread::current().is_none();
        ATTACHMENTS.set(ATTACHMENTS.get() + 1);
        drop(Inside::enter());
        Attachment { is_ours, thread: PhantomData }
    }

    /// Ends the machine: waits for runs and foreground threads, runs the handlers of ProcessExit and the finalizers.
    /// `Environment.ExitCode` is the result. A second call gives None.
    ///
    /// # Panics
    /// Inside a run.
    pub fn end(&self) -> Option<i32> {
        assert!(DEPTH.get() == 0, "a machine cannot be ended inside a run");
        let (ends, over) = self.0.ends.lock().take()?;
        let runs = &self.0.runs;
        // AcqRel, and Acquire: see the field.
        runs.atomic().fetch_or(ENDED, Ordering::AcqRel);
        loop {
            let now = runs.load(Ordering::Acquire);
            if now == ENDED {
                break;
            }
            runs.wait(now, None);
        }
        ends.send(()).ok()?;
        over.recv().ok()
    }
}

fn leave(shared: &Shared) {
    // Release: the thread that ends the machine sees what the run has done.
    if shared.runs.atomic().fetch_sub(1, Ordering::Release) == ENDED + 1 {
        shared.runs.wake_all();
    }
}

/// A thread is in a run.
struct Entered<'s>(&'s Shared);

impl Entered<'_> {
    fn new(shared: &Shared) -> Entered<'_> {
        let depth = DEPTH.get();
        if depth == 0 {
            // AcqRel: see the field.
            let before = shared.runs.atomic().fetch_add(1, Ordering::AcqRel);
            if before & ENDED != 0 {
                leave(shared);
                panic!("the machine has ended");
            }
        }
        DEPTH.set(depth + 1);
        Entered(shared)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() == 0 {
            leave(self.0);
        }
    }
}

/// The thread is RUNNING, and goes back when this is dropped; one without attachment is forgotten then.
struct Inside {
    call: Option<ReverseCall>,
    t: CurrentThread<'static>,
    is_foreign: bool,
}

impl Inside {
    fn enter() -> Inside {
        let is_foreign = saki_thread::current().is_none();
        let call = ReverseCall::enter();
        // SAFETY: the structure of this thread, which is RUNNING until `call` is left; `run` gives it away for as long.
        let t = unsafe { CurrentThread::from_abi(call.abi()) };
        Inside { call: Some(call), t, is_foreign }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            // SAFETY: `Object`s are handles, so that no frame of the host's holds a reference.
            unsafe { call.leave() };
        }
        if self.is_foreign && ATTACHMENTS.get() == 0 {
            saki_thread::detach_current();
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        ATTACHMENTS.set(ATTACHMENTS.get() - 1);
        if self.is_ours && ATTACHMENTS.get() == 0 {
            saki_thread::detach_current();
        }
    }
}
