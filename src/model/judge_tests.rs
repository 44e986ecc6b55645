//! Tests of what is allowed, refused and asked.

use super::*;
use crate::model::question::Outside;
use crate::model::ruling::Extent;

fn permission(kind: ToolKind) -> Deed {
    Deed::Permission {
        kind,
        paths: Vec::new(),
        is_whole: true,
        is_known: true,
        has_choice: true,
        has_once: true,
        names_nothing: false,
    }
}

fn command() -> Deed {
    let (command, args, env) = ("ls".to_owned(), Vec::new(), Vec::new());
    Deed::Run(Arc::new(TerminalSpec { command, args, env, cwd: None, limit: None, patience: None }))
}

/// A permission, a read, a write and a command.
fn all() -> [Deed; 4] {
    [permission(ToolKind::Edit), Deed::Read("/p/a".into()), Deed::Write("/p/a".into()), command()]
}

fn judged(change: impl Fn(Request) -> Request) -> [Verdict; 4] {
    all().map(|deed| judge(&change(Request::of(deed))))
}

const SERVED: Verdict = Verdict::Allow(Ground::Served);

#[test]
fn without_any_setting_the_person_is_asked_for_permissions_only() {
    assert_eq!(judged(|request| request), [Verdict::Ask, SERVED, SERVED, SERVED]);
}

#[test]
fn a_gate_asks_for_writes_and_commands_and_lets_reads_through() {
    for gate in [Gate::Ask, Gate::Hold] {
        assert_eq!(judged(|r| Request { gate, ..r }), [Verdict::Ask, SERVED, Verdict::Ask, Verdict::Ask], "{gate:?}");
        let granted = judged(|r| Request { gate, ..r }.granted());
        assert!(granted.iter().all(|verdict| *verdict == Verdict::Allow(Ground::Granted)), "{granted:?}");
    }
}

#[test]
fn a_turn_that_is_being_stopped_raises_no_question() {
    let stopped = Verdict::Refuse(Ground::Stopping);
    let stopping = |gate| judged(move |r| Request { gate, is_stopping: true, ..r });
    assert_eq!(stopping(Gate::Off), [stopped.clone(), SERVED, SERVED, SERVED]);
    assert_eq!(stopping(Gate::Ask), [stopped.clone(), SERVED, stopped.clone(), stopped]);
}

#[test]
fn what_is_barred_is_refused_whatever_was_said_before() {
    let why = Refusal::new(Reason::Outside, "outside");
    let refused = Verdict::Refuse(Ground::Forbidden(why.clone()));
    let forbidden = |r: Request| r.at(Place::Forbidden(why.clone())).granted();
    for policy in [Policy::Ask, Policy::Auto(Allow::All)] {
        for gate in Gate::ALL {
            let verdicts = judged(|r| Request { policy, gate, ..forbidden(r) });
            assert!(verdicts.iter().all(|verdict| *verdict == refused), "{verdicts:?}");
        }
    }
    let inside = judged(|r| r.at(Place::Inside(None)));
    assert_eq!(inside, judged(|r| r), "to lie inside allows nothing by itself");
}

#[test]
fn where_nobody_is_asked_the_flag_alone_decides() {
    let by = |allow| judged(move |r| Request { policy: Policy::Auto(allow), ..r });
    let (yes, no) = (|a| Verdict::Allow(Ground::Flag(a)), |a| Verdict::Refuse(Ground::Flag(a)));
    let (all, reads, none) = (Allow::All, Allow::Reads, Allow::None);
    assert_eq!(by(all), [yes(all), yes(all), yes(all), yes(all)]);
    assert_eq!(by(reads), [no(reads), yes(reads), no(reads), no(reads)]);
    assert_eq!(by(none), [no(none), no(none), no(none), no(none)]);
    for kind in [ToolKind::Read, ToolKind::Search, ToolKind::Think] {
        let request = Request { policy: Policy::Auto(reads), ..Request::of(permission(kind)) };
        assert_eq!(judge(&request), yes(reads), "{kind:?}");
    }
}

