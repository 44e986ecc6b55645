//! A filter of system calls (seccomp): what is confined sets its own limits and those of no other process. With a limit of
//! its time or of its files any process of the same user could be ended past all rights on signals.
//!
//! Knows no sandbox. Invariant: nothing but that one call is refused, and nothing is ended by it; programs of 32 bits are
//! told apart by their own numbers.

use seccompiler::{apply_filter, sock_filter};

/// `prlimit64` by the kernel's names of architectures (`AUDIT_ARCH_`) and its number there.
const CALLS: [(u32, u32); 6] = [
    (0xc000_003e, 302), // x86-64
    (0x4000_0003, 340), // i386
    (0xc000_00b7, 261), // AArch64
    (0x4000_0028, 369), // ARM
    (0xc000_00f3, 261), // RISC-V
    (0xc000_0015, 325), // POWER
];

/// Numbers of x32 are those of x86-64 with this bit.
const X32: u32 = 0x4000_0000;

/// Where a filter finds what it looks at: `struct seccomp_data`, little-endian.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// The process whose limits are set, its own where it is 0; and where the new limit stands, nowhere if it is only read.
const PROCESS: u32 = 16;
const NEW_LIMIT: u32 = 32;

// Instructions of `linux/bpf_common.h`.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

/// What the kernel does with a call: `SECCOMP_RET_ALLOW`, and `SECCOMP_RET_ERRNO` with `EPERM`.
const ALLOWED: u32 = 0x7fff_0000;
const REFUSED: u32 = 0x0005_0001;

/// Holds for the calling thread and what is started by it, for good.
pub(super) fn keep() -> Result<(), String> {
    apply_filter(&filter()).map_err(|error| format!("limits of other processes cannot be kept (seccomp): {error}"))
}

fn filter() -> Vec<sock_filter> {
    let step = |code, k| sock_filter { code, jt: 0, jf: 0, k };
    let skip = |k, if_equal, otherwise| sock_filter { code: JUMP_IF_EQUAL, jt: if_equal, jf: otherwise, k };
    let mut all = Vec::new();
    for (architecture, number) in CALLS {
        // Of another architecture: behind this block. Another call: to its end, where it is allowed.
        all.extend([
            step(LOAD, ARCHITECTURE),
            skip(architecture, 0, 11),
            step(LOAD, NUMBER),
            step(AND, !X32),
            skip(number, 0, 6),
            step(LOAD, PROCESS),
            skip(0, 4, 0),
            step(LOAD, NEW_LIMIT),
            skip(0, 0, 3),
            step(LOAD, NEW_LIMIT + 4),
            skip(0, 0, 1),
            step(RETURN, ALLOWED),
            step(RETURN, REFUSED),
        ]);
    }
    all.push(step(RETURN, ALLOWED));
    all
}
