//! Panics that end where they happen. A panic of the engine reaches JavaScript as a trap, and its message reaches nobody;
//! still each place that may panic passes a message and its location, and the functions that take these put them into words.
//! Here these functions come to trap at once, after which `wasm-opt` leaves out what was passed to them, and locations
//! become zeros, which compress to nothing.

use std::error::Error;
use std::ops::Range;

use walrus::ir::Value;
use walrus::{ConstExpr, DataKind, FunctionBuilder, FunctionId, FunctionKind, Module};

/// The standard library's functions that only panic, by their paths; a path that ends in `::` stands for a module.
const PANICS: [&str; 10] = [
    "core::panicking::",
    "core::option::unwrap_failed",
    "core::option::expect_failed",
    "core::result::unwrap_failed",
    "core::cell::panic_already_borrowed",
    "core::cell::panic_already_mutably_borrowed",
    "core::slice::index::slice_index_fail",
    "alloc::raw_vec::handle_error",
    "alloc::raw_vec::capacity_overflow",
    "alloc::alloc::handle_alloc_error",
];

/// Replaces the bodies of all functions that only panic by a trap, and their locations by zeros.
///
/// # Errors
/// A path of [`PANICS`] that names no function of the module, or no location at all: another version of Rust may call or
/// store them otherwise.
pub(crate) fn trap(module: &mut Module) -> Result<(), Box<dyn Error>> {
    for path in PANICS {
        let found: Vec<FunctionId> = module
            .funcs
            .iter()
            .filter(|function| is_named(function.name.as_deref(), path))
            .map(|it| it.id())
            .collect();
        if found.is_empty() {
            return Err(format!(
                "the module has no function `{path}`: either Rust calls it otherwise now, or nothing needs it any more; \
                 correct PANICS in xtask/src/panics.rs"
            )
            .into());
        }
        for id in found {
            trap_at_once(module, id);
        }
    }
    forget_locations(module)
}

fn is_named(symbol: Option<&str>, path: &str) -> bool {
    // The alternate form leaves out the hash at the end.
    let name = symbol.map(|symbol| format!("{:#}", rustc_demangle::demangle(symbol))).unwrap_or_default();
    if path.ends_with("::") { name.starts_with(path) } else { name == path }
}

fn trap_at_once(module: &mut Module, id: FunctionId) {
    let signature = module.types.get(module.funcs.get(id).ty());
    let (parameters, results) = (signature.params().to_vec(), signature.results().to_vec());
    let arguments = parameters.iter().map(|of| module.locals.add(*of)).collect();
    let mut body = FunctionBuilder::new(&mut module.types, &parameters, &results);
    body.func_body().unreachable();
    module.funcs.get_mut(id).kind = FunctionKind::Local(body.local_func(arguments));
}

fn forget_locations(module: &mut Module) -> Result<(), Box<dyn Error>> {
    let mut any = false;
    for id in module.data.iter().map(|data| data.id()).collect::<Vec<_>>() {
        let data = module.data.get_mut(id);
        if let DataKind::Active { offset: ConstExpr::Value(Value::I32(start)), .. } = data.kind {
            for range in locations(&data.value, start.cast_unsigned()) {
                any = true;
                data.value.get_mut(range).unwrap_or_default().fill(0);
            }
        }
    }
    if any {
        Ok(())
    } else {
        Err("the module has no locations of panics: Rust may store them otherwise now".into())
    }
}

/// Where the locations and the names of their files are in data that begins at an address: a location is the address of
/// the name, its length, a line and a column, which nothing else looks like.
fn locations(data: &[u8], start: u32) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let words: Vec<u32> = data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    for (at, place) in words.windows(4).enumerate() {
        let &[address, length, line, column] = place else { continue };
        let from = address.wrapping_sub(start) as usize;
        let name = from..from.saturating_add(length as usize);
        let is_file = data.get(name.clone()).is_some_and(|name| name.ends_with(b".rs"));
        if is_file && (1..100_000).contains(&line) && (1..1_000).contains(&column) {
            found.extend([4 * at..4 * at + 16, name]);
        }
    }
    found
}
