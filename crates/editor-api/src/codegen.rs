//! The protocol for other readers: declarations for shims in TypeScript and Lua, and the reference page. All come from
//! the types and their doc comments, in the order of the method table, so that equal types give equal files.

mod layout;
mod lua;
mod page;
mod typescript;

use std::collections::BTreeMap;

use ts_rs::{Config, TS, TypeVisitor};

use crate::method::{self, Direction, MethodKind, Notification, Request};

pub use lua::lua;
pub use page::protocol_page;
pub use typescript::typescript;

/// Is called with the types of each method.
pub(crate) trait Visitor {
    fn request<R>(&mut self, direction: Direction)
    where
        R: Request + TS + 'static,
        R::Result: TS + 'static;

    fn notification<N: Notification + TS + 'static>(&mut self, direction: Direction);
}

/// One method, its types by their TypeScript names.
struct MethodEntry {
    name: &'static str,
    direction: Direction,
    kind: MethodKind,
    docs: String,
    params: String,
    /// `null` for a request that is only acknowledged; empty for a notification.
    result: String,
}

impl MethodEntry {
    fn goes(&self, direction: Direction) -> bool {
        self.direction == direction || self.direction == Direction::Both
    }
}

/// Everything there is to print.
struct Protocol {
    config: Config,
    methods: Vec<MethodEntry>,
    /// Declarations by name.
    types: BTreeMap<String, String>,
}

impl Protocol {
    fn collect() -> Protocol {
        // Our large integers are milliseconds and versions, which a JavaScript number holds exactly.
        let config = Config::new().with_large_int("number");
        let mut protocol = Protocol { config, methods: Vec::new(), types: BTreeMap::new() };
        method::visit(&mut protocol);
        protocol
    }

    fn add<P: TS + 'static>(
        &mut self,
        name: &'static str,
        direction: Direction,
        kind: MethodKind,
        result: String,
    ) {
        self.visit::<P>();
        self.methods.push(MethodEntry {
            name,
            direction,
            kind,
            docs: layout::prose(&P::docs().unwrap_or_default()),
            params: P::name(&self.config),
            result,
        });
    }
}

impl Visitor for Protocol {
    fn request<R>(&mut self, direction: Direction)
    where
        R: Request + TS + 'static,
        R::Result: TS + 'static,
    {
        let result = <R::Result as TS>::name(&self.config);
        self.add::<R>(R::METHOD, direction, MethodKind::Request, result);
        self.visit::<R::Result>();
        <R::Result as TS>::visit_generics(self);
    }

    fn notification<N: Notification + TS + 'static>(&mut self, direction: Direction) {
        self.add::<N>(N::METHOD, direction, MethodKind::Notification, String::new());
    }
}

impl TypeVisitor for Protocol {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Only our own types have a path to export to; `string` and `Array` declare nothing.
        if T::output_path().is_none() {
            return;
        }
        let name = T::name(&self.config);
        if self.types.contains_key(&name) {
            return;
        }
        let declaration =
            layout::declaration(&name, &T::docs().unwrap_or_default(), &T::inline(&self.config), T::IS_ENUM);
        self.types.insert(name, declaration);
        T::visit_dependencies(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_and_every_member_is_documented() {
        let text = typescript();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for pair in lines.windows(2) {
            let [before, line] = pair else { continue };
            let declares =
                line.starts_with("export ") || (line.contains(": ") && !line.starts_with(['/', '"', '|']));
            assert!(!declares || before.starts_with("/** "), "not documented: {line}");
        }
    }

    #[test]
    fn every_method_of_the_table_is_on_the_page_and_in_the_declarations() {
        let (page, text) = (protocol_page(), typescript());
        for method in method::METHODS {
            assert!(page.contains(&format!("\n### `{}`\n", method.name)), "{}", method.name);
            assert!(text.contains(&format!("\n  \"{}\": {{ params: {}", method.name, method.params)));
        }
    }

    #[test]
    fn every_type_is_on_the_page_once() {
        let page = protocol_page();
        for name in Protocol::collect().types.keys() {
            let declarations = ["interface", "type"].map(|word| format!("\nexport {word} {name} "));
            let count: usize =
                declarations.iter().map(|declaration| page.matches(declaration.as_str()).count()).sum();
            assert_eq!(count, 1, "{name}");
        }
    }

    #[test]
    fn the_same_types_give_the_same_files() {
        assert_eq!(typescript(), typescript());
        assert_eq!(protocol_page(), protocol_page());
    }
}
