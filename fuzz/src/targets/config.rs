//! Whatever is in `config.toml`, `.linkspan.toml` and `clients.toml`: what is wrong is named with its line, what is
//! right is within bounds, a workspace only ever tightens, and what is allowed is written so that it reads the same.

use linkspan_editor_api::PermissionKind;
use linkspan_hub::config::{
    Client, Clients, ClientsChange, Config, ConfigError, Effective, Origin, WORKSPACE_FILE, WorkspaceConfig,
};

use crate::{scratch, texts};

pub(crate) fn run(data: &[u8]) {
    let Some([user, workspace, clients, path]) = texts(data) else { return };
    let folder = scratch();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("a file in our own folder");
        folder.join(name)
    };
    let user_file = write("config.toml", user);
    write(WORKSPACE_FILE, workspace);
    let own = Config::load(&user_file).map_err(|error| is_told(&error, user));
    let of_workspace = WorkspaceConfig::load(folder).map_err(|error| is_told(&error, workspace));
    let effective = Effective::load(&user_file, Some(folder));
    assert_eq!(effective.is_ok(), own.is_ok() && of_workspace.is_ok());
    if let Ok(config) = &own {
        within_bounds(config);
        let again = write("config.toml", &toml::to_string(config).expect("a config is TOML"));
        assert_eq!(Config::load(&again).as_ref().ok(), Some(config));
    }
    if let (Ok(config), Ok(workspace_config)) = (own, of_workspace) {
        tightens(&config, &workspace_config, path);
    }
    if let Ok(effective) = effective {
        for setting in effective.settings() {
            assert!(!setting.value.is_null() && !setting.from.is_empty(), "{}", setting.key);
            for from in setting.from {
                match from {
                    Origin::Default => {}
                    Origin::User { line_number, .. } => assert!(line_number <= lines_of(user)),
                    Origin::Workspace { line_number, .. } => assert!(line_number <= lines_of(workspace)),
                }
            }
        }
    }

    let clients_file = write("clients.toml", clients);
    match Clients::load(&clients_file) {
        Err(error) => is_told(&error, clients),
        Ok(allowed) => remembers(allowed, |text| write("clients.toml", text)),
    }
}

fn lines_of(text: &str) -> usize {
    text.matches('\n').count() + 1
}

fn is_told(error: &ConfigError, text: &str) {
    if let ConfigError::Invalid { problems, .. } = error {
        assert!(!problems.is_empty());
        assert!(problems.is_sorted_by_key(|problem| problem.line_number));
        for problem in problems {
            assert!((1..=lines_of(text)).contains(&problem.line_number), "{problem:?}");
            assert!(!problem.message.is_empty() && !problem.message.contains('\n'), "{problem:?}");
        }
    }
}

fn within_bounds(config: &Config) {
    let limits = &config.limits;
    assert!(config.idle_exit_seconds > 0 && config.journal_days > 0);
    assert!((1..=65_535).contains(&limits.connections) && (1..=200).contains(&limits.file_mib));
    assert!((1..=1024).contains(&limits.message_mib) && (1..=1024).contains(&limits.header_kib));
    assert!((1..=3600).contains(&limits.call_seconds) && (1..=3600).contains(&limits.heartbeat_seconds));
}

fn tightens(config: &Config, workspace: &WorkspaceConfig, path: &str) {
    let tight = config.clone().tightened_by(workspace);
    assert!(tight.limits.connections <= config.limits.connections);
    assert!(tight.limits.file_mib <= config.limits.file_mib);
    assert!(workspace.limits.file_mib.is_none_or(|most| tight.limits.file_mib <= most));
    assert!(config.deny.iter().chain(&workspace.deny).all(|glob| tight.deny.contains(glob)));
    let alone = Config { deny: workspace.deny.clone(), ..config.clone() };
    for path in [path, "/w/.env", "/w/a/b.pem", "/w/src/main.rs"] {
        let denied = config.deny_globs().is_match(path) || alone.deny_globs().is_match(path);
        assert!(!denied || tight.deny_globs().is_match(path), "{path}");
    }
    for name in linkspan_dialect::names() {
        assert!(config.dialect_enabled(name) || !tight.dialect_enabled(name));
    }
    for deed in PermissionKind::ALL {
        assert!(!config.rules_out(deed) || tight.rules_out(deed));
    }
}

fn remembers(mut allowed: Clients, write: impl Fn(&str) -> std::path::PathBuf) {
    let again = |clients: &Clients| Clients::load(&write(&clients.text())).expect("what we wrote reads well");
    assert_eq!(again(&allowed), allowed);
    let client = Client { name: "a".into(), dialect: "claude".into(), folders: vec!["/w".into()] };
    let deeds = vec![PermissionKind::Command];
    allowed.change(&ClientsChange::Remember { client: client.clone(), deeds: deeds.clone(), unix_ms: 0 });
    assert!(allowed.allow(&client, PermissionKind::Command).is_some());
    assert_eq!(again(&allowed), allowed);
    allowed.change(&ClientsChange::Forget { name: Some("a".into()), deeds });
    assert!(allowed.allow(&client, PermissionKind::Command).is_none());
    allowed.change(&ClientsChange::Forget { name: None, deeds: Vec::new() });
    assert!(allowed.entries.is_empty());
}
