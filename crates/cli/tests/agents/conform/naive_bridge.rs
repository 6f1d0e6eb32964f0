//! A bridge for ppxai that trusts everybody: any web page may call it, and it writes at once what it is told to write, as
//! long as the caller says `confirmed`. The kit says exactly that. Shares no code with Linkspan.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::{Value, json};

use super::{conform, with_result};
use crate::support::*;

fn start(workspace: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Ends with the test's process.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let workspace = workspace.clone();
            thread::spawn(move || serve(stream, &workspace));
        }
    });
    port
}

fn serve(mut stream: TcpStream, workspace: &Path) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() <= 2 {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let called: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, answer) = match first.split(' ').nth(1).unwrap_or_default() {
        "/status" => (200, json!({ "status": "ok", "version": "1.0.0", "capabilities": ["ide"] })),
        "/ide/execute" if called["tool"].is_string() => match result(&called, workspace) {
            Some(Ok(result)) => (200, json!({ "id": called["id"], "success": true, "result": result })),
            Some(Err(why)) => (200, json!({ "id": called["id"], "success": false, "error": why })),
            // Shown to the user, who does not decide.
            None => {
                let _ = reader.read(&mut [0]);
                return;
            }
        },
        "/ide/execute" => (400, json!({ "error": "no request" })),
        _ => (404, json!({ "error": "not found" })),
    };
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nAccess-Control-Allow-Origin: *\r\n\
         Content-Length: {}\r\n\r\n",
        answer.len()
    );
    let _ = stream.write_all((head + &answer).as_bytes());
}

fn result(called: &Value, workspace: &Path) -> Option<Result<Value, String>> {
    let args = &called["args"];
    let path = || args["path"].as_str().map(PathBuf::from).ok_or("path is missing".to_owned());
    Some(match called["tool"].as_str().unwrap() {
        "ide.get_workspace_info" => {
            let folder = json!({ "name": "w", "path": workspace });
            Ok(json!({ "name": "w", "folders": [folder] }))
        }
        "ide.read_file" => path().and_then(|path| {
            let content = fs::read_to_string(path).map_err(|error| error.to_string())?;
            Ok(json!({ "content": content, "language": "plaintext" }))
        }),
        "ide.get_open_files" | "ide.get_diagnostics" => Ok(json!([])),
        "ide.get_active_file" | "ide.get_selection" => Ok(Value::Null),
        "ide.apply_edit" if args["confirmed"] == true => path().map(|path| {
            fs::write(path, args["content"].as_str().unwrap()).unwrap();
            json!({ "applied": true })
        }),
        "ide.apply_edit" | "ide.show_diff" => return None,
        // Lines count from 0, and paths are absolute.
        "ide.list_files" => Ok(json!([workspace.join("sample.txt")])),
        "ide.search_files" => Ok(json!([{ "path": "sample.txt", "line": 1, "text": "two" }])),
        other => Err(format!("Unknown tool: {other}")),
    })
}

#[test]
fn a_bridge_that_trusts_everybody_does_not_conform() {
    let world = World::new();
    let port = start(world.workspace()).to_string();
    let workspace = world.workspace();
    let more = ["--dialect", "ppxai", "--workspace", workspace.to_str().unwrap(), "--timeout", "15"];
    let (report, code) = conform(&world, &[&[port.as_str()][..], &more].concat());
    assert_eq!(code, 1);
    assert_eq!(
        with_result(&report, "fail", "required"),
        ["list-files", "search-files", "confirmed", "unchanged", "outside"],
        "{report:#}"
    );
    assert_eq!(with_result(&report, "fail", "recommended"), ["web-page", "no-cors", "content-type"]);
}
