//! The full screen: which agent, where, with which theme; then hands over to `ui::run`.

use super::args::{Common, SessionChoice};
use super::interactive::{self, Interactive};
use super::launch::{self, DEMO, Surroundings};
use super::models;
use super::output::{can_draw, is_kept, is_screen, say, say_goodbye, say_with};
use super::outside;
use super::past::{self, Journals};
use super::resume;
use super::runtime;
use super::usage::Usage;
use super::written::Written;
use crate::base::{human, paths, width};
use crate::config::agents::{self, AgentCommand};
use crate::config::prompts;
use crate::engine::{Engine, EngineConfig, Further};
use crate::headless::code;
use crate::model::event::{Intent, Opening};
use crate::model::login::quote;
use crate::review::archive;
use crate::store::claims::Claim;
use crate::theme::color::Depth;
use crate::theme::looks::{self, Ground, Looks, Shade};
use crate::ui::agent_picker::{AgentPicker, PickItem};
use crate::ui::autosave::DraftStore;
use crate::ui::keys::keymap;
use crate::ui::labels::GoesOn;
use crate::ui::message_file::MessageFile;
use crate::ui::past::{Archive, Lease};
use crate::ui::run::{
    Conversation, Ended, Exit, Feeding, ModelChoice, Models, Pick, Purpose, UiOptions, choose, pick, read_messages,
    run_on,
};
use crate::ui::screen::Screen;
use crate::ui::tty::{Letters, Multiplexer, install_panic_hook};
use crate::ui::view::Animation;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::warn;

/// `acp-tui`, `acp-tui --agent NAME`, `acp-tui -- AGENT…`.
pub fn run(common: &Common) -> Result<u8, Usage> {
    // The first picture does not wait for it; without this thread it would.
    let _ = std::thread::Builder::new().name("keys".into()).spawn(keymap::read_ahead);
    let surroundings = Surroundings::read();
    let Asked { cwd, opening, mut options, agent } = asked(common, &surroundings)?;
    let mut warnings: Vec<String> = Vec::new();
    fit_for_a_screen()?;
    warnings.extend(surroundings.warnings.iter().map(ToString::to_string));
    if let Some(file) = &common.record {
        warnings.push(format!(
            "every frame of this session is written to {}",
            crate::base::paths::display(file, &[], options.home.as_deref())
        ));
    }
    let agent = match agent {
        Some(agent) => Some(agent),
        None => match default_agent(&surroundings) {
            Ok(agent) => agent,
            Err(warning) => {
                warnings.push(warning);
                None
            }
        },
    };
    // An agent of the configuration is none that the person has named for this session.
    let is_named = common.names_agent();
    let place = crate::base::paths::display(&cwd, &[], options.home.as_deref());
    panic_hook(&surroundings);
    let runtime = runtime::start()?;
    let ended: Result<Ended, Usage> = runtime.block_on(async {
        let mut screen = Screen::open(letters()).map_err(|e| Usage(format!("the terminal cannot be used: {e}")))?;
        let picked = match &agent {
            _ if common.goes_on == Some(SessionChoice::Chosen) => {
                Some(choose(&mut screen, &mut options, &cwd, is_named).await)
            }
            Some(_) => None,
            None => Some(pick(&mut screen, picker(&surroundings), &mut options, &place, &cwd).await),
        };
        let (cwd, opening, agent) = match (picked, agent) {
            (None, Some(agent)) => (cwd, opening, agent),
            (Some(Ok(Pick::Agent(id))), _) if id == DEMO => (cwd, opening, launch::demo_agent()?),
            (Some(Ok(Pick::Agent(id))), _) => {
                (cwd, opening, agents::resolve(&surroundings.config, &id).map_err(|e| Usage(e.to_string()))?)
            }
            (Some(Ok(Pick::Session(chosen))), named) => {
                let going = past::going(&chosen, common, &surroundings)?;
                options.lease = going.claim.map(lease);
                let agent = named.filter(|_| is_named).or(going.agent);
                (going.cwd, going.opening, agent.ok_or_else(|| Usage("no agent to go on with".into()))?)
            }
            (Some(Ok(Pick::Ended(exit))), _) => return Ok(Ended::early(exit)),
            (Some(Err(_)) | None, _) => return Ok(Ended::early(Exit::TerminalGone)),
        };
        let Interactive { mut config, warnings: further, demo } =
            interactive::prepare(common, &surroundings, agent, cwd, &opening)?;
        warnings.extend(further);
        options.tour = demo.is_some().then(|| "Show me around.".to_owned());
        let configured = surroundings.config;
        let (home, is_sandboxed) = (options.home.clone(), common.sandbox);
        let inherited = configured.inherited.clone();
        let read = move || launch::further(&configured, home, is_sandboxed);
        config.further = Further::read_by(read).inheriting(inherited);
        let mut ended = Box::pin(session(screen, config, opening, options, warnings)).await;
        if demo.is_some() {
            // Its directory goes now.
            (ended.can_go_on, ended.undecided) = (Vec::new(), 0);
        }
        Ok(ended)
    });
    runtime.shutdown_background();
    Ok(exit_code(&ended?))
}