/// Its kind is only what the agent says.
#[test]
fn what_is_called_reading_and_is_more_is_no_reading_for_the_flag() {
    let by = |kind, extent| {
        let ruling = Some(Ruling { extent: Some(extent), ..Ruling::OPEN });
        judge(&Request { policy: Policy::Auto(Allow::Reads), ..Request::of(permission(kind)).ruled(ruling) })
    };
    let reads = Ground::Flag(Allow::Reads);
    for kind in [ToolKind::Read, ToolKind::Search, ToolKind::Think] {
        assert_eq!(by(kind, READS), Verdict::Allow(reads.clone()), "{kind:?}");
        for extent in [EDITS, RUNS, Extent { leaves: true, ..READS }, Extent { reaches: true, ..READS }] {
            assert_eq!(by(kind, extent), Verdict::Refuse(reads.clone()), "{kind:?} {extent:?}");
        }
    }
    // A file that has to be named, or lies outside.
    assert_eq!(by(ToolKind::Read, ASKS), Verdict::Refuse(reads.clone()));
    assert_eq!(by(ToolKind::Search, ASKS), Verdict::Refuse(reads.clone()));
    assert_eq!(by(ToolKind::Think, ASKS), Verdict::Allow(reads));
}

#[test]
fn rules_allow_a_side_question_no_more_than_reading() {
    let rule = |verdict| Some(Ruling { verdict, ..Ruling::OPEN });
    let aside = |verdict| {
        judged(|r| Request { policy: Policy::Auto(Allow::Reads), is_aside: true, ..r.ruled(rule(verdict)).granted() })
    };
    let reads = Ground::Flag(Allow::Reads);
    let (yes, no) = (Verdict::Allow(reads), Verdict::Refuse(Ground::Aside));
    for verdict in [Ruled::Allow, Ruled::Open] {
        assert_eq!(aside(verdict), [no.clone(), yes.clone(), no.clone(), no.clone()], "{verdict:?}");
    }
    for verdict in [Ruled::Ask, Ruled::Deny] {
        let refused = |by: &Verdict| matches!(by, Verdict::Refuse(Ground::Rule(_)));
        assert!(aside(verdict).iter().all(refused), "{verdict:?} narrows what is read, too");
    }
}

#[test]
fn r_329_what_cannot_be_shown_or_answered_is_no_question() {
    let asked = |is_whole, has_choice| {
        judge(&Request::of(Deed::Permission {
            kind: ToolKind::Read,
            paths: Vec::new(),
            is_whole,
            is_known: true,
            has_choice,
            has_once: has_choice,
            names_nothing: false,
        }))
    };
    assert_eq!(asked(false, true), Verdict::Refuse(Ground::NotWhole));
    assert_eq!(asked(true, false), Verdict::Refuse(Ground::NoChoice));
    assert_eq!(asked(true, true), Verdict::Ask);
}

fn left_open(extent: Extent) -> Option<Ruling> {
    Some(Ruling { extent: Some(extent), ..Ruling::OPEN })
}

const READS: Extent = Extent { is_plain: true, changes: false, leaves: false, reaches: false, edits: false };
const EDITS: Extent = Extent { is_plain: true, changes: true, leaves: false, reaches: false, edits: true };
const RUNS: Extent = Extent { is_plain: false, changes: true, leaves: false, reaches: false, edits: false };
const ASKS: Extent = Extent { is_plain: false, changes: false, leaves: false, reaches: false, edits: false };

/// What becomes of a permission request of another kind, which no rule is for.
fn by(mode: PermissionMode, policy: Policy, ruling: Option<Ruling>) -> Verdict {
    judge(&Request { policy, mode, ..Request::of(permission(ToolKind::Other)).ruled(ruling) })
}

#[test]
fn s_109_modes_decide_what_rules_leave_to_the_person() {
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, Plan};
    let yes = |mode| Verdict::Allow(Ground::Mode(mode));
    let no = Verdict::Refuse(Ground::Mode(Plan));
    let ask = Verdict::Ask;
    for (mode, expected) in [
        (Default, [ask.clone(), ask.clone(), ask.clone(), ask.clone()]),
        (AcceptEdits, [yes(AcceptEdits), yes(AcceptEdits), ask.clone(), ask.clone()]),
        (Plan, [yes(Plan), no.clone(), no.clone(), ask.clone()]),
        (BypassPermissions, [(); 4].map(|()| yes(BypassPermissions))),
    ] {
        let decided = [READS, EDITS, RUNS, ASKS].map(|extent| by(mode, Policy::Ask, left_open(extent)));
        assert_eq!(decided, expected, "{mode:?}");
    }
}

