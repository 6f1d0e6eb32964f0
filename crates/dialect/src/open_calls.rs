//! The pending calls of one conversation, with what the dialect has to remember about each.

use std::collections::BTreeMap;

use crate::conversation::{CallId, ExchangeId};

#[derive(Debug)]
pub(crate) struct OpenCalls<T> {
    open: BTreeMap<CallId, OpenCall<T>>,
    next: u64,
}

#[derive(Debug)]
pub(crate) struct OpenCall<T> {
    /// The HTTP request to answer; taken once something was sent there.
    pub(crate) exchange: Option<ExchangeId>,
    pub(crate) what: T,
}

impl<T> Default for OpenCalls<T> {
    fn default() -> OpenCalls<T> {
        OpenCalls { open: BTreeMap::new(), next: 0 }
    }
}

impl<T> OpenCalls<T> {
    pub(crate) fn begin(&mut self, exchange: Option<ExchangeId>, what: T) -> CallId {
        let call = CallId(self.next);
        self.next += 1;
        self.open.insert(call, OpenCall { exchange, what });
        call
    }

    pub(crate) fn end(&mut self, call: CallId) -> Option<OpenCall<T>> {
        self.open.remove(&call)
    }

    pub(crate) fn get(&self, call: CallId) -> Option<&OpenCall<T>> {
        self.open.get(&call)
    }

    pub(crate) fn get_mut(&mut self, call: CallId) -> Option<&mut OpenCall<T>> {
        self.open.get_mut(&call)
    }

    pub(crate) fn each(&mut self, mut change: impl FnMut(&mut T)) {
        self.open.values_mut().for_each(|open| change(&mut open.what));
    }

    pub(crate) fn find(&self, meant: impl Fn(&T) -> bool) -> Option<CallId> {
        self.open.iter().find(|(_, open)| meant(&open.what)).map(|(call, _)| *call)
    }

    /// Whether that HTTP request waits for the answer to such a call.
    pub(crate) fn waits_in(&self, exchange: ExchangeId, meant: impl Fn(&T) -> bool) -> bool {
        self.open.values().any(|open| open.exchange == Some(exchange) && meant(&open.what))
    }

    pub(crate) fn ids(&self) -> Box<dyn Iterator<Item = CallId> + '_> {
        Box::new(self.open.keys().copied())
    }

    /// The calls for which `name` returns a name.
    pub(crate) fn named<'a>(
        &'a self,
        name: impl Fn(&'a T) -> Option<&'a str> + 'a,
    ) -> Box<dyn Iterator<Item = (CallId, &'a str)> + 'a> {
        Box::new(self.open.iter().filter_map(move |(call, open)| Some((*call, name(&open.what)?))))
    }
}
