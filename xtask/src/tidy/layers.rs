//! Which of our crates may know which, and which must stay free of what.

use super::Finding;
use super::manifest::entries;

struct Layer {
    folder: &'static str,
    /// Our own crates it may depend on.
    below: &'static [&'static str],
    /// Foreign crates that would break what it promises to be.
    never: &'static [&'static str],
}

/// The binary `linkspan` is in no `below`: nothing depends on it.
const LAYERS: &[Layer] = &[
    Layer { folder: "crates/review", below: &[], never: &["serde", "serde_json", "tokio"] },
    Layer { folder: "crates/editor-api", below: &["linkspan-review"], never: &["tokio"] },
    Layer { folder: "crates/dialect", below: &["linkspan-editor-api", "linkspan-review"], never: &["tokio"] },
    Layer { folder: "crates/workspace", below: &["linkspan-editor-api"], never: &["serde_json", "tokio"] },
    Layer {
        folder: "crates/hub",
        below: &["linkspan-dialect", "linkspan-editor-api", "linkspan-review", "linkspan-workspace"],
        never: &[],
    },
    Layer {
        folder: "crates/client",
        below: &["linkspan-dialect", "linkspan-editor-api", "linkspan-review"],
        never: &[],
    },
    Layer {
        folder: "crates/reviewer",
        below: &["linkspan-client", "linkspan-editor-api", "linkspan-review"],
        never: &[],
    },
    Layer {
        folder: "crates/agent",
        below: &[
            "linkspan-client",
            "linkspan-editor-api",
            "linkspan-review",
            "linkspan-testkit",
            "linkspan-workspace",
        ],
        never: &[],
    },
    Layer { folder: "crates/cli", below: LIBRARIES, never: &[] },
    Layer { folder: "benches", below: LIBRARIES, never: &[] },
    Layer {
        folder: "testkit",
        below: &["linkspan-client", "linkspan-dialect", "linkspan-editor-api"],
        never: &["tokio"],
    },
    Layer { folder: "proof", below: LIBRARIES, never: &[] },
    Layer {
        folder: "fuzz",
        below: &[
            "linkspan-agent",
            "linkspan-client",
            "linkspan-dialect",
            "linkspan-editor-api",
            "linkspan-hub",
            "linkspan-review",
            "linkspan-workspace",
        ],
        never: &["tokio"],
    },
    Layer { folder: "xtask", below: &["linkspan-dialect", "linkspan-editor-api"], never: &[] },
];

const LIBRARIES: &[&str] = &[
    "linkspan-client",
    "linkspan-dialect",
    "linkspan-editor-api",
    "linkspan-hub",
    "linkspan-review",
    "linkspan-reviewer",
    "linkspan-testkit",
    "linkspan-workspace",
];

pub(super) fn check(path: &str, manifest: &str) -> Vec<Finding> {
    let folder = path.strip_suffix("/Cargo.toml").unwrap_or(path);
    let Some(layer) = LAYERS.iter().find(|layer| layer.folder == folder) else {
        let remedy = "give it one in xtask/src/tidy/layers.rs";
        return vec![Finding::new(path, 1, "this crate has no place in the order of crates", remedy)];
    };
    let dependencies = entries(manifest).filter_map(|entry| Some((entry.dependency()?, entry.line_number)));
    let wrong = dependencies.filter(|(name, _)| {
        let is_ours = *name == "linkspan" || name.starts_with("linkspan-");
        layer.never.contains(name) || (is_ours && !layer.below.contains(name))
    });
    let remedy = "dependencies point downwards only; move the code instead";
    wrong
        .map(|(name, line)| Finding::new(path, line, format!("{folder} must not know `{name}`"), remedy))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong_lines(folder: &str, manifest: &str) -> Vec<usize> {
        check(&format!("{folder}/Cargo.toml"), manifest).iter().map(|finding| finding.line_number).collect()
    }

    #[test]
    fn a_dependency_downwards_is_fine() {
        let manifest = "[dependencies]\nlinkspan-dialect.workspace = true\ntokio.workspace = true\n";
        assert!(wrong_lines("crates/hub", manifest).is_empty());
    }

    #[test]
    fn a_dependency_upwards_is_found_in_every_table() {
        let manifest = "[dependencies]\nlinkspan-hub.workspace = true\n\n[dev-dependencies]\nlinkspan = { path = \"../cli\" }\n\
                        [dependencies.linkspan-hub]\nworkspace = true\n";
        assert_eq!(wrong_lines("crates/client", manifest), [2, 5, 7]);
    }

    #[test]
    fn the_review_core_stays_free_of_serde_and_tokio() {
        let manifest = "[dependencies]\nserde = { workspace = true, optional = true }\n[target.'cfg(unix)'.dependencies]\ntokio = \"1\"\n";
        assert_eq!(wrong_lines("crates/review", manifest), [2, 4]);
    }

    #[test]
    fn a_crate_nobody_placed_is_found() {
        assert_eq!(wrong_lines("crates/other", ""), [1]);
    }
}
