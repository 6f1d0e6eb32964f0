//! The files that the script of `--demo` works on.

use std::io;
use std::path::Path;

const GREETING: &str = "\
def greet(name):
    return \"Hello\"


def main():
    print(greet(\"reader\"))


if __name__ == \"__main__\":
    main()
";

/// Writes them into an empty folder.
pub fn write_demo(folder: &Path) -> io::Result<()> {
    std::fs::write(folder.join("greeting.py"), GREETING)
}