#[test]
fn s_112_rules_secrets_and_what_leads_outside_stand_in_every_mode() {
    for mode in PermissionMode::ALL {
        let ruled = |verdict| Some(Ruling { verdict, extent: Some(READS), ..Ruling::OPEN });
        assert!(matches!(by(mode, Policy::Ask, ruled(Ruled::Deny)), Verdict::Refuse(Ground::Rule(_))), "{mode:?}");
        assert_eq!(by(mode, Policy::Ask, ruled(Ruled::Ask)), Verdict::Ask, "{mode:?}");
        let file = Outside { path: "../x".into(), real: None };
        let outside = Some(Ruling { outside: vec![file], ..left_open(READS).unwrap() });
        assert_eq!(by(mode, Policy::Ask, outside), Verdict::Ask, "{mode:?}");
        assert_eq!(by(mode, Policy::Ask, left_open(Extent { leaves: true, ..ASKS })), Verdict::Ask, "{mode:?}");
        assert_eq!(by(mode, Policy::Ask, Some(Ruling::OPEN)), Verdict::Ask, "nothing is known of it");
        assert_eq!(by(mode, Policy::Ask, None), Verdict::Ask, "no rules were asked");
        let asked = Request {
            mode,
            ..Request::of(Deed::Permission {
                kind: ToolKind::Other,
                paths: Vec::new(),
                is_whole: true,
                is_known: false,
                has_choice: true,
                has_once: true,
                names_nothing: false,
            })
        };
        assert_eq!(judge(&asked.ruled(left_open(READS))), Verdict::Ask, "{mode:?}");
    }
}

#[test]
fn s_113_plan_refuses_what_changes_unless_a_rule_allows_it() {
    let plan = |r: Request| Request { mode: PermissionMode::Plan, ..r };
    let no = Verdict::Refuse(Ground::Mode(PermissionMode::Plan));
    assert_eq!(judged(plan), [no.clone(), SERVED, no.clone(), no.clone()]);
    for verdict in [Ruled::Ask, Ruled::Open] {
        let ruled = judged(|r| plan(r).ruled(Some(Ruling { verdict, ..Ruling::OPEN })).granted());
        assert_eq!([&ruled[0], &ruled[2], &ruled[3]], [&no, &no, &no], "{verdict:?}");
    }
    let allowed = judged(|r| plan(r).ruled(Some(Ruling { verdict: Ruled::Allow, ..Ruling::OPEN })));
    assert!(allowed.iter().all(|verdict| matches!(verdict, Verdict::Allow(Ground::Rule(_)))), "{allowed:?}");
    // A decision hook is no rule.
    let by_hook = Ruling { verdict: Ruled::Allow, by_hook: true, ..Ruling::OPEN };
    let hooked = judged(|r| plan(r).ruled(Some(by_hook.clone())));
    assert_eq!([&hooked[0], &hooked[2], &hooked[3]], [&no, &no, &no]);
    let words = Ground::Mode(PermissionMode::Plan).refusal(Subject::Nothing);
    assert!(words.message.contains("permission mode plan") && words.why == Reason::DeniedByPolicy);
}

#[test]
fn a_mode_goes_before_the_gate_and_before_what_exec_allows() {
    let gated =
        judged(|r| Request { mode: PermissionMode::AcceptEdits, gate: Gate::Hold, ..r.ruled(left_open(EDITS)) });
    let yes = Verdict::Allow(Ground::Mode(PermissionMode::AcceptEdits));
    assert_eq!(gated, [(); 4].map(|()| yes.clone()));
    let none = Policy::Auto(Allow::None);
    assert_eq!(by(PermissionMode::AcceptEdits, none, left_open(EDITS)), yes);
    assert_eq!(by(PermissionMode::AcceptEdits, none, left_open(RUNS)), Verdict::Refuse(Ground::Flag(Allow::None)));
    let all = Policy::Auto(Allow::All);
    assert_eq!(by(PermissionMode::Plan, all, left_open(RUNS)), Verdict::Refuse(Ground::Mode(PermissionMode::Plan)));
    let aside =
        Request { mode: PermissionMode::BypassPermissions, is_aside: true, policy: none, ..Request::of(command()) };
    assert_eq!(judge(&aside.ruled(left_open(RUNS))), Verdict::Refuse(Ground::Aside));
}

