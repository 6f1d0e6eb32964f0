//! Copilot CLI in a terminal, without an account.

use serde_json::json;

use super::{EditorProtocol, RealAgent, Screen, write};
use crate::model::{Model, Turn};
use crate::{World, agent_programs, prerequisites};

const PROGRAM: &str = "copilot-1.0.102";

impl RealAgent {
    /// Copilot CLI in the mode that asks.
    pub fn copilot(
        world: &World,
        protocol: EditorProtocol,
        script: impl IntoIterator<Item = Turn>,
    ) -> RealAgent {
        let folder = world.home().join(".copilot");
        write(&folder.join("config.json"), &json!({ "trustedFolders": [world.workspace()] }));
        let connects = protocol == EditorProtocol::On;
        write(&folder.join("settings.json"), &json!({ "ide": { "autoConnect": connects } }));
        let mut command = agent_programs::command(world, PROGRAM);
        let model = Model::start(script);
        command.env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", model.url()));
        command.env("COPILOT_PROVIDER_API_KEY", "key-of-a-test").env("COPILOT_MODEL", "model-of-a-test");
        command.env("COPILOT_OFFLINE", "true").env("COPILOT_AUTO_UPDATE", "false");
        // It unpacks 235 MB there on its first start.
        command.env("XDG_CACHE_HOME", prerequisites::agents().join(PROGRAM).join("cache"));
        RealAgent::start(Screen { name: "Copilot CLI", ready: "/ commands" }, command, model)
    }
}
