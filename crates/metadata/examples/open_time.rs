//! Times opening an image and reading it: `open_time [path]`.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use saki_metadata::{Image, TableId};

fn main() {
    let path =
        std::env::args_os().nth(1).map_or_else(|| PathBuf::from("/usr/lib/mono/4.5/mscorlib.dll"), PathBuf::from);
    let rounds = 1000_u32;
    let start = Instant::now();
    for _ in 0..rounds {
        if let Err(error) = black_box(Image::open(&path)) {
            eprintln!("{error}");
            return;
        }
    }
    println!("open: {:.1} µs", start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
    let Ok(image) = Image::open(&path) else { return };
    let start = Instant::now();
    black_box(image.find_type_def("System", "String", None));
    println!("first find_type_def (builds the table): {:.1} µs", start.elapsed().as_secs_f64() * 1e6);
    let start = Instant::now();
    for _ in 0..rounds {
        black_box(image.find_type_def(black_box("System"), black_box("String"), None));
    }
    println!("find_type_def: {:.3} µs", start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
    let count = image.row_count(TableId::MethodDef);
    for round in ["first", "second"] {
        let start = Instant::now();
        for rid in 1..=count {
            black_box(image.method_def(rid).is_ok());
        }
        let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / f64::from(count.max(1));
        println!("method_def, {round} pass: {nanoseconds:.1} ns a row");
    }
    let start = Instant::now();
    for rid in 1..=count {
        black_box(image.type_of_method(rid).is_ok());
    }
    println!("type_of_method: {:.1} ns", start.elapsed().as_secs_f64() * 1e9 / f64::from(count.max(1)));
}
