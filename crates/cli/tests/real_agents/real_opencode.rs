//! opencode: found by the lock file with its token, refused where the window's variables make it come without one.

use std::thread;
use std::time::Duration;

use crate::support::real_agent::listed;
use crate::support::{RealAgent, World};

#[test]
fn it_finds_the_lock_file_and_is_listed_by_its_name() {
    let world = World::new();
    let _serve = world.serve();
    let opencode = RealAgent::opencode(&world, &[]);
    opencode.is_connected(&world);
}

#[test]
fn with_the_variables_of_the_window_it_is_refused_and_not_taken_for_clio() {
    let world = World::new();
    let serve = world.serve();
    let port = serve.port.to_string();
    let variables = [("CLAUDE_CODE_SSE_PORT", port.as_str()), ("CLIO_IDE_PORT", &port)];
    let opencode = RealAgent::opencode(&world, &variables);
    opencode.tty.sees_that("refused", |_| world.status()["refused"]["noToken"].as_u64() >= Some(1));
    // It keeps trying.
    for _ in 0..10 {
        assert!(listed(&world.status(), "agents").is_empty());
        thread::sleep(Duration::from_millis(200));
    }
}
