//! The measurements of the servers, for readers: a table, the targets, and what the chart shows.

use std::fmt::Write;

use super::contender::Contender;
use super::servers::{Compared, Figures};
use crate::chart::{Bar, Panel};
use crate::report::{Row, number};
use crate::stats::{Spread, median};

/// One line for each server.
pub(super) fn servers(compared: &Compared) -> String {
    let mut text =
        "| server | one client, p50: × raw TCP | 64 clients, calls/s: × raw TCP | server CPU µs a call | \
                    on a core | idle MB | with 64 clients MB | wake-ups/s, idle | start → first call ms | \
                    10 MB there and back ms |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
    let Some(raw) = compared.of(Contender::RawTcp) else { return text };
    for figures in &compared.figures {
        let _ = writeln!(
            text,
            "| {} | {} ({} µs) | {} ({}/s) | {} | {:.0} % | {} | {} | {} | {} | {} |",
            name(figures.contender),
            spread(Spread::of_ratios(&figures.p50_micros, &raw.p50_micros)),
            number(median(&figures.p50_micros)),
            spread(Spread::of_ratios(&figures.per_second, &raw.per_second)),
            number(median(&figures.per_second)),
            spread(Spread::of(&figures.cpu_micros)),
            100.0 * median(&figures.busy),
            number(figures.idle_mb),
            number(figures.attached_mb),
            number(figures.wake_ups),
            spread(Spread::of(&figures.start_ms)),
            if figures.large_ms.is_empty() {
                "–".to_owned()
            } else {
                spread(Spread::of(&figures.large_ms))
            },
        );
    }
    text
}

fn name(contender: Contender) -> String {
    if contender.is_ours() { format!("**{}**", contender.name()) } else { contender.name().to_owned() }
}

fn spread(Spread { median, low, high }: Spread) -> String {
    format!("{} [{} – {}]", number(median), number(low), number(high))
}

pub(super) fn not_measured(missing: &[String]) -> String {
    match missing {
        [] => "Every peer was there.\n".to_owned(),
        missing => missing.iter().map(|why| format!("- **Not measured**: {why}\n")).collect(),
    }
}

/// What we hold ourselves to, as far as it is about servers.
pub(super) fn against_targets(compared: &Compared) -> Vec<Row> {
    let of = |contender| compared.of(contender);
    let Some(hub) = of(Contender::HubSocket) else { return Vec::new() };
    let mut rows = Vec::new();
    if let Some(raw) = of(Contender::RawTcp) {
        rows.push(p50("call over WebSocket, p50 : raw TCP", hub, raw).at_most(1.10));
        rows.push(crowd("64 clients over WebSocket, calls/s : raw TCP", hub, raw).at_least(0.85));
    }
    if let Some(node) = of(Contender::NodeWs) {
        rows.push(crowd("64 clients over WebSocket, calls/s : Node `ws`", hub, node).at_least(2.0));
    }
    if let Some((ours, node)) = of(Contender::HubMcp).zip(of(Contender::NodeSdk)) {
        let what = "64 clients, `POST /mcp`, calls/s : Node MCP SDK with express";
        rows.push(crowd(what, ours, node).at_least(40.0));
    }
    if let Some(rmcp) = of(Contender::Rmcp) {
        rows.push(crowd("64 clients over WebSocket, calls/s : rmcp", hub, rmcp));
    }
    if let Some(python) = of(Contender::Python) {
        rows.push(crowd("64 clients over WebSocket, calls/s : Python `websockets`", hub, python));
    }
    if let Some(echo) = of(Contender::WebSocketEcho) {
        let note = format!("{:.1} : {:.1} ms", median(&hub.large_ms), median(&echo.large_ms));
        let ratio = Spread::of_ratios(&hub.large_ms, &echo.large_ms);
        let what = "10 MB change, proposed → shown → accepted → answered : WebSocket echo";
        rows.push(Row::ratio(what, ratio).at_most(2.0).note(note));
    }
    rows.push(Row::one("idle hub with one window: resident", "MB", hub.idle_mb).at_most(6.0));
    rows.push(Row::one("idle hub with one window: wake-ups", "/s", hub.wake_ups).at_most(0.0));
    rows.push(Row::one("hub with 64 agents: resident", "MB", hub.attached_mb).at_most(12.0));
    rows
}

fn p50(what: &str, ours: &Figures, theirs: &Figures) -> Row {
    let note = format!("{:.1} : {:.1} µs", median(&ours.p50_micros), median(&theirs.p50_micros));
    Row::ratio(what, Spread::of_ratios(&ours.p50_micros, &theirs.p50_micros)).note(note)
}

fn crowd(what: &str, ours: &Figures, theirs: &Figures) -> Row {
    let note = format!(
        "{:.0} : {:.0} calls/s; server CPU {:.1} : {:.1} µs a call",
        median(&ours.per_second),
        median(&theirs.per_second),
        median(&ours.cpu_micros),
        median(&theirs.cpu_micros),
    );
    Row::ratio(what, Spread::of_ratios(&ours.per_second, &theirs.per_second)).note(note)
}

pub(super) fn panels(compared: &Compared) -> Vec<Panel> {
    let panel = |title: &str, value: fn(&Figures) -> f64| {
        let bars = compared.figures.iter().map(|figures| Bar {
            name: figures.contender.name().to_owned(),
            value: value(figures),
            ours: figures.contender.is_ours(),
        });
        Panel { title: title.to_owned(), bars: bars.filter(|bar| bar.value > 0.0).collect() }
    };
    vec![
        panel("One client: median call, µs", |figures| median(&figures.p50_micros)),
        panel("64 clients: calls a second (more is better)", |figures| median(&figures.per_second)),
        panel("Server CPU for a call, µs", |figures| median(&figures.cpu_micros)),
        panel("Idle memory, MB", |figures| figures.idle_mb),
        panel("Start to first call, ms", |figures| median(&figures.start_ms)),
        panel("10 MB there and back, ms (Linkspan: a reviewed change)", |figures| median(&figures.large_ms)),
    ]
}
