//! One hub for each state directory, however many start at once and whatever runtime directory each of them has.

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use serde_json::Value;

    use crate::support::world::{finish, signal};
    use crate::support::*;

    /// The same user with another runtime directory.
    fn elsewhere(world: &World, args: &[&str]) -> Command {
        let mut command = world.command(args);
        command.env("XDG_RUNTIME_DIR", world.folder("r2")).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run_elsewhere(world: &World, args: &[&str]) -> CommandResult {
        finish(elsewhere(world, args).spawn().unwrap())
    }

    fn spawn(world: &World, args: &[&str]) -> Child {
        world.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn hubs(world: &World) -> Vec<u32> {
        let is_hub = |pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|word| word == b"run")
        };
        world.processes().into_iter().filter(is_hub).collect()
    }

    fn bound(socket: &Path) -> bool {
        std::os::unix::net::UnixStream::connect(socket).is_ok()
    }

    /// Keeps the machine busy, so that processes are interrupted where they rarely are.
    struct Busy(Arc<AtomicBool>);

    impl Busy {
        fn new() -> Busy {
            let go_on = Arc::new(AtomicBool::new(true));
            for _ in 0..4 {
                let go_on = Arc::clone(&go_on);
                thread::spawn(move || while go_on.load(Ordering::Relaxed) {});
            }
            Busy(go_on)
        }
    }

    impl Drop for Busy {
        fn drop(&mut self) {
            self.0.store(false, Ordering::Relaxed);
        }
    }

    #[test]
    fn another_runtime_directory_leads_to_the_same_hub() {
        let world = World::new();
        let serve = world.serve();
        let files = world.discovery_files();
        assert!(!files.is_empty());
        let first = world.hub_pid();
        let status = run_elsewhere(&world, &["status", "--json"]).ok().json();
        assert_eq!(status["pid"].as_u64(), first.map(u64::from), "{status}");
        let started = run_elsewhere(&world, &["hub", "start", "--json"]).ok().json();
        assert_eq!(
            (&started["started"], started["pid"].as_u64()),
            (&Value::Bool(false), first.map(u64::from))
        );
        assert_eq!(world.discovery_files(), files, "what the first hub wrote is still there");
        assert_eq!(hubs(&world).len(), 1);
        run_elsewhere(&world, &["hub", "stop", "--force"]).ok();
        drop(serve);
    }

    #[test]
    fn a_hub_started_by_hand_elsewhere_says_where_the_running_one_is_and_leaves_its_files_alone() {
        let world = World::new();
        let serve = world.serve();
        let files = world.discovery_files();
        let ran = run_elsewhere(&world, &["hub", "run"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(world.socket().to_str().unwrap()), "{said}");
        assert_eq!(world.discovery_files(), files);
        drop(serve);
    }

    #[test]
    fn many_starters_with_different_runtime_directories_make_one_hub() {
        let world = World::new();
        for _ in 0..3 {
            let starters: Vec<Child> = (0..12)
                .map(|n| match n % 2 {
                    0 => spawn(&world, &["hub", "start", "--json"]),
                    _ => elsewhere(&world, &["hub", "start", "--json"]).spawn().unwrap(),
                })
                .collect();
            let mut pids: Vec<Option<u64>> =
                starters.into_iter().map(|child| finish(child).ok().json()["pid"].as_u64()).collect();
            pids.dedup();
            assert_eq!(pids.len(), 1, "{pids:?}\n{}", world.log());
            // One that found the state directory in use may need a moment to end.
            eventually("one hub is left", || (hubs(&world).len() == 1).then_some(()));
            world.run(&["hub", "stop", "--force"]).ok();
        }
    }

    /// A hub removed its socket after it had released its lock: the next hub might have created its own by then.
    #[test]
    fn whoever_starts_while_a_hub_leaves_gets_the_next_one_soon() {
        let world = World::new();
        let busy = Busy::new();
        for round in 0..25 {
            world.run(&["hub", "start"]).ok();
            let stop = spawn(&world, &["hub", "stop", "--force"]);
            // One of these takes the lock at the very moment when it is free.
            let mut hubs: Vec<Child> = Vec::new();
            let until = Instant::now() + Duration::from_millis(80);
            while Instant::now() < until {
                hubs.push(spawn(&world, &["hub", "run"]));
            }
            finish(stop);
            let asked = Instant::now();
            let ran = finish(spawn(&world, &["reviews", "--json"]));
            assert_eq!(ran.code, 0, "round {round}: {ran:?}\n{}", world.log());
            assert!(asked.elapsed() < Duration::from_secs(8), "round {round}\n{}", world.log());
            world.run(&["hub", "stop", "--force"]).ok();
            for mut hub in hubs {
                eventually("every hub ends", || {
                    let ended = hub.try_wait().unwrap();
                    if ended.is_none() {
                        // On a busy machine it may have become the hub only after the last stop.
                        world.run(&["hub", "stop", "--force"]);
                    }
                    ended
                });
            }
        }
        drop(busy);
    }

    #[test]
    fn a_hub_whose_socket_was_removed_listens_again() {
        let world = World::new();
        world.run(&["hub", "start"]).ok();
        let pid = world.hub_pid();
        for folder_too in [false, true] {
            match folder_too {
                false => fs::remove_file(world.socket()).unwrap(),
                true => fs::remove_dir_all(world.runtime()).unwrap(),
            }
            eventually("it listens again", || bound(&world.socket()).then_some(()));
            assert_eq!(world.hub_pid(), pid);
        }
    }

    #[test]
    fn a_hub_that_does_not_answer_is_named_with_what_to_do() {
        let mut world = World::new();
        world.run(&["hub", "start"]).ok();
        let pid = world.hub_pid().unwrap();
        signal(pid, rustix::process::Signal::STOP);
        // The socket is gone and the hub cannot make a new one.
        fs::remove_file(world.socket()).unwrap();
        let ran = world.run(&["reviews"]);
        signal(pid, rustix::process::Signal::KILL);
        world.may_leave_files();
        assert_ne!(ran.code, 0);
        assert!(ran.stderr.contains(&pid.to_string()) && ran.stderr.contains("kill"), "{ran:?}");
        // The next hub replaces it.
        world.run(&["hub", "start"]).ok();
        assert_ne!(world.hub_pid().unwrap(), pid);
    }

    #[test]
    fn what_the_state_directory_says_is_not_followed_to_a_socket_of_somebody_else() {
        let world = World::new();
        world.run(&["hub", "start"]).ok();
        let said: PathBuf = world.state().join("hub.lock");
        assert!(fs::read_to_string(&said).unwrap().contains(world.socket().to_str().unwrap()));
        world.run(&["hub", "stop", "--force"]).ok();
        // A directory that others may enter is not where a hub of ours listens.
        let open = world.folder("open");
        let listener = std::os::unix::net::UnixListener::bind(open.join("hub.sock")).unwrap();
        fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        let named = serde_json::json!({ "pid": 1, "socket": open.join("hub.sock") });
        fs::write(&said, named.to_string()).unwrap();
        let thread = thread::spawn(move || {
            listener.set_nonblocking(true).unwrap();
            thread::sleep(Duration::from_secs(2));
            listener.accept().is_ok()
        });
        world.run(&["hub", "start"]).ok();
        assert!(!thread.join().unwrap(), "no client connects to it");
        world.run(&["hub", "stop", "--force"]).ok();
    }
}
