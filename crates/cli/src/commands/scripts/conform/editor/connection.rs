//! Points about the connection of an editor: how it attaches, unknown messages, a hub that is lost, and the end.

use std::path::Path;

use linkspan_editor_api::{Attach, errors};
use serde_json::{Value, json};

use super::host::EditorHost;
use crate::commands::scripts::conform::point::{Check, Outcome, failed, recommended, required, skipped};
use crate::commands::scripts::conform::report::excerpt;

const AREA: &str = "Connection";

pub(super) const BEGIN: &[Check<EditorHost>] = &[
    required(AREA, "attach", "The first message is `attach`, with everything that it needs", attach),
    required(
        AREA,
        "folders",
        "The workspace folders are absolute, and include the folder of the editor",
        folders,
    ),
    required(AREA, "pid", "The process id is that of a running process", pid),
    required(AREA, "ping", "`ping` is answered", is_served),
    required(AREA, "unknown-request", "An unknown request is answered with error -32601", unknown_request),
    required(AREA, "unknown-notification", "An unknown notification is ignored", |host| {
        host.notify("conform/noSuchNotification", &json!({ "a": 1 }))?;
        is_served(host)
    }),
    required(AREA, "unknown-member", "Unknown members are ignored", unknown_member),
];

pub(super) const CHECKS: &[Check<EditorHost>] = &[
    required("Hub", "hub-lost", "After `hub/lost` and `hub/back`, requests are answered", hub_lost),
    required(
        "Hub",
        "attach-ended",
        "After `linkspan attach` ended, it is started again and attaches",
        attach_ended,
    ),
];

pub(super) const END: &[Check<EditorHost>] = &[
    recommended("End", "detach", "An editor that ends sends `detach`", detach),
    required("End", "closed", "The connection ends with the editor", |host| {
        needs_attach(host)?;
        match host.is_closed() {
            true => Ok(()),
            false => Err(failed("the end of the connection", "it is still open")),
        }
    }),
];

pub(super) fn needs_attach(host: &EditorHost) -> Outcome {
    match host.attach {
        Some(_) => Ok(()),
        None => Err(skipped("needs a connection, and the editor did not attach")),
    }
}

fn attach(host: &mut EditorHost) -> Outcome {
    let params = host.attached()?;
    serde_json::from_value::<Attach>(params.clone()).map(|_| ()).map_err(|error| {
        failed("`Attach` as the protocol reference describes it", format!("{}: {error}", excerpt(&params)))
    })
}

fn folders(host: &mut EditorHost) -> Outcome {
    needs_attach(host)?;
    let folders = host.attach.as_ref().and_then(|attach| attach.get("folders")).cloned().unwrap_or_default();
    let listed: Vec<&str> = folders.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let is_right = listed.iter().all(|folder| Path::new(folder).is_absolute())
        && listed.iter().any(|folder| Path::new(folder).canonicalize().is_ok_and(|real| real == host.folder));
    if is_right { Ok(()) } else { Err(failed(host.folder.display().to_string(), excerpt(&folders))) }
}

fn pid(host: &mut EditorHost) -> Outcome {
    needs_attach(host)?;
    let pid = host.attach.as_ref().and_then(|attach| attach.get("pid")).and_then(Value::as_i64);
    let pid = pid.and_then(|pid| i32::try_from(pid).ok()).and_then(rustix::process::Pid::from_raw);
    match pid.map(rustix::process::test_kill_process) {
        Some(Ok(())) => Ok(()),
        _ => Err(failed("the id of a running process", format!("{pid:?}"))),
    }
}

pub(super) fn is_served(host: &mut EditorHost) -> Outcome {
    needs_attach(host)?;
    let answer = host.ask("ping", &json!({}))?;
    if answer.get("result").is_some() { Ok(()) } else { Err(failed("a result", excerpt(&answer))) }
}

fn unknown_request(host: &mut EditorHost) -> Outcome {
    needs_attach(host)?;
    let answer = host.ask("conform/noSuchRequest", &json!({}))?;
    match answer.pointer("/error/code").and_then(Value::as_i64) {
        Some(errors::METHOD_NOT_FOUND) => Ok(()),
        _ => Err(failed("error -32601", excerpt(&answer))),
    }
}

fn unknown_member(host: &mut EditorHost) -> Outcome {
    needs_attach(host)?;
    let answer = host.ask("ping", &json!({ "conform": { "of": ["a", "newer", "hub"] } }))?;
    if answer.get("result").is_some() { Ok(()) } else { Err(failed("a result", excerpt(&answer))) }
}

fn hub_lost(host: &mut EditorHost) -> Outcome {
    needs_attach(host)?;
    host.notify("hub/lost", &json!({ "reason": "this is a check" }))?;
    let window = host.window();
    host.notify("hub/back", &window)?;
    is_served(host)
}

fn attach_ended(host: &mut EditorHost) -> Outcome {
    needs_attach(host)?;
    let before = host.attach.as_ref().and_then(|attach| attach.get("windowId")).cloned();
    host.cut_off();
    let again = host.attached()?;
    if again.get("windowId") != before.as_ref() {
        return Err(failed("the same `windowId`", excerpt(&again)));
    }
    is_served(host)
}

fn detach(host: &mut EditorHost) -> Outcome {
    needs_attach(host)?;
    let has_ended = host.end();
    let time = host.timeout;
    let is_detach = |message: &Value| message.get("method") == Some(&json!("detach"));
    match (host.wait(time, is_detach), has_ended) {
        (Some(_), _) => Ok(()),
        (None, true) => Err(failed("`detach`", "the end without it")),
        (None, false) => Err(skipped("the editor does not end when it is asked to with SIGTERM")),
    }
}
