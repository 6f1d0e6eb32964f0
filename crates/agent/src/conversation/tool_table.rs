//! The tools as a conversation knows them: what the model is told, and of which kind each is. A value, replaced as a whole
//! when tools come or go.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::models::ToolSpec;
use crate::permissions::ToolKind;

/// All tools that can be called.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolTable {
    inner: Arc<Inner>,
}

#[derive(Debug, Default, PartialEq)]
struct Inner {
    specs: Vec<ToolSpec>,
    kinds: BTreeMap<String, ToolKind>,
}

impl ToolTable {
    /// These tools. Of two with the same name the first counts.
    pub fn new(tools: impl IntoIterator<Item = (ToolSpec, ToolKind)>) -> ToolTable {
        let mut inner = Inner::default();
        for (spec, kind) in tools {
            if !inner.kinds.contains_key(&spec.name) {
                inner.kinds.insert(spec.name.clone(), kind);
                inner.specs.push(spec);
            }
        }
        ToolTable { inner: Arc::new(inner) }
    }

    pub(super) fn specs(&self) -> &[ToolSpec] {
        &self.inner.specs
    }

    pub(super) fn kind(&self, name: &str) -> Option<ToolKind> {
        self.inner.kinds.get(name).copied()
    }

    /// For the model that called a tool which does not exist.
    pub(super) fn unknown(&self, name: &str) -> String {
        let name: String = name.chars().take(80).collect();
        let names = self.inner.kinds.keys();
        let nearest = names
            .map(|known| (strsim::jaro_winkler(known, &name), known))
            .filter(|(similarity, _)| *similarity > 0.7)
            .max_by(|one, other| one.0.total_cmp(&other.0));
        match nearest {
            Some((_, nearest)) => format!("There is no tool `{name}`. Did you mean `{nearest}`?"),
            None if self.inner.kinds.is_empty() => format!("There is no tool `{name}`, and no other."),
            None => {
                let all: Vec<_> = self.inner.kinds.keys().map(String::as_str).collect();
                format!("There is no tool `{name}`. The tools are: {}.", all.join(", "))
            }
        }
    }
}
