//! Which model is meant: the table of providers, the choice by `provider/model`, and keys. The only part that reads keys
//! from the environment.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::script::{DEMO, Script};
use super::transport::{HttpModel, ModelEndpoint};
use super::{ModelError, ModelEvent, ModelRequest};
use crate::config::{Config, ProviderConfig, TimeLimits, WireName};

/// A model, ready to be asked. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Model {
    /// `provider/model`, or `script:FILE`.
    pub name: String,
    /// How many tokens it can read, if known.
    pub context_window: Option<u64>,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Http(Arc<HttpModel>),
    Script(Arc<Script>),
}

impl Model {
    /// Sends a request; `emit` receives what is streamed. Ends after [`ModelEvent::Done`], or with an error.
    pub async fn answer(
        &self,
        request: &ModelRequest,
        emit: &(dyn Fn(ModelEvent) + Send + Sync),
    ) -> Result<(), ModelError> {
        match &self.source {
            Source::Http(model) => model.answer(request, emit).await,
            Source::Script(script) => script.answer(request, emit).await,
        }
    }
}

/// A provider with all its settings.
#[derive(Debug, Clone)]
pub struct Provider {
    /// Its name in `provider/model`.
    pub id: String,
    /// For people.
    pub title: String,
    /// Its protocol.
    pub wire: WireName,
    /// Without a slash at the end.
    pub base_url: String,
    /// The variable that holds its key, if it needs one.
    pub key_variable: Option<String>,
    /// Used if no model is named.
    pub model: Option<String>,
    /// Those that lists show.
    pub models: Vec<String>,
    /// How many tokens its models can read, if known.
    pub context_window: Option<u64>,
    /// How many tokens an answer may have.
    pub max_output_tokens: Option<u32>,
}

/// All providers.
#[derive(Debug, Clone)]
pub struct Providers {
    providers: Vec<Provider>,
    wanted: Option<String>,
    limits: TimeLimits,
    variable: fn(&str) -> Option<String>,
}

fn built_in() -> [Provider; 4] {
    let provider =
        |id: &str, title: &str, wire, base_url: &str, key: Option<&str>, models: &[&str], window| {
            let models: Vec<String> = models.iter().map(|model| (*model).to_owned()).collect();
            Provider {
                id: id.to_owned(),
                title: title.to_owned(),
                wire,
                base_url: base_url.to_owned(),
                key_variable: key.map(str::to_owned),
                model: models.first().cloned(),
                models,
                context_window: Some(window),
                max_output_tokens: None,
            }
        };
    [
        provider(
            "anthropic",
            "Anthropic",
            WireName::Anthropic,
            "https://api.anthropic.com",
            Some("ANTHROPIC_API_KEY"),
            &["claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5"],
            200_000,
        ),
        provider(
            "openai",
            "OpenAI",
            WireName::Openai,
            "https://api.openai.com/v1",
            Some("OPENAI_API_KEY"),
            &["gpt-5.1", "gpt-5", "gpt-5-mini"],
            272_000,
        ),
        provider(
            "gemini",
            "Gemini",
            WireName::Gemini,
            "https://generativelanguage.googleapis.com/v1beta",
            Some("GEMINI_API_KEY"),
            &["gemini-2.5-pro", "gemini-2.5-flash"],
            1_048_576,
        ),
        provider(
            "ollama",
            "Ollama",
            WireName::Ollama,
            "http://127.0.0.1:11434",
            None,
            &["qwen3-coder"],
            32_768,
        ),
    ]
}

impl Providers {
    /// The built-in ones and those of the configuration. `variable` reads the environment.
    pub fn new(config: &Config, variable: fn(&str) -> Option<String>) -> Result<Providers, String> {
        let mut providers: Vec<Provider> = built_in().into();
        for (id, settings) in &config.providers {
            match providers.iter_mut().find(|provider| provider.id == *id) {
                Some(provider) => provider.adjust(settings)?,
                None => providers.push(Provider::of_config(id, settings)?),
            }
        }
        Ok(Providers { providers, wanted: config.model.clone(), limits: config.time_limits, variable })
    }

    /// All of them, the built-in ones first.
    pub fn all(&self) -> &[Provider] {
        &self.providers
    }

    /// Whether there is a key, or none is needed.
    pub fn has_key(&self, provider: &Provider) -> bool {
        provider.key_variable.as_ref().is_none_or(|name| (self.variable)(name).is_some())
    }

