//! A filter of system calls (seccomp), for what rights on files and ports do not reach: what is confined sets its own
//! limits and those of no other process (with a limit of its time or of its files any process of the same user could be
//! ended past all rights on signals), and where ports of TCP are limited it goes round that by no other way to TCP.
//!
//! Knows no sandbox. Invariant: nothing but what the tables name is refused, and nothing is ended by it; programs of
//! 32 bits are told apart by their own numbers.

use seccompiler::{apply_filter, sock_filter};
use std::iter::once;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    SetLimit,
    Socket,
    SendTo,
    SendMessage,
    SendMessages,
    /// All calls that are about sockets, in one that does not show what is sent.
    AnySocket,
    /// Queues of calls, which the kernel does past any filter.
    Queue,
}

use Call::{AnySocket, Queue, SendMessage, SendMessages, SendTo, SetLimit, Socket};

/// The kernel's names of architectures (`AUDIT_ARCH_`), and the numbers of calls there. Those of x32 are among those of
/// x86-64.
const ARCHITECTURES: [(u32, &[(Call, u32)]); 6] = [
    // x86-64
    (
        0xc000_003e,
        &[
            (SetLimit, 302),
            (Socket, 41),
            (SendTo, 44),
            (SendMessage, 46),
            (SendMessage, 518),
            (SendMessages, 307),
            (SendMessages, 538),
            (Queue, 425),
        ],
    ),
    // i386
    (
        0x4000_0003,
        &[
            (SetLimit, 340),
            (Socket, 359),
            (SendTo, 369),
            (SendMessage, 370),
            (SendMessages, 345),
            (AnySocket, 102),
            (Queue, 425),
        ],
    ),
    // AArch64
    (
        0xc000_00b7,
        &[(SetLimit, 261), (Socket, 198), (SendTo, 206), (SendMessage, 211), (SendMessages, 269), (Queue, 425)],
    ),
    // ARM
    (
        0x4000_0028,
        &[(SetLimit, 369), (Socket, 281), (SendTo, 290), (SendMessage, 296), (SendMessages, 374), (Queue, 425)],
    ),
    // RISC-V
    (
        0xc000_00f3,
        &[(SetLimit, 261), (Socket, 198), (SendTo, 206), (SendMessage, 211), (SendMessages, 269), (Queue, 425)],
    ),
    // POWER
    (
        0xc000_0015,
        &[
            (SetLimit, 325),
            (Socket, 326),
            (SendTo, 335),
            (SendMessage, 341),
            (SendMessages, 349),
            (AnySocket, 102),
            (Queue, 425),
        ],
    ),
];

/// Numbers of x32 are those of x86-64 with this bit.
const X32: u32 = 0x4000_0000;

/// Where a filter finds what it looks at: `struct seccomp_data`, little-endian.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// The lower half of an argument, from 0.
const fn argument(number: u32) -> u32 {
    16 + 8 * number
}

enum Test {
    Not(u32),
    Is(u32),
    /// With this mask.
    Holds(u32, u32),
    /// Any of these bits.
    Has(u32),
}

use Test::{Has, Holds, Is, Not};

/// Which call is refused, with what, if all that its arguments are looked at for is so.
struct Refusal {
    call: Call,
    when: &'static [(u32, Test)],
    error: u32,
}

const PERM: u32 = 1;
const ACCESS: u32 = 13;
const NO_CALL: u32 = 38;
const NO_PROTOCOL: u32 = 93;
const NOT_SUPPORTED: u32 = 95;
const NO_FAMILY: u32 = 97;

const fn refusal(call: Call, when: &'static [(u32, Test)], error: u32) -> Refusal {
    Refusal { call, when, error }
}

/// The process whose limits are set, its own where it is 0; and where the new limit stands, nowhere if it is only read.
const LIMITS: &[Refusal] = &[
    refusal(SetLimit, &[(argument(0), Not(0)), (argument(2), Not(0))], PERM),
    refusal(SetLimit, &[(argument(0), Not(0)), (argument(2) + 4, Not(0))], PERM),
];

