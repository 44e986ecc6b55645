//! Release builds for Linux: puts the functions that every start runs side by side in the program (`assets/start.ld`), so that a
//! program at rest keeps few pages of itself in memory. Knows nothing of what they do. A name in that list that is no longer there
//! costs nothing but those pages, and a linker that was chosen by hand is left alone: it may not read linker scripts.

use std::env::var;

const LIST: &str = "assets/start.ld";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={LIST}");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    let chosen =
        var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("linker") || flags.contains("fuse-ld"));
    let Ok(directory) = var("CARGO_MANIFEST_DIR") else { return };
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && var("RUSTC_LINKER").is_err() && !chosen {
        println!("cargo::rustc-link-arg-bin=acp-tui=-Wl,-T,{directory}/{LIST}");
    }
}
