//! Packs the catalog that is built in into the file by which it travels, without a signature: `catalog/pack` signs it.

use std::path::Path;
use std::process::ExitCode;

use gpuenv::catalog::{BUILTIN, packed};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file] = args.as_slice() else {
        eprintln!("usage: pack FILE");
        return ExitCode::from(2);
    };
    let packed = packed::pack(&BUILTIN, packed::SMALL).map_err(|error| error.to_string());
    match packed.and_then(|bytes| std::fs::write(Path::new(file), bytes).map_err(|error| error.to_string())) {
        Ok(()) => {
            println!("{}", BUILTIN.version);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::from(4)
        }
    }
}
