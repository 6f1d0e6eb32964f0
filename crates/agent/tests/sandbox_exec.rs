//! The program as the sandbox of a command.

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::process::Command;

    #[test]
    fn the_program_becomes_a_restricted_command() {
        let folder = tempfile::tempdir().unwrap();
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_linkspan-agent"));
            let output =
                command.arg("sandbox-exec").args(arguments).current_dir(folder.path()).output().unwrap();
            let text = [output.stdout, output.stderr].concat();
            (output.status.code(), String::from_utf8(text).unwrap())
        };
        let here = folder.path().to_str().unwrap();
        let (code, said) =
            run(&["--write", here, "--", "sh", "-c", "echo x > in && cat in; echo y > /etc/no; exit 7"]);
        if said.contains("no Landlock") {
            assert_eq!(code, Some(126));
            return;
        }
        assert!(said.starts_with("x\n") && said.contains("/etc/no"), "{said}");
        assert_eq!(code, Some(7));
        assert!(!std::path::Path::new("/etc/no").exists());
        let (code, said) = run(&["--write", here, "--", "/no/such/program"]);
        assert!(code == Some(126) && said.contains("cannot run /no/such/program"), "{said}");
        assert_eq!(run(&["--"]).0, Some(126));
    }
}
