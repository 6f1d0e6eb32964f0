//! Starting, as the documentation says, and finding out how Emacs is connected.

use crate::support::*;

#[test]
fn doctor_and_page_show_what_the_program_prints() {
    let world = World::new();
    let mut emacs = Emacs::builder(&world).start();
    emacs.runs("linkspan-doctor");
    emacs.says(&format!(
        "attached, window w1, port {}, folders {}",
        emacs.port(),
        world.workspace().display()
    ));
    emacs.sees(
        "its report",
        "(with-current-buffer \"*linkspan doctor*\" (string-search \"hub\" (buffer-string)))",
    );
    emacs.runs("linkspan-page");
    emacs.tty().sees("http://127.0.0.1:");
    assert_eq!(emacs.lisp("(buffer-name)"), "*scratch*", "what is shown does not take the focus");
}

#[test]
fn a_restart_keeps_the_window() {
    let world = World::new();
    let path = world.file("a.txt", "one\n");
    let mut emacs = Emacs::builder(&world).start();
    let (port, mut nexus3) = (emacs.port(), emacs.nexus3());
    let call = nexus3.propose(&path, "two\n", "tab");
    emacs.looks_at_review();
    emacs.runs("linkspan-restart");
    emacs.sees("it begins again", "(not (eq linkspan--state 'attached))");
    emacs.is_attached();
    assert_eq!(emacs.port(), port);
    emacs.presses("a");
    assert_eq!(nexus3.texts(call), ["FILE_SAVED"]);
    assert_eq!(world.read_text("a.txt"), "two\n");
    emacs.sees_no_review();
}

#[test]
fn loading_the_file_takes_little_time() {
    let world = World::new();
    let emacs = Emacs::builder(&world).start();
    // Compiled, as packages are; the fastest of several, because the machine has other things to do.
    let code = "(let ((target (make-temp-file \"linkspan\" nil \".elc\")) (source (symbol-file 'linkspan-mode 'defun)))
        (let ((byte-compile-dest-file-function (lambda (_) target)) (inhibit-message t)) (byte-compile-file source))
        (apply #'min (mapcar (lambda (_) (car (benchmark-run 1 (load target nil t)))) (number-sequence 1 5))))";
    let seconds = emacs.lisp(code).as_f64().unwrap();
    println!("{seconds} s");
    assert!(seconds < 0.05, "{seconds} s");
}