/// Whether there is a terminal, and one that can draw.
fn fit_for_a_screen() -> Result<(), Usage> {
    if !is_screen() {
        return Err(Usage(
            "the full screen needs a terminal; without one use `acp-tui --plain` or `acp-tui exec`".into(),
        ));
    }
    if !can_draw() {
        let words = "this terminal cannot place what is drawn (TERM=dumb); use another one, `acp-tui --plain`, or `acp-tui exec`";
        return Err(Usage(words.into()));
    }
    Ok(())
}

fn letters() -> Letters {
    let get = |name: &str| std::env::var(name).ok();
    Letters::from_env(get("LC_ALL").as_deref(), get("LC_CTYPE").as_deref(), get("LANG").as_deref())
}

/// What the command line asks of a screen.
pub(super) struct Asked {
    cwd: PathBuf,
    opening: Opening,
    options: UiOptions,
    agent: Option<AgentCommand>,
}

/// Reads it; what is wrong with it is said before anything else, also where there is no terminal.
pub(super) fn asked(common: &Common, surroundings: &Surroundings) -> Result<Asked, Usage> {
    let (cwd, opening, recorded, claim) = match resume::find(common, surroundings)? {
        Some(going) => (going.cwd, going.opening, going.agent, going.claim),
        None => (launch::directory(common)?, Opening::New, None, None),
    };
    let mut options = options(common, surroundings)?;
    options.lease = claim.map(lease);
    let agent = launch::named_agent(common, &surroundings.config)?.or(recorded);
    Ok(Asked { cwd, opening, options, agent })
}

fn lease(claim: Claim) -> Lease {
    Box::new(claim)
}

/// `acp-tui demo`.
pub fn demo(common: &Common) -> Result<u8, Usage> {
    run(&Common {
        agent: Some(DEMO.into()),
        record: common.record.clone(),
        theme: common.theme.clone(),
        inline: common.inline,
        print_on_exit: common.print_on_exit,
        spoken: common.spoken.clone(),
        ..Common::default()
    })
}

/// `acp-tui review`: the review of an earlier session, on the screen.
pub fn review(dir: &Path) -> Result<u8, Usage> {
    let head = archive::head(dir).map_err(|e| Usage(e.to_string()))?;
    let surroundings = Surroundings::read();
    let mut options = options(&Common::default(), &surroundings)?;
    options.purpose = Purpose::Review;
    panic_hook(&surroundings);
    let runtime = runtime::start()?;
    let ended: Result<Ended, Usage> = runtime.block_on(async {
        let screen = Screen::open(letters()).map_err(|e| Usage(format!("the terminal cannot be used: {e}")))?;
        let config = launch::review_config(head, dir);
        Ok(Box::pin(session(screen, config, Opening::New, options, Vec::new())).await)
    });
    runtime.shutdown_background();
    Ok(exit_code(&ended?))
}

