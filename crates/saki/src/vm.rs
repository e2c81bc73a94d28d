//! The machine: its start, its threads, its end.

use crate::calls::{self, Closure};
use crate::runs::{self, Attachment, Entered, Inside, Refused, Runs};
use crate::thread::Scope;
use crate::{Error, Exception, Thread, Value};
use saki_base::locks::{Mutex, rank};
use saki_hosting::settings;
use saki_interop::host;
use saki_os::signal::SignalMask;
use saki_runtime::Vm as Machine;
use saki_runtime::exec::host_calls;
use saki_runtime::vm::VmOptions;
use saki_runtime::vm::host_policies::OutputStream;
use saki_sched::ThreadMode;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The stack of the machine's main thread.
const MAIN_STACK_BYTES: usize = 8 << 20;

/// What must be in the folder of the class libraries.
const CORE_LIBRARY: &str = "4.5/mscorlib.dll";

/// Whether a machine has been started, or could not: its parts cannot begin twice.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

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
#[derive(Clone)]
pub struct VmBuilder {
    options: VmOptions,
    functions: Vec<(String, Arc<Closure>)>,
}

/// The machine of the process. Clones are the same machine.
#[derive(Clone)]
pub struct Vm(Arc<Shared>);

type Ends = (Sender<()>, Receiver<i32>);

struct Shared {
    runs: Runs,
    /// Tells the main thread to end the machine, and gets the exit code.
    ends: Mutex<rank::HostEnds, Option<Ends>>,
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        Error::start(refused.to_string())
    }
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

    /// An option of the command by its name, "gc-threads", and as it is written there: threads, max-heap, nursery,
    /// gc-threads, gc-stress, io, hot-stacks, small-stacks, no-cache, no-simd, perf (`saki --help`).
    ///
    /// # Errors
    /// No option has the name, or the value is wrong.
    pub fn option(mut self, name: &str, value: &str) -> Result<VmBuilder, Error> {
        settings::apply(&mut self.options, name, value).map_err(Error::start)?;
        Ok(self)
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

    /// Programs do not end the host's process: `Environment.Exit` throws NotSupportedException.
    #[must_use]
    pub fn forbid_exit(mut self) -> VmBuilder {
        self.options.host.programs_may_exit = false;
        self
    }

    /// The function gets what programs write to standard output and standard error by `Console`, in place of the
    /// process's streams. It may be called by any thread.
    #[must_use]
    pub fn on_output(mut self, function: impl Fn(OutputStream, &[u8]) + Send + Sync + 'static) -> VmBuilder {
        self.options.host.on_output = Some(Arc::new(function));
        self
    }

    /// The function gets the text of an exception that a thread of the program's does not catch, in place of the report
    /// on standard error. The process ends when it returns; exceptions inside [`Vm::run`] are results instead.
    #[must_use]
    pub fn on_unhandled(mut self, function: impl Fn(&str) + Send + Sync + 'static) -> VmBuilder {
        self.options.host.on_unhandled = Some(Arc::new(function));
        self
    }

    /// Starts the machine, on a thread of its own, which becomes the main thread of managed code. The variables
    /// SAKI_THREADS, SAKI_GC_STRESS and their like count, as for the command.
    ///
    /// # Errors
    /// Why it cannot start: there was one in this process, class libraries are missing, no memory. After wrong options
    /// and missing class libraries another start may succeed.
    pub fn start(mut self) -> Result<Vm, Error> {
        settings::apply_environment(&mut self.options).map_err(Error::start)?;
        let core_library = self.options.framework_root.join(CORE_LIBRARY);
        if !core_library.is_file() {
            return Err(Error::start(format!("no class libraries: {} is not there", core_library.display())));
        }
        // Relaxed: one start wins, and publishes nothing by it.
        if HAS_BEGUN.swap(true, Ordering::Relaxed) {
            return Err(Error::start("this process had its machine already".to_owned()));
        }
        // The host's link exports nothing of this crate.
        host::make_symbols_known()
            .map_err(|error| Error::start(format!("native libraries find no functions: {error}")))?;
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
                    let is_green = machine.main_thread().managed().is_green();
                    let exit_code = machine.end();
                    // Threads that serve the machine may stop the world once more; this one would be waited for. The
                    // scheduler detaches its own when their OS thread ends.
                    if !is_green {
                        saki_thread::detach_current();
                    }
                    let _ = is_over.send(exit_code);
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
        Ok(Vm(Arc::new(Shared { runs: Runs::new(), ends: Mutex::new(Some((ends, over))) })))
    }
}

impl Vm {
    /// A builder with the defaults.
    pub fn builder() -> VmBuilder {
        VmBuilder { options: settings::of_guest(), functions: Vec::new() }
    }

    /// Whether the machine's end has not begun yet.
    pub fn is_running(&self) -> bool {
        self.0.runs.are_possible()
    }

    /// Runs `body` on the calling thread, inside the machine. Runs may lie in each other.
    ///
    /// # Errors
    /// [`Refused::Ended`], except in functions that managed code calls while the machine ends; [`Refused::ThreadEnds`].
    pub fn run<R>(&self, body: impl for<'t> FnOnce(Thread<'t>) -> R) -> Result<R, Refused> {
        let _entered = Entered::new(&self.0.runs)?;
        let call = Inside::enter();
        Ok(Scope::with(call.t, body))
    }

    /// Makes the calling thread known to the machine until the guard is dropped.
    ///
    /// # Errors
    /// [`Refused::Ended`]; [`Refused::ThreadEnds`].
    pub fn attach(&self) -> Result<Attachment, Refused> {
        Attachment::new(&self.0.runs)
    }

    /// Ends the machine: waits for runs and foreground threads, runs the handlers of ProcessExit and the finalizers.
    /// `Environment.ExitCode` is the result.
    ///
    /// # Errors
    /// [`Refused::Ended`] at a second call; [`Refused::InsideRun`].
    pub fn end(&self) -> Result<i32, Refused> {
        if runs::is_inside() {
            return Err(Refused::InsideRun);
        }
        let (ends, over) = self.0.ends.lock().take().ok_or(Refused::Ended)?;
        self.0.runs.end();
        ends.send(()).map_err(|_| Refused::Ended)?;
        over.recv().map_err(|_| Refused::Ended)
    }
}

/// A function for an internal call, as [`VmBuilder::function`], also while a machine runs: methods that were called
/// before keep what they had then. The function lives as long as the process.
pub fn add_function<F>(name: &str, function: F)
where
    F: for<'t> Fn(Thread<'t>, &[Value<'t>]) -> Result<Value<'t>, Exception<'t>> + Send + Sync + 'static,
{
    host_calls::add_made(name, calls::maker(Arc::new(function)));
}
