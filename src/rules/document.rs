//! A text that a line gives to a command by `"$(cat <<'EOF' … EOF)"`, as agents write messages of commits.
//!
//! Invariant: only where every shell reads the same, old ones too: what stands before it is plain, and the text has no quotes,
//! no backslashes and no group that is not closed in its line.

/// What stands before the substitution.
const OPENING: &str = "\"$(cat <<";

/// The line with the text in single quotes instead; `None` where none stands there, or it could be read otherwise.
pub(super) fn unfolded(line: &str) -> Option<String> {
    let (before, rest) = line.split_once(OPENING)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _./:&;|-@,+%\n".contains(c);
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (mark, rest) = rest.get(1..)?.split_once(quote)?;
    let is_mark = !mark.is_empty() && mark.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    if !is_mark || !before.chars().all(is_plain) {
        return None;
    }
    let (mut body, mut rest) = (String::new(), rest.strip_prefix('\n')?);
    loop {
        let (text, next) = rest.split_once('\n')?;
        rest = next;
        if text == mark {
            break;
        }
        if !is_plain_text(text) {
            return None;
        }
        body.push_str(text);
        body.push('\n');
    }
    let after = rest.trim_start_matches([' ', '\n']).strip_prefix(")\"")?;
    // What is put in place of a substitution loses the ends of its last lines.
    Some(format!("{before}'{}'{after}", body.trim_end_matches('\n')))
}

fn is_plain_text(line: &str) -> bool {
    let mut open = 0_usize;
    for c in line.chars() {
        match c {
            '(' => open += 1,
            ')' if open == 0 => return false,
            ')' => open -= 1,
            '\'' | '"' | '`' | '\\' => return false,
            c if c.is_control() && c != '\t' => return false,
            _ => {}
        }
    }
    // To a shell that takes the text for commands the rest of such a line is none.
    let is_comment = line.contains('#') && line.contains(['(', ')']);
    open == 0 && !is_comment && !line.contains("<<") && !line.contains("${")
}
