//! `kill -9` of the hub, the agent or the editor at each step of a change's journey: the decision arrives once,
//! the file holds all of the old bytes or all of the new, no decision is asked for twice, nothing is written twice.

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use linkspan_editor_api as api;
    use rusqlite::Connection;
    use rustix::process::Signal;
    use serde_json::Value;

    use crate::support::agent::texts;
    use crate::support::world::{alive, signal};
    use crate::support::*;

    const OLD: &str = "one\ntwo\nthree\n";
    const NEW: &str = "one\n2\nthree\n";
    /// The text as the user edited it.
    const DRAFT: &str = "one\nzwei\nthree\n";

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Victim {
        Hub,
        Agent,
        Editor,
    }

    /// The step of the change at which a process is killed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
    enum Point {
        Sent,
        Shown,
        Edited,
        Deciding,
        Decided,
        Read,
    }

    const POINTS: [Point; 6] =
        [Point::Sent, Point::Shown, Point::Edited, Point::Deciding, Point::Decided, Point::Read];

    struct Journey {
        dialect: WsDialect,
        victim: Victim,
        point: Point,
        path: String,
        /// The hub's process id at the start.
        hub: u32,
        agent: Option<Agent>,
        call: i64,
        answer: Option<Value>,
        editor: Option<Editor>,
        /// Dropped last: an editor without a hub would start one.
        world: World,
    }

    fn journey(dialect: WsDialect, victim: Victim, point: Point) {
        println!("{victim:?} killed at {point:?} of a {dialect:?} change");
        let mut world = World::new();
        if victim == Victim::Hub {
            // A hub killed between making a temporary file and renaming it cannot remove it.
            world.may_leave_files();
        }
        let path = world.file("a.txt", OLD);
        let editor = Editor::attach(&world);
        let agent = connect(&world, dialect, editor.port());
        let hub = world.hub_pid().unwrap();
        let mut journey = Journey {
            dialect,
            victim,
            point,
            path,
            hub,
            agent: Some(agent),
            call: 0,
            answer: None,
            editor: Some(editor),
            world,
        };
        journey.travel();
        journey.kill();
        journey.recover();
        journey.arrive();
    }

    fn connect(world: &World, dialect: WsDialect, port: u16) -> Agent {
        match dialect {
            WsDialect::Claude => Agent::claude(world, port),
            WsDialect::Nexus3 => Agent::nexus3(world, port),
        }
    }

    fn kill(pid: u32) {
        signal(pid, Signal::KILL);
        eventually("it is dead", || (!alive(pid)).then_some(()));
    }

    /// Waits until another hub than the dead one has the window on its old port.
    fn back(world: &World, port: u16, dead: u32) {
        eventually("the window is back", || {
            let ran = world.run(&["status", "--json"]);
            let status = (ran.code == 0).then(|| ran.json()).filter(|status| status["pid"] != dead)?;
            let mut windows = status["windows"].as_array()?.iter();
            windows.any(|window| window["port"] == port && window["attached"] == true).then_some(())
        });
    }

    impl Journey {
        fn editor(&mut self) -> &mut Editor {
            self.editor.as_mut().unwrap()
        }

        fn agent(&mut self) -> &mut Agent {
            self.agent.as_mut().unwrap()
        }

        fn ask(&mut self) {
            let path = self.path.clone();
            self.call = self.agent().propose(&path, NEW, "the tab");
        }

        fn travel(&mut self) {
            self.ask();
            let (path, point) = (self.path.clone(), self.point);
            if point == Point::Sent {
                return;
            }
            let mut shown = self.editor().shown(&path);
            if point == Point::Edited {
                shown = self.editor().edit(&shown, DRAFT);
            }
            match point {
                Point::Sent | Point::Shown | Point::Edited => {}
                Point::Deciding => {
                    if self.victim == Victim::Agent {
                        // An agent that has confirmed the answer and is killed then has lost it by itself.
                        self.agent().freeze();
                    }
                    let decision =
                        api::Decision { verdict: api::Verdict::Accept, comments: vec![], write_here: false };
                    let (review, revision) = (shown.review, shown.revision);
                    self.editor().send_request(&api::ReviewDecided {
                        review,
                        revision,
                        digest: Some(shown.digest),
                        decision,
                    });
                }
                Point::Decided => {
                    self.agent().freeze();
                    self.editor().accept(&shown);
                }
                Point::Read => {
                    self.editor().accept(&shown);
                    let call = self.call;
                    let answer = self.agent().answer(call);
                    self.read(answer);
                }
            }
        }

        fn kill(&mut self) {
            match self.victim {
                Victim::Hub => kill(self.hub),
                Victim::Agent => self.agent.take().unwrap().drop_socket(),
                Victim::Editor => self.editor.take().unwrap().kill(),
            }
            let now = self.world.read_text("a.txt");
            assert!(now == OLD || now == NEW || now == DRAFT, "neither old nor new: {now:?}");
        }

        /// The window comes back by itself or by a new editor; an agent without an answer proposes again.
        fn recover(&mut self) {
            if self.victim == Victim::Editor {
                self.editor = Some(Editor::attach(&self.world));
            }
            let port = self.editor().port();
            if self.victim == Victim::Hub {
                back(&self.world, port, self.hub);
            }
            if self.victim == Victim::Hub {
                // It need not repeat a request that was answered before the hub died, and the hub may know of it.
                self.agent().thaw();
                self.agent().end();
                let call = self.call;
                if let Some(answer) =
                    self.agent().answer_within(call, Duration::ZERO).filter(|_| self.answer.is_none())
                {
                    self.read(answer);
                }
            }
            if self.answer.is_none() {
                if self.victim == Victim::Editor {
                    self.agent().thaw();
                } else {
                    // The same port, the same token, the same change.
                    self.agent = Some(connect(&self.world, self.dialect, port));
                    self.ask();
                }
            }
        }

        /// To the end: an answer, and no second question about a decided change.
        fn arrive(&mut self) {
            let until = Instant::now() + DEADLINE;
            while self.answer.is_none() {
                assert!(Instant::now() < until, "no answer\n{}", self.world.log());
                let call = self.call;
                if let Some(answer) = self.agent().answer_within(call, Duration::from_millis(20)) {
                    self.read(answer);
                } else if self.point <= Point::Deciding && !self.world.reviews().is_empty() {
                    // Not yet decided, or the decision did not reach the hub: the user sees it again and decides.
                    self.world.run(&["accept", "latest"]);
                }
            }
            let wanted = if self.point == Point::Edited { DRAFT } else { NEW };
            assert_eq!(self.world.read_text("a.txt"), wanted);
            assert_eq!(self.world.reviews(), Vec::<Value>::new(), "someone is asked twice");
            let call = self.call;
            if let Some(agent) = &mut self.agent {
                assert_eq!(agent.answer_within(call, Duration::from_millis(50)), None, "told twice");
            }
            self.check_journal();
        }

        /// Acts on the answer as a real agent does.
        fn read(&mut self, answer: Value) {
            let told = texts(&answer);
            assert_eq!(told[0], "FILE_SAVED", "{answer}");
            if self.dialect == WsDialect::Claude {
                assert_eq!(self.world.read_text("a.txt"), OLD, "only the agent writes");
                self.world.file("a.txt", &told[1]);
            }
            self.answer = Some(answer);
        }

        fn check_journal(&self) {
            let journal = Connection::open(self.world.journal()).unwrap();
            let count = |sql: &str| journal.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
            assert_eq!(count("SELECT count(*) FROM reviews"), 1, "one change, one review");
            assert_eq!(count("SELECT count(*) FROM reviews WHERE verdict = 'accepted'"), 1);
            // The hub records the delivery a moment after the agent has the answer.
            let writes = i64::from(self.dialect == WsDialect::Nexus3);
            assert_eq!(count("SELECT count(*) FROM writes"), writes);
        }
    }

    fn at_every_point(dialect: WsDialect, victim: Victim) {
        for point in POINTS {
            journey(dialect, victim, point);
        }
    }

    #[test]
    fn a_killed_hub_loses_no_change_that_the_agent_writes() {
        at_every_point(WsDialect::Claude, Victim::Hub);
    }

    #[test]
    fn a_killed_hub_loses_no_change_that_the_editor_side_writes() {
        at_every_point(WsDialect::Nexus3, Victim::Hub);
    }

    #[test]
    fn a_killed_agent_finds_its_change_and_writes_it_once() {
        at_every_point(WsDialect::Claude, Victim::Agent);
    }

    #[test]
    fn a_killed_agent_finds_its_change_written_once() {
        at_every_point(WsDialect::Nexus3, Victim::Agent);
    }

    #[test]
    fn a_killed_editor_is_shown_the_change_again_and_its_agent_waits() {
        at_every_point(WsDialect::Claude, Victim::Editor);
    }

    #[test]
    fn a_killed_editor_is_shown_the_change_again_and_it_is_written_once() {
        at_every_point(WsDialect::Nexus3, Victim::Editor);
    }

    #[test]
    fn a_rejection_outlives_the_hub_and_is_told_once() {
        for dialect in [WsDialect::Claude, WsDialect::Nexus3] {
            let mut world = World::new();
            world.may_leave_files();
            let path = world.file("a.txt", OLD);
            let mut editor = Editor::attach(&world);
            let mut agent = connect(&world, dialect, editor.port());
            agent.propose(&path, NEW, "the tab");
            agent.freeze();
            let shown = editor.shown(&path);
            editor.reject(&shown);
            let hub = world.hub_pid().unwrap();
            kill(hub);
            drop(agent);
            back(&world, editor.port(), hub);
            let mut again = connect(&world, dialect, editor.port());
            let call = again.propose(&path, NEW, "the tab");
            assert_eq!(again.texts(call)[0], "DIFF_REJECTED");
            assert_eq!((world.read_text("a.txt").as_str(), world.reviews().len()), (OLD, 0));
        }
    }

    #[test]
    fn a_hub_killed_before_it_could_write_writes_when_it_is_back() {
        let mut world = World::new();
        world.may_leave_files();
        let path = world.file("a.txt", OLD);
        let mut editor = EditorBuilder::new(&world)
            .capabilities(api::Capabilities { reviews: true, ..Default::default() })
            .attach();
        let mut agent = Agent::nexus3(&world, editor.port());
        agent.propose(&path, NEW, "the tab");
        let shown = editor.shown(&path);
        editor.accept(&shown);
        let hub = world.hub_pid().unwrap();
        // No new hub starts before the journal holds the decision and nothing later.
        editor.freeze();
        kill(hub);
        drop(agent);
        let rewind = "UPDATE reviews SET phase = 'deciding', ended_at = NULL, delivered_at = NULL; DELETE FROM writes;";
        Connection::open(world.journal()).unwrap().execute_batch(rewind).unwrap();
        world.file("a.txt", OLD);
        editor.thaw();
        eventually("the file is written", || (world.read_text("a.txt") == NEW).then_some(()));
        back(&world, editor.port(), hub);
        let mut again = Agent::nexus3(&world, editor.port());
        let call = again.propose(&path, NEW, "the tab");
        assert_eq!(again.texts(call), ["FILE_SAVED"]);
        let journal = Connection::open(world.journal()).unwrap();
        let writes =
            journal.query_row("SELECT count(*) FROM writes", [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!((writes, world.reviews().len()), (1, 0));
    }

    #[test]
    fn without_any_grace_a_lost_agent_takes_its_review_along_and_the_hub_goes_on() {
        let world = World::with_config("agent_grace_seconds = 0\n");
        let path = world.file("a.rs", OLD);
        let serve = world.serve();
        let mut agent = Agent::claude(&world, serve.port);
        agent.propose(&path, NEW, "the tab");
        world.pending(1);
        drop(agent);
        eventually("the review is over", || world.reviews().is_empty().then_some(()));
        assert_eq!(world.read_text("a.rs"), OLD);
    }
}
