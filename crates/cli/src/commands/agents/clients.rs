//! `linkspan clients`: the agents and what each may do without asking; grants and revokes permissions.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use linkspan_client::Control;
use linkspan_editor_api::{
    ClientSummary, ClientsAllow, ClientsList, ClientsListResult, ClientsRevoke, Grant, HubWindows,
    PermissionKind,
};
use serde_json::json;

use crate::cli::context::{CliContext, greet_and};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{HEAD, REMOVED, Report, styled, table};
use crate::cli::window::here;
use crate::commands::agents::asks::line;
use crate::visible::name;

/// List agents and their permissions; grant and revoke them.
///
/// Without a command, lists the agents that are connected or remembered, and what each may do without asking.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Allow(Allow),
    Revoke(Revoke),
}

/// Give an agent permissions before it asks.
///
/// They are remembered until you revoke them.
#[derive(Debug, clap::Args)]
struct Allow {
    /// The name of the agent, as `linkspan clients` lists it.
    name: String,
    /// What it may do without asking.
    #[arg(required = true, value_name = "PERMISSION", value_parser = permissions())]
    permissions: Vec<PermissionKind>,
    /// The protocol that it speaks; needed if no agent of that name is connected.
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<String>,
    /// The workspace folder; the one around the current folder if omitted.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Only for the agent that is connected now, until it disconnects.
    #[arg(long)]
    session: bool,
}

/// Revoke permissions, immediately and in all folders.
#[derive(Debug, clap::Args)]
struct Revoke {
    /// The name of the agent, or `all`.
    name: String,
    /// What it may no longer do; everything if omitted.
    #[arg(value_name = "PERMISSION", value_parser = permissions())]
    permissions: Vec<PermissionKind>,
}

fn permissions() -> impl TypedValueParser<Value = PermissionKind> {
    PossibleValuesParser::new(PermissionKind::ALL.map(PermissionKind::name)).try_map(|word| {
        PermissionKind::ALL
            .into_iter()
            .find(|deed| deed.name() == word)
            .ok_or_else(|| format!("there is no `{word}`"))
    })
}

pub(crate) fn run(args: &Args, cli: &CliContext) -> Result<Report, Failure> {
    match &args.command {
        None => {
            let (_, list) = greet_and(|| cli.connect_or_start(), &ClientsList {})?;
            Ok(Report::new(render(&list), serde_json::to_value(&list).unwrap_or_default()))
        }
        Some(Command::Allow(allow)) => self::allow(allow, cli),
        Some(Command::Revoke(revoke)) => self::revoke(revoke, cli),
    }
}

fn render(list: &ClientsListResult) -> String {
    let mut text = String::new();
    if list.clients.is_empty() {
        text += "no agent is connected, and none is remembered\n";
    } else {
        let mut rows = vec![["AGENT", "DIALECT", "FOLDER", "CONNECTED", "MAY"].map(String::from).to_vec()];
        rows.extend(list.clients.iter().map(row));
        text += &table(&rows);
    }
    if !list.never.is_empty() {
        let never: Vec<&str> = list.never.iter().map(|deed| deed.name()).collect();
        text += &format!("never, by `consent.never` in config.toml: {}\n", never.join(", "));
    }
    if let Some(problem) = &list.problem {
        let warning = format!("remembered permissions are ignored: {}", name(problem));
        text += &format!("{}\n", styled(REMOVED, &warning));
    }
    for ask in &list.asks {
        let id = name(&ask.ask);
        let question = line(&ask.question, ask.detail.as_deref());
        text += &format!("{} {question} — linkspan allow {id}\n", styled(HEAD, &id));
    }
    text
}

fn row(client: &ClientSummary) -> Vec<String> {
    let may: Vec<String> = client.may.iter().map(permission).collect();
    let folders: Vec<String> = client.folders.iter().map(|folder| name(folder)).collect();
    vec![
        name(&client.name),
        name(&client.dialect),
        folders.join(", "),
        client.agent.as_deref().map_or_else(|| "no".to_owned(), name),
        if may.is_empty() { "ask".to_owned() } else { may.join(", ") },
    ]
}

