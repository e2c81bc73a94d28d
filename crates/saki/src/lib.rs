//! A .NET runtime as a library: programs in Rust run code written in C#, and the other way round.
//!
//! ```no_run
//! use saki::{Value, Vm};
//!
//! # fn main () -> Result<(), saki::Error> {
//! let vm = Vm::builder().start()?;
//! let sum = vm.run(|t| -> Result<i32, saki::Error> {
//!     let library = t.load("calculator.dll")?;
//!     let class = library.class(t, "Some.Calculator")?;
//!     let calculator = class.new_object(t, &[])?;
//!     let sum = calculator.call(t, "Add", &[Value::I32(40), Value::I32(2)])?;
//!     Ok(sum.as_i32().unwrap_or_default())
//! })??;
//! assert_eq!(sum, 42);
//! vm.end()?;
//! # Ok(())
//! # }
//! ```
//!
//! - **One machine a process** ([`Vm`]), with a main thread of its own. It can be ended while the process goes on; it
//!   cannot be started a second time.
//! - **Threads** come in by [`Vm::run`], any of them, as often as they want. Inside, a collection waits for the thread
//!   until it calls the machine again: what takes long, or waits, goes into [`Thread::outside`].
//! - **Objects** ([`Object`]) are handles that last as long as the `run` or [`Thread::scope`] that made them;
//!   [`Rooted`] ones last until they are dropped, on any thread.
//! - **Bindings** for other languages keep objects as [`Unscoped`] numbers, and classes and members, whose types have
//!   the layout of a pointer that is never null, as they are.
//! - **Exceptions** are errors: [`Exception`] inside, [`Error`] with its text outside.
//! - **Functions of Rust** serve as internal calls ([`VmBuilder::function`]) and as delegates ([`Thread::delegate`]).
//! - The host's signal handlers, standard streams, working folder and exit stay the host's; only faults in managed code
//!   are handled, by handlers that pass on the others.
//!
//! Invariant: safe code cannot reach an object that was freed or moved. Left out: value types as Rust structs, and
//! class libraries of .NET (the machine runs on Mono's).

mod calls;
mod checks;
mod objects;
mod runs;
mod thread;
mod unscoped;
mod values;
mod vm;

pub use objects::{Assembly, Class, Field, Method, Object, Property, Rooted};
pub use runs::{Attachment, Refused, detach, is_attached};
pub use thread::Thread;
pub use unscoped::Unscoped;
pub use values::{Error, Exception, Value};
pub use vm::{Threads, Vm, VmBuilder, add_function};
