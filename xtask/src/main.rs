//! `cargo xtask <command>`: what one does to this repository besides writing it.
//!
//! One file per command; this one only knows their names.

mod agents;
mod bench;
mod browser;
mod codegen;
mod debian;
mod deny;
mod emacs;
mod fmt;
mod fuzz;
mod lint;
mod mutants;
mod neovim;
mod npm;
mod peers;
mod pictures;
mod proof;
mod selection;
mod test;
mod tidy;
mod vscode;
mod web;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

struct Command {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        about: "everything CI checks, in order; --fast skips web, peers, agents, VS Code, the browser, proof and deny; \
                --all runs every test with every version of the agents",
        run: test::run,
    },
    Command {
        name: "peers",
        about: "install the Python, npm packages, ripgrep and Chromium that the tests use",
        run: peers::run,
    },
    Command {
        name: "agents",
        about: "install the real agents that the tests run; --all also those that only `test --all` needs",
        run: agents::run,
    },
    Command { name: "fmt", about: "format the Rust code; --check only looks", run: fmt::run },
    Command { name: "lint", about: "clippy over everything, warnings are errors", run: lint::run },
    Command { name: "codegen", about: "write the generated files; --check only compares", run: codegen::run },
    Command { name: "web", about: "build the browser page; --check only compares", run: web::run },
    Command {
        name: "vscode",
        about: "check the VS Code extension, and install it into the VS Codes that the tests run",
        run: vscode::run,
    },
    Command {
        name: "neovim",
        about: "check the Neovim plugin, and install the Neovims that its tests run; --fix formats it",
        run: neovim::run,
    },
    Command {
        name: "emacs",
        about: "check linkspan.el, and install the Emacs that its tests run",
        run: emacs::run,
    },
    Command {
        name: "pictures",
        about: "make the pictures in docs/pictures; all, or some of `terminal`, `page`, `neovim`, `emacs`, `vscode`",
        run: pictures::run,
    },
    Command { name: "tidy", about: "house rules and docs; --commands also asks the binary", run: tidy::run },
    Command {
        name: "deny",
        about: "licences, advisories, duplicates and sources of dependencies",
        run: deny::run,
    },
    Command { name: "bench", about: "measure the release binary; arguments are passed on", run: bench::run },
    Command {
        name: "faults",
        about: "kill, stop and cut off every party at every step; --all, --case NAME, --seed N, --list",
        run: proof::faults,
    },
    Command {
        name: "hostile",
        about: "come in as everybody who must not; --all, --case NAME, --seed N, --list",
        run: proof::hostile,
    },
    Command {
        name: "simulate",
        about: "the hub's core under a made-up network and clock; --steps N, --seed N",
        run: proof::simulate,
    },
    Command {
        name: "load",
        about: "a thousand agents and ten thousand reviews; --quick, --soak MINUTES",
        run: proof::load,
    },
    Command {
        name: "mutants",
        about: "break each promise on purpose and see it noticed; one by its name, or all",
        run: mutants::run,
    },
    Command {
        name: "fuzz",
        about: "fuzz all targets, or one; --seconds N for each, --minutes N for all, --input FILE",
        run: fuzz::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.split_first() {
        None => {
            usage();
            return ExitCode::from(2);
        }
        Some((name, _)) if matches!(name.as_str(), "help" | "--help" | "-h") => {
            usage();
            Ok(())
        }
        Some((name, rest)) => match COMMANDS.iter().find(|command| command.name == name) {
            Some(command) => (command.run)(rest),
            None => {
                eprintln!("xtask: there is no command `{name}`\n");
                usage();
                return ExitCode::from(2);
            }
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn usage() {
    eprintln!("cargo xtask <command>\n");
    for Command { name, about, .. } in COMMANDS {
        eprintln!("  {name:<8} {about}");
    }
}

/// Whether the one flag a command knows was given; anything else is a mistake worth naming.
fn flag(args: &[String], known: &str) -> Result<bool> {
    flags(args, [known]).map(|[given]| given)
}

/// The same for a command that knows several flags; the answers are in their order.
fn flags<const N: usize>(args: &[String], known: [&str; N]) -> Result<[bool; N]> {
    if let Some(unknown) = args.iter().find(|arg| !known.contains(&arg.as_str())) {
        bail!("unknown argument `{unknown}`; this command knows `{}`", known.join("`, `"));
    }
    Ok(known.map(|flag| args.iter().any(|arg| arg == flag)))
}

fn no_arguments(args: &[String]) -> Result<()> {
    match args.first() {
        Some(unknown) => bail!("unknown argument `{unknown}`; this command takes none"),
        None => Ok(()),
    }
}