    /// The model that is meant by `provider/model`, a provider, a model of the current provider, or `script:FILE`;
    /// without a name the configured one.
    pub fn choose(&self, name: Option<&str>, current: Option<&str>) -> Result<Model, String> {
        let Some(name) = name.or(self.wanted.as_deref()) else { return self.first_with_key() };
        let name = name.trim();
        if let Some(file) = name.strip_prefix("script:") {
            return scripted(name, file);
        }
        let find = |id: &str| self.providers.iter().find(|provider| provider.id == id);
        if let Some((id, model)) = name.split_once('/')
            && let Some(provider) = find(id)
        {
            return self.model(provider, Some(model));
        }
        if let Some(provider) = find(name) {
            return self.model(provider, None);
        }
        // A name with slashes may be a model of a provider that has such names.
        let current = current.and_then(|current| current.split_once('/')).and_then(|(id, _)| find(id));
        let known = self.providers.iter().find(|provider| provider.models.iter().any(|model| model == name));
        let wanted =
            self.wanted.as_deref().and_then(|wanted| find(wanted.split('/').next().unwrap_or_default()));
        match known.or(current).or(wanted).or_else(|| self.with_key()) {
            Some(provider) if !name.is_empty() => self.model(provider, Some(name)),
            _ => Err(self.no_such_provider(name)),
        }
    }

    fn no_such_provider(&self, name: &str) -> String {
        let ids: Vec<_> = self.providers.iter().map(|provider| provider.id.as_str()).collect();
        let nearest = ids.iter().map(|id| (strsim::damerau_levenshtein(id, name), id)).min();
        match nearest {
            Some((distance, nearest)) if distance <= 2 => {
                format!("there is no provider `{name}`; did you mean `{nearest}`?")
            }
            _ => format!(
                "there is no provider for the model `{name}`; name one, as in `{}/{name}`",
                ids.join("|")
            ),
        }
    }

    fn with_key(&self) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.key_variable.is_some() && self.has_key(provider))
    }

    fn first_with_key(&self) -> Result<Model, String> {
        if let Some(provider) = self.with_key() {
            return self.model(provider, None);
        }
        let variables: Vec<_> =
            self.providers.iter().filter_map(|provider| provider.key_variable.as_deref()).collect();
        Err(format!(
            "no model is configured and there is no key: set {}, or `model` in agent.toml, or use `--model \
             ollama/MODEL`. `linkspan-agent --demo` needs no key",
            variables.join(" or ")
        ))
    }

    fn model(&self, provider: &Provider, model: Option<&str>) -> Result<Model, String> {
        let id = &provider.id;
        let Some(model) = model.filter(|model| !model.is_empty()).or(provider.model.as_deref()) else {
            return Err(format!(
                "which model of `{id}`? Use `{id}/MODEL`, or set `model` under [providers.{id}]"
            ));
        };
        let key = provider.key_variable.as_ref().map(|name| match (self.variable)(name) {
            Some(key) => Ok((name.clone(), key)),
            None => Err(format!("there is no key for {id}: set the environment variable {name}")),
        });
        let endpoint = ModelEndpoint {
            provider: id.clone(),
            wire: provider.wire,
            base_url: provider.base_url.clone(),
            model: model.to_owned(),
            key: key.transpose()?,
            context_window: provider.context_window,
            max_output_tokens: provider.max_output_tokens,
            connect: Duration::from_secs(self.limits.connect),
            first_byte: Duration::from_secs(self.limits.first_byte),
            idle: Duration::from_secs(self.limits.idle),
        };
        Ok(Model {
            name: format!("{id}/{model}"),
            context_window: provider.context_window,
            source: Source::Http(Arc::new(HttpModel::new(endpoint)?)),
        })
    }
}

/// The model that `--demo` uses.
pub const DEMO_MODEL: &str = "script:demo";

fn scripted(name: &str, file: &str) -> Result<Model, String> {
    let script = if name == DEMO_MODEL { Script::from_toml(DEMO) } else { Script::load(Path::new(file)) }?;
    Ok(Model { name: name.to_owned(), context_window: None, source: Source::Script(Arc::new(script)) })
}

impl Provider {
    fn of_config(id: &str, settings: &ProviderConfig) -> Result<Provider, String> {
        let missing = |key: &str| format!("the provider `{id}` in agent.toml needs `{key}`");
        let mut provider = Provider {
            id: id.to_owned(),
            title: id.to_owned(),
            wire: settings.wire.ok_or_else(|| missing("wire"))?,
            base_url: settings.base_url.clone().ok_or_else(|| missing("base_url"))?,
            key_variable: None,
            model: None,
            models: Vec::new(),
            context_window: None,
            max_output_tokens: None,
        };
        provider.adjust(settings)?;
        Ok(provider)
    }

