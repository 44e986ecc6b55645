//! Work that must not get in the way of keys: a thread, and those that it starts, take what others leave.
//!
//! Only where the system knows priorities of threads; elsewhere nothing happens.

/// Lowers the priority of the calling thread; threads that it starts later inherit it.
pub fn lower_priority() {
    // A system that refuses leaves it as it was.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::setpriority_process(None, NICE);
}

/// As `nice` has it; the highest is 19.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NICE: i32 = 10;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_thread_that_is_calmed_and_those_it_starts_not_the_program() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        let within = std::thread::spawn(move || {
            lower_priority();
            (nice(), std::thread::spawn(nice).join().unwrap())
        });
        assert_eq!(within.join().unwrap(), (NICE.max(before), NICE.max(before)));
        assert_eq!(nice(), before);
    }
}
