//! The pictures in the docs are what the binary prints: made here from real output, and compared.

#[cfg(test)]
mod support;

use std::path::Path;

use support::{Agent, World};

const BEFORE: &str = "//! Greets people.

fn greet(name: &str) -> String {
    format!(\"Hello {name}\")
}

fn main() {
    let names = [\"Ada\", \"Grace\"];
    for name in names {
        println!(\"{}\", greet(name));
    }
}
";

const AFTER: &str = "//! Greets people.

fn greet(name: &str) -> String {
    format!(\"Good morning, {name}!\")
}

fn main() {
    let names = [\"Ada\", \"Grace\", \"Margaret\"];
    for name in names {
        println!(\"{}\", greet(name));
    }
}
";

#[test]
fn the_picture_of_a_review_is_what_show_prints() {
    let world = World::new();
    let path = world.file("main.rs", BEFORE);
    let serve = world.serve();
    let mut agent = Agent::claude(&world, serve.port);
    agent.propose(&path, AFTER, "main.rs");
    let review = world.one_pending();
    let printed =
        world.command(&["show", &review]).env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR").output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.contains("\u{1b}["), "colour was asked for: {printed:?}");
    let printed = printed.replace(world.workspace().to_str().unwrap(), "/home/ada/project");
    compare("show.svg", &anstyle_svg::Term::new().render_svg(&printed));
}

/// Fails with the way to take the new picture, after a look at it.
#[cfg(test)]
fn compare(name: &str, made: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let kept = root.join("docs/pictures").join(name);
    if std::fs::read_to_string(&kept).is_ok_and(|kept| kept == made) {
        return;
    }
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&fresh, made).unwrap();
    panic!("docs/pictures/{name} is not what is printed now; look at {} and copy it there", fresh.display());
}
