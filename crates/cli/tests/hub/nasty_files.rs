//! Every file of `testdata/nasty` through the real binary: after an accept only the bytes of the changed line differ;
//! after a reject none; files that cannot be read faithfully are refused by name.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use linkspan_review::{Text, decode};

    use crate::support::*;

    fn nasty() -> Vec<(String, Vec<u8>)> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/nasty");
        let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
            .filter(|(name, _)| name != "README.md")
            .collect();
        files.sort();
        assert!(files.len() > 30);
        files
    }

    fn texts() -> Vec<(String, Vec<u8>, Text)> {
        let files = nasty().into_iter();
        files.filter_map(|(name, bytes)| decode(&bytes).ok().map(|text| (name, bytes, text))).collect()
    }

    /// The text as agents send it (LF only where the file has nothing but CRLF), with its middle line changed; and
    /// the bytes the file must hold then.
    fn with_one_line_changed(bytes: &[u8], text: &Text) -> (String, Vec<u8>) {
        let mut lines: Vec<&str> = text.text.split_inclusive('\n').collect();
        let at = lines.len() / 2;
        let ending = match lines.get(at) {
            Some(line) if line.ends_with("\r\n") => "\r\n",
            Some(line) if line.ends_with('\n') => "\n",
            _ => "",
        };
        let changed = format!("changed{ending}");
        match lines.get_mut(at) {
            Some(line) => *line = &changed,
            None => lines.push(&changed),
        }
        let whole = lines.concat();
        let expected = text.format.encode(&whole).unwrap();
        // Checked again without the crate under test: the bytes before and after the line are the same.
        let untouched = text.format.encode(&lines[..at].concat()).unwrap();
        assert!(at == 0 || bytes.starts_with(&untouched));
        (whole, expected)
    }

    #[test]
    fn an_accepted_line_changes_its_own_bytes_and_no_others() {
        let world = World::new();
        let serve = world.serve();
        let mut agent = Agent::nexus3(&world, serve.port);
        for (name, bytes, text) in texts() {
            let path = world.file(&name, &bytes);
            let (proposed, expected) = with_one_line_changed(&bytes, &text);
            let call = agent.propose(&path, &proposed, &name);
            let review = world.one_pending();
            world.run(&["accept", &review]).ok();
            assert_eq!(agent.texts(call), ["FILE_SAVED"], "{name}");
            assert!(
                world.read(&name) == expected,
                "{name}: {:?}",
                String::from_utf8_lossy(&world.read(&name))
            );
        }
        drop((agent, serve));
    }

    #[test]
    fn line_feeds_from_an_agent_become_what_the_file_has() {
        let world = World::new();
        let serve = world.serve();
        let mut agent = Agent::nexus3(&world, serve.port);
        for (name, bytes, text) in texts() {
            let (whole, expected) = with_one_line_changed(&bytes, &text);
            if !whole.contains("\r\n") {
                continue;
            }
            let spoken = whole.replace("\r\n", "\n");
            if spoken.contains("\r\n") {
                // A lone CR before a CRLF: sent with LF it reads as CRLF, and is taken literally.
                continue;
            }
            let path = world.file(&name, &bytes);
            let call = agent.propose(&path, &spoken, &name);
            let review = world.one_pending();
            world.run(&["accept", &review]).ok();
            assert_eq!(agent.texts(call), ["FILE_SAVED"], "{name}");
            assert!(
                world.read(&name) == expected,
                "{name}: {:?}",
                String::from_utf8_lossy(&world.read(&name))
            );
        }
        drop((agent, serve));
    }

    #[test]
    fn a_rejected_change_leaves_every_byte() {
        let world = World::new();
        let serve = world.serve();
        let mut agent = Agent::nexus3(&world, serve.port);
        for (name, bytes, text) in texts() {
            let path = world.file(&name, &bytes);
            let before = fs::metadata(&path).unwrap().modified().unwrap();
            let (proposed, _) = with_one_line_changed(&bytes, &text);
            let call = agent.propose(&path, &proposed, &name);
            let review = world.one_pending();
            world.run(&["reject", &review]).ok();
            assert_eq!(agent.texts(call)[0], "DIFF_REJECTED", "{name}");
            assert!(world.read(&name) == bytes, "{name}");
            assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before, "{name} was touched");
        }
        drop((agent, serve));
    }

    #[test]
    fn what_cannot_be_read_faithfully_is_refused_by_name() {
        let world = World::new();
        let serve = world.serve();
        let mut claude = Agent::claude(&world, serve.port);
        let mut nexus = Agent::nexus3(&world, serve.port);
        let mut refused = 0;
        for (name, bytes) in nasty() {
            let Err(error) = decode(&bytes) else { continue };
            let path = world.file(&name, &bytes);
            for agent in [&mut claude, &mut nexus] {
                let call = agent.propose(&path, "text\n", &name);
                let answer = agent.answer(call);
                let message =
                    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{name}: {answer}"));
                assert!(message.contains(&error.to_string()) && message.contains(&name), "{name}: {message}");
            }
            assert!(world.read(&name) == bytes, "{name}");
            refused += 1;
        }
        assert!(refused > 5);
        claude.is_served();
        drop((claude, nexus, serve));
    }
}
