// What an extension does that speaks MCP over WebSocket by hand: the package `ws`, JSON, and a switch.
// Prints its port. Node finds the package through NODE_PATH.
"use strict";

const { WebSocketServer } = require("ws");
const { folders, echo, tell } = require("./tools.cjs");

const tools = { getWorkspaceFolders: folders, echo };

function answer({ method, params }) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "peer", version: "1" },
      };
    case "tools/call":
      return tools[params.name](params.arguments);
    default:
      throw new Error(`no method ${method}`);
  }
}

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, maxPayload: 1 << 26 }, () => tell(server.address().port));
server.on("connection", (socket) => {
  socket.on("message", (data) => {
    const message = JSON.parse(data);
    if (message.id !== undefined) {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answer(message) }));
    }
  });
});
