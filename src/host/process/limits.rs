//! A filter of system calls (seccomp), for what Landlock does not see: what is confined sets its own limits and those of no
//! other process, since with a limit of its time or of its files any process of the same user could be ended past all rights
//! on signals; and where ports of TCP are limited it comes to no connection by a way that does not look like one, and
//! where there are none to no socket for TCP.
//!
//! Knows no sandbox. Invariant: nothing but what the tables say is refused, and nothing is ended by it; programs of 32 bits
//! are told apart by their own numbers.

use Syscall::{IoUringSetup, PrLimit64, SendMMsg, SendMsg, SendTo, SetSockOpt, Socket, SocketCall};
use seccompiler::{apply_filter, sock_filter};

/// System calls, by the kernel's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syscall {
    PrLimit64,
    Socket,
    SendTo,
    SendMsg,
    SendMMsg,
    SetSockOpt,
    /// All of the calls for sockets in one, for programs of 32 bits: what they are given stands in memory.
    SocketCall,
    IoUringSetup,
}

/// Their numbers, by the kernel's names of architectures (`AUDIT_ARCH_`).
const CALLS: [(u32, &[(Syscall, u32)]); 6] = [
    // x86-64, and x32 where its numbers are others.
    (
        0xc000_003e,
        &[
            (PrLimit64, 302),
            (Socket, 41),
            (SendTo, 44),
            (SendMsg, 46),
            (SendMsg, 518),
            (SendMMsg, 307),
            (SendMMsg, 538),
            (SetSockOpt, 54),
            (SetSockOpt, 541),
            (IoUringSetup, 425),
        ],
    ),
    // i386
    (
        0x4000_0003,
        &[
            (PrLimit64, 340),
            (Socket, 359),
            (SendTo, 369),
            (SendMsg, 370),
            (SendMMsg, 345),
            (SetSockOpt, 366),
            (SocketCall, 102),
            (IoUringSetup, 425),
        ],
    ),
    // AArch64
    (0xc000_00b7, OF_NEWER),
    // ARM
    (
        0x4000_0028,
        &[
            (PrLimit64, 369),
            (Socket, 281),
            (SendTo, 290),
            (SendMsg, 296),
            (SendMMsg, 374),
            (SetSockOpt, 294),
            (SocketCall, 102),
            (IoUringSetup, 425),
        ],
    ),
    // RISC-V
    (0xc000_00f3, OF_NEWER),
    // POWER
    (
        0xc000_0015,
        &[
            (PrLimit64, 325),
            (Socket, 326),
            (SendTo, 335),
            (SendMsg, 341),
            (SendMMsg, 349),
            (SetSockOpt, 339),
            (SocketCall, 102),
            (IoUringSetup, 425),
        ],
    ),
];

/// What newer architectures have in common.
const OF_NEWER: &[(Syscall, u32)] = &[
    (PrLimit64, 261),
    (Socket, 198),
    (SendTo, 206),
    (SendMsg, 211),
    (SendMMsg, 269),
    (SetSockOpt, 208),
    (IoUringSetup, 425),
];

/// Numbers of x32 are those of x86-64 with this bit.
const X32: u32 = 0x4000_0000;

/// Which ports of TCP there are for what is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ports {
    All,
    /// Those that Landlock lets through.
    Some,
    None,
}

/// A call that is refused where all of this holds for what it is given.
struct Refusal {
    call: Syscall,
    given: &'static [Given],
    error: u32,
}

/// Where in `struct seccomp_data`, of its bits only these, and what they are or are not.
struct Given {
    at: u32,
    bits: u32,
    value: u32,
    is_it: bool,
}

const ALL_BITS: u32 = u32::MAX;

const fn is(at: u32, value: u32) -> Given {
    Given { at, bits: ALL_BITS, value, is_it: true }
}

const fn is_not(at: u32, value: u32) -> Given {
    Given { at, bits: ALL_BITS, value, is_it: false }
}

const fn is_of(at: u32, bits: u32, value: u32) -> Given {
    Given { at, bits, value, is_it: true }
}

const fn has(at: u32, bits: u32) -> Given {
    Given { at, bits, value: bits, is_it: true }
}

/// The lower and the upper half of what a call is given at a place, from 0, little-endian.
const fn low(place: u32) -> u32 {
    16 + 8 * place
}

