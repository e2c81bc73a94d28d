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
//! - **Structs** of Rust stand for those of C# that have no references ([`managed_struct!`]); others are boxed objects.
//! - **References** (`ref`, `out`): [`Method::invoke_by_ref`] gives variables back, and functions get [`Place`]s.
//! - **Domains** ([`Domain`]) keep programs apart, and can be unloaded.
//! - **Exceptions** are errors: [`Exception`] inside, [`Error`] with its text outside.
//! - **Functions of Rust** serve as internal calls ([`VmBuilder::typed_function`] with types of Rust,
//!   [`VmBuilder::function`] with values) and as delegates ([`Thread::typed_delegate`], [`Thread::delegate`]).
//! - The host's signal handlers and working folder stay the host's; only faults in managed code are handled, by
//!   handlers that pass on the others. Programs write to the process's streams and may end it, with a report if nobody
//!   catches an exception, unless the host decides otherwise: [`VmBuilder::on_output`], [`VmBuilder::forbid_exit`],
//!   [`VmBuilder::on_unhandled`].
//!
//! Invariant: safe code cannot reach an object that was freed or moved. Left out: class
//! libraries of .NET (the machine runs on Mono's).

mod calls;
mod checks;
mod domains;
mod objects;
mod places;
mod runs;
mod structs;
mod thread;
mod typed;
mod unscoped;
mod values;
mod vm;

pub use domains::Domain;
pub use objects::{Assembly, Class, Field, Method, Object, Property, Rooted};
pub use runs::{Attachment, Refused, detach, is_attached};
pub use saki_runtime::vm::host_policies::OutputStream;
pub use structs::ManagedStruct;
pub use thread::Thread;
pub use typed::{FromValue, IntoValue, TypedFunction};
pub use unscoped::Unscoped;
pub use values::{Error, Exception, Place, StructBytes, Value};
pub use vm::{Threads, Vm, VmBuilder, add_function};
