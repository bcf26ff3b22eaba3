//! Panics that end where they happen. A panic of the engine reaches JavaScript as a trap, and its message reaches nobody;
//! still each place that may panic passes a message and its location, and the functions that take these put them into words.
//! Here these functions come to trap at once, after which `wasm-opt` leaves out what was passed to them.

use std::error::Error;

use walrus::{FunctionBuilder, FunctionId, FunctionKind, Module};

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

/// Replaces the bodies of all functions that only panic by a trap.
///
/// # Errors
/// A path of [`PANICS`] that names no function of the module: another version of Rust may call it otherwise.
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
    Ok(())
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
