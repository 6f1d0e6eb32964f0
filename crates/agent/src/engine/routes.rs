//! What each route does: a request becomes commands of the host, and their answers become JSON in ppxai's form.

use std::path::Path;
use std::sync::Arc;

use hyper::StatusCode;
use linkspan_client::ppxai::{Callback, RegisterIdeCallback};
use serde_json::{Value, json};

use super::callback::IdeCallback;
use super::chat;
use super::conversations::{Conversations, EngineConversation};
use super::reply::{Problem, Reply, ok, stream};
use super::request::{EngineRoute, RequestBody, decode, query_value, required};
use super::time::rfc3339;
use crate::host::{AgentSetting, AgentSummary, HostCommand, HostHandle, ProviderSummary};
use crate::tasks::Task;

/// The most rounds that a client can set.
const MOST_ROUNDS: u64 = 1000;

/// What all requests share.
pub(super) struct Engine {
    pub(super) host: HostHandle,
    pub(super) conversations: Conversations,
    pub(super) callback: IdeCallback,
    /// For the editor that registers.
    pub(super) token: Option<String>,
}

/// A request that was admitted, with its body.
pub(super) struct EngineRequest<'a> {
    pub(super) route: EngineRoute,
    /// The part of the path that is a name.
    pub(super) rest: &'a str,
    pub(super) query: Option<&'a str>,
    pub(super) body: RequestBody,
}

impl Engine {
    pub(super) async fn answer(self: &Arc<Self>, asked: EngineRequest<'_>) -> Result<Reply, Problem> {
        let EngineRequest { route, rest, query, body } = asked;
        if route == EngineRoute::Health {
            let version = env!("CARGO_PKG_VERSION");
            return Ok(ok(&json!({ "status": "ok", "version": version, "engine": true })));
        }
        if route == EngineRoute::RegisterCallback {
            return self.register(body);
        }
        let session = match body.session.clone() {
            Some(session) => Some(session),
            None => query_value(query, "session")?,
        };
        let session = session.as_deref();
        let talk = self.conversations.get(session).await?;
        let agent = talk.agent;
        let body = match route {
            EngineRoute::Health | EngineRoute::RegisterCallback => Value::Null,
            EngineRoute::Chat => {
                let text = required(body.message.clone(), "message")?;
                return self.chat(&talk, &body, text).await;
            }
            EngineRoute::CodingTask => {
                let text = required(body.message.clone(), "message")?;
                let name = required(body.task_type.clone(), "task_type")?;
                let task = Task::from_name(&name).ok_or_else(|| {
                    let known = Task::ALL.map(Task::name).join(", ");
                    Problem::bad(format!("there is no task {name}: use one of {known}"))
                })?;
                return self.chat(&talk, &body, task.prompt(&text)).await;
            }
            EngineRoute::Status => self.status(&talk).await?,
            EngineRoute::Providers => self.providers(&talk).await?,
            EngineRoute::SetProvider => {
                let provider = required(body.provider, "provider")?;
                self.set_model(&talk, Some(provider), body.model).await?
            }
            EngineRoute::Models => self.models(&talk).await?,
            EngineRoute::SetModel => {
                let model = required(body.model, "model")?;
                self.set_model(&talk, body.provider, Some(model)).await?
            }
            EngineRoute::Tools => {
                let tools = self.host.ask(|reply| HostCommand::Tools { agent, reply }).await?;
                let tools: Vec<_> = tools
                    .map_err(Problem::bad)?
                    .into_iter()
                    .map(|tool| json!({ "name": tool.name, "description": tool.description }))
                    .collect();
                json!({ "tools": tools, "enabled": talk.tools_enabled })
            }
            EngineRoute::SetTools => {
                let enabled = required(body.enabled, "enabled")?;
                self.set(&talk, AgentSetting::Tools(enabled)).await?;
                self.conversations.change(agent, |talk| talk.tools_enabled = enabled).await;
                json!({ "enabled": enabled })
            }
            EngineRoute::ConfigureTools => self.configure(&talk, body).await?,
            EngineRoute::Usage => usage(&self.conversations.status(agent).await?),
            EngineRoute::WorkingDir => {
                let path = required(body.path, "path")?;
                if !Path::new(&path).is_absolute() || !Path::new(&path).is_dir() {
                    return Err(Problem::bad(format!("{path} is not the absolute path of a folder")));
                }
                self.set(&talk, AgentSetting::Cwd(path.clone().into())).await?;
                json!({ "path": path, "success": true })
            }
            EngineRoute::AutoInject => json!({ "enabled": talk.inject_context }),
            EngineRoute::SetAutoInject => {
                let enabled = required(body.enabled, "enabled")?;
                self.set(&talk, AgentSetting::InjectContext(enabled)).await?;
                self.conversations.change(agent, |talk| talk.inject_context = enabled).await;
                json!({ "enabled": enabled, "success": true })
            }
            EngineRoute::Sessions => self.sessions().await?,
            EngineRoute::SaveSession => {
                let name = match query_value(query, "name")? {
                    Some(name) => Some(name),
                    None => body.name,
                };
                let name = self.host.ask(|reply| HostCommand::Save { agent, name, reply }).await?;
                json!({ "name": name.map_err(Problem::bad)? })
            }
            EngineRoute::LoadSession => {
                let name = decode(rest)?;
                self.conversations.load(session, &name).await?;
                json!({ "name": name, "loaded": true })
            }
            EngineRoute::ClearSession => {
                let _no_turn = talk.turn()?;
                let cleared = self.host.ask(|reply| HostCommand::Clear { agent, reply }).await?;
                cleared.map_err(|why| Problem::new(StatusCode::CONFLICT, why))?;
                json!({ "cleared": true })
            }
        };
        Ok(ok(&body))
    }

