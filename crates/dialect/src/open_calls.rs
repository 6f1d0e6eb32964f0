//! The calls of one conversation that wait for their answers, with what each dialect has to remember of them.

use std::collections::BTreeMap;

use crate::conversation::{CallId, Exchange};

#[derive(Debug)]
pub(crate) struct OpenCalls<T> {
    open: BTreeMap<CallId, Open<T>>,
    next: u64,
}

#[derive(Debug)]
pub(crate) struct Open<T> {
    /// Where its answer goes; taken once something went there.
    pub(crate) exchange: Option<Exchange>,
    pub(crate) what: T,
}

impl<T> Default for OpenCalls<T> {
    fn default() -> OpenCalls<T> {
        OpenCalls { open: BTreeMap::new(), next: 0 }
    }
}

impl<T> OpenCalls<T> {
    pub(crate) fn begin(&mut self, exchange: Option<Exchange>, what: T) -> CallId {
        let call = CallId(self.next);
        self.next += 1;
        self.open.insert(call, Open { exchange, what });
        call
    }

    pub(crate) fn end(&mut self, call: CallId) -> Option<Open<T>> {
        self.open.remove(&call)
    }

    pub(crate) fn get(&self, call: CallId) -> Option<&Open<T>> {
        self.open.get(&call)
    }

    pub(crate) fn get_mut(&mut self, call: CallId) -> Option<&mut Open<T>> {
        self.open.get_mut(&call)
    }

    pub(crate) fn each(&mut self, mut change: impl FnMut(&mut T)) {
        self.open.values_mut().for_each(|open| change(&mut open.what));
    }

    pub(crate) fn find(&self, meant: impl Fn(&T) -> bool) -> Option<CallId> {
        self.open.iter().find(|(_, open)| meant(&open.what)).map(|(call, _)| *call)
    }

    pub(crate) fn ids(&self) -> Box<dyn Iterator<Item = CallId> + '_> {
        Box::new(self.open.keys().copied())
    }

    /// Those that `name` has a name for.
    pub(crate) fn named<'a>(
        &'a self,
        name: impl Fn(&'a T) -> Option<&'a str> + 'a,
    ) -> Box<dyn Iterator<Item = (CallId, &'a str)> + 'a> {
        Box::new(self.open.iter().filter_map(move |(call, open)| Some((*call, name(&open.what)?))))
    }
}
