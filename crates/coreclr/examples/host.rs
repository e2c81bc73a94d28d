//! The smallest host: loads libcoreclr.so and runs a program by its functions, as .NET's hosts do.
//!
//! `host [--other-thread | --fault | --functions] [NAME=VALUE]... LIBRARY PROGRAM [ARGUMENT]...`; it prints statuses and
//! exit codes. With `--fault` a thread of its own that never called the library then touches memory that is not there.
//! With `--functions` PROGRAM is an assembly's name, and the arguments are methods (`TYPE::METHOD`) that take a number
//! and a text and return a number: each is called on this thread and on two others.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;

type Initialize = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
    *mut *mut c_void,
    *mut c_uint,
) -> c_int;
type Execute =
    unsafe extern "C" fn(*mut c_void, c_uint, c_int, *const *const c_char, *const c_char, *mut c_uint) -> c_int;
type CreateDelegate =
    unsafe extern "C" fn(*mut c_void, c_uint, *const c_char, *const c_char, *const c_char, *mut *mut c_void) -> c_int;
type Function = unsafe extern "C" fn(c_int, *const c_char) -> c_int;
type ShutDown = unsafe extern "C" fn(*mut c_void, c_uint, *mut c_int) -> c_int;
type SetErrorWriter = unsafe extern "C" fn(Option<extern "C" fn(*const c_char)>) -> c_int;

extern "C" fn print_line(line: *const c_char) {
    // SAFETY: the library passes a text that ends in NUL.
    println!("error: {}", unsafe { CStr::from_ptr(line) }.to_string_lossy());
}

extern "C" fn end(_: c_int) {
    // SAFETY: ends the process.
    unsafe { libc::_exit(9) };
}

fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: an open library and a name that ends in NUL.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    assert!(!address.is_null(), "{name:?}");
    address
}

fn c_text(text: &str) -> CString {
    CString::new(text).expect("no NUL")
}

