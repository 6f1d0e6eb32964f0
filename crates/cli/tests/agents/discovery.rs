//! Discovery next to a real hub: its windows come first, its own lock files are recognised, and stale files are
//! removed.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use linkspan_client::discover::{CandidateVerdict, FoundBy, LookupResult, Match, Reason, Wire};
    use linkspan_client::{Candidate, Discovery, Surroundings, discover};
    use linkspan_editor_api::Places;

    use crate::support::*;

    fn surroundings(world: &World, cwd: &Path) -> Surroundings {
        let places = Places {
            home: world.home(),
            runtime: world.runtime(),
            state: world.state(),
            config: world.config_file().parent().unwrap().to_owned(),
        };
        let uid = rustix::process::geteuid().as_raw();
        let variables = BTreeMap::from([("TMPDIR".to_owned(), world.root().join("t").into())]);
        Surroundings { cwd: cwd.to_owned(), places, variables, uid, wsl: None }
    }

    fn look(world: &World, cwd: &Path) -> Discovery {
        discover(&surroundings(world, cwd))
    }

    fn window_of(candidate: &Candidate) -> Option<&str> {
        match &candidate.wire {
            Wire::Hub { window, .. } => Some(window),
            _ => None,
        }
    }

    #[test]
    fn of_two_nested_windows_the_inner_one_is_best_and_lock_files_are_not_counted_twice() {
        let world = World::new();
        let (outer, inner) = (world.folder("w"), world.folder("w/inner"));
        let editors = [&outer, &inner]
            .map(|folder| EditorBuilder::new(&world).folders(std::slice::from_ref(folder)).attach());
        let [outer_window, inner_window] = editors.each_ref().map(|editor| editor.attached.window.as_str());

        let found = look(&world, &world.folder("w/inner/src"));
        let best = found.best().unwrap();
        assert_eq!((window_of(best), best.matched), (Some(inner_window), Some(Match::Folder { depth: 1 })));
        assert_eq!(best.editor, "Test Editor");
        let usable: Vec<&Candidate> = found.candidates.iter().filter(|found| found.is_usable()).collect();
        assert_eq!(usable.len(), 2, "{found:#?}");
        assert_eq!(window_of(usable[1]), Some(outer_window));

        let files: Vec<&Candidate> =
            found.candidates.iter().filter(|found| matches!(found.found, FoundBy::LockFile(_))).collect();
        let of_dialect = |dialect: &str| files.iter().filter(|file| file.wire.dialect() == dialect).count();
        let counts = ["claude", "nexus3", "gemini", "clio"].map(of_dialect);
        assert_eq!(counts, [2, 2, 4, 1], "Qwen has files of its own, and Clio one for all windows");
        for file in files {
            assert!(matches!(&file.verdict, CandidateVerdict::Not(Reason::SameAs { .. })), "{file:?}");
        }
        assert!(found.looked_in.iter().any(|looked| looked.found == LookupResult::Hub { windows: 2 }));
        assert!(
            world.status()["windows"][0]["agents"].as_array().unwrap().is_empty(),
            "no editor was contacted"
        );

        assert_eq!(look(&world, &world.folder("elsewhere")).best(), None);
    }

    #[test]
    fn the_terminals_own_window_is_best_whatever_its_folders() {
        let world = World::new();
        let near = EditorBuilder::new(&world).attach();
        let own = EditorBuilder::new(&world).folders(&[world.folder("elsewhere")]).attach();
        let mut here = surroundings(&world, &world.workspace());
        assert_eq!(window_of(discover(&here).best().unwrap()), Some(near.attached.window.as_str()));
        let named = [
            ("LINKSPAN_WINDOW", own.attached.window.clone()),
            ("CLAUDE_CODE_SSE_PORT", own.attached.port.to_string()),
        ];
        for (variable, value) in named {
            here.variables = BTreeMap::from([(variable.to_owned(), value.into())]);
            let found = discover(&here);
            let best = found.best().unwrap();
            assert_eq!(window_of(best), Some(own.attached.window.as_str()));
            assert_eq!(best.matched, Some(Match::OwnTerminal));
        }
    }

    #[test]
    fn a_window_whose_editor_is_away_is_there_and_not_usable() {
        let world = World::new();
        let editor = EditorBuilder::new(&world).attach();
        let window = editor.attached.window.clone();
        editor.kill();
        let away = eventually("the editor is away", || {
            let found = look(&world, &world.workspace());
            let found =
                found.candidates.into_iter().find(|found| window_of(found) == Some(window.as_str()))?;
            (!found.is_usable()).then_some(found)
        });
        assert_eq!(away.verdict, CandidateVerdict::Not(Reason::EditorAway));
        assert_eq!(away.matched, Some(Match::Folder { depth: 0 }));
    }

    #[test]
    fn what_a_killed_hub_left_behind_is_removed_by_whoever_looks() {
        let mut world = World::new();
        world.may_leave_files();
        let editor = EditorBuilder::new(&world).attach();
        let port = editor.port();
        // Frozen, so that nothing restarts the hub.
        editor.freeze();
        world.kill_hub();
        let mut left = world.discovery_files();
        assert_eq!(left.len(), 2);
        let foreign = world.home().join(".claude/ide/1.lock");
        std::fs::write(&foreign, "{\"workspaceFolders\":[]}").unwrap();

        left.push(world.home().join(".qwen/ide").join(format!("{port}.lock")));
        left.push(world.home().join(".clio/ide/bridge.json"));
        let mut removed = look(&world, &world.folder("elsewhere")).removed;
        let is_geminis = |path: &mut PathBuf| path.starts_with(world.root().join("t/gemini/ide"));
        assert_eq!(removed.extract_if(.., is_geminis).count(), 1);
        removed.sort();
        left.sort();
        assert_eq!(removed, left);
        assert_eq!(world.discovery_files(), [foreign]);
        editor.kill();
    }

    /// The files of a window by dialect, as `hub/status` names them; each must exist.
    fn files_of(window: &serde_json::Value) -> BTreeMap<String, Vec<PathBuf>> {
        let dialects = window["dialects"].as_array().unwrap().iter();
        let files = dialects.map(|dialect| {
            let files = dialect["discoveryFiles"].as_array().unwrap().iter();
            let files: Vec<PathBuf> = files.map(|file| file.as_str().unwrap().into()).collect();
            assert!(files.iter().all(|file| file.exists()), "{files:?}");
            (dialect["name"].as_str().unwrap().to_owned(), files)
        });
        files.collect()
    }

    #[test]
    fn every_discovery_file_is_listed_by_status_and_by_serve() {
        let world = World::new();
        let serve = world.serve();
        let files = files_of(&world.status()["windows"][0]);
        let qwen = world.home().join(format!(".qwen/ide/{}.lock", serve.port));
        assert!(files["gemini"].contains(&qwen), "{files:?}");
        let text = world.run(&["status"]).ok().stdout;
        for file in files.values().flatten() {
            let file = file.to_str().unwrap();
            assert!(text.contains(file), "{file} in {text}");
            eventually(&format!("serve names {file}"), || serve.output().contains(file).then_some(()));
        }
    }

    #[test]
    fn claudes_lock_is_where_the_variable_of_the_window_says_and_at_its_usual_place() {
        let world = World::new();
        let elsewhere = EditorBuilder::new(&world).folders(&[world.folder("elsewhere")]).attach();
        let config = world.folder("claude");
        let serve =
            world.serve_with(&[&world.workspace()], &[("CLAUDE_CONFIG_DIR", config.to_str().unwrap())]);
        let status = world.status();
        let windows = status["windows"].as_array().unwrap();
        let of_port = |port: u16| files_of(windows.iter().find(|window| window["port"] == port).unwrap());
        let lock = |folder: &Path, port: u16| folder.join(format!("ide/{port}.lock"));
        let usual = world.home().join(".claude");
        let both = [lock(&config, serve.port), lock(&usual, serve.port)];
        assert_eq!(of_port(serve.port)["claude"], both);
        assert_eq!(of_port(elsewhere.port())["claude"], [lock(&usual, elsewhere.port())]);
        assert_eq!(std::fs::read(&both[0]).unwrap(), std::fs::read(&both[1]).unwrap());
        // The next hub learns it from the window, too.
        world.kill_hub();
        eventually("both locks are there again", || both.iter().all(|lock| lock.exists()).then_some(()));
        assert_eq!(serve.interrupt(), 0);
        eventually("both locks are gone", || both.iter().all(|lock| !lock.exists()).then_some(()));
    }
}
