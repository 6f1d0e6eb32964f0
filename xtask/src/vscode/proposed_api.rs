//! code-server allows every extension to call proposed API, which VS Code allows no published one. This restores the check
//! in its bundles, so that the tests run the same code as users.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// The bundles with a copy of the check.
const BUNDLES: [&str; 4] = [
    "server-main.js",
    "vs/code/browser/workbench/workbench.js",
    "vs/workbench/api/node/extensionHostProcess.js",
    "vs/workbench/api/worker/extensionHostWorkerMain.js",
];

/// The patched check, which allows everything.
const ALWAYS: &str = "{return!0}";

/// The error of the function after it, which uses the check.
const REFUSAL: &str = "CANNOT use API proposal: ${";

/// The greatest distance between the two.
const REACH: usize = 120;

pub(super) fn check_again(out: &Path) -> Result<()> {
    for bundle in BUNDLES {
        let path = out.join(bundle);
        let text = fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
        let checked = restored(&text).with_context(|| format!("in {}", path.display()))?;
        fs::write(&path, checked).with_context(|| format!("could not write {}", path.display()))?;
    }
    Ok(())
}

/// The bundle with the check restored; an error if there is not exactly one place for it.
fn restored(bundle: &str) -> Result<String> {
    let is_check = |at: &usize| {
        let behind = bundle.get(at + ALWAYS.len()..).unwrap_or_default();
        behind.find(REFUSAL).is_some_and(|distance| distance < REACH)
    };
    let mut places = bundle.match_indices(ALWAYS).map(|(at, _)| at).filter(is_check);
    let (Some(at), None) = (places.next(), places.next()) else {
        bail!(
            "expected exactly one function that allows proposed API to every extension; see how this code-server does it"
        );
    };
    let (before, behind) = bundle.split_at(at);
    let parameters = before.rsplit('(').next().and_then(|list| list.strip_suffix(')')?.split_once(','));
    let (extension, proposal) =
        parameters.context("that function does not take an extension and a proposal")?;
    let check = format!("{{return {extension}.enabledApiProposals?.includes({proposal})===!0}}");
    Ok([before, &check, behind.strip_prefix(ALWAYS).unwrap_or_default()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: &str = "function a(e,t){return!0}function b(e,t){if(!a(e,t))throw new Error(`'${e.id}' CANNOT use API \
                         proposal: ${t}.`)}";

    #[test]
    fn the_function_that_allows_everything_checks_the_extension_again() {
        let bundle = format!("function other(i,e){{return!0}}{};{CHECK}", "x".repeat(REACH));
        let restored = restored(&bundle).unwrap();
        assert!(
            restored.contains("function a(e,t){return e.enabledApiProposals?.includes(t)===!0}"),
            "{restored}"
        );
        assert!(restored.contains("function other(i,e){return!0}"), "{restored}");
    }

    #[test]
    fn a_bundle_without_that_function_or_with_two_is_an_error() {
        assert!(restored("function a(e,t){return!1}").is_err());
        assert!(restored(&format!("{CHECK};{CHECK}")).is_err());
    }
}
