//! Simulated commands: a second surface that lists reviews, decides one, undoes a change, or asks for the status, and
//! is gone.

use linkspan_editor_api::{ReviewShow, ReviewsGetResult};
use linkspan_review::ReviewId;
use serde_json::{Value, json};

use super::simulation::{SimEvent, Simulation};
use super::user::UserDecision;
use super::wire::{Endpoint, Peer, ToHub, ToPeer, WireId};

#[derive(Default)]
pub(super) struct Command {
    wire: Option<WireId>,
    asked: CommandRequest,
    /// What it said last of a review.
    said: Option<(Value, (ReviewId, UserDecision))>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum CommandRequest {
    #[default]
    List,
    Get,
    Decide,
    WriteHere,
    Status,
    Watch,
    History,
    Undo,
    Redo,
}

impl Simulation {
    pub(super) fn command_turn(&mut self, number: usize) {
        let pause = if self.calm { 5_000 } else { 2_000 + self.chance.below(20_000) as u64 };
        let watches =
            self.commands[number].wire.is_some() && self.commands[number].asked == CommandRequest::Watch;
        if watches && !self.calm && self.chance.in_hundred(80) {
            return self.later(pause, SimEvent::Turn(Peer::Command(number)));
        }
        if let Some(wire) = self.commands[number].wire.take() {
            self.send_to_hub(wire, ToHub::Closed);
        }
        if self.leaving {
            return;
        }
        self.later(pause, SimEvent::Turn(Peer::Command(number)));
        if !self.hub.is_up() {
            return;
        }
        self.count("commands");
        let is_page = self.chance.in_hundred(40);
        if is_page {
            self.count("pages");
        }
        let wire = self.open(Peer::Command(number), if is_page { Endpoint::Page } else { Endpoint::Socket });
        self.commands[number].wire = Some(wire);
        match self.chance.below(100) {
            0..15 => self.command_asks(number, wire, "hub/watch", &json!({}), CommandRequest::Watch),
            15..30 => self.command_asks(number, wire, "hub/status", &json!({}), CommandRequest::Status),
            30..70 => {
                let list = json!({ "limit": 1000, "undoable": self.chance.in_hundred(70) });
                self.command_asks(number, wire, "history/list", &list, CommandRequest::History);
            }
            _ => self.command_asks(
                number,
                wire,
                "reviews/list",
                &json!({ "all": false }),
                CommandRequest::List,
            ),
        }
    }

    fn command_asks(
        &mut self,
        number: usize,
        wire: WireId,
        method: &str,
        params: &Value,
        asked: CommandRequest,
    ) {
        self.commands[number].asked = asked;
        let id = match asked {
            CommandRequest::List
            | CommandRequest::Status
            | CommandRequest::Watch
            | CommandRequest::History => 1,
            CommandRequest::Get | CommandRequest::Undo => 2,
            CommandRequest::Decide | CommandRequest::Redo => 3,
            CommandRequest::WriteHere => 4,
        };
        self.says_to_hub(wire, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    pub(super) fn command_hears(&mut self, number: usize, wire: WireId, what: ToPeer) {
        if self.commands[number].wire != Some(wire) {
            return;
        }
        let frame = match what {
            ToPeer::Closed => return self.commands[number].wire = None,
            ToPeer::Ping(_) | ToPeer::Event(..) => return,
            ToPeer::Frame(frame) => frame,
        };
        match self.commands[number].asked {
            CommandRequest::List => {
                let reviews = frame["result"]["reviews"].as_array().cloned().unwrap_or_default();
                if !reviews.is_empty() {
                    let review = &reviews[self.chance.below(reviews.len())]["review"];
                    self.command_asks(
                        number,
                        wire,
                        "reviews/get",
                        &json!({ "review": review }),
                        CommandRequest::Get,
                    );
                }
            }
            CommandRequest::Get => {
                let got: Result<ReviewsGetResult, _> = serde_json::from_value(frame["result"].clone());
                if let Some(got) = got.ok().filter(|got| got.phase == "pending" || got.phase == "conflict") {
                    self.command_decides(number, wire, &got.shown);
                }
            }
            CommandRequest::Status => {
                let agents = frame["result"]["windows"].as_array().into_iter().flatten();
                let listed: usize =
                    agents.map(|window| window["agents"].as_array().map_or(0, Vec::len)).sum();
                if listed > 0 {
                    self.count("status answers with agents");
                }
            }
            CommandRequest::Decide => {
                self.count("decisions answered to a command");
                if let Some((params, word)) = self.commands[number].said.take()
                    && let Some(params) = self.writes_here(&frame["result"], &params, &word)
                {
                    self.command_asks(number, wire, "reviews/decide", &params, CommandRequest::WriteHere);
                }
            }
            CommandRequest::WriteHere => self.count("decisions answered to a command"),
            CommandRequest::History => {
                self.look_at_history(&frame["result"]);
                let entries = frame["result"]["entries"].as_array();
                let undoable = entries.into_iter().flatten().filter(|entry| entry["undoable"] == true);
                // Mostly one of the newest: their files are still what they made them.
                let newest: Vec<&Value> = undoable.rev().take(4).collect();
                if !newest.is_empty() && !self.calm {
                    let entry = newest[self.chance.below(newest.len())];
                    let name = entry["change"].as_str().or(entry["review"].as_str()).unwrap_or_default();
                    let name = name.to_owned();
                    self.command_undoes(number, wire, &name, CommandRequest::Undo);
                }
            }
            CommandRequest::Undo => {
                if let Some(redo) = frame["result"]["redo"].as_str().filter(|_| self.chance.in_hundred(40)) {
                    self.count("redos asked for");
                    self.command_undoes(number, wire, redo, CommandRequest::Redo);
                }
            }
            CommandRequest::Redo => {}
            CommandRequest::Watch => {}
        }
    }

    fn command_undoes(&mut self, number: usize, wire: WireId, change: &str, asked: CommandRequest) {
        self.count("undos asked for");
        self.command_asks(number, wire, "history/undo", &json!({ "change": change }), asked);
        if self.fault(100) {
            self.commands[number].wire = None;
            self.send_to_hub(wire, ToHub::Closed);
        }
    }

    fn command_decides(&mut self, number: usize, wire: WireId, show: &ReviewShow) {
        let (decide, word) = self.decision_on(show, "decisions by a command");
        self.commands[number].said = Some((decide.clone(), word));
        self.command_asks(number, wire, "reviews/decide", &decide, CommandRequest::Decide);
        if self.fault(200) {
            self.commands[number].wire = None;
            self.send_to_hub(wire, ToHub::Closed);
        }
    }
}
