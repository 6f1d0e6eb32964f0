// What a command in Node does for one answer: find the window by its lock file, connect, introduce itself, ask, print.
// Node finds the package `ws` through NODE_PATH.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const WebSocket = require("ws");

function window() {
  const directory = path.join(process.env.HOME, ".claude", "ide");
  for (const name of fs.readdirSync(directory)) {
    const lock = JSON.parse(fs.readFileSync(path.join(directory, name), "utf8"));
    if (lock.workspaceFolders.some((folder) => process.cwd().startsWith(folder))) {
      return { port: path.parse(name).name, token: lock.authToken };
    }
  }
  throw new Error(`no window has ${process.cwd()}`);
}

const { port, token } = window();
const socket = new WebSocket(`ws://127.0.0.1:${port}`, ["mcp"], {
  headers: { "x-claude-code-ide-authorization": token },
});
const send = (message) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));

socket.on("open", () => {
  const clientInfo = { name: "bench", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  send({ id: 1, method: "initialize", params });
});
socket.on("message", (text) => {
  const message = JSON.parse(text);
  if (message.id === 1) {
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/call", params: { name: "getDiagnostics", arguments: {} } });
  } else if (message.id === 2) {
    process.stdout.write(message.result.content[0].text + "\n", () => process.exit(0));
  }
});
socket.on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