/// Gets the C function of each method and calls it.
fn call_methods(create: CreateDelegate, handle: usize, domain: c_uint, assembly: &str, methods: &[String]) {
    for name in methods {
        let (class, method) = name.split_once("::").expect("TYPE::METHOD");
        let texts = [assembly, class, method].map(c_text);
        let mut address = ptr::null_mut();
        // SAFETY: texts that end in NUL, and room for the result.
        let status = unsafe {
            let handle = ptr::with_exposed_provenance_mut(handle);
            create(handle, domain, texts[0].as_ptr(), texts[1].as_ptr(), texts[2].as_ptr(), &mut address)
        };
        println!("{name}: {status:#x}");
        if status < 0 {
            continue;
        }
        // SAFETY: the methods that are named take a number and a text and return a number.
        let function: Function = unsafe { std::mem::transmute(address) };
        // SAFETY: a text that ends in NUL, which stays for the call.
        let call = move |number| println!("  {}", unsafe { function(number, c"abc".as_ptr()) });
        call(20);
        for number in [30, 40] {
            std::thread::spawn(move || call(number)).join().expect("no panic");
        }
        call(50);
    }
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let is_other_thread = words.first().is_some_and(|word| word == "--other-thread");
    let wants_fault = words.first().is_some_and(|word| word == "--fault");
    let wants_functions = words.first().is_some_and(|word| word == "--functions");
    words.drain(..usize::from(is_other_thread || wants_fault || wants_functions));
    let count = words.iter().take_while(|word| word.contains('=')).count();
    let (keys, values): (Vec<CString>, Vec<CString>) = words
        .drain(..count)
        .filter_map(|word| word.split_once('=').map(|(key, value)| (c_text(key), c_text(value))))
        .unzip();
    let [library, program, arguments @ ..] = &words[..] else { panic!("wants LIBRARY PROGRAM") };
    let path = c_text(library);
    // SAFETY: the path ends in NUL.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!library.is_null(), "{path:?} cannot be loaded");
    // SAFETY: the function of this name has this signature (coreclrhost.h).
    let set_error_writer: SetErrorWriter = unsafe { std::mem::transmute(symbol(library, c"coreclr_set_error_writer")) };
    // SAFETY: the function of this name has this signature (coreclrhost.h).
    let initialize: Initialize = unsafe { std::mem::transmute(symbol(library, c"coreclr_initialize")) };
    // SAFETY: the function of this name has this signature (coreclrhost.h).
    let execute: Execute = unsafe { std::mem::transmute(symbol(library, c"coreclr_execute_assembly")) };
    // SAFETY: the function of this name has this signature (coreclrhost.h).
    let shut_down: ShutDown = unsafe { std::mem::transmute(symbol(library, c"coreclr_shutdown_2")) };

    if wants_fault {
        // SAFETY: the handler only ends the process. The library's handlers come later, and know this one.
        unsafe { libc::signal(libc::SIGSEGV, end as *const () as usize) };
    }
    // SAFETY: the function takes a text and does not unwind.
    unsafe { set_error_writer(Some(print_line)) };
    let executable = c_text(&std::env::current_exe().expect("a path").display().to_string());
    let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
    let (key_pointers, value_pointers) = (pointers(&keys), pointers(&values));
    let (mut handle, mut domain) = (ptr::null_mut(), 0);
    // SAFETY: arrays of as many texts as stated, and room for the results.
    let status = unsafe {
        initialize(
            executable.as_ptr(),
            c"clrhost".as_ptr(),
            keys.len() as c_int,
            key_pointers.as_ptr(),
            value_pointers.as_ptr(),
            &mut handle,
            &mut domain,
        )
    };
    println!("initialize: {status:#x}");
    if status < 0 {
        std::process::exit(1);
    }
    let handle = handle.expose_provenance();
    if wants_functions {
        // SAFETY: the function of this name has this signature (coreclrhost.h).
        let create: CreateDelegate = unsafe { std::mem::transmute(symbol(library, c"coreclr_create_delegate")) };
        call_methods(create, handle, domain, program, arguments);
        std::thread::scope(|scope| {
            let other = || call_methods(create, handle, domain, program, &arguments[..1]);
            scope.spawn(other).join().expect("no panic");
        });
        let mut latched = 0;
        // SAFETY: the library's handle, and room for the result.
        let status = unsafe { shut_down(ptr::with_exposed_provenance_mut(handle), domain, &mut latched) };
        println!("shutdown: {status:#x} {latched}");
        return;
    }
    let program = c_text(program);
    let arguments: Vec<CString> = arguments.iter().map(|argument| c_text(argument)).collect();
    let run = move || {
        let pointers: Vec<*const c_char> = arguments.iter().map(|text| text.as_ptr()).collect();
        let mut code = 0;
        let handle = ptr::with_exposed_provenance_mut(handle);
        // SAFETY: arrays of as many texts as stated, and room for the result.
        let status =
            unsafe { execute(handle, domain, pointers.len() as c_int, pointers.as_ptr(), program.as_ptr(), &mut code) };
        println!("execute: {status:#x} {code}");
        code
    };
    let code = if is_other_thread { std::thread::spawn(run).join().expect("no panic") } else { run() };
    if wants_fault {
        let fault = || {
            // SAFETY: the fault that this thread is for: no one's memory.
            unsafe { ptr::without_provenance_mut::<u8>(16).write_volatile(1) }
        };
        std::thread::spawn(fault).join().expect("not reached");
    }
    let mut latched = 0;
    let handle = ptr::with_exposed_provenance_mut(handle);
    // SAFETY: the library's handle, and room for the result.
    let status = unsafe { shut_down(handle, domain, &mut latched) };
    println!("shutdown: {status:#x} {latched}");
    // SAFETY: the library's handle. It stays in the process all the same.
    unsafe { libc::dlclose(library) };
    std::process::exit(code as i32);
}