    fn adjust(&mut self, settings: &ProviderConfig) -> Result<(), String> {
        if let Some(base_url) = &settings.base_url {
            self.base_url = base_url.trim_end_matches('/').to_owned();
        }
        if let Some(model) = &settings.model {
            self.model = Some(model.clone());
            if !self.models.contains(model) {
                self.models.insert(0, model.clone());
            }
        }
        if !settings.models.is_empty() {
            self.models.clone_from(&settings.models);
        }
        self.wire = settings.wire.unwrap_or(self.wire);
        self.key_variable = settings.key_variable.clone().or(self.key_variable.take());
        self.context_window = settings.context_window.or(self.context_window);
        self.max_output_tokens = settings.max_output_tokens.or(self.max_output_tokens);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn providers(config: &str, variable: fn(&str) -> Option<String>) -> Providers {
        Providers::new(&toml::from_str(config).unwrap(), variable).unwrap()
    }

    fn openai_key(name: &str) -> Option<String> {
        (name == "OPENAI_API_KEY").then(|| "sk-test".to_owned())
    }

    const LOCAL: &str = "model = \"local\"\n[providers.local]\nwire = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1/\"\n\
                         model = \"org/qwen\"\ncontext_window = 1000\n";

    #[test]
    fn a_model_is_chosen_by_provider_by_name_and_by_key() {
        let providers = providers(LOCAL, openai_key);
        let chosen =
            |name: Option<&str>, current: Option<&str>| providers.choose(name, current).unwrap().name;
        assert_eq!(chosen(None, None), "local/org/qwen");
        assert_eq!(chosen(Some("openai/gpt-x"), None), "openai/gpt-x");
        assert_eq!(chosen(Some("openai"), None), "openai/gpt-5.1");
        assert_eq!(chosen(Some("gpt-5-mini"), None), "openai/gpt-5-mini");
        assert_eq!(chosen(Some("other"), Some("openai/gpt-5")), "openai/other");
        assert_eq!(chosen(Some("org/other"), Some("local/org/qwen")), "local/org/other");
        assert_eq!(providers.choose(None, None).unwrap().context_window, Some(1000));
        assert_eq!(self::providers("", openai_key).choose(None, None).unwrap().name, "openai/gpt-5.1");
    }

    #[test]
    fn the_page_lists_the_built_in_providers() {
        let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents/linkspan-agent.md"));
        for provider in built_in() {
            let key = provider.key_variable.map_or("none".to_owned(), |key| format!("`{key}`"));
            let row = format!("| `{}` | {key} | `{}` |", provider.id, provider.model.unwrap());
            assert!(page.contains(&row), "{row}");
        }
    }

    #[test]
    fn a_missing_key_names_the_variable() {
        let providers = providers("", |_| None);
        let error = providers.choose(Some("anthropic"), None).unwrap_err();
        assert_eq!(error, "there is no key for anthropic: set the environment variable ANTHROPIC_API_KEY");
        let error = providers.choose(None, None).unwrap_err();
        assert!(error.contains("ANTHROPIC_API_KEY or OPENAI_API_KEY or GEMINI_API_KEY"), "{error}");
        assert!(error.contains("--demo"), "{error}");
        assert!(providers.choose(Some("ollama"), None).is_ok());
    }

    #[test]
    fn an_unknown_provider_names_the_nearest() {
        let providers = providers("", |_| None);
        let error = providers.choose(Some("antropic"), None).unwrap_err();
        assert_eq!(error, "there is no provider `antropic`; did you mean `anthropic`?");
        assert!(providers.choose(Some("foo"), None).unwrap_err().contains("name one, as in"));
    }

    #[test]
    fn a_provider_of_the_configuration_is_complete() {
        let wrong = |text: &str| {
            let config = toml::from_str(text).unwrap();
            Providers::new(&config, |_| None).unwrap_err()
        };
        assert_eq!(wrong("[providers.x]\nbase_url = \"y\""), "the provider `x` in agent.toml needs `wire`");
        assert_eq!(
            wrong("[providers.x]\nwire = \"ollama\""),
            "the provider `x` in agent.toml needs `base_url`"
        );
    }

    #[test]
    fn a_key_is_not_sent_unencrypted_to_another_machine() {
        let config = "[providers.openai]\nbase_url = \"http://models.example/v1\"";
        let error = providers(config, openai_key).choose(Some("openai"), None).unwrap_err();
        assert!(error.contains("unencrypted"), "{error}");
        let config = "[providers.openai]\nbase_url = \"http://localhost:8000/v1\"";
        assert!(providers(config, openai_key).choose(Some("openai"), None).is_ok());
    }
}
