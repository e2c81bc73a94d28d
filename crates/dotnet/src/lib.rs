//! Finding an installed .NET: its folders, its versions, and what its own host says about a program.
//!
//! `saki app.dll` runs a program on the class libraries of an installed .NET. Which of them, by which rules of
//! roll-forward, with which assemblies in which versions: that is decided by .NET's own host resolver
//! (`libhostfxr.so`), which is loaded and asked. So `app.runtimeconfig.json`, `app.deps.json` and DOTNET_* mean what
//! they mean to `dotnet app.dll`.
//!
//! Invariant: no runtime is loaded, and nothing is written. What of the process's surroundings matters (variables,
//! folders) is a value, [`Places`], which the caller fills.
//!
//! A program that brings its runtime along, as a single file (`apphost`) or in a folder, is described to the resolver
//! as one that uses an installed runtime (`brought_runtime`).
//!
//! From the bottom up; a file names only files above it: `version`, `places`, `installed`, `hostfxr`, `program`,
//! `apphost`, `brought_runtime`. Left out: what else `runtimeconfig.json` and `deps.json` say, and running anything.

pub mod apphost;
pub mod brought_runtime;
pub mod hostfxr;
pub mod installed;
pub mod places;
pub mod program;
pub mod version;

pub use installed::{CORE_FRAMEWORK, CORE_LIBRARY, Installed};
pub use places::{Places, Root};
pub use program::{DotnetProgram, HostOptions, ResolveError, resolve};
pub use version::SemanticVersion;