const fn high(place: u32) -> u32 {
    low(place) + 4
}

// Errors of the kernel.
const EPERM: u32 = 1;
const EACCES: u32 = 13;
const ENOSYS: u32 = 38;
const ENOPROTOOPT: u32 = 92;
const EPROTONOSUPPORT: u32 = 93;
const EOPNOTSUPP: u32 = 95;
const EAFNOSUPPORT: u32 = 97;

/// It is given a process, its own where that is 0, and where the new limit stands, nowhere if it is only read.
const OF_LIMITS: &[Refusal] = &[
    Refusal { call: PrLimit64, given: &[is_not(low(0), 0), is_not(low(2), 0)], error: EPERM },
    Refusal { call: PrLimit64, given: &[is_not(low(0), 0), is_not(high(2), 0)], error: EPERM },
];

/// Families and protocols that speak TCP with everybody and that Landlock does not take for it.
const AF_SMC: u32 = 43;
const IPPROTO_SMC: u32 = 256;
const IPPROTO_MPTCP: u32 = 262;
/// Connects while it sends.
const MSG_FASTOPEN: u32 = 0x2000_0000;
/// Options of TCP: the first connects with the first that is sent, the second puts another protocol in its place.
const IPPROTO_TCP: u32 = 6;
const TCP_FASTOPEN_CONNECT: u32 = 30;
const TCP_ULP: u32 = 31;

const OF_PORTS: &[Refusal] = &[
    Refusal { call: Socket, given: &[is(low(0), AF_SMC)], error: EAFNOSUPPORT },
    Refusal { call: Socket, given: &[is(low(2), IPPROTO_SMC)], error: EPROTONOSUPPORT },
    Refusal { call: Socket, given: &[is(low(2), IPPROTO_MPTCP)], error: EPROTONOSUPPORT },
    Refusal { call: SendTo, given: &[has(low(3), MSG_FASTOPEN)], error: EOPNOTSUPP },
    Refusal { call: SendMsg, given: &[has(low(2), MSG_FASTOPEN)], error: EOPNOTSUPP },
    Refusal { call: SendMMsg, given: &[has(low(3), MSG_FASTOPEN)], error: EOPNOTSUPP },
    Refusal {
        call: SetSockOpt,
        given: &[is(low(1), IPPROTO_TCP), is(low(2), TCP_FASTOPEN_CONNECT)],
        error: ENOPROTOOPT,
    },
    Refusal { call: SetSockOpt, given: &[is(low(1), IPPROTO_TCP), is(low(2), TCP_ULP)], error: ENOPROTOOPT },
    // What these do cannot be seen.
    Refusal { call: SocketCall, given: &[], error: ENOSYS },
    Refusal { call: IoUringSetup, given: &[], error: ENOSYS },
];

const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const SOCK_STREAM: u32 = 1;
/// What is no flag in the type of a socket.
const SOCK_TYPE_MASK: u32 = 0xf;

/// Of a socket that has waited without having asked for a port nothing could be told: there is none.
const OF_NO_PORTS: &[Refusal] = &[
    Refusal { call: Socket, given: &[is(low(0), AF_INET), is_of(low(1), SOCK_TYPE_MASK, SOCK_STREAM)], error: EACCES },
    Refusal { call: Socket, given: &[is(low(0), AF_INET6), is_of(low(1), SOCK_TYPE_MASK, SOCK_STREAM)], error: EACCES },
];

/// Where a filter finds the call and the architecture.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

// Instructions of `linux/bpf_common.h`.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

/// What the kernel does with a call: `SECCOMP_RET_ALLOW`, and `SECCOMP_RET_ERRNO` with an error.
const ALLOWED: u32 = 0x7fff_0000;
const REFUSED: u32 = 0x0005_0000;

/// Holds for the calling thread and what is started by it, for good.
pub(super) fn keep(ports: Ports) -> Result<(), String> {
    apply_filter(&filter(ports)).map_err(|error| format!("system calls cannot be filtered (seccomp): {error}"))
}

