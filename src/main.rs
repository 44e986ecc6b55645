//! Entry point: everything is in the library.

fn main() -> std::process::ExitCode {
    acp_tui::cli::main(std::env::args_os().skip(1))
}
