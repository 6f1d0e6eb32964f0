//! `linkspan status`: the hub, its windows and agents. Starts nothing.

use linkspan_client::ConnectError;
use linkspan_editor_api::{AgentStatus, HubStatus, HubStatusResult, WindowStatus};
use serde_json::{Value, json};

use crate::cli::context::{CliContext, GreetError, greet_and};
use crate::cli::exit::Failure;
use crate::cli::output::{DIM, HEAD, Report, WARNING, age, count, styled};
use crate::cli::storage::{self, StorageProblem};
use crate::visible::name;

/// Show the hub, its windows, and the agents connected to them.
///
/// Also pending reviews, refused connections and problems. Does not start a hub.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(cli: &CliContext) -> Result<Report, Failure> {
    let status = match greet_and(|| cli.connect(), &HubStatus {}) {
        Err(GreetError::Connect(ConnectError::NoHub { .. })) => {
            return Ok(not_running(cli));
        }
        greeted => greeted?.1,
    };
    let mut document = serde_json::to_value(&status).unwrap_or_default();
    if let Value::Object(members) = &mut document {
        members.insert("running".into(), json!(true));
    }
    Ok(Report::new(render(&status), document))
}

/// No hub is running; checks whether one could.
fn not_running(cli: &CliContext) -> Report {
    let mut problems = storage::places(&cli.places);
    problems.extend(storage::journal(&cli.places.journal()).1);
    if problems.is_empty() {
        let text = "no hub is running; it starts when an editor or `linkspan serve` needs it";
        return Report::new(text, json!({ "running": false }));
    }
    let mut text = "no hub is running, and it would not work:\n".to_owned();
    for StorageProblem { found, remedy } in &problems {
        text += &format!("{}\n    {}\n", styled(WARNING, &name(found)), name(remedy));
    }
    let listed: Vec<String> =
        problems.iter().map(|StorageProblem { found, remedy }| format!("{found}: {remedy}")).collect();
    Report::new(text, json!({ "running": false, "problems": listed }))
}

fn render(status: &HubStatusResult) -> String {
    let memory = status.resident_bytes.map(|bytes| format!("  {} MB", bytes / 1_000_000)).unwrap_or_default();
    let mut text = format!(
        "{}  pid {}  up {}{memory}  {}\n",
        styled(HEAD, &format!("hub {}", name(&status.version))),
        status.pid,
        age(status.uptime_ms),
        styled(DIM, &name(&status.socket))
    );
    for problem in &status.problems {
        text += &format!("{}\n", styled(WARNING, &name(problem)));
    }
    for window in &status.windows {
        render_window(&mut text, window);
    }
    if status.windows.is_empty() {
        text += "no window is attached; open an editor with Linkspan, or run `linkspan serve`\n";
    }
    for (reason, attempts) in &status.refused {
        let line = format!("refused {}: {}", count(*attempts, "attempt"), name(reason));
        text += &format!("{}\n", styled(WARNING, &line));
    }
    text
}

fn agent_line(agent: &AgentStatus) -> String {
    let pid = agent.pid.map(|pid| format!(", pid {pid}")).unwrap_or_default();
    let version = if agent.version.is_empty() { String::new() } else { format!(" {}", name(&agent.version)) };
    format!(
        "{} {}{version} ({}{pid})  {}  {} open",
        name(&agent.agent),
        name(&agent.name),
        name(&agent.dialect),
        age(agent.connected_ms),
        count(agent.open_reviews, "review")
    )
}

fn render_window(text: &mut String, window: &WindowStatus) {
    let editor = format!("{} {}", name(&window.editor.name), name(&window.editor.version));
    let away = if window.attached { String::new() } else { styled(WARNING, "  away, kept until it returns") };
    *text += &format!("{}  {editor}  pid {}{away}\n", styled(HEAD, &name(&window.window)), window.editor_pid);
    let mut row =
        |label: &str, value: &str| *text += &format!("    {}{value}\n", styled(DIM, &format!("{label:<9}")));
    for folder in &window.folders {
        row("folder", &name(folder));
    }
    row("port", &window.port.to_string());
    for dialect in &window.dialects {
        let mut found: Vec<String> = dialect.discovery_files.iter().map(|file| name(file)).collect();
        found.extend(dialect.port.map(|port| format!("also on port {port}")));
        found.extend(dialect.problems.iter().map(|problem| styled(WARNING, &name(problem))));
        if found.is_empty() {
            found.push("no discovery file".to_owned());
        }
        for (index, found) in found.iter().enumerate() {
            let dialect = if index == 0 { name(&dialect.name) } else { String::new() };
            row(if index == 0 { "dialect" } else { "" }, &format!("{dialect:<8}  {found}"));
        }
    }
    for agent in &window.agents {
        row("agent", &agent_line(agent));
    }
    for agent in &window.returned_agents {
        const ADVICE: &str = "lost its connection and reconnected; if it shows that it is disconnected, type \
                              `/ide enable` in it";
        row("agent", &format!("{}  {}", agent_line(agent), styled(WARNING, ADVICE)));
    }
    if window.pending_reviews > 0 {
        row("pending", &format!("{} — linkspan reviews", count(window.pending_reviews, "review")));
    }
}