fn filter(ports: Ports) -> Vec<sock_filter> {
    let (of_none, of_ports) = match ports {
        Ports::All => (&[][..], &[][..]),
        Ports::Some => (&[][..], OF_PORTS),
        Ports::None => (OF_NO_PORTS, OF_PORTS),
    };
    let mut all = Vec::new();
    for (architecture, calls) in CALLS {
        let mut block = Vec::new();
        for refusal in OF_LIMITS.iter().chain(of_ports).chain(of_none) {
            let numbers = calls.iter().filter(|(call, _)| *call == refusal.call);
            block.extend(numbers.flat_map(|(_, number)| refusing(*number, refusal)));
        }
        block.push(step(RETURN, ALLOWED));
        all.push(step(LOAD, ARCHITECTURE));
        all.push(unless(true, architecture, block.len()));
        all.extend(block);
    }
    all.push(step(RETURN, ALLOWED));
    all
}

/// Steps that refuse a call, or lead on behind themselves.
fn refusing(number: u32, refusal: &Refusal) -> Vec<sock_filter> {
    let mut steps = vec![step(RETURN, REFUSED | refusal.error)];
    let call = Given { at: NUMBER, bits: !X32, value: number, is_it: true };
    for given in refusal.given.iter().rev().chain([&call]) {
        let found = [step(LOAD, given.at), step(AND, given.bits), unless(given.is_it, given.value, steps.len())];
        steps.splice(..0, found);
    }
    steps
}