    fn register(&self, body: RequestBody) -> Result<Reply, Problem> {
        let callback_url = required(body.callback_url, "callback_url")?;
        let taken =
            json!({ "registered": true, "callback_url": callback_url, "capabilities": body.capabilities });
        let registered = RegisterIdeCallback { callback_url, capabilities: body.capabilities };
        let callback = Callback::new(registered, self.token.clone());
        self.callback.register(callback.map_err(|error| Problem::bad(error.to_string()))?);
        Ok(ok(&taken))
    }

    async fn chat(
        &self,
        talk: &EngineConversation,
        body: &RequestBody,
        text: String,
    ) -> Result<Reply, Problem> {
        if text.trim().is_empty() {
            return Err(Problem::bad("the message is empty"));
        }
        let turn = talk.turn()?;
        if body.provider.is_some() || body.model.is_some() {
            self.set_model(talk, body.provider.clone(), body.model.clone()).await?;
        }
        let model = self.conversations.status(talk.agent).await?.model;
        let (_, model) = split(&model);
        Ok(stream(chat::start(self.host.clone(), talk.agent, model.to_owned(), text, turn)))
    }

    async fn set(&self, talk: &EngineConversation, setting: AgentSetting) -> Result<(), Problem> {
        let agent = talk.agent;
        self.host.ask(|reply| HostCommand::Set { agent, setting, reply }).await?.map_err(Problem::bad)
    }

    async fn configure(&self, talk: &EngineConversation, body: RequestBody) -> Result<Value, Problem> {
        let (setting, value) = (required(body.setting, "setting")?, required(body.value, "value")?);
        if setting != "max_iterations" {
            return Err(Problem::bad(format!("there is no setting {setting}: it can be max_iterations")));
        }
        let rounds = value.as_u64().filter(|rounds| (1..=MOST_ROUNDS).contains(rounds));
        let rounds = rounds.and_then(|rounds| u32::try_from(rounds).ok());
        let rounds = rounds
            .ok_or_else(|| Problem::bad(format!("max_iterations is a number from 1 to {MOST_ROUNDS}")))?;
        self.set(talk, AgentSetting::MaxRounds(rounds)).await?;
        Ok(json!({ "setting": setting, "value": value, "success": true }))
    }

