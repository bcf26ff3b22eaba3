//! Writes the seeds of each target into a folder with its name, in the given folder.

use std::fs::{create_dir_all, write};
use std::path::Path;

use adk_metrics_fuzz::{TARGETS, seeds};

fn main() -> std::io::Result<()> {
    let root = std::env::args().nth(1).unwrap_or_else(|| "target/fuzz".into());
    for target in TARGETS {
        let folder = Path::new(&root).join(target.name);
        create_dir_all(&folder)?;
        for (at, seed) in seeds::seeds(target.name).iter().enumerate() {
            write(folder.join(format!("seed-{at}")), seed)?;
        }
    }
    Ok(())
}
