//! A thread inside the machine.

use crate::calls::{self, Closure};
use crate::checks;
use crate::values::Thrown;
use crate::{Assembly, Class, Exception, Object, Value};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::handles;
use saki_runtime::{CurrentThread, ExceptionType, Managed, Obj, Str};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_types::binder::AssemblyName;
use saki_types::universe;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

/// The calling thread, inside the machine for the time `'t`. Nearly all functions take it.
#[derive(Clone, Copy)]
pub struct Thread<'t> {
    t: CurrentThread<'t>,
    scope: &'t Scope,
}

/// The handles of the objects that a run or a scope has made.
#[derive(Default)]
pub(crate) struct Scope {
    handles: RefCell<Vec<Handle>>,
}

impl Scope {
    /// Runs `body` with a scope, and frees its handles afterwards, also if it panics.
    pub(crate) fn with<R>(t: CurrentThread, body: impl for<'s> FnOnce(Thread<'s>) -> R) -> R {
        struct Free<'t>(CurrentThread<'t>, Scope);
        impl Drop for Free<'_> {
            fn drop(&mut self) {
                for handle in self.1.handles.take() {
                    // A handle is stale if its domain was unloaded, which freed it.
                    let _ = handles::free(self.0, handle);
                }
            }
        }
        let free = Free(t, Scope::default());
        // SAFETY: the same thread, for a shorter time.
        let inner = unsafe { CurrentThread::from_abi(t.abi()) };
        body(Thread { t: inner, scope: &free.1 })
    }
}

