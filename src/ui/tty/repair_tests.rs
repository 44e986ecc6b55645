use super::*;
use crate::ui::tty::guard::LENT;
use portable_pty::{PtySize, native_pty_system};

#[test]
fn after_a_kill_settings_that_a_shell_has_set_stay_and_raw_ones_do_not() {
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(pair.master.tty_name().unwrap()).unwrap();
    // What a shell edits its lines with.
    let mut shell = tcgetattr(&terminal).unwrap();
    shell.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    tcsetattr(&terminal, OptionalActions::Now, &shell).unwrap();
    repair_after(terminal.as_fd(), 1, None).unwrap();
    assert!(!tcgetattr(&terminal).unwrap().local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO));
    // As an editor sets it that writes lines as a shell does.
    let mut editor = shell.clone();
    editor.local_modes.remove(LocalModes::ISIG);
    tcsetattr(&terminal, OptionalActions::Now, &editor).unwrap();
    repair_after(terminal.as_fd(), LENT, None).unwrap();
    assert!(tcgetattr(&terminal).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO));
    shell.make_raw();
    tcsetattr(&terminal, OptionalActions::Now, &shell).unwrap();
    repair_after(terminal.as_fd(), 1, None).unwrap();
    assert!(tcgetattr(&terminal).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO));
}

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

#[test]
fn after_a_kill_the_settings_are_those_of_before_where_they_are_known() {
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(pair.master.tty_name().unwrap()).unwrap();
    let mut before = tcgetattr(&terminal).unwrap();
    // What `stty sane` would turn on.
    before.input_modes.remove(InputModes::BRKINT | InputModes::IMAXBEL);
    tcsetattr(&terminal, OptionalActions::Now, &before).unwrap();
    let mut raw = before.clone();
    raw.make_raw();
    tcsetattr(&terminal, OptionalActions::Now, &raw).unwrap();
    repair_after(terminal.as_fd(), 1, Some(&LineSettings(before.clone()))).unwrap();
    let after = tcgetattr(&terminal).unwrap();
    assert_eq!((after.input_modes, after.local_modes), (before.input_modes, before.local_modes));
}
