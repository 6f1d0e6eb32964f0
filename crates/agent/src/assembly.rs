//! Puts a host together from the configuration, the environment and the command line.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use linkspan_agent::config::Config;
use linkspan_agent::context::ProjectContext;
use linkspan_agent::engine::IdeCallback;
use linkspan_agent::host::{AgentSettings, HelperPool, Host, HostCommand, HostHandle, HostSetup, write_demo};
use linkspan_agent::models::{DEMO_MODEL, Providers};
use linkspan_agent::session::SessionStore;
use linkspan_agent::tools::{Tools, ToolsConfig};
use linkspan_client::{AgentInfo, Bridge, Surroundings};
use linkspan_editor_api::DenyGlobs;

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
    /// Removed at the end.
    _demo: Option<tempfile::TempDir>,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Starts a host; `demo` gives it a folder of its own.
pub(crate) fn start(options: &AgentOptions, demo: bool) -> Result<Assembly, String> {
    let demo = if demo { Some(demo_folder()?) } else { None };
    let here =
        std::env::current_dir().map_err(|error| format!("the working directory cannot be found: {error}"))?;
    let cwd = match (&demo, &options.cwd) {
        (Some(demo), _) => demo.path().to_owned(),
        (None, Some(cwd)) => folder(&here.join(cwd))?,
        (None, None) => here,
    };
    let surroundings = Surroundings::of_this_process(&cwd).map_err(|error| error.to_string())?;
    let places = surroundings.places.clone();
    let config = Config::load(&places.config).map_err(|error| error.to_string())?;
    let deny = deny_globs(&config, &places.config)?;
    let bridge =
        Arc::new(Bridge::new(config.ide, AgentInfo::new(NAME, env!("CARGO_PKG_VERSION")), surroundings));

    let (handle, commands) = HostHandle::channel();
    let own = vec![places.config.clone(), places.state.clone(), places.runtime.clone()];
    let tools = Tools::new(ToolsConfig {
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
    let state = places.state.join("agent");
    let history = state.join("history");
    let setup = HostSetup {
        providers: Providers::new(&config, variable)?,
        sessions: SessionStore::new(state.join("sessions")),
        pool: demo.is_none().then(|| state.join("pool.json")),
        cwd,
        bridge,
        toolbox: callback.around(Arc::new(tools)),
        context: Arc::new(ProjectContext { deny, own, rest: config.instructions.clone() }),
        config,
    };
    let host = Host::start(setup, handle, commands).map_err(|error| format!("cannot start: {error}"))?;
    Ok(Assembly { host, callback, history, _demo: demo })
}

fn folder(wanted: &Path) -> Result<PathBuf, String> {
    let found = wanted.canonicalize().ok().filter(|folder| folder.is_dir());
    found.ok_or_else(|| format!("{} is not a folder: name one that exists with --cwd", wanted.display()))
}

fn demo_folder() -> Result<tempfile::TempDir, String> {
    let failed = |error: io::Error| format!("cannot make a folder for the demonstration: {error}");
    let folder = tempfile::Builder::new().prefix("linkspan-demo-").tempdir().map_err(failed)?;
    write_demo(folder.path()).map_err(failed)?;
    Ok(folder)
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
pub(crate) async fn first_agent(host: &HostHandle, options: &RunOptions) -> Result<AgentSettings, String> {
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
    let ended = |ended: linkspan_agent::host::HostEnded| ended.to_string();
    let mut remembered = host.ask(|reply| HostCommand::Remembered { reply }).await.map_err(ended)?;
    if remembered.is_empty() {
        let cwd = std::env::current_dir().unwrap_or_default();
        let cwd = options.agent.cwd.as_ref().map_or(cwd.clone(), |wanted| cwd.join(wanted));
        let sessions = host.ask(|reply| HostCommand::Sessions { reply }).await.map_err(ended)??;
        let newest = sessions.into_iter().find(|session| session.cwd == cwd);
        let Some(newest) = newest else {
            return Err(
                "there is no conversation of this folder to continue: start without --continue".to_owned()
            );
        };
        return Ok(AgentSettings { resume: Some(newest.name), ..settings });
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
