use super::*;

fn check(script: &str, wanted: bool) {
    assert_eq!(is_plain(script), wanted, "{script}");
}

cases! {
    check {
        a_line: "5p", true;
        lines: "1,20p", true;
        the_last_line: "$d", true;
        between_two_texts: "/a/,/b/p", true;
        not_a_text: "/a/!d", true;
        a_text_in_any_case: "/a/Id", true;
        with_other_marks: "s|/usr|/opt|g", true;
        a_semicolon_in_a_part: "s/a;b/c/; 3q", true;
        escaped_dots: r"s/a\.b/\1 c/", true;
        a_newline_between_commands: "5p\n6p", true;
        a_bracket_in_an_address: "/[/s/]/e touch pwned #/g", false;
        characters_in_brackets: r"s/^([a-z]+)=[^,;]*$/\1: x/", true;
        a_class_of_characters: "s/[[:space:]]*$//", true;
        brackets_in_an_address: "/[a]/d", true;
        a_bracket_in_what_is_put: "s/a/[b]/", true;
        a_bracket_without_an_end_in_what_is_put: "s/a/[b/e;s/]/x/", false;
        a_bracket_that_begins_with_its_end: "s/[]/]/e x/", false;
        a_bracket_of_all_but_its_end: "s/[^]/]/e x/", false;
        an_escape_in_brackets: r"s/[\]/]/e x/", false;
        a_class_that_is_none: "s/[[.x.]]/a/", false;
        a_mark_of_a_class: "s:[[:alpha:]]:a:", false;
        a_bracket_that_is_escaped: r"/\[/d", false;
        an_escaped_mark: r"s/a\/b/e/e", false;
        a_mark_as_an_escape: r"s.a\.b.c.e", false;
        an_address_with_a_mark_of_its_own: r"\,a,d", false;
        a_flag_that_runs: "s/a/b/ge", false;
        a_flag_that_writes: "s/a/b/w x", false;
        a_command_that_runs: "1e x", false;
        a_command_behind_a_text: "/a/e x", false;
        a_text_that_goes_on: "a\\\ne x", false;
        a_group: "/a/{p;e x\n}", false;
        a_comment: "5p # e", false;
        a_part_without_an_end: "s/a/b", false;
        two_commands_in_one: "5p6p", false;
        a_newline_in_a_part: "s/a\n/b/", false;
    }
}
