//! `libsaki.so.0`: a machine for hosts in C and C++, over the crate `saki`.
//!
//! `include/saki.h` declares and explains the functions; the files here are named after its parts, and `arguments` has
//! the types that a host's arguments arrive as. `docs/design/embedding.md` says what a handle is and who owns it.
//!
//! Invariant: an argument that is null, of another type or too many gives an error, never the end of the process; only
//! an address that leads nowhere, or a handle of a class or member that this library did not give, is beyond that.
//! Left out: structs of C as value types, parameters by reference, functions that end before the process does.

mod arguments;
mod arrays;
mod assemblies;
mod calls;
mod classes;
mod errors;
mod failures;
mod functions;
mod handles;
mod kept;
mod machine;
mod members;
mod objects;
mod scopes;
mod strings;
mod values;

saki_interop::hide_c_names!();
