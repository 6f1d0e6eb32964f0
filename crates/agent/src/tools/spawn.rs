//! `spawn_agent`: a helper from the pool, with a mode that allows at most what its parent may.

use linkspan_client::confirm::Cancellation;

use super::ToolContext;
use super::answer::{Answer, ToolFailure};
use super::arguments::{ParameterKind, ToolArguments, optional, required};
use super::toolbox::{AgentTools, LocalTool, helper_mode};
use crate::permissions::{PermissionMode, ToolKind};

const LONGEST_NAME: usize = 40;

/// Starts helpers; the host does.
pub trait Spawner: Send + Sync {
    /// Starts a helper, gives it the prompt, and blocks until its turn is over or the call is cancelled. The helper's
    /// last answer, or why there is none.
    fn spawn(&self, helper: Helper<'_>, cancelled: &Cancellation) -> Result<String, String>;
}

/// A helper that an agent asked for.
#[derive(Debug, Clone, Copy)]
pub struct Helper<'a> {
    /// The agent that asked.
    pub parent: &'a str,
    /// A name, as the model chose it; the host makes it unique.
    pub name: &'a str,
    /// What it is to do.
    pub prompt: &'a str,
    /// Its mode, which allows at most what the parent's does.
    pub mode: PermissionMode,
    /// Its folder.
    pub cwd: &'a std::path::Path,
}

pub(crate) const TOOLS: &[LocalTool] = &[LocalTool {
    name: "spawn_agent",
    kind: ToolKind::Spawn,
    about: "Start a helper agent with a conversation of its own, and wait for its answer. It knows nothing of this \
            conversation: the prompt must say everything. Several helpers may run at once.",
    parameters: &[
        required("name", ParameterKind::Text, "A short name, which the user sees."),
        required("prompt", ParameterKind::Text, "The task, and what the answer should have."),
        optional(
            "mode",
            ParameterKind::Word(&["yolo", "trusted", "sandboxed"]),
            "Its permission mode. Default, and limit: the mode of this agent.",
        ),
    ],
    run,
}];

fn run(tools: &AgentTools, arguments: &ToolArguments<'_>, context: &ToolContext) -> Answer {
    let Some(spawner) = &tools.config.spawner else { return Err("helpers cannot be started here".into()) };
    let (name, prompt) = (arguments.needed("name").trim(), arguments.needed("prompt"));
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(format!("`name` must be a name of 1 to {LONGEST_NAME} characters").into());
    }
    if prompt.trim().is_empty() {
        return Err("`prompt` is empty; say what the helper is to do".into());
    }
    let mode = helper_mode(context.mode, arguments.text("mode"))?;
    let helper = Helper { parent: &context.agent, name, prompt, mode, cwd: &context.cwd };
    match spawner.spawn(helper, &context.cancelled) {
        Ok(answer) => Ok(answer),
        Err(_) if context.cancelled.is_cancelled() => Err(ToolFailure::cancelled()),
        Err(why) => Err(ToolFailure::Error(format!("the helper {name} gave no answer: {why}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::json;

    use super::*;
    use crate::tools::testing::ToolScene;
    use crate::tools::{Toolbox, ToolsConfig};

    #[derive(Default)]
    struct Pool(Mutex<Vec<(String, PermissionMode)>>);

    impl Spawner for Pool {
        fn spawn(&self, helper: Helper<'_>, _: &Cancellation) -> Result<String, String> {
            self.0.lock().unwrap().push((helper.name.to_owned(), helper.mode));
            if helper.prompt == "fail" {
                Err("no model".into())
            } else {
                Ok(format!("{} did it", helper.name))
            }
        }
    }

    #[test]
    fn a_helper_answers_with_at_most_the_mode_of_its_parent() {
        let scene = ToolScene::new(PermissionMode::Trusted);
        let pool = Arc::new(Pool::default());
        let mut config = ToolsConfig::new(scene.context.bridge.clone());
        config.spawner = Some(pool.clone());
        let tools = AgentTools::new(config);
        assert!(tools.specs().iter().any(|spec| spec.name == "spawn_agent"));
        let run = |call| scene.run_with(&tools, "spawn_agent", call);
        let result = run(json!({ "name": "tests", "prompt": "write tests", "mode": "yolo" }));
        assert_eq!((result.text.as_str(), result.is_error), ("tests did it", false));
        assert!(run(json!({ "name": "x", "prompt": "fail" })).text.contains("no model"));
        assert!(run(json!({ "name": "", "prompt": "x" })).is_error);
        assert!(run(json!({ "name": "x", "prompt": " " })).is_error);
        assert!(run(json!({ "name": "x", "prompt": "y", "mode": "root" })).is_error);
        assert_eq!(
            *pool.0.lock().unwrap(),
            [("tests".to_owned(), PermissionMode::Trusted), ("x".to_owned(), PermissionMode::Trusted)]
        );
    }
}