#[test]
fn outside_of_the_directories_files_are_asked_about_whatever_the_mode_unless_a_rule_names_them() {
    for (deed, extent) in [(Deed::Read("/etc/x".into()), READS), (Deed::Write("/etc/x".into()), EDITS)] {
        let asked = |ruling: Ruling| Request::of(deed.clone()).ruled(Some(ruling));
        let file = |real: Option<&str>| Outside { path: "/etc/x".into(), real: real.map(str::to_owned) };
        let at = |real| Ruling { outside: vec![file(real)], ..left_open(extent).unwrap() };
        let is_read = matches!(deed, Deed::Read(_));
        for mode in PermissionMode::ALL.into_iter().filter(|mode| is_read || *mode != PermissionMode::Plan) {
            let request = Request { mode, ..asked(at(Some("/etc/x"))) };
            assert_eq!(judge(&request), Verdict::Ask, "{mode:?}");
            assert_eq!(judge(&request.clone().granted()), Verdict::Allow(Ground::Granted), "{mode:?}");
            // Whatever the rules took it for.
            let placed = Request { mode, ..asked(left_open(extent).unwrap()) }.at(Place::Outside("/etc/x".into()));
            assert_eq!(judge(&placed), Verdict::Ask, "{mode:?}");
        }
        let allowed = Ruling { verdict: Ruled::Allow, ..at(Some("/etc/x")) };
        assert!(matches!(judge(&asked(allowed.clone())), Verdict::Allow(Ground::Rule(_))));
        assert_eq!(judge(&asked(at(None))), SERVED, "where that is not known the file system decides, and refuses it");
        let stopped = Request { is_stopping: true, ..asked(at(Some("/etc/x"))) };
        assert_eq!(judge(&stopped), Verdict::Refuse(Ground::Stopping));
        // There is nobody to be asked.
        let alone = |allow, ruling| judge(&Request { policy: Policy::Auto(allow), ..asked(ruling) });
        assert_eq!(alone(Allow::None, at(Some("/etc/x"))), Verdict::Refuse(Ground::Flag(Allow::None)));
        let Verdict::Refuse(Ground::Forbidden(why)) = alone(Allow::All, at(Some("/etc/x"))) else { panic!("{deed:?}") };
        assert_eq!((why.why, why.message.as_str()), (Reason::Outside, "outside the workspace: /etc/x"));
        assert!(matches!(alone(Allow::None, allowed), Verdict::Allow(Ground::Rule(_))));
    }
}

/// By its own hand, whatever it says that it does.
#[test]
fn a_file_outside_that_a_call_would_change_is_refused_where_nobody_is_asked() {
    let file = Outside { path: "/etc/x".into(), real: Some("/etc/x".into()) };
    let at = |extent| Ruling { outside: vec![file.clone()], ..left_open(extent).unwrap() };
    let by = |kind, extent| {
        judge(&Request { policy: Policy::Auto(Allow::All), ..Request::of(permission(kind)).ruled(Some(at(extent))) })
    };
    use ToolKind::{Delete, Edit, Execute, Fetch, Move, Other, Read, Search, Think};
    for (kind, extent) in [Fetch, Other, Read, Search, Think, Edit]
        .map(|kind| (kind, EDITS))
        .into_iter()
        .chain([Edit, Delete, Move].map(|kind| (kind, ASKS)))
    {
        let Verdict::Refuse(Ground::Forbidden(why)) = by(kind, extent) else { panic!("{kind:?}") };
        assert_eq!((why.why, why.message.as_str()), (Reason::Outside, "outside the workspace: /etc/x"), "{kind:?}");
    }
    // What it reads there, and what a command does, the flag is for.
    for (kind, extent) in [(Read, READS), (Fetch, ASKS), (Other, ASKS), (Execute, EDITS), (Execute, RUNS)] {
        assert_eq!(by(kind, extent), Verdict::Allow(Ground::Flag(Allow::All)), "{kind:?}");
    }
}

#[test]
fn no_mode_gives_an_answer_that_lasts() {
    let lasting = |kind| {
        let mut deed = permission(kind);
        if let Deed::Permission { has_once, .. } = &mut deed {
            *has_once = false;
        }
        Request::of(deed)
    };
    for mode in PermissionMode::ALL {
        assert_eq!(
            judge(&Request { mode, ..lasting(ToolKind::Read) }.ruled(left_open(READS))),
            Verdict::Ask,
            "{mode:?}"
        );
    }
    // The flag takes one where there is no other, and is for no more than it says.
    let by = |extent| {
        judge(&Request { policy: Policy::Auto(Allow::Reads), ..lasting(ToolKind::Read) }.ruled(left_open(extent)))
    };
    assert_eq!(by(READS), Verdict::Allow(Ground::Flag(Allow::Reads)));
    assert_eq!(by(Extent { leaves: true, ..READS }), Verdict::Refuse(Ground::Flag(Allow::Reads)));
}

#[test]
fn a_refusal_does_not_say_twice_to_the_person_that_it_is_one() {
    let told = |ground: Ground| Ground::Forbidden(ground.refusal(Subject::Nothing)).words();
    assert_eq!(told(Ground::NoRule), "no rule allows it");
    assert_eq!(told(Ground::Flag(Allow::None)), "this client was started with --allow none");
}