const fn step(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// Leaves out so many steps unless it is, or is not, this value. No block has more than a jump can be far.
fn unless(is_it: bool, k: u32, steps: usize) -> sock_filter {
    let far = u8::try_from(steps).unwrap_or(u8::MAX);
    let (jt, jf) = if is_it { (0, far) } else { (far, 0) };
    sock_filter { code: JUMP_IF_EQUAL, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86_64: u32 = 0xc000_003e;
    const I386: u32 = 0x4000_0003;
    const AARCH64: u32 = 0xc000_00b7;

    /// What the kernel would do with a call, by the steps alone.
    fn answer(filter: &[sock_filter], architecture: u32, number: u32, given: [u64; 6]) -> u32 {
        let halves = given.iter().flat_map(|value| [*value as u32, (*value >> 32) as u32]);
        let data: Vec<u32> = [number, architecture, 0, 0].into_iter().chain(halves).collect();
        let (mut at, mut value) = (0, 0);
        loop {
            let step = &filter[at];
            at += 1;
            match step.code {
                LOAD => value = data[step.k as usize / 4],
                AND => value &= step.k,
                JUMP_IF_EQUAL => at += usize::from(if value == step.k { step.jt } else { step.jf }),
                RETURN => return step.k,
                code => panic!("{code}"),
            }
        }
    }

    #[test]
    fn every_jump_is_as_far_as_its_block() {
        for filter in [Ports::All, Ports::Some, Ports::None].map(filter) {
            assert!(filter.iter().all(|step| step.jt < u8::MAX && step.jf < u8::MAX));
        }
    }

    #[test]
    fn what_connects_without_looking_like_it_is_refused_where_ports_are_limited_and_nothing_else() {
        let refused = |error: u32| REFUSED | error;
        let sends = |place: usize| {
            let mut given = [3, 0, 0, 0, 0, 0];
            given[place] = u64::from(MSG_FASTOPEN | 0x4000);
            given
        };
        for (architecture, number, given, answered) in [
            (X86_64, 41, [2, 1, 262, 0, 0, 0], refused(EPROTONOSUPPORT)),
            (X86_64, 41, [10, 0x80001, 256, 0, 0, 0], refused(EPROTONOSUPPORT)),
            (X86_64, 41, [43, 1, 0, 0, 0, 0], refused(EAFNOSUPPORT)),
            // The kernel looks at no more than 32 bits of it.
            (X86_64, 41, [2, 1, 0x1_0000_0106, 0, 0, 0], refused(EPROTONOSUPPORT)),
            (X86_64, 41, [2, 1, 0, 0, 0, 0], ALLOWED),
            (X86_64, 41, [2, 1, 6, 0, 0, 0], ALLOWED),
            (X86_64, 41, [1, 1, 0, 0, 0, 0], ALLOWED),
            (X86_64, 44, sends(3), refused(EOPNOTSUPP)),
            (X86_64, 44, [3, 0, 0, 0x4000, 0, 0], ALLOWED),
            (X86_64, 46, sends(2), refused(EOPNOTSUPP)),
            (X86_64, X32 + 518, sends(2), refused(EOPNOTSUPP)),
            (X86_64, 307, sends(3), refused(EOPNOTSUPP)),
            (X86_64, X32 + 538, sends(3), refused(EOPNOTSUPP)),
            (X86_64, 54, [3, 6, 30, 0, 0, 0], refused(ENOPROTOOPT)),
            (X86_64, 54, [3, 6, 31, 0, 0, 0], refused(ENOPROTOOPT)),
            (X86_64, X32 + 541, [3, 6, 30, 0, 0, 0], refused(ENOPROTOOPT)),
            (X86_64, 54, [3, 6, 1, 0, 0, 0], ALLOWED),
            (X86_64, 54, [3, 1, 30, 0, 0, 0], ALLOWED),
            (X86_64, 425, [8, 0, 0, 0, 0, 0], refused(ENOSYS)),
            // Another call of another architecture.
            (X86_64, 198, [2, 1, 262, 0, 0, 0], ALLOWED),
            (I386, 359, [2, 1, 262, 0, 0, 0], refused(EPROTONOSUPPORT)),
            (I386, 102, [1, 0, 0, 0, 0, 0], refused(ENOSYS)),
            (AARCH64, 198, [2, 1, 262, 0, 0, 0], refused(EPROTONOSUPPORT)),
            (AARCH64, 206, sends(3), refused(EOPNOTSUPP)),
            (AARCH64, 211, sends(2), refused(EOPNOTSUPP)),
            (AARCH64, 269, sends(3), refused(EOPNOTSUPP)),
            (AARCH64, 208, [3, 6, 30, 0, 0, 0], refused(ENOPROTOOPT)),
            (AARCH64, 425, [8, 0, 0, 0, 0, 0], refused(ENOSYS)),
            (0x1234, 41, [2, 1, 262, 0, 0, 0], ALLOWED),
        ] {
            assert_eq!(
                answer(&filter(Ports::Some), architecture, number, given),
                answered,
                "{architecture:x} {number} {given:?}"
            );
            assert_eq!(answer(&filter(Ports::All), architecture, number, given), ALLOWED, "{architecture:x} {number}");
        }
    }

    #[test]
    fn where_there_are_no_ports_there_is_no_socket_for_tcp() {
        for (architecture, number) in [(X86_64, 41), (X86_64, X32 + 41), (I386, 359), (AARCH64, 198)] {
            let of = |ports, given: [u64; 6]| answer(&filter(ports), architecture, number, given);
            // With flags in its type, and with its protocol by name or not.
            for given in
                [[2, 1, 0, 0, 0, 0], [10, 1, 6, 0, 0, 0], [2, 0x80801, 0, 0, 0, 0], [0x1_0000_000a, 1, 0, 0, 0, 0]]
            {
                assert_eq!(of(Ports::None, given), REFUSED | EACCES, "{given:?}");
                assert_eq!(of(Ports::Some, given), ALLOWED, "{given:?}");
            }
            // UDP, and sockets of this machine.
            for given in [[2, 2, 0, 0, 0, 0], [10, 0x80002, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [16, 3, 0, 0, 0, 0]] {
                assert_eq!(of(Ports::None, given), ALLOWED, "{given:?}");
            }
            assert_eq!(of(Ports::None, [2, 1, 262, 0, 0, 0]) & REFUSED, REFUSED);
        }
    }

    #[test]
    fn a_limit_is_set_by_no_number_of_a_process_whether_ports_are_limited_or_not() {
        for filter in [Ports::All, Ports::Some, Ports::None].map(filter) {
            for (architecture, number) in [(X86_64, 302), (X86_64, X32 + 302), (I386, 340), (AARCH64, 261)] {
                let of = |given: [u64; 6]| answer(&filter, architecture, number, given);
                assert_eq!(of([1, 7, 1 << 32, 0, 0, 0]), REFUSED | EPERM);
                assert_eq!(of([1, 7, 8, 0, 0, 0]), REFUSED | EPERM);
                assert_eq!(of([1, 7, 0, 8, 0, 0]), ALLOWED);
                assert_eq!(of([0, 7, 8, 0, 0, 0]), ALLOWED);
            }
        }
    }
}
