//! Proposes to put a line on top of a file, and says what the person decided: `cargo run --example propose FILE`.

use std::error::Error;
use std::path::Path;

use linkspan_client::{AgentInfo, Change, Connection, Surroundings, discover};

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), Box<dyn Error>> {
    let path = std::path::absolute(std::env::args_os().nth(1).ok_or("which file?")?)?;
    let surroundings = Surroundings::of_this_process(path.parent().unwrap_or(Path::new("/")))?;
    let discovery = discover(&surroundings);
    let editor = discovery.best().ok_or("no editor has this folder open: `linkspan doctor` tells why")?;
    let connection = Connection::open(editor, &AgentInfo::new("propose", "1.0"), &surroundings.places)?;

    let text = format!("// Seen.\n{}", std::fs::read_to_string(&path).unwrap_or_default());
    let decided = connection.open_diff(&Change::new(&path, text))?;
    if let (Some(text), false) = (&decided.text, decided.written) {
        std::fs::write(&path, text)?;
    }
    println!("{}", if decided.is_accepted() { "accepted" } else { "rejected" });
    connection.close();
    Ok(())
}
