//! In real processes. The program that restricts itself is this test program: one of its tests does that if it is told
//! to, because the agent's own program is not built for unit tests.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::*;
use crate::permissions::PermissionMode;
use crate::tools::AgentTools;
use crate::tools::ToolsConfig;
use crate::tools::testing::ToolScene;

const ARGUMENTS: &str = "LINKSPAN_TEST_SANDBOX_ARGUMENTS";

/// Not a test of its own: becomes the sandboxed command when a test below starts it.
#[test]
fn becomes_the_command_if_told_to() {
    let Some(file) = std::env::var_os(ARGUMENTS) else { return };
    let arguments = fs::read_to_string(&file).unwrap();
    exec(arguments.split('\u{1}').map(OsString::from));
    std::process::exit(126);
}

/// A program like `linkspan-agent sandbox-exec`.
fn launcher(scene: &ToolScene) -> Vec<OsString> {
    let own = std::env::current_exe().unwrap();
    let script = scene.path("launch");
    let text = format!(
        "#!/bin/sh\nfile=$(mktemp)\nfirst=1\nfor word; do\n[ $first ] || printf '\\001' >> $file\nfirst=\n\
         printf %s \"$word\" >> $file\ndone\n{ARGUMENTS}=$file exec '{}' --exact --quiet --nocapture \
         sandbox::tests::becomes_the_command_if_told_to 2>&1\n",
        own.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    vec![script.into()]
}

/// A folder that is not below one for temporary files, which can be written.
fn outside() -> tempfile::TempDir {
    let own = std::env::current_exe().unwrap();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let candidates = [own.parent().map(PathBuf::from), home, Some("/var/lib".into()), Some("/run".into())];
    let temporary = ["/tmp", "/var/tmp", "/dev/shm"];
    let outside = candidates.into_iter().flatten().filter(|folder| {
        let real = folder.canonicalize().unwrap_or_default();
        real.is_absolute() && !temporary.iter().any(|temporary| real.starts_with(temporary))
    });
    outside.map(tempfile::tempdir_in).find_map(Result::ok).expect("a folder outside of /tmp")
}

fn run(scene: &ToolScene, command: &str) -> String {
    run_hiding(scene, vec![], command)
}

fn run_hiding(scene: &ToolScene, own: Vec<PathBuf>, command: &str) -> String {
    let mut config = ToolsConfig::new(scene.context.bridge.clone());
    config.own = own;
    config.sandbox_program = Some(launcher(scene));
    scene.run_with(&AgentTools::new(config), "run_command", json!({ "command": command })).text
}

#[test]
fn a_command_writes_only_in_the_workspace_and_opens_no_connection() {
    let scene = ToolScene::new(PermissionMode::Sandboxed);
    if protection() == Protection::Nothing {
        let said = run(&scene, "echo x");
        assert!(said.contains("no Landlock") && !said.contains("exit code"), "{said}");
        return;
    }
    let outside = outside();
    let file = outside.path().join("file");
    fs::write(&file, "before\n").unwrap();
    let path = file.display();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let said = run(
        &scene,
        &format!(
            "cat {path}; echo inside > inside.txt && cat inside.txt; echo x > {path} || echo no write; \
             rm {path} || echo no removal; echo x > {path}.new || echo no file; echo x > /dev/null && echo null; \
             bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' 2>/dev/null && echo connected; echo $SECRET_API_KEY; \
             sh -c 'echo x > {path}' || echo nor a child"
        ),
    );
    for wanted in
        ["before\n", "inside\n", "no write\n", "no removal\n", "no file\n", "null\n", "nor a child\n"]
    {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "before\n");
    assert_eq!(scene.read("inside.txt"), "inside\n");
    if protection() == Protection::FilesAndTcp {
        assert!(!said.contains("connected"), "{said}");
    } else {
        assert!(said.contains("without a limit on the network"), "{said}");
    }
}

#[test]
fn a_command_does_not_see_the_files_of_linkspan() {
    let scene = ToolScene::new(PermissionMode::Sandboxed);
    if protection() == Protection::Nothing {
        return;
    }
    // Once where temporary files are, and once elsewhere.
    for outside in [outside(), tempfile::tempdir_in("/tmp").unwrap()] {
        let path = |name: &str| outside.path().canonicalize().unwrap().join(name);
        fs::create_dir(path("own")).unwrap();
        fs::write(path("own/token"), "secret\n").unwrap();
        fs::write(path("other"), "open\n").unwrap();
        std::os::unix::fs::symlink(path("own/token"), scene.path("link")).unwrap();
        let here = outside.path().display();
        let command = format!(
            "cat {here}/own/token link; echo x > {here}/own/new || echo no write; cat {here}/other; ls -1 {here}; \
             echo x > in && cat in; f=$(mktemp) && echo x > $f && echo temporary; rm $f"
        );
        let said = run_hiding(&scene, vec![path("own")], &command);
        assert!(!said.contains("secret") && !path("own/new").exists(), "{said}");
        for wanted in ["no write\n", "open\n", "other\n", "x\n", "temporary\n"] {
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
        fs::remove_file(scene.path("link")).unwrap();
    }
    let said = run_hiding(&scene, vec![scene.path("own")], "echo x");
    assert!(said.contains("holds the files of Linkspan itself"), "{said}");
}

#[test]
fn wrong_arguments_run_nothing() {
    let parsed = |arguments: &[&str]| parse(arguments.iter().map(OsString::from));
    for arguments in [&[][..], &["--"], &["--write"], &["--write", "x"], &["x"], &["--write", "x", "y"]] {
        assert!(parsed(arguments).is_err(), "{arguments:?}");
    }
    let (found, command) =
        parsed(&["--write", "/a", "--hide", "/c", "--write", "/b", "--", "echo", "--"]).unwrap();
    let expected = Restrictions { writable: vec!["/a".into(), "/b".into()], hidden: vec!["/c".into()] };
    assert_eq!((found, command), (expected, vec!["echo".into(), "--".into()]));
}

#[test]
fn keys_are_not_passed_on() {
    assert!(is_secret("ANTHROPIC_API_KEY") && is_secret("GITHUB_TOKEN") && is_secret("SSH_AUTH_SOCK"));
    for secret in
        ["AWS_SECRET_ACCESS_KEY", "GITHUB_PAT", "PGPASSWORD", "MYSQL_PWD", "my_llm_key", "DB_PASSWD"]
    {
        assert!(is_secret(secret), "{secret}");
    }
    assert!(
        !is_secret("PWD")
            && !is_secret("OLDPWD")
            && !is_secret("PATH")
            && !is_secret("TOKENIZERS_PARALLELISM")
    );
}
