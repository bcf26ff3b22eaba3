//! `cargo xtask build`: the crate as WebAssembly with its JavaScript glue.
//! `cargo xtask schema`: JSON Schemas of every stored shape, and the manifest of what the package lists of the engine.
//!
//! `npm run build` calls both; the version of wasm-bindgen comes from Cargo.lock.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["build", out] => build(Path::new(out)),
        ["schema", out] => schema(Path::new(out)),
        _ => Err("usage: cargo xtask build <folder> | schema <folder>".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compiles the crate and writes `adk_metrics.js`, `.d.ts` and `_bg.wasm` to `out`.
fn build(out: &Path) -> Result<(), Box<dyn Error>> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let compiled = Command::new(cargo)
        .arg("--config")
        .arg(without_own_paths()?)
        // Building an rlib too would keep code that only other crates can call.
        .args([
            "rustc",
            "--locked",
            "--release",
            "--package",
            "adk-metrics",
            "--lib",
            "--crate-type",
            "cdylib",
            "--features",
            "wasm",
            "--target",
            TARGET,
        ])
        .status()?;
    if !compiled.success() {
        return Err("the crate does not compile for WebAssembly".into());
    }
    let linked = target_folder()?.join(TARGET).join("release/adk_metrics.wasm");
    Bindgen::new()
        .input_path(linked)
        .remove_name_section(true)
        .remove_producers_section(true)
        .web(true)?
        .typescript(true)
        // The loaders pass the path of the module, and replace an instance that trapped.
        .omit_default_module_path(true)
        .reset_state_function(true)
        .generate(out)?;
    Ok(())
}

/// Panic messages contain paths of dependencies. Paths of the build machine are removed: they are private, and
/// would make builds of the same code differ between machines.
fn without_own_paths() -> Result<String, Box<dyn Error>> {
    let cargo_home = match std::env::var("CARGO_HOME") {
        Ok(folder) => PathBuf::from(folder),
        Err(_) => std::env::home_dir().ok_or("there is no home folder")?.join(".cargo"),
    };
    let prefix = cargo_home.join("registry/src");
    // JSON strings are valid TOML strings.
    let flag = serde_json::to_string(&format!("--remap-path-prefix={}=", prefix.display()))?;
    Ok(format!("target.{TARGET}.rustflags=[{flag}]"))
}

fn target_folder() -> Result<PathBuf, Box<dyn Error>> {
    if let Ok(folder) = std::env::var("CARGO_TARGET_DIR") {
        return Ok(folder.into());
    }
    // Asked when it runs: a copy of the folder may run a program that was compiled elsewhere.
    let xtask = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let root = xtask.parent().ok_or("xtask lies in no folder")?;
    Ok(root.join("target"))
}

/// Writes a JSON Schema for each kind of file, one with the shapes that only exist in memory, and the manifest.
fn schema(out: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(out)?;
    let schemas = adk_metrics::schema::all().into_iter().chain([("contract", adk_metrics::wasm::contract())]);
    for (name, schema) in schemas {
        write_json(&out.join(format!("{name}.schema.json")), &schema)?;
    }
    write_json(&out.join("columns.json"), &adk_metrics::wasm::columns())?;
    write_json(&out.join("manifest.json"), &adk_metrics::schema::manifest())
}

fn write_json(file: &Path, value: &serde_json::Value) -> Result<(), Box<dyn Error>> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(fs::write(file, text)?)
}
