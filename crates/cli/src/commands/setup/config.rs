//! `linkspan config`: the effective configuration, the origin of each value, and what is wrong with it. Needs no hub.

use std::fmt;
use std::path::{Path, PathBuf};

use linkspan_hub::config::{
    Config, ConfigError, Effective, Origin, Setting, WORKSPACE_FILE, WorkspaceConfig,
};
use serde_json::{Value, json};

use crate::cli::context::CliContext;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{ADDED, DIM, Report, WARNING, styled};
use crate::visible::name;

/// Show or check the configuration.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Args {
    /// Print the effective configuration, and where each value comes from.
    Show(Workspace),
    /// Look for mistakes.
    ///
    /// Exit code 1 if there are any.
    Check(Workspace),
    /// Print the path of your configuration file, even if it does not exist.
    Path(Workspace),
}

/// The folder whose `.linkspan.toml` is used.
#[derive(Debug, clap::Args)]
pub(crate) struct Workspace {
    /// The workspace folder; if omitted, the nearest one from here upwards that has a .linkspan.toml.
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    let user = cli.places.config_file();
    match args {
        Args::Show(workspace) => show(&user, workspace.folder()?.as_deref()),
        Args::Check(workspace) => Ok(check(&user, workspace.folder()?.as_deref())),
        Args::Path(workspace) => Ok(path(&user, workspace.folder()?.as_deref())),
    }
}

impl Workspace {
    fn folder(&self) -> Result<Option<PathBuf>, Failure> {
        let given = self.folder.as_deref().unwrap_or(Path::new("."));
        let from = given.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
            Failure::usage(format!("{} is not a folder; name one that exists", given.display()))
        })?;
        if self.folder.is_some() {
            return Ok(Some(from));
        }
        Ok(workspace_of(&from))
    }
}

/// The nearest folder from here upwards that has a `.linkspan.toml`.
pub(crate) fn workspace_of(folder: &Path) -> Option<PathBuf> {
    let mut above = folder.ancestors();
    above.find(|folder| folder.join(WORKSPACE_FILE).symlink_metadata().is_ok()).map(Path::to_owned)
}

fn show(user: &Path, folder: Option<&Path>) -> Result<Report, Failure> {
    let settings = Effective::load(user, folder).map_err(|error| {
        Failure::new(Exit::Negative, format!("{error}; `linkspan config check` lists all problems"))
    })?;
    let settings = settings.settings();
    let listed: Vec<Value> = settings.iter().map(setting_json).collect();
    let document = json!({ "user": user, "workspace": workspace_file(folder), "settings": listed });
    Ok(Report::new(render(&settings), document))
}

fn setting_json(setting: &Setting) -> Value {
    let from = setting.from.iter().map(|origin| match origin {
        Origin::Default => json!({ "kind": "default" }),
        Origin::User { path, line_number } => json!({ "kind": "user", "path": path, "line": line_number }),
        Origin::Workspace { path, line_number } => {
            json!({ "kind": "workspace", "path": path, "line": line_number })
        }
    });
    json!({ "key": setting.key, "value": setting.value, "from": from.collect::<Vec<_>>() })
}

/// Valid TOML, so that it can be copied into a configuration file.
fn render(settings: &[Setting]) -> String {
    let width = settings.iter().map(|setting| setting.toml.chars().count()).filter(|width| *width < 40);
    let width = width.max().unwrap_or_default();
    let mut text = String::new();
    let mut table = "";
    for setting in settings {
        let inside = setting.key.rsplit_once('.').map_or("", |(table, _)| table);
        if inside != table {
            text += &format!("\n[{inside}]\n");
            table = inside;
        }
        let from: Vec<String> = setting.from.iter().map(origin).collect();
        let style = if setting.from == [Origin::Default] { DIM } else { ADDED };
        let from = styled(style, &format!("# {}", from.join(" and ")));
        text += &format!("{:<width$}  {from}\n", name(&setting.toml));
    }
    text
}

fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".into(),
        Origin::User { path, line_number } | Origin::Workspace { path, line_number } => {
            format!("{}:{line_number}", name(&path.to_string_lossy()))
        }
    }
}

fn check(user: &Path, folder: Option<&Path>) -> Report {
    let problems = problems_in(user, folder);
    let files: Vec<PathBuf> = [Some(user.to_owned()), workspace_file(folder)]
        .into_iter()
        .flatten()
        .filter(|p| p.exists())
        .collect();
    let listed: Vec<Value> = problems
        .iter()
        .map(|problem| json!({ "path": problem.path, "line": problem.line, "message": problem.message }))
        .collect();
    let document = json!({ "files": files, "problems": listed });
    if problems.is_empty() {
        let names: Vec<String> = files.iter().map(|path| name(&path.to_string_lossy())).collect();
        let text = match names.as_slice() {
            [] => format!("there is no {}: the defaults are used", name(&user.to_string_lossy())),
            names => format!("no problems in {}", names.join(" and ")),
        };
        return Report::new(text, document);
    }
    let lines: String = problems
        .iter()
        .map(|problem| format!("{}\n", styled(WARNING, &name(&problem.to_string()))))
        .collect();
    Report::new(lines, document).ending(Exit::Negative)
}

/// A mistake in one of the files.
pub(crate) struct ConfigProblem {
    path: PathBuf,
    line: Option<usize>,
    message: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        write!(f, "{}{line}: {}", self.path.display(), self.message)
    }
}

pub(crate) fn problems_in(user: &Path, folder: Option<&Path>) -> Vec<ConfigProblem> {
    let own = Config::load(user).err();
    let workspace = folder.and_then(|folder| WorkspaceConfig::load(folder).err());
    [own, workspace].into_iter().flatten().flat_map(problems).collect()
}

fn problems(error: ConfigError) -> Vec<ConfigProblem> {
    match error {
        ConfigError::Read { path, source } => {
            vec![ConfigProblem { path, line: None, message: format!("cannot read it: {source}") }]
        }
        ConfigError::Invalid { path, problems } => problems
            .into_iter()
            .map(|problem| ConfigProblem {
                path: path.clone(),
                line: Some(problem.line_number),
                message: problem.message,
            })
            .collect(),
    }
}

/// The path alone, so that `$EDITOR "$(linkspan config path)"` works.
fn path(user: &Path, folder: Option<&Path>) -> Report {
    let document = json!({ "path": user, "exists": user.exists(), "workspace": workspace_file(folder) });
    Report::new(user.to_string_lossy(), document)
}

pub(crate) fn workspace_file(folder: Option<&Path>) -> Option<PathBuf> {
    folder.map(|folder| folder.join(WORKSPACE_FILE))
}
