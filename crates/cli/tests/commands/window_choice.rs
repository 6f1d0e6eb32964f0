//! The editor window that a command uses: named, pinned, or the best match; and the error when there is none.

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use crate::support::*;

    #[track_caller]
    fn check(ran: &CommandResult, code: i32, words: &[&str]) {
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, code, "{ran:?}");
        for word in words {
            assert!(said.contains(word), "{word} in {ran:?}");
        }
    }

    fn in_folder(world: &World, folder: &Path, args: &[&str]) -> CommandResult {
        let child = world
            .command(args)
            .current_dir(folder)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn();
        world::finish(child.unwrap())
    }

    fn with_variable(world: &World, value: &str, args: &[&str]) -> CommandResult {
        let mut command = world.command(args);
        command.env("LINKSPAN_WINDOW", value);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        world::finish(command.spawn().unwrap())
    }

    /// Two windows on the workspace, which differ in their folders.
    fn two(world: &World) -> (Editor, Editor) {
        let (left, right) = (world.folder("left"), world.folder("right"));
        let attach = |beside, id| {
            let folders = [world.workspace(), beside];
            EditorBuilder::new(world).folders(&folders).window_id(id).attach()
        };
        (attach(left, "one"), attach(right, "two"))
    }

    #[test]
    fn without_a_window_it_says_what_to_start_and_starts_nothing() {
        let world = World::new();
        for args in
            [&["diagnostics"][..], &["selection"], &["tools"], &["call", "x"], &["context"], &["folders"]]
        {
            check(
                &world.run(args),
                7,
                &["no editor has this folder open", "linkspan serve", "linkspan doctor"],
            );
        }
        let ran = world.run(&["editors", "--json"]);
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (7, &json!("no-window")), "{ran:?}");
        assert!(!world.socket().exists());
    }

    #[test]
    fn a_window_on_another_folder_is_told_of_and_can_be_named() {
        let world = World::new();
        let other = world.folder("other");
        let editor = EditorBuilder::new(&world).folders(std::slice::from_ref(&other)).attach();
        let window = editor.attached.window.clone();
        check(&world.run(&["folders"]), 7, &["no editor has this folder open", &window, "--window"]);
        let expected = json!({ "folders": [other] });
        for name in [window.as_str(), &editor.port().to_string(), other.to_str().unwrap(), "../other"] {
            assert_eq!(world.json(&["folders", "--window", name]), expected, "{name}");
        }
        // A file belongs to the window that has its folder.
        std::fs::write(other.join("a.txt"), "").unwrap();
        check(&world.run(&["open", "../other/a.txt"]), 0, &["a.txt"]);
    }

    #[test]
    fn several_that_fit_are_listed_and_one_is_named() {
        let world = World::new();
        let (one, two) = two(&world);
        let (first, second) = (one.attached.window.as_str(), two.attached.window.as_str());
        check(&world.run(&["folders"]), 7, &["several windows", first, second, "--window"]);
        check(&world.run(&["ide"]), 1, &["several windows", first, second]);
        let has = |ran: CommandResult, word: &str| assert!(ran.ok().stdout.contains(word), "{word}");
        has(world.run(&["folders", "--window", first]), "/left");
        has(world.run(&["folders", "--window", second]), "/right");
        has(with_variable(&world, second, &["folders"]), "/right");
        has(with_variable(&world, second, &["folders", "--window", first]), "/left");
        has(with_variable(&world, "", &["folders", "--window", first]), "/left");
        has(world.run(&["folders", "--window", &two.port().to_string()]), "/right");
    }

    #[test]
    fn a_name_of_nobody_says_so() {
        let world = World::new();
        let _editor = Editor::attach(&world);
        check(&world.run(&["folders", "--window", "w99"]), 7, &["w99"]);
        check(&world.run(&["folders", "--window", "1"]), 7, &["there is no window 1", "Test Editor"]);
        check(&world.run(&["folders", "--window", "/"]), 7, &["there is no window /"]);
        check(&world.run(&["folders", "--window", "/no/such/folder"]), 2, &["/no/such/folder"]);
        check(&world.run(&["folders", "--window", "70000"]), 2, &["from 1 to 65535"]);
        check(&world.run(&["folders", "--window", ""]), 2, &["linkspan ide"]);
        check(&with_variable(&world, "w99", &["folders"]), 7, &["LINKSPAN_WINDOW", "w99"]);
        check(&with_variable(&world, "70000", &["folders"]), 2, &["LINKSPAN_WINDOW"]);
    }

    #[test]
    fn a_window_id_without_a_hub_says_that_there_is_no_hub() {
        let world = World::new();
        check(&world.run(&["folders", "--window", "w1"]), 3, &["no hub is running"]);
    }

    #[test]
    fn a_chosen_window_counts_in_its_folder_and_below() {
        let world = World::new();
        let (one, two) = two(&world);
        let below = world.path("deep/er");
        std::fs::create_dir_all(&below).unwrap();
        let (first, second) = (one.attached.window.as_str(), two.attached.window.clone());
        let second = second.as_str();
        check(&world.run(&["ide", "connect"]), 7, &["several windows"]);
        check(&world.run(&["ide", "connect", second]), 0, &[second, "is now used"]);
        check(&in_folder(&world, &below, &["folders"]), 0, &["/right"]);
        check(&in_folder(&world, &below, &["ide"]), 0, &[second, "Test Editor", "linkspan ide connect"]);
        check(&in_folder(&world, &below, &["folders", "--window", first]), 0, &["/left"]);
        let status = world.json(&["ide", "status"]);
        assert_eq!((&status["connected"], status["windows"].as_array().unwrap().len()), (&json!(second), 2));
        drop(two);
        check(&world.run(&["folders"]), 7, &[second, "linkspan ide connect"]);
        check(&world.run(&["ide"]), 1, &["no editor is used here", second]);
        check(&world.run(&["ide", "connect"]), 0, &[first, "it has this folder open"]);
        check(&world.run(&["folders"]), 0, &["/left"]);
    }

    #[test]
    fn a_disconnected_folder_asks_nobody_until_it_is_connected_again() {
        let world = World::new();
        let editor = Editor::attach(&world);
        let window = editor.attached.window.as_str();
        check(&world.run(&["ide", "disconnect"]), 0, &["no editor is used", "linkspan ide connect"]);
        check(&world.run(&["folders"]), 7, &["linkspan ide disconnect", "linkspan ide connect"]);
        let status = world.run(&["ide", "--json"]);
        assert_eq!((status.code, &status.json()["connected"]), (1, &json!(null)), "{status:?}");
        check(&world.run(&["folders", "--window", window]), 0, &["/w"]);
        let said = world.json(&["ide", "connect"]);
        assert_eq!((&said["connected"], &said["pinned"]), (&json!(window), &json!(false)));
        check(&world.run(&["folders"]), 0, &["/w"]);
    }

    #[test]
    fn what_cannot_be_reached_cannot_be_chosen() {
        let world = World::new();
        check(&world.run(&["ide", "connect", "w1"]), 3, &["no hub is running"]);
        check(&world.run(&["ide", "connect"]), 7, &["no editor has this folder open"]);
        assert!(!world.state().join("ide.json").exists());
    }

    #[test]
    fn a_damaged_choice_says_what_to_delete() {
        let world = World::new();
        std::fs::create_dir_all(world.state()).unwrap();
        std::fs::write(world.state().join("ide.json"), "{").unwrap();
        check(&world.run(&["folders"]), 70, &["ide.json", "delete it"]);
    }

    #[test]
    fn a_window_whose_editor_is_away_is_told_of() {
        let world = World::new();
        let editor = Editor::attach(&world);
        check(&world.run(&["folders"]), 0, &["/w"]);
        editor.kill();
        check(&world.run(&["diagnostics"]), 7, &["its editor is away", "Open the editor again"]);
    }

    #[test]
    fn a_foreign_editor_is_used_without_a_hub_and_the_hub_is_preferred() {
        let world = World::new();
        let answer = |_: &str, _: &serde_json::Value| {
            foreign_editor::text(
                json!({ "success": true, "folders": [{ "path": "/from/foreign" }] }).to_string(),
            )
        };
        let foreign = ForeignEditor::start(&world, answer);
        check(&world.run(&["folders"]), 0, &["/from/foreign"]);
        check(&world.run(&["ide"]), 0, &["ForeignEditor Editor", "used here"]);
        let editor = Editor::attach(&world);
        check(&world.run(&["folders"]), 0, &["/w"]);
        let port = foreign.port.to_string();
        check(&world.run(&["folders", "--window", &port]), 0, &["/from/foreign"]);
        check(&world.run(&["ide", "connect", &port]), 0, &[&port]);
        check(&world.run(&["folders"]), 0, &["/from/foreign"]);
        drop(foreign);
        check(&world.run(&["folders"]), 7, &[&port, "linkspan ide connect"]);
        drop(editor);
    }

    #[test]
    fn a_foreign_editor_on_another_folder_is_asked_only_when_it_is_named() {
        let world = World::new();
        let nothing = |_: &str, _: &serde_json::Value| foreign_editor::text("[]");
        let other = world.folder("other");
        let foreign = ForeignEditor::on(&world, &other, "secret-token-of-the-editor", nothing);
        let port = foreign.port.to_string();
        check(&world.run(&["diagnostics"]), 7, &["no editor has this folder open", &port]);
        assert!(foreign.called().is_empty());
        check(&world.run(&["diagnostics", "--window", &port]), 0, &["no problems"]);
        check(&world.run(&["diagnostics", "--window", "../other"]), 0, &["no problems"]);
        assert_eq!(foreign.called().len(), 2);
    }

    #[test]
    fn a_hub_that_cannot_be_asked_is_part_of_the_answer() {
        let world = World::new();
        std::fs::write(world.runtime(), "").unwrap();
        check(&world.run(&["diagnostics"]), 7, &["no editor has this folder open", "not a directory"]);
        std::fs::remove_file(world.runtime()).unwrap();
    }

    #[test]
    fn a_foreign_editor_that_does_not_let_us_in_is_named_with_the_reason() {
        let world = World::new();
        let nothing = |_: &str, _: &serde_json::Value| json!({});
        let foreign = ForeignEditor::on(&world, &world.workspace(), "an-older-token", nothing);
        check(&world.run(&["folders"]), 7, &["ForeignEditor Editor", "rejects the token"]);
        check(&world.run(&["folders", "--window", &foreign.port.to_string()]), 7, &["rejects the token"]);
        assert!(!format!("{:?}", world.run(&["doctor"])).contains("an-older-token"));
    }
}