/// `acp-tui inspect`: the messages of a file, on the screen.
pub(super) fn messages(file: MessageFile, feeding: Feeding) -> Result<u8, Usage> {
    let surroundings = Surroundings::read();
    let mut options = options(&Common::default(), &surroundings)?;
    panic_hook(&surroundings);
    let runtime = runtime::start()?;
    let exit: Result<Exit, Usage> = runtime.block_on(async {
        let mut screen = Screen::open(letters()).map_err(|e| Usage(format!("the terminal cannot be used: {e}")))?;
        Ok(read_messages(&mut screen, file, feeding, &mut options).await.unwrap_or(Exit::TerminalGone))
    });
    runtime.shutdown_background();
    Ok(exit_code(&Ended::early(exit?)))
}

async fn session(
    screen: Screen,
    config: EngineConfig,
    opening: Opening,
    options: UiOptions,
    warnings: Vec<String>,
) -> Ended {
    let reviews = config.review.as_ref().map(|review| review.home.clone());
    let mut engine = Engine::new(config);
    if opening != Opening::New {
        engine.intent(Intent::OpenAs(opening));
    }
    for warning in warnings {
        engine.warn(warning);
    }
    let ended = Box::pin(run_on(screen, engine, options)).await.unwrap_or_else(|_| Ended::early(Exit::TerminalGone));
    if let Some(reviews) = reviews
        && ended.has_talked
        && reviews.symlink_metadata().is_err()
    {
        // Removed under a session that was had.
        let place = paths::visible(reviews.as_os_str());
        say(&format!("{place} is gone: what was changed is not kept and cannot be taken back"));
    }
    ended
}

fn exit_code(ended: &Ended) -> u8 {
    say_goodbye(&ended.goodbye, true);
    for GoesOn { id, about, .. } in ended.can_go_on.iter().filter(|one| is_kept(&ended.goodbye, one)) {
        say_with(&format!("to go on with {about}:"), &format!("acp-tui --resume {}", quote(id)));
    }
    if ended.undecided > 0 {
        say(&format!("{} to decide: acp-tui review last", human::count(ended.undecided, "hunk")));
    }
    match ended.exit {
        Exit::Quit => code::OK,
        Exit::Signal(signal) => signal.exit_code(),
        Exit::TerminalGone => {
            say("the terminal is gone");
            code::OWN_FAULT
        }
    }
}

/// The configured default, if it is known. A name that is not gives a warning and the picker.
fn default_agent(surroundings: &Surroundings) -> Result<Option<AgentCommand>, String> {
    let Some(name) = &surroundings.config.default_agent else { return Ok(None) };
    if name == DEMO {
        return launch::demo_agent().map(Some).map_err(|e| e.to_string());
    }
    agents::resolve(&surroundings.config, name).map(Some).map_err(|e| format!("default_agent: {e}"))
}

/// The agents that a further session can be opened with; they are looked for when the person asks. The demo is none of
/// them: it writes, and is given a directory of its own.
fn installed(surroundings: &Surroundings) -> Box<dyn Fn() -> Vec<(String, String)>> {
    let (config, path) = (surroundings.config.clone(), surroundings.path.clone());
    Box::new(move || {
        let found = |listed: &agents::Listed| agents::is_here(&listed.agent, &path);
        agents::list(&config).into_iter().filter(found).map(|listed| (listed.id, command_line(&listed.agent))).collect()
    })
}

fn command_line(agent: &AgentCommand) -> String {
    std::iter::once(&agent.command).chain(&agent.args).cloned().collect::<Vec<_>>().join(" ")
}

/// Agents found here, then the demo, then those that could be installed.
fn picker(surroundings: &Surroundings) -> AgentPicker {
    let mut items: Vec<PickItem> = agents::list(&surroundings.config)
        .into_iter()
        .map(|listed| {
            let found = agents::is_here(&listed.agent, &surroundings.path);
            PickItem {
                hint: match listed.agent.reach.url {
                    Some(_) => "behind an address".into(),
                    None if found => "found on PATH".into(),
                    None => listed.install,
                },
                command: command_line(&listed.agent),
                id: listed.id,
                name: listed.name,
                found,
            }
        })
        .collect();
    let first_missing = items.iter().filter(|i| i.found).count();
    items.sort_by_key(|i| !i.found);
    items.insert(
        first_missing,
        PickItem {
            id: DEMO.into(),
            name: "Demo".into(),
            command: "built in, no account, in a throw-away copy".into(),
            found: true,
            hint: String::new(),
        },
    );
    AgentPicker::new(items)
}