impl<'t> Thread<'t> {
    pub(crate) fn inner(self) -> CurrentThread<'t> {
        self.t
    }

    /// A handle of this scope.
    pub(crate) fn keep(self, object: Obj<'_>) -> Object<'t> {
        let Some(handle) = handles::allocate(self.t, HandleKind::Normal, object) else {
            panic!("all handles are in use: a scope that makes many objects needs scopes inside");
        };
        self.scope.handles.borrow_mut().push(handle);
        Object::new(handle)
    }

    /// The result, or the exception that is pending.
    pub(crate) fn caught<T>(self, result: Managed<T>) -> Thrown<'t, T> {
        result.map_err(|_| {
            let exception = self.t.take_exception();
            Exception::new(self, self.keep(exception))
        })
    }

    /// Loads an assembly from a file, as `Assembly.LoadFrom` does.
    ///
    /// # Errors
    /// FileNotFoundException, BadImageFormatException, FileLoadException.
    pub fn load(self, path: impl AsRef<Path>) -> Thrown<'t, Assembly> {
        let loaded = universe().binder().load_from(path.as_ref()).to_managed(self.t);
        self.caught(loaded).map(Assembly::new)
    }

    /// Loads an assembly by its name, as `Assembly.Load` does: "System.Xml".
    ///
    /// # Errors
    /// FileNotFoundException, BadImageFormatException; ArgumentException if it is no name.
    pub fn load_named(self, name: &str) -> Thrown<'t, Assembly> {
        let Some(wanted) = AssemblyName::parse(name) else {
            return self.throw("System.ArgumentException", &format!("'{name}' is no name of an assembly."));
        };
        self.caught(universe().binder().resolve(&wanted, None).to_managed(self.t)).map(Assembly::new)
    }

    /// Loads an assembly from memory.
    ///
    /// # Errors
    /// BadImageFormatException.
    pub fn load_bytes(self, bytes: &[u8]) -> Thrown<'t, Assembly> {
        self.caught(universe().binder().load_bytes(bytes.to_vec()).to_managed(self.t)).map(Assembly::new)
    }

    /// A class of the core library, mscorlib: "System.Collections.Generic.List`1".
    ///
    /// # Errors
    /// TypeLoadException if there is none.
    pub fn core_class(self, name: &str) -> Thrown<'t, Class> {
        Assembly::new(universe().corlib().assembly()).class(self, name)
    }

    /// A new string.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn string(self, text: &str) -> Thrown<'t, Object<'t>> {
        let made = self.caught(Str::new(self.t, text))?;
        Ok(self.keep(made.into()))
    }

    /// A new array of a class's elements, each null or zero.
    ///
    /// # Errors
    /// OutOfMemoryException; NotSupportedException if no value of the class can be on the heap.
    pub fn array(self, element: Class, length: usize) -> Thrown<'t, Object<'t>> {
        calls::possible(self, checks::no_value(element.ty()), || element.full_name())?;
        let made = self.caught(saki_runtime::Array::new(self.t, element.ty(), length))?;
        Ok(self.keep(made.into()))
    }

    /// A delegate of the class that calls `function`, which is dropped some time after the delegate has been collected:
    /// when another delegate of the class is made.
    ///
    /// ```no_run
    /// # use saki::{Value, Vm};
    /// # fn main () -> Result<(), saki::Error> {
    /// # let vm = Vm::builder().start()?;
    /// # vm.run(|t| -> Result<(), saki::Error> {
    /// let action = t.core_class("System.Action")?;
    /// let hello = t.delegate(action, |_, _| {
    ///     println!("hello");
    ///     Ok(Value::Unit)
    /// })?;
    /// hello.call(t, "Invoke", &[])?;
    /// # Ok(()) })?
    /// # }
    /// ```
    ///
    /// # Errors
    /// ArgumentException if the class is no delegate's; NotSupportedException if it has open type parameters.
    pub fn delegate<F>(self, class: Class, function: F) -> Thrown<'t, Object<'t>>
    where
        F: for<'c> Fn(Thread<'c>, &[Value<'c>]) -> Result<Value<'c>, Exception<'c>> + Send + Sync + 'static,
    {
        if !class.ty().is_delegate() {
            let message = format!("{} is no delegate", class.full_name());
            return self.throw("System.ArgumentException", &message);
        }
        calls::possible(self, checks::no_value(class.ty()), || class.full_name())?;
        let closure: Arc<Closure> = Arc::new(function);
        let invoke = class.method_named(self, "Invoke")?;
        let ret = self.caught(invoke.sig().to_managed(self.t))?.ret;
        let body = calls::body(closure, ret);
        let made = self.caught(saki_interop::host_functions::delegate(self.t, class.ty(), body))?;
        Ok(self.keep(made))
    }

    /// An exception of a class of the core library, to be returned by a function that managed code calls.
    ///
    /// # Errors
    /// Always.
    pub fn throw<T>(self, class: &str, message: &str) -> Thrown<'t, T> {
        let ty = match self.core_class(class) {
            Ok(class) => class.ty(),
            Err(error) => return Err(error),
        };
        let made = exceptions::new_exception_of(self.t, ty, Some(message));
        let thrown = exceptions::throw_made(self.t, made);
        self.caught(Err(thrown))
    }

    /// An exception object, to be returned by a function that managed code calls. None for other objects.
    pub fn exception(self, object: Object<'_>) -> Option<Exception<'t>> {
        let base = self.core_class("System.Exception").ok()?;
        let is_one = object.is(self, base).is_ok_and(|is_one| is_one);
        is_one.then(|| Exception::new(self, self.keep(object.obj(self))))
    }

    pub(crate) fn throw_kind<T>(self, kind: ExceptionType, message: &str) -> Thrown<'t, T> {
        self.caught(Err(exceptions::throw(self.t, kind, message)))
    }

    /// Runs `body` with a scope of its own: the objects that it makes are let go at its end, so that a loop does not
    /// hold those of all its rounds. To take one out, return a [`Rooted`](crate::Rooted) one.
    pub fn scope<R>(self, body: impl for<'s> FnOnce(Thread<'s>) -> R) -> R {
        Scope::with(self.t, body)
    }

    /// Runs `work` outside the machine: a collection does not wait for it. It can take no objects along, since those
    /// are not `Send`.
    pub fn outside<R: Send>(self, work: impl FnOnce() -> R + Send) -> R {
        self.t.managed().blocking(work)
    }

    /// Collects all garbage.
    pub fn collect(self) {
        saki_gc::collect(self.t.managed(), true);
    }
}
