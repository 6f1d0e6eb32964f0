//! `linkspan clients`: which agents there are and what each may do without asking; allowing and revoking it.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use linkspan_client::Control;
use linkspan_editor_api::{
    ClientSummary, ClientsAllow, ClientsList, ClientsListResult, ClientsRevoke, Deed, HubWindows, Permission,
};
use serde_json::json;

use crate::asks::line;
use crate::exit::{Exit, Failure};
use crate::output::{HEAD, REMOVED, Report, styled, table};
use crate::reach::{Reach, greet_and};
use crate::visible::name;
use crate::window::here;

/// List the agents that are connected or remembered, and what each may do without asking.
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

/// Allow an agent something before it asks, from now on.
#[derive(Debug, clap::Args)]
struct Allow {
    /// What the agent calls itself, as `linkspan clients` lists it.
    name: String,
    /// What it may do without asking.
    #[arg(required = true, value_name = "DEED", value_parser = deeds())]
    deeds: Vec<Deed>,
    /// The protocol it speaks, where no agent of that name is connected.
    #[arg(long, value_name = "DIALECT")]
    dialect: Option<String>,
    /// The workspace folder; otherwise that of the window you are in, or the one you are in.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Only the one that is connected now, as long as it is.
    #[arg(long)]
    session: bool,
}

/// Take back what was allowed, at once and in all folders.
#[derive(Debug, clap::Args)]
struct Revoke {
    /// What the agent calls itself, or `all`.
    name: String,
    /// What it may not do any more; otherwise everything.
    #[arg(value_name = "DEED", value_parser = deeds())]
    deeds: Vec<Deed>,
}

fn deeds() -> impl TypedValueParser<Value = Deed> {
    PossibleValuesParser::new(Deed::ALL.map(Deed::word)).try_map(|word| {
        Deed::ALL.into_iter().find(|deed| deed.word() == word).ok_or_else(|| format!("there is no `{word}`"))
    })
}

pub(crate) fn run(args: &Args, reach: &Reach) -> Result<Report, Failure> {
    match &args.command {
        None => {
            let (_, list) = greet_and(|| reach.connect_or_start(), &ClientsList {})?;
            Ok(Report::new(render(&list), serde_json::to_value(&list).unwrap_or_default()))
        }
        Some(Command::Allow(allow)) => self::allow(allow, reach),
        Some(Command::Revoke(revoke)) => self::revoke(revoke, reach),
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
        let never: Vec<&str> = list.never.iter().map(|deed| deed.word()).collect();
        text += &format!("never, by `consent.never` in config.toml: {}\n", never.join(", "));
    }
    if let Some(problem) = &list.problem {
        let text_of = format!("nothing that was allowed for good counts: {}", name(problem));
        text += &format!("{}\n", styled(REMOVED, &text_of));
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

fn permission(permission: &Permission) -> String {
    let since = match &permission.since {
        Some(since) => format!("since {}", name(since.split('T').next().unwrap_or_default())),
        None => "this session".to_owned(),
    };
    format!("{} ({since})", permission.deed.word())
}

fn allow(args: &Allow, reach: &Reach) -> Result<Report, Failure> {
    let (mut hub, windows) = greet_and(|| reach.connect_or_start(), &HubWindows {})?;
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
        deeds: args.deeds.clone(),
        session: args.session,
    };
    allowed(&mut hub, &ask)
}

fn allowed(hub: &mut Control, ask: &ClientsAllow) -> Result<Report, Failure> {
    let result = hub.request(ask)?;
    let deeds: Vec<&str> = ask.deeds.iter().map(|deed| deed.word()).collect();
    let until = if ask.session { "this session" } else { "from now on" };
    let text = format!(
        "{} ({}) may do without asking in {}, {until}: {}",
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
    let failed = |error| Failure::usage(format!("{} cannot be looked at: {error}", folder.display()));
    let real = folder.canonicalize().map_err(failed)?;
    match real.is_dir() && real.to_str().is_some() {
        true => Ok(real),
        false => Err(Failure::usage(format!("{} is no folder with a name in UTF-8", folder.display()))),
    }
}

fn revoke(args: &Revoke, reach: &Reach) -> Result<Report, Failure> {
    let mut hub = greet_and(|| reach.connect_or_start(), &ClientsList {})?.0;
    let named = (args.name != "all").then(|| args.name.clone());
    let revoked = hub.request(&ClientsRevoke { name: named, deeds: args.deeds.clone() })?.revoked;
    let document = json!({ "name": args.name, "deeds": args.deeds, "revoked": revoked });
    let whom = if args.name == "all" { "any agent".to_owned() } else { name(&args.name) };
    Ok(match revoked {
        0 => Report::new(format!("nothing of that was allowed to {whom}"), document).ending(Exit::No),
        1 => Report::new(format!("1 permission of {whom} is revoked"), document),
        more => Report::new(format!("{more} permissions of {whom} are revoked"), document),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_one_line_with_what_it_may_do_and_since_when() {
        let client = |called: &str, agent: Option<&str>, may: Vec<Permission>| ClientSummary {
            name: called.into(),
            dialect: "claude".into(),
            folders: vec!["/w".into()],
            agent: agent.map(String::from),
            may,
        };
        let since = Some("2026-11-15T21:52:46Z".to_owned());
        let may =
            vec![Permission { deed: Deed::Command, since }, Permission { deed: Deed::Edit, since: None }];
        let list = ClientsListResult {
            clients: vec![client("evil\n", None, vec![]), client("good", Some("a4"), may)],
            never: vec![Deed::Git],
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
