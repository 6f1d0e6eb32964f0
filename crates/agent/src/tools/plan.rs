//! `update_plan`: the steps of a longer task, for the user to follow. It changes nothing but what is shown.

use serde_json::Value;

use super::ToolContext;
use super::answer::Answer;
use super::arguments::{ParameterKind, ToolArguments, required};
use super::toolbox::{AgentTools, LocalTool};
use crate::message::{CallArguments, ModelCall};
use crate::permissions::ToolKind;

const NAME: &str = "update_plan";
/// Longer plans are not read.
const MOST_STEPS: usize = 50;

pub(crate) const TOOLS: &[LocalTool] = &[LocalTool {
    name: NAME,
    kind: ToolKind::Read,
    about: "Show the user your plan for a task of several steps, and again whenever a step is done.",
    parameters: &[
        required("steps", ParameterKind::Texts, "All steps in order, a few words each."),
        required("done", ParameterKind::Count, "How many of them, from the first, are done."),
    ],
    run,
}];

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepState {
    Done,
    Current,
    Open,
}

/// The plan of a call, if it is one and can be shown.
pub(crate) fn plan_of(call: &ModelCall) -> Option<Vec<(StepState, &str)>> {
    let CallArguments::Json(arguments) = &call.arguments else { return None };
    let steps = arguments.get("steps").filter(|_| call.name == NAME)?.as_array()?;
    let steps: Option<Vec<&str>> = steps.iter().map(Value::as_str).collect();
    let done = usize::try_from(arguments.get("done")?.as_u64()?).ok()?;
    steps.filter(|steps| is_plan(steps, done).is_ok()).map(|steps| states(&steps, done))
}

fn run(_: &AgentTools, arguments: &ToolArguments<'_>, _: &ToolContext) -> Answer {
    let (steps, done) = (arguments.texts("steps"), arguments.count("done").unwrap_or_default());
    is_plan(&steps, done)?;
    let lines = states(&steps, done).into_iter().map(|(state, step)| match state {
        StepState::Done => format!("[x] {step}"),
        StepState::Current => format!("[>] {step}"),
        StepState::Open => format!("[ ] {step}"),
    });
    let lines: Vec<String> = lines.collect();
    Ok(format!("{done} of {} steps are done\n{}", steps.len(), lines.join("\n")))
}

fn is_plan(steps: &[&str], done: usize) -> Result<(), String> {
    match steps.len() {
        0 => Err("a plan has at least one step".to_owned()),
        count if count > MOST_STEPS => Err(format!("a plan has at most {MOST_STEPS} steps; combine some")),
        count if done > count => Err(format!("{done} steps cannot be done: the plan has {count}")),
        _ => Ok(()),
    }
}

/// The first step that is not done is the current one.
fn states<'a>(steps: &[&'a str], done: usize) -> Vec<(StepState, &'a str)> {
    let state = |index: usize| match index.cmp(&done) {
        std::cmp::Ordering::Less => StepState::Done,
        std::cmp::Ordering::Equal => StepState::Current,
        std::cmp::Ordering::Greater => StepState::Open,
    };
    steps.iter().enumerate().map(|(index, step)| (state(index), *step)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(arguments: Value) -> ModelCall {
        let arguments = CallArguments::Json(arguments);
        ModelCall { id: "a".into(), name: NAME.into(), arguments, opaque: None }
    }

    #[test]
    fn the_first_open_step_is_the_current_one() {
        let call = call(json!({ "steps": ["read", "edit", "test"], "done": 1 }));
        let plan = plan_of(&call).unwrap();
        assert_eq!(
            plan,
            [(StepState::Done, "read"), (StepState::Current, "edit"), (StepState::Open, "test")]
        );
    }

    #[test]
    fn what_is_not_a_plan_is_not_shown_as_one() {
        let many: Vec<String> = (0..51).map(|step| step.to_string()).collect();
        for arguments in [
            json!({ "steps": [], "done": 0 }),
            json!({ "steps": ["a"], "done": 2 }),
            json!({ "steps": ["a", 1], "done": 0 }),
            json!({ "steps": many, "done": 0 }),
            json!({ "steps": "a", "done": 0 }),
            json!({ "steps": ["a"] }),
        ] {
            assert_eq!(plan_of(&call(arguments.clone())), None, "{arguments}");
        }
        let other = ModelCall { name: "read_file".into(), ..call(json!({ "steps": ["a"], "done": 0 })) };
        assert_eq!(plan_of(&other), None);
    }
}
