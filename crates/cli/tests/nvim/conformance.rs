//! `linkspan conform editor` with the plugin in a real Neovim; its report is in docs/reference/conformance.md.

use std::path::Path;

use serde_json::Value;

use crate::support::*;

/// The ids of the points with this result.
fn with_result<'a>(report: &'a Value, result: &str, weight: &str) -> Vec<&'a str> {
    let points = report["points"].as_array().unwrap().iter();
    let found = points.filter(|point| point["result"] == result && point["weight"] == weight);
    found.map(|point| point["id"].as_str().unwrap()).collect()
}

/// The report, and the exit code; this Lua runs before the plugin does.
fn checked(version: &str, timeout: &str, lua: &str) -> (Value, i32) {
    let world = World::new();
    let program = prerequisites::neovim().join(version).join("run");
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/nvim").canonicalize().unwrap();
    let plugin = format!("set runtimepath^={}", plugin.display());
    let kit = ["conform", "editor", "--json", "--timeout", timeout, "--"];
    let lua = format!("lua {lua}");
    let neovim = [program.to_str().unwrap(), "--headless", "--cmd", &plugin, "--cmd", &lua];
    let ran = world.run(&[&kit[..], &neovim].concat());
    (ran.json(), ran.code)
}

fn report(version: &str) -> Value {
    let (report, code) = checked(version, "30", "");
    assert_eq!((code, &report["conforms"]), (0, &Value::Bool(true)), "{report:#}");
    assert_eq!(with_result(&report, "fail", "required"), [""; 0]);
    assert_eq!(with_result(&report, "fail", "recommended"), ["exact-text", "detach"], "{report:#}");
    assert_eq!(with_result(&report, "skipped", "required"), ["one-undo"], "{report:#}");
    report
}

mod newest {
    use super::*;

    #[test]
    fn the_plugin_conforms_as_in_the_documentation() {
        conformance::are_documented(&[("neovim", &report("newest"))]);
    }

    /// The plugin with one handler that is wrong.
    #[test]
    fn a_broken_plugin_fails_exactly_what_it_breaks() {
        for (method, handler, failed) in [
            (
                "review/show",
                "function(h, p) h(p); return vim.empty_dict() end",
                &["show", "newer", "new-file", "omitted", "large", "odd-text", "conflict"][..],
            ),
            ("document/text", "function(h, p) local r = h(p); r.dirty = false; return r end", &["unsaved"]),
            ("document/close", "function() return { closed = true } end", &["close"]),
            (
                "edits/apply",
                "function(h, p) p.save = false; return h(p) end",
                &["whole-text", "odd-bytes", "close"],
            ),
            (
                "user/ask",
                "function() require('linkspan.hub').await(function() end) end",
                &["ask", "ask-again"],
            ),
        ] {
            let lua = format!(
                "local hub = require('linkspan.hub'); local on, broken = hub.on, {handler}; \
                 hub.on = function(method, h) \
                 on(method, method == '{method}' and function(p) return broken(h, p) end or h) end"
            );
            let (report, code) = checked("newest", "15", &lua);
            assert_eq!(with_result(&report, "fail", "required"), failed, "{method}: {report:#}");
            assert_eq!(code, 1, "{method}");
        }
    }

    /// Ends at once, attaches never, or attaches and answers nothing.
    #[test]
    fn a_command_without_an_integration_does_not_conform() {
        let world = World::new();
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"attach","params":{"protocol":1}}"#;
        let length = hello.len();
        let attaches = format!(
            "(printf 'Content-Length: {length}\\r\\n\\r\\n%s' '{hello}'; sleep 8) | linkspan attach > /dev/null"
        );
        for (command, failed) in [("exit 3", "the command ended"), (attaches.as_str(), "missing field")] {
            let ran =
                world.run(&["conform", "editor", "--json", "--timeout", "1", "--", "sh", "-c", command]);
            let report = ran.json();
            assert_eq!(ran.code, 1, "{report:#}");
            let attach = &report["points"][0];
            assert_eq!((&attach["id"], &attach["result"]), (&"attach".into(), &"fail".into()), "{report:#}");
            assert!(attach["came"].as_str().unwrap().contains(failed), "{attach:#}");
        }
        let ran = world.run(&["conform", "editor", "--", "no-such-editor"]);
        assert!(ran.code == 2 && ran.stderr.contains("cannot start no-such-editor"), "{ran:?}");
    }
}

mod oldest {
    use super::*;

    #[test]
    fn the_plugin_conforms() {
        report("oldest");
    }
}
