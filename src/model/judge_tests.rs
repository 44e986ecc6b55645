//! Tests of what is allowed, refused and asked.

use super::*;

fn permission(kind: ToolKind) -> Deed {
    Deed::Permission { kind, paths: Vec::new(), is_whole: true, is_known: true, has_choice: true }
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

#[test]
fn rules_allow_a_side_question_no_more_than_reading() {
    let rule = |verdict| Some(Ruling { verdict, ..Ruling::OPEN });
    let aside = |verdict| {
        judged(|r| Request { policy: Policy::Auto(Allow::Reads), is_aside: true, ..r.ruled(rule(verdict)).granted() })
    };
    let reads = Ground::Flag(Allow::Reads);
    let (yes, no) = (Verdict::Allow(reads.clone()), Verdict::Refuse(reads));
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
        }))
    };
    assert_eq!(asked(false, true), Verdict::Refuse(Ground::NotWhole));
    assert_eq!(asked(true, false), Verdict::Refuse(Ground::NoChoice));
    assert_eq!(asked(true, true), Verdict::Ask);
}