/// Other ways to TCP than those that the kernel holds to ports: by MPTCP (262) and SMC (43), which fall back to it, by data that
/// open a connection (`MSG_FASTOPEN`), and by what shows no filter what it does. And to the host of a virtual machine (40).
const WAYS_ROUND: &[Refusal] = &[
    refusal(Socket, &[(argument(2), Is(262))], NO_PROTOCOL),
    refusal(Socket, &[(argument(0), Is(43))], NO_FAMILY),
    refusal(Socket, &[(argument(0), Is(40))], NO_FAMILY),
    refusal(SendTo, &[(argument(3), Has(0x2000_0000))], NOT_SUPPORTED),
    refusal(SendMessage, &[(argument(2), Has(0x2000_0000))], NOT_SUPPORTED),
    refusal(SendMessages, &[(argument(3), Has(0x2000_0000))], NOT_SUPPORTED),
    refusal(AnySocket, &[], NO_CALL),
    refusal(Queue, &[], NO_CALL),
];

/// Sockets of TCP over IPv4 (2) and IPv6 (10): what waits on one without having asked for a port is given one by the kernel.
const ALL_OF_TCP: &[Refusal] = &[
    refusal(Socket, &[(argument(0), Is(2)), (argument(1), Holds(0xf, 1))], ACCESS),
    refusal(Socket, &[(argument(0), Is(10)), (argument(1), Holds(0xf, 1))], ACCESS),
];

/// What is left of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tcp {
    All,
    /// Some ports, to connect to or to wait on.
    Limited,
    None,
}

/// Holds for the calling thread and what is started by it, for good.
pub(super) fn keep(tcp: Tcp) -> Result<(), String> {
    apply_filter(&filter(tcp)).map_err(|error| format!("calls of the system cannot be filtered (seccomp): {error}"))
}

// Instructions of `linux/bpf_common.h`.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_ANY: u16 = 0x45;
const RETURN: u16 = 0x06;

/// What the kernel does with a call: `SECCOMP_RET_ALLOW`, and `SECCOMP_RET_ERRNO`.
const ALLOWED: u32 = 0x7fff_0000;
const REFUSED: u32 = 0x0005_0000;