fn options(common: &Common, surroundings: &Surroundings) -> Result<UiOptions, Usage> {
    let get = |name: &str| std::env::var(name).ok();
    let depth = Depth::detect(get("NO_COLOR").as_deref(), get("COLORTERM").as_deref(), get("TERM").as_deref());
    let mut remarks = Vec::new();
    let ground = Ground::from_env(get("COLORFGBG").as_deref());
    let names = || looks::names().collect::<Vec<_>>().join(", ");
    let named = |name: &str| Looks::named(name, depth, ground);
    let auto = || match get("TERM").as_deref() {
        // The console of the kernel is black and takes a question for the beginning of a palette.
        Some("linux") => Looks::fixed(Looks::auto(depth, Ground::Shade(Shade::Dark)).theme().clone()),
        _ => Looks::auto(depth, ground),
    };
    let looks = match (&common.theme, &surroundings.config.theme) {
        (Some(name), _) => named(name).ok_or_else(|| Usage(format!("--theme is one of {}, not `{name}`", names())))?,
        (None, Some(name)) => named(name).unwrap_or_else(|| {
            remarks.push(format!("theme `{name}` is not known; it is one of {}", names()));
            auto()
        }),
        (None, None) => auto(),
    };
    let (keys, wrong) = super::keys::read(surroundings);
    remarks.extend(wrong.iter().map(ToString::to_string));
    let (prompts, wrong) = surroundings.dirs.as_ref().map(|dirs| prompts::read(&dirs.prompts())).unwrap_or_default();
    remarks.extend(wrong.iter().map(ToString::to_string));
    if let Some(is_wide) = surroundings.config.ambiguous_is_wide {
        width::set_ambiguous_wide(is_wide);
    }
    let multiplexer = Multiplexer::from_env(get("TMUX").as_deref(), get("STY").as_deref());
    let options = UiOptions {
        looks,
        keys: Arc::new(keys),
        remarks,
        prompts,
        animation: if depth == Depth::None { Animation::Off } else { Animation::On },
        home: surroundings.dirs.as_ref().and_then(|d| d.home.clone()),
        multiplexer,
        purpose: Purpose::Session,
        unstable: surroundings.config.unstable,
        agents: installed(surroundings),
        past: surroundings.dirs.as_ref().map(|dirs| -> Arc<dyn Archive> {
            Arc::new(Journals::new(dirs.state.clone(), surroundings.config.clone()))
        }),
        lease: None,
        place: None,
        drafts: surroundings.dirs.as_ref().map(|dirs| -> Arc<dyn DraftStore> { Arc::new(Written::new(&dirs.state)) }),
        models: models_of(common, surroundings),
        outside: outside::outside(surroundings, multiplexer, get),
        clipboard: outside::clipboard(surroundings, get),
        tour: None,
        ambiguous_is_wide: surroundings.config.ambiguous_is_wide,
        status_command: outside::status_command(surroundings),
        conversation: Conversation {
            is_inline: common.inline || surroundings.config.is_inline,
            is_printed_at_end: common.print_on_exit || surroundings.config.prints_on_exit,
        },
    };
    Ok(options)
}

fn models_of(common: &Common, surroundings: &Surroundings) -> Models {
    let state = surroundings.dirs.as_ref().map(|dirs| dirs.state.clone());
    let chosen = state.as_deref().map(models::read).unwrap_or_default();
    let keep = state.map(|state| -> Box<dyn Fn(ModelChoice)> {
        Box::new(move |choice| {
            let state = state.clone();
            let write = move || match models::add(&state, &choice) {
                Ok(()) => {}
                Err(error) => warn!(kind = ?error.kind(), "the choice of a model is not remembered"),
            };
            // The loop waits for no disk.
            let _ = std::thread::Builder::new().name("models".into()).spawn(write);
        })
    });
    Models { named: common.model.clone(), chosen, keep }
}

fn panic_hook(surroundings: &Surroundings) {
    let dir = surroundings.dirs.as_ref().map_or_else(std::env::temp_dir, |d| d.state.join("crashes"));
    install_panic_hook(Path::new(&dir).to_path_buf());
}
