//! `linkspan agent` with a program in the place of `linkspan-agent`.

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Output};

    use crate::support::*;

    /// A copy of `linkspan`, because the real `linkspan-agent` may be beside the built one.
    fn run_copy(world: &World, path: &str, args: &[&str]) -> Output {
        let built = world.command(args);
        let copy = world.folder("bin").join("linkspan");
        if !copy.exists() {
            fs::copy(built.get_program(), &copy).unwrap();
        }
        let mut command = Command::new(copy);
        command.args(args).env_clear();
        let variables = built.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.envs(variables).env("PATH", path);
        command.output().unwrap()
    }

    fn stand_in(world: &World, folder: &str, name: &str) {
        let program = world.folder(folder).join("linkspan-agent");
        fs::write(&program, format!("#!/bin/sh\nprintf '{name}'\nprintf '<%s>' \"$@\"\nexit 3\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn printed(output: &Output) -> (String, Option<i32>) {
        (String::from_utf8(output.stdout.clone()).unwrap(), output.status.code())
    }

    #[test]
    fn it_runs_the_program_beside_it_or_on_the_path_with_the_same_arguments() {
        let world = World::new();
        stand_in(&world, "elsewhere", "path");
        let path = OsString::from(format!("{}:/usr/bin:/bin", world.folder("elsewhere").display()));
        let path = path.to_str().unwrap();
        let asked = run_copy(&world, path, &["agent", "-p", "two words", "--json", "--help"]);
        assert_eq!(printed(&asked), ("path<-p><two words><--json><--help>".to_owned(), Some(3)));
        assert_eq!(printed(&run_copy(&world, path, &["--json", "agent"])).0, "path<--json>");

        stand_in(&world, "bin", "beside");
        assert_eq!(printed(&run_copy(&world, path, &["agent", "acp"])).0, "beside<acp>");
    }

    #[test]
    fn without_the_program_it_says_how_to_install_it() {
        let world = World::new();
        let empty = world.folder("empty");
        let output = run_copy(&world, empty.to_str().unwrap(), &["agent"]);
        assert_eq!(output.status.code(), Some(70));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("cargo install --path crates/agent"), "{message}");
    }
}
