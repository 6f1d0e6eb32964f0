//! `linkspan man`: the manual pages, generated from the same definitions as `--help`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;
use serde_json::json;

use crate::cli::exit::Failure;
use crate::cli::output::{Report, count};

/// Print a manual page, or write all of them to a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "For example:\n  \
    linkspan man hub stop | man -l -\n  \
    linkspan man --dir ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Print the page of this command; that of `linkspan` if omitted.
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands into this directory instead.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Report, Failure> {
    let mut program = crate::program().disable_help_subcommand(true);
    // Gives the subcommands their full names and global options.
    program.build();
    match &args.dir {
        Some(dir) => write_all(&program, dir),
        None => {
            let page = page(named(&program, &args.command)?)?;
            let document = json!({ "name": page.name, "page": page.text });
            Ok(Report::raw(page.text, document))
        }
    }
}

struct Page {
    /// The name of its file, such as `linkspan-hub-stop.1`.
    name: String,
    text: String,
}

fn named<'a>(program: &'a Command, words: &[String]) -> Result<&'a Command, Failure> {
    words.iter().try_fold(program, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let known: Vec<&str> = visible(command).map(Command::get_name).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            Failure::usage(format!("{} has no command `{word}`; it has: {known}", command.get_name()))
        })
    })
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

fn write_all(program: &Command, dir: &Path) -> Result<Report, Failure> {
    let failed = |path: &Path, error| Failure::usage(format!("cannot write {}: {error}", path.display()));
    fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
    let mut files = Vec::new();
    let mut remaining = vec![program];
    while let Some(command) = remaining.pop() {
        remaining.extend(visible(command));
        let page = page(command)?;
        let path = dir.join(&page.name);
        fs::write(&path, page.text).map_err(|error| failed(&path, error))?;
        files.push(path);
    }
    files.sort();
    let text = format!("wrote {} to {}", count(files.len() as u64, "page"), dir.display());
    Ok(Report::new(text, json!({ "files": files })))
}

fn page(command: &Command) -> Result<Page, Failure> {
    let man =
        Man::new(command.clone()).source(concat!("linkspan ", env!("CARGO_PKG_VERSION"))).manual("Linkspan");
    let mut text = Vec::new();
    man.render(&mut text).map_err(|error| Failure::internal(format!("cannot render the page: {error}")))?;
    Ok(Page { name: man.get_filename(), text: String::from_utf8_lossy(&text).into_owned() })
}
