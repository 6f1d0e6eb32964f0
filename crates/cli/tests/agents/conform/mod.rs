//! `linkspan conform server` with the real binary: against our hub in every dialect, against a server that is broken in
//! one way at a time, and against one that answers as the capture of claudecode.nvim does.

mod broken;
mod documentation;
mod naive_bridge;
mod own_hub;
mod stand_in;

use serde_json::Value;

use crate::support::*;

/// Runs `conform server` with these arguments; the report, and the exit code.
fn conform(world: &World, args: &[&str]) -> (Value, i32) {
    let args = [&["conform", "server"], args, &["--json"]].concat();
    let ran = world.run(&args);
    (ran.json(), ran.code)
}

/// The ids of the points with this result.
fn with_result<'a>(report: &'a Value, result: &str, weight: &str) -> Vec<&'a str> {
    let points = report["points"].as_array().unwrap().iter();
    let found = points.filter(|point| point["result"] == result && point["weight"] == weight);
    found.map(|point| point["id"].as_str().unwrap()).collect()
}