const fn step(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

fn filter(tcp: Tcp) -> Vec<sock_filter> {
    let (round, all) = match tcp {
        Tcp::All => (&[][..], &[][..]),
        Tcp::Limited => (WAYS_ROUND, &[][..]),
        Tcp::None => (WAYS_ROUND, ALL_OF_TCP),
    };
    let mut filter = Vec::new();
    for (architecture, numbers) in ARCHITECTURES {
        let refusals = LIMITS.iter().chain(round).chain(all);
        let steps = refusals.flat_map(|refusal| {
            let numbers = numbers.iter().filter(|(call, _)| *call == refusal.call);
            numbers.flat_map(|(_, number)| steps(refusal, *number))
        });
        let steps: Vec<sock_filter> = steps.chain(once(step(RETURN, ALLOWED))).collect();
        // Of another architecture: behind this block.
        let behind = u32::try_from(steps.len()).unwrap_or(u32::MAX);
        filter.push(step(LOAD, ARCHITECTURE));
        filter.push(sock_filter { code: JUMP_IF_EQUAL, jt: 1, jf: 0, k: architecture });
        filter.push(step(JUMP, behind));
        filter.extend(steps);
    }
    filter.push(step(RETURN, ALLOWED));
    filter
}

/// Refuses the call of this number, or comes to what follows.
fn steps(Refusal { when, error, .. }: &Refusal, number: u32) -> Vec<sock_filter> {
    let number = (NUMBER, Holds(!X32, number));
    let mut steps = Vec::new();
    for (place, test) in once(&number).chain(*when) {
        steps.push(step(LOAD, *place));
        // Where it is not so, a jump to the end, which is not known yet.
        let (code, k, is_wanted) = match test {
            Is(value) => (JUMP_IF_EQUAL, *value, true),
            Not(value) => (JUMP_IF_EQUAL, *value, false),
            Has(bits) => (JUMP_IF_ANY, *bits, true),
            Holds(mask, value) => {
                steps.push(step(AND, *mask));
                (JUMP_IF_EQUAL, *value, true)
            }
        };
        let (jt, jf) = if is_wanted { (0, END) } else { (END, 0) };
        steps.push(sock_filter { code, jt, jf, k });
    }
    steps.push(step(RETURN, REFUSED | error));
    let count = steps.len();
    for (at, step) in steps.iter_mut().enumerate() {
        let end = u8::try_from(count - at - 1).unwrap_or(END);
        for jump in [&mut step.jt, &mut step.jf].into_iter().filter(|jump| **jump == END) {
            *jump = end;
        }
    }
    steps
}

/// Stands for the distance of a jump to the end.
const END: u8 = u8::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    /// What the filter says of a call with these arguments.
    fn said(filter: &[sock_filter], architecture: u32, number: u32, arguments: [u64; 4]) -> u32 {
        let mut seen = [number.to_le_bytes(), architecture.to_le_bytes(), [0; 4], [0; 4]].concat();
        seen.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        let half = |place: u32| u32::from_le_bytes(seen[place as usize..][..4].try_into().unwrap());
        let (mut at, mut value) = (0, 0);
        loop {
            let step = &filter[at];
            at += 1 + match step.code {
                LOAD => {
                    value = half(step.k);
                    0
                }
                AND => {
                    value &= step.k;
                    0
                }
                JUMP => step.k as usize,
                JUMP_IF_EQUAL => usize::from(if value == step.k { step.jt } else { step.jf }),
                JUMP_IF_ANY => usize::from(if value & step.k != 0 { step.jt } else { step.jf }),
                _ => return step.k,
            };
        }
    }

    #[test]
    fn what_the_tables_name_is_refused_and_nothing_else_on_each_architecture() {
        const FAST: u64 = 0x2000_0000;
        for (architecture, numbers) in ARCHITECTURES {
            for (call, number) in numbers {
                let cases: &[([u64; 4], Tcp, u32)] = match call {
                    SetLimit => &[
                        ([7, 0, 1, 0], Tcp::All, PERM),
                        ([7, 0, 1 << 32, 0], Tcp::All, PERM),
                        ([0, 0, 1, 0], Tcp::None, 0),
                        ([7, 0, 0, 1], Tcp::None, 0),
                    ],
                    Socket => &[
                        ([2, 1, 262, 0], Tcp::All, 0),
                        ([2, 1, 262, 0], Tcp::Limited, NO_PROTOCOL),
                        ([43, 1, 0, 0], Tcp::Limited, NO_FAMILY),
                        ([40, 1, 0, 0], Tcp::Limited, NO_FAMILY),
                        ([2, 1, 0, 0], Tcp::Limited, 0),
                        ([2, 0o2_000_001, 0, 0], Tcp::None, ACCESS),
                        ([10, 1, 6, 0], Tcp::None, ACCESS),
                        ([2, 2, 0, 0], Tcp::None, 0),
                        ([1, 1, 0, 0], Tcp::None, 0),
                    ],
                    SendTo | SendMessages => &[
                        ([3, 0, 0, FAST | 0x4000], Tcp::Limited, NOT_SUPPORTED),
                        ([3, 0, FAST, 0x4000], Tcp::None, 0),
                        ([3, 0, 0, FAST], Tcp::All, 0),
                    ],
                    SendMessage => &[
                        ([3, 0, FAST, 0], Tcp::Limited, NOT_SUPPORTED),
                        ([3, 0, 0, FAST], Tcp::None, 0),
                        ([3, 0, FAST, 0], Tcp::All, 0),
                    ],
                    AnySocket | Queue => &[([1, 0, 0, 0], Tcp::Limited, NO_CALL), ([1, 0, 0, 0], Tcp::All, 0)],
                };
                for (arguments, tcp, error) in cases {
                    let wanted = if *error == 0 { ALLOWED } else { REFUSED | error };
                    let said = said(&filter(*tcp), architecture, *number, *arguments);
                    assert_eq!(said, wanted, "{architecture:x} {number} {arguments:?} {tcp:?}");
                }
            }
            assert_eq!(said(&filter(Tcp::None), architecture, 1, [7; 4]), ALLOWED);
        }
        assert_eq!(said(&filter(Tcp::None), 0xc000_003e, X32 | 302, [7; 4]), REFUSED | PERM, "of x32");
        assert_eq!(said(&filter(Tcp::None), 0x1234, 302, [7; 4]), ALLOWED, "of no known architecture");
    }
}