fn permission(permission: &Grant) -> String {
    let since = match &permission.since {
        Some(since) => format!("since {}", name(since.split('T').next().unwrap_or_default())),
        None => "this session".to_owned(),
    };
    format!("{} ({since})", permission.deed.name())
}

fn allow(args: &Allow, cli: &CliContext) -> Result<Report, Failure> {
    let (mut hub, windows) = greet_and(|| cli.connect_or_start(), &HubWindows {})?;
    let open = windows.windows.into_iter().flat_map(|window| window.folders).map(PathBuf::from);
    let folder = match &args.folder {
        Some(folder) => real(folder)?,
        None => {
            let here = here()?;
            let here = real(&here)?;
            let around = open.filter_map(|folder| folder.canonicalize().ok());
            let around = around.filter(|folder| here.starts_with(folder));
            around.max_by_key(|folder| folder.components().count()).unwrap_or(here)
        }
    };
    let ask = ClientsAllow {
        name: args.name.clone(),
        dialect: args.dialect.clone(),
        folder: folder.display().to_string(),
        deeds: args.permissions.clone(),
        session: args.session,
    };
    allowed(&mut hub, &ask)
}

fn allowed(hub: &mut Control, ask: &ClientsAllow) -> Result<Report, Failure> {
    let result = hub.request(ask)?;
    let deeds: Vec<&str> = ask.deeds.iter().map(|deed| deed.name()).collect();
    let until = if ask.session { "for this session" } else { "permanently" };
    let text = format!(
        "{} ({}) may now do this in {} without asking, {until}: {}",
        name(&ask.name),
        name(&result.dialects.join(", ")),
        name(&ask.folder),
        deeds.join(", ")
    );
    let document = json!({
        "name": ask.name, "dialects": result.dialects, "folder": ask.folder,
        "deeds": ask.deeds, "session": ask.session,
    });
    Ok(Report::new(text, document))
}

fn real(folder: &Path) -> Result<PathBuf, Failure> {
    let failed = |error| Failure::usage(format!("cannot use {}: {error}", folder.display()));
    let real = folder.canonicalize().map_err(failed)?;
    match real.is_dir() && real.to_str().is_some() {
        true => Ok(real),
        false => {
            Err(Failure::usage(format!("{} is not a folder, or its name is not UTF-8", folder.display())))
        }
    }
}

fn revoke(args: &Revoke, cli: &CliContext) -> Result<Report, Failure> {
    let mut hub = greet_and(|| cli.connect_or_start(), &ClientsList {})?.0;
    let named = (args.name != "all").then(|| args.name.clone());
    let revoked = hub.request(&ClientsRevoke { name: named, deeds: args.permissions.clone() })?.revoked;
    let document = json!({ "name": args.name, "deeds": args.permissions, "revoked": revoked });
    let agent = if args.name == "all" { "all agents".to_owned() } else { name(&args.name) };
    Ok(match revoked {
        0 => Report::new(format!("{agent} had no such permission"), document).ending(Exit::Negative),
        1 => Report::new(format!("revoked 1 permission of {agent}"), document),
        more => Report::new(format!("revoked {more} permissions of {agent}"), document),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_one_line_with_what_it_may_do_and_since_when() {
        let client = |called: &str, agent: Option<&str>, may: Vec<Grant>| ClientSummary {
            name: called.into(),
            dialect: "claude".into(),
            folders: vec!["/w".into()],
            agent: agent.map(String::from),
            may,
        };
        let since = Some("2026-11-15T21:52:46Z".to_owned());
        let may = vec![
            Grant { deed: PermissionKind::Command, since },
            Grant { deed: PermissionKind::Edit, since: None },
        ];
        let list = ClientsListResult {
            clients: vec![client("evil\n", None, vec![]), client("good", Some("a4"), may)],
            never: vec![PermissionKind::Git],
            ..ClientsListResult::default()
        };
        assert_eq!(
            anstream::adapter::strip_str(&render(&list)).to_string(),
            "AGENT   DIALECT  FOLDER  CONNECTED  MAY\n\
             evil\\n  claude   /w      no         ask\n\
             good    claude   /w      a4         command (since 2026-11-15), edit (this session)\n\
             never, by `consent.never` in config.toml: git\n"
        );
    }
}