    async fn set_model(
        &self,
        talk: &EngineConversation,
        provider: Option<String>,
        model: Option<String>,
    ) -> Result<Value, Problem> {
        let agent = talk.agent;
        let model = match (provider, model) {
            (Some(provider), Some(model)) => format!("{provider}/{model}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return Err(Problem::bad("name a provider or a model")),
        };
        let set = self.host.ask(|reply| HostCommand::SetModel { agent, model, reply }).await?;
        let set = set.map_err(Problem::bad)?;
        let (provider, model) = split(&set);
        Ok(json!({ "provider": provider, "model": model }))
    }

    async fn known_providers(&self) -> Result<Vec<ProviderSummary>, Problem> {
        Ok(self.host.ask(|reply| HostCommand::Providers { reply }).await?)
    }

    async fn status(&self, talk: &EngineConversation) -> Result<Value, Problem> {
        let status = self.conversations.status(talk.agent).await?;
        let agent = talk.agent;
        let tools = self.host.ask(|reply| HostCommand::Tools { agent, reply }).await?.unwrap_or_default();
        let (provider, model) = split(&status.model);
        let known = self.known_providers().await?;
        let has_key = known.iter().find(|known| known.id == provider).is_none_or(|known| known.has_key);
        Ok(json!({
            "provider": provider,
            "model": model,
            "tools_enabled": talk.tools_enabled,
            "auto_inject_context": talk.inject_context,
            "tool_count": tools.len(),
            "has_api_key": has_key,
            "message_count": status.messages,
            "session": status.session,
        }))
    }

    async fn providers(&self, talk: &EngineConversation) -> Result<Value, Problem> {
        let status = self.conversations.status(talk.agent).await?;
        let providers: Vec<_> = self
            .known_providers()
            .await?
            .into_iter()
            .map(|known| {
                json!({
                    "id": known.id,
                    "name": known.name,
                    "has_api_key": known.has_key,
                    "default_model": known.default_model,
                    "capabilities": { "web_search": false, "citations": false, "streaming": true },
                })
            })
            .collect();
        Ok(json!({ "providers": providers, "current": split(&status.model).0 }))
    }

    async fn models(&self, talk: &EngineConversation) -> Result<Value, Problem> {
        let status = self.conversations.status(talk.agent).await?;
        let (provider, model) = split(&status.model);
        let known = self.known_providers().await?;
        let mut names: Vec<_> =
            known.into_iter().filter(|known| known.id == provider).flat_map(|known| known.models).collect();
        if !names.iter().any(|name| name == model) {
            names.insert(0, model.to_owned());
        }
        let models: Vec<_> =
            names.iter().map(|name| json!({ "id": name, "name": name, "description": "" })).collect();
        Ok(json!({ "models": models, "current": model, "provider": provider }))
    }

    async fn sessions(&self) -> Result<Value, Problem> {
        let sessions = self.host.ask(|reply| HostCommand::Sessions { reply }).await?;
        let sessions = sessions.map_err(|why| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, why))?;
        let sessions: Vec<_> = sessions
            .into_iter()
            .map(|session| {
                let (provider, model) = split(&session.model);
                json!({
                    "name": session.name,
                    "created_at": rfc3339(session.created_at_ms),
                    "provider": provider,
                    "model": model,
                    "message_count": session.messages,
                })
            })
            .collect();
        Ok(json!({ "sessions": sessions }))
    }
}

fn usage(status: &AgentSummary) -> Value {
    let (input, output) = (status.usage.input, status.usage.output);
    json!({
        "total_tokens": input.saturating_add(output),
        "prompt_tokens": input,
        "completion_tokens": output,
        // Clients format it as a number. We know no prices.
        "estimated_cost": 0.0,
    })
}

/// Provider and model of `provider/model`, or of `script:FILE`; a model's name may hold slashes itself.
fn split(model: &str) -> (&str, &str) {
    if let Some(file) = model.strip_prefix("script:") {
        return ("script", file);
    }
    model.split_once('/').unwrap_or(("", model))
}
