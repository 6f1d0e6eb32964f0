//! Puts a host together from the configuration, the environment and the command line.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use linkspan_agent::config::Config;
use linkspan_agent::context::ProjectContext;
use linkspan_agent::engine::IdeCallback;
use linkspan_agent::host::{
    AgentSettings, HelperPool, Host, HostCommand, HostEnded, HostHandle, HostSetup, remembered, write_demo,
};
use linkspan_agent::models::{DEMO_MODEL, Providers};
use linkspan_agent::session::SessionStore;
use linkspan_agent::tools::{AgentTools, ToolsConfig};
use linkspan_client::{AgentInfo, Bridge, Surroundings};
use linkspan_editor_api::DenyGlobs;
use linkspan_editor_api::wire_names::env::LINKSPAN_ACP_REVIEWS;

use crate::command_line::{AgentOptions, RunOptions};

const NAME: &str = "linkspan-agent";
/// A token is short, and one that is too short protects nothing.
const TOKEN_BYTES: std::ops::RangeInclusive<usize> = 16..=1024;

/// A started host with what belongs to it.
pub(crate) struct Assembly {
    pub(crate) host: Host,
    pub(crate) callback: IdeCallback,
    /// The file with what the user typed.
    pub(crate) history: PathBuf,
    /// What `--continue` or `--resume` continues first.
    last_session: Option<String>,
    /// Removed at the end.
    _demo: Option<tempfile::TempDir>,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// What of the command line matters for the start of a host.
#[derive(Debug, Default)]
pub(crate) struct StartOptions {
    pub(crate) cwd: Option<PathBuf>,
    /// Gives it a folder of its own.
    pub(crate) demo: bool,
    pub(crate) continues: bool,
    pub(crate) resume: Option<String>,
    /// Its client has its changes reviewed in the editor: it does not ask there as well.
    pub(crate) reviewed: bool,
}

impl StartOptions {
    pub(crate) fn of_run(options: &RunOptions) -> StartOptions {
        StartOptions {
            cwd: options.agent.cwd.clone(),
            demo: options.demo,
            continues: options.continues,
            resume: options.resume.clone(),
            reviewed: false,
        }
    }

    /// Behind `linkspan acp`, or hosted by the hub, a permission request of ACP is a review.
    pub(crate) fn of_acp(options: &AgentOptions) -> StartOptions {
        let reviewed = std::env::var_os(LINKSPAN_ACP_REVIEWS).is_some();
        StartOptions { reviewed, ..StartOptions::of_server(options) }
    }

