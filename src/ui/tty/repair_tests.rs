use super::*;
use portable_pty::{PtySize, native_pty_system};

#[test]
fn raw_settings_are_the_usual_ones_again_and_every_mode_is_off() {
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let name = pair.master.tty_name().unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(name).unwrap();
    let before = tcgetattr(&terminal).unwrap();
    let mut raw = before.clone();
    raw.make_raw();
    tcsetattr(&terminal, OptionalActions::Now, &raw).unwrap();
    repair_at(terminal.as_fd()).unwrap();
    let after = tcgetattr(&terminal).unwrap();
    for (was, is) in
        [(before.local_modes.bits(), after.local_modes.bits()), (before.output_modes.bits(), after.output_modes.bits())]
    {
        assert_eq!(was & !is, 0);
    }
    assert!(after.input_modes.contains(InputModes::ICRNL));
}
