//! Pictures of what the programs show in a terminal: `show`, `try` and `review`, and a session of the agent.

use std::time::Duration;

use linkspan_testkit::{Agent, Tty, World, WsDialect, agent, paths};

use crate::{LIMITER, LIMITER_AFTER, write};

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

pub(crate) fn make() {
    show();
    try_auto();
    review();
    agent_session();
}

/// Output of `linkspan show`.
fn show() {
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
    write("show.svg", |path| std::fs::write(path, anstyle_svg::Term::new().render_svg(&printed)).unwrap());
}

/// Output of `linkspan try --auto`.
fn try_auto() {
    let world = World::new();
    let mut command = world.command(&["try", "--auto"]);
    let ran = command.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR").output().unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{printed}");
    let folder = word_with(&printed, "linkspan-try-");
    let port = word_with(&printed, "127.0.0.1:").replace("127.0.0.1:", "");
    let printed = printed
        .replace(&folder, "/tmp/linkspan-try")
        .replace(&port, "40123")
        .replace(world.home().to_str().unwrap(), "/home/ada")
        .replace(paths::linkspan().to_str().unwrap(), "linkspan");
    write("try.svg", |path| std::fs::write(path, dark().render_svg(&printed)).unwrap());
}

/// The first word that has this in it, without colours.
fn word_with(text: &str, part: &str) -> String {
    let mut words = text.split(|character: char| character.is_whitespace() || character == '\u{1b}');
    let word = words.find(|word| word.contains(part)).unwrap_or_else(|| panic!("no {part}: {text}"));
    // What is left of the escape before it.
    word.split_once('m').filter(|_| word.starts_with('[')).map_or(word, |(_, rest)| rest).to_owned()
}

/// The screen of `linkspan review`.
fn review() {
    let world = World::new();
    let serve = world.serve();
    let mut claude = Agent::claude(&world, serve.port);
    let mut nexus = Agent::introduced(&world, serve.port, WsDialect::Nexus3, agent::NEXUS3_ITSELF);
    let path = world.file("src/limiter.rs", LIMITER);
    claude.propose(&path, LIMITER_AFTER, "limiter.rs");
    world.pending(1);
    let path = world.file("src/main.rs", BEFORE);
    claude.propose(&path, AFTER, "main.rs");
    world.pending(2);
    claude.propose(
        &world.path_str("tests/limiter.rs"),
        "#[test]\nfn one_more_is_one_too_many() {}\n",
        "limiter.rs",
    );
    world.pending(3);
    let path = world.file("README.md", "# Gateway\n\nLimits requests.\n");
    nexus.propose(&path, "# Gateway\n\nLimits requests per second.\n", "README.md");
    world.pending(4);

    let mut tty = Tty::review(&world, 120, 36, &[]);
    tty.sees("hunk 1 of 2");
    // Marked and commented; the message about it at the bottom is gone.
    tty.types("y/pop_front\rcdoes this drop the newest?\r");
    tty.sees("✎ does this drop the newest?");
    tty.types("/\u{1b}");
    tty.sees("mark hunk");
    tty.sees_that("colours", |_| {
        tty.with_screen(|screen| ["impl Limiter", "pub fn new"].iter().all(|word| coloured(screen, word)))
    });
    let mut shown = tty.with_screen(ansi);
    for seconds in 0..60 {
        shown = shown.replace(&format!("{:>4} ", format!("{seconds}s")), "  7s ");
    }
    write_screen("review.svg", shown);
}

/// A turn of `linkspan-agent --demo`, with the change accepted in the terminal.
fn agent_session() {
    let world = World::new();
    let mut command = world.program(paths::linkspan().with_file_name("linkspan-agent"));
    command.arg("--demo");
    let mut tty = Tty::start(&command, 100, 32, Duration::from_secs(20));
    tty.sees("No editor connected");
    tty.types("Fix the greeting\r");
    tty.sees("Accept?");
    // Keys that come at once were meant for something else.
    std::thread::sleep(Duration::from_secs(1));
    tty.types("y");
    tty.sees("(done");
    let shown = tty.with_screen(ansi);
    let folder = word_with(&shown, "linkspan-demo-").replace("/greeting.py", "");
    let mut shown = shown.replace(&folder, "/home/ada/project");
    for seconds in 0..20 {
        shown = shown.replace(&format!("(done, {seconds} s"), "(done, 9 s");
    }
    write_screen("agent.svg", shown);
}

/// What a screen showed, as a picture.
pub(crate) fn write_screen(name: &str, mut shown: String) {
    // Backgrounds are as wide as the escaped text, so what is escaped goes in under another name.
    const ESCAPED: [(&str, &str, &str); 3] =
        [("&", "\u{e000}", "&amp;"), ("<", "\u{e001}", "&lt;"), (">", "\u{e002}", "&gt;")];
    for (plain, name, _) in ESCAPED {
        shown = shown.replace(plain, name);
    }
    let mut picture = dark().render_svg(&shown);
    for (_, name, escaped) in ESCAPED {
        picture = picture.replace(name, escaped);
    }
    write(name, |path| std::fs::write(path, picture).unwrap());
}

/// Whether a word has a colour wherever it is.
fn coloured(screen: &vt100::Screen, word: &str) -> bool {
    let (rows, columns) = screen.size();
    (0..rows).all(|row| {
        let text = screen.contents_between(row, 0, row, columns);
        let Some((before, _)) = text.split_once(word) else { return true };
        let column = before.chars().count();
        screen
            .cell(row, u16::try_from(column).unwrap())
            .is_some_and(|cell| cell.fgcolor() != vt100::Color::Default)
    })
}

/// A terminal whose faint text can still be read.
fn dark() -> anstyle_svg::Term {
    anstyle_svg::Term::new()
        .fg_color(anstyle::Color::Rgb(rgb(0xd7_dbe3)))
        .bg_color(anstyle::Color::Rgb(rgb(0x14_171d)))
}

fn rgb(colour: u32) -> anstyle::RgbColor {
    let [_, red, green, blue] = colour.to_be_bytes();
    anstyle::RgbColor(red, green, blue)
}

/// What a terminal shows, as lines with nothing but styles in them.
pub(crate) fn ansi(screen: &vt100::Screen) -> String {
    let (rows, columns) = screen.size();
    let mut text = String::new();
    for row in 0..rows {
        let mut last = anstyle::Style::new();
        for column in 0..columns {
            let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else {
                continue;
            };
            let style = style(cell);
            if style != last {
                text += &format!("{last:#}{style}");
                last = style;
            }
            text += if cell.has_contents() { cell.contents() } else { " " };
        }
        text += &format!("{last:#}\n");
    }
    text
}

fn style(cell: &vt100::Cell) -> anstyle::Style {
    let colour = |colour| match colour {
        vt100::Color::Default => None,
        vt100::Color::Idx(index) => Some(anstyle::Color::from(index)),
        vt100::Color::Rgb(red, green, blue) => Some(anstyle::Color::from((red, green, blue))),
    };
    let effects = [
        (cell.bold(), anstyle::Effects::BOLD),
        (cell.italic(), anstyle::Effects::ITALIC),
        (cell.underline(), anstyle::Effects::UNDERLINE),
        (cell.inverse(), anstyle::Effects::INVERT),
    ];
    let effects =
        effects.iter().filter(|(on, _)| *on).fold(anstyle::Effects::new(), |all, (_, one)| all | *one);
    anstyle::Style::new().fg_color(colour(cell.fgcolor())).bg_color(colour(cell.bgcolor())).effects(effects)
}