    pub(crate) fn of_server(options: &AgentOptions) -> StartOptions {
        StartOptions { cwd: options.cwd.clone(), ..StartOptions::default() }
    }
}

/// Starts a host.
pub(crate) fn start(options: &StartOptions) -> Result<Assembly, String> {
    let demo = if options.demo { Some(demo_folder()?) } else { None };
    let here =
        std::env::current_dir().map_err(|error| format!("the working directory cannot be found: {error}"))?;
    let cwd = match (&demo, &options.cwd) {
        (Some(demo), _) => demo.path().join("project"),
        (None, Some(cwd)) => folder(&here.join(cwd))?,
        (None, None) => here,
    };
    let surroundings = Surroundings::of_this_process(&cwd).map_err(|error| error.to_string())?;
    let places = surroundings.places.clone();
    let mut config = Config::load(&places.config).map_err(|error| error.to_string())?;
    config.ide.use_ide_diffs &= !options.reviewed;
    let deny = deny_globs(&config, &places.config)?;
    let state = demo.as_ref().map_or_else(|| places.state.join("agent"), |demo| demo.path().join("state"));
    let sessions = SessionStore::new(state.join("sessions"));
    let pool = state.join("pool.json");
    let mut agent = AgentInfo::new(NAME, env!("CARGO_PKG_VERSION"));
    let continued = match &options.resume {
        Some(name) => Some(name.clone()),
        None if options.continues => last_session(&sessions, &pool, &cwd),
        None => None,
    };
    // The hub keeps the answer to a change that was pending when the agent was killed, and gives it to the same agent.
    // A session that is open elsewhere is refused later, by its name.
    if let Some(bridge) = continued.as_deref().and_then(|name| sessions.open(name).ok()?.bridge) {
        agent.session = bridge;
    }
    let bridge_id = Some(agent.session.clone());
    let bridge = Arc::new(Bridge::new(config.ide, agent, surroundings.clone()));

    let (handle, commands) = HostHandle::channel();
    let own = vec![places.config.clone(), places.state.clone(), places.runtime.clone()];
    let tools = AgentTools::new(ToolsConfig {
        own: own.clone(),
        deny: deny.clone(),
        fetch: config.fetch,
        mcp: config.servers(variable)?,
        spawner: Some(Arc::new(HelperPool::new(handle.clone()))),
        ..ToolsConfig::new(Arc::clone(&bridge))
    });
    let report = handle.clone();
    tools.report_mcp_failures(Arc::new(move |line| {
        report.send(HostCommand::Report { line: line.to_owned() })
    }));
    let callback = IdeCallback::default();
    let history = state.join("history");
    let setup = HostSetup {
        providers: Providers::new(&config, variable)?,
        sessions,
        pool: Some(pool),
        cwd,
        surroundings,
        bridge,
        bridge_id,
        toolbox: callback.around(Arc::new(tools)),
        context: Arc::new(ProjectContext { deny, own, rest: config.instructions.clone() }),
        config,
    };
    let host = Host::start(setup, handle, commands).map_err(|error| format!("cannot start: {error}"))?;
    Ok(Assembly { host, callback, history, last_session: continued, _demo: demo })
}

fn folder(wanted: &Path) -> Result<PathBuf, String> {
    let found = wanted.canonicalize().ok().filter(|folder| folder.is_dir());
    found.ok_or_else(|| format!("{} is not a folder: name one that exists with --cwd", wanted.display()))
}

fn demo_folder() -> Result<tempfile::TempDir, String> {
    let failed = |error: io::Error| format!("cannot make a folder for the demonstration: {error}");
    let folder = tempfile::Builder::new().prefix("linkspan-demo-").tempdir().map_err(failed)?;
    let project = folder.path().join("project");
    std::fs::create_dir(&project).and_then(|()| write_demo(&project)).map_err(failed)?;
    Ok(folder)
}

/// The session that `--continue` continues first.
fn last_session(sessions: &SessionStore, pool: &Path, cwd: &Path) -> Option<String> {
    let of_pool = remembered(pool, cwd).into_iter().find_map(|agent| agent.resume);
    of_pool.or_else(|| {
        sessions.list().ok()?.into_iter().find(|session| session.cwd == cwd).map(|found| found.name)
    })
}

/// Those of agent.toml and those of the hub's configuration.
fn deny_globs(config: &Config, folder: &Path) -> Result<DenyGlobs, String> {
    let mut globs = config.deny.clone();
    let hub = std::fs::read_to_string(folder.join("config.toml")).unwrap_or_default();
    // The hub reports what is wrong with its own file.
    let hub: toml::Table = toml::from_str(&hub).unwrap_or_default();
    let of_hub = hub.get("deny").and_then(toml::Value::as_array).into_iter().flatten();
    globs.extend(of_hub.filter_map(|glob| glob.as_str().map(str::to_owned)));
    DenyGlobs::new(&globs)
        .map_err(|error| format!("agent.toml: `deny` has a glob that is wrong: {}", error.reason))
}

/// How the agent of a command line starts.
pub(crate) fn settings(options: &AgentOptions) -> AgentSettings {
    AgentSettings {
        mode: options.mode.map(Into::into),
        model: options.model.clone(),
        ..AgentSettings::default()
    }
}

/// How the first agent of a run starts. With `--continue`, the others of the pool are started as well.
pub(crate) async fn first_agent(assembly: &Assembly, options: &RunOptions) -> Result<AgentSettings, String> {
    let host = assembly.host.handle();
    let last = assembly.last_session.clone();
    let settings = settings(&options.agent);
    if options.demo {
        return Ok(AgentSettings {
            model: Some(DEMO_MODEL.to_owned()),
            name: Some("demo".to_owned()),
            ..settings
        });
    }
    if let Some(name) = &options.resume {
        return Ok(AgentSettings { resume: Some(name.clone()), ..settings });
    }
    if !options.continues {
        return Ok(settings);
    }
    let ended = |ended: HostEnded| ended.to_string();
    let mut remembered = host.ask(|reply| HostCommand::Remembered { reply }).await.map_err(ended)?;
    if remembered.is_empty() {
        let newest =
            last.ok_or("there is no conversation of this folder to continue: start without --continue")?;
        return Ok(AgentSettings { resume: Some(newest), ..settings });
    }
    let first = remembered.remove(0);
    for settings in remembered {
        // One that cannot be opened, because another process has it, is missing here and stays there.
        let _ = host.ask(|reply| HostCommand::New { settings, reply }).await.map_err(ended)?;
    }
    Ok(AgentSettings {
        mode: settings.mode.or(first.mode),
        model: settings.model.or(first.model.clone()),
        ..first
    })
}

/// The token in a file, which is made if there is none.
pub(crate) fn token(path: &Path) -> Result<String, String> {
    let failed =
        |what: &str, error: io::Error| format!("cannot {what} the token file {}: {error}", path.display());
    match File::open(path) {
        Ok(file) => {
            let mut text = String::new();
            file.take(4096).read_to_string(&mut text).map_err(|error| failed("read", error))?;
            let token = text.trim();
            if !TOKEN_BYTES.contains(&token.len()) || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(format!("{} holds no token: 16 to 1024 visible characters", path.display()));
            }
            Ok(token.to_owned())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut random = [0; 32];
            getrandom::fill(&mut random).map_err(|error| failed("fill", io::Error::other(error)))?;
            let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
            let mut file = file.map_err(|error| failed("create", error))?;
            writeln!(file, "{token}").map_err(|error| failed("write", error))?;
            Ok(token)
        }
        Err(error) => Err(failed("open", error)),
    }
}
