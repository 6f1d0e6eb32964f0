// Proposes two changes with the official TypeScript client over Streamable HTTP and prints what it is told, one JSON
// document for each line. Arguments: the folder with node_modules, the port, the token, the file.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, port, token, filePath] = process.argv.slice(2);
const require = createRequire(modules + "/package.json");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");

const say = (what) => console.log(JSON.stringify(what));
const client = new Client({ name: "streamable-http-client", version: "0.61.0" }, { capabilities: {} });
const told = [];
let heard = () => {};
client.fallbackNotificationHandler = async (notification) => {
  if (notification.method.startsWith("ide/diff")) {
    told.push(notification);
    heard();
  }
};
const next = async () => {
  while (told.length === 0) await new Promise((resolve) => (heard = resolve));
  return told.shift();
};
const headers = { Authorization: `Bearer ${token}` };
const url = new URL(`http://127.0.0.1:${port}/mcp`);
const reconnectionOptions = {
  initialReconnectionDelay: 200,
  maxReconnectionDelay: 500,
  reconnectionDelayGrowFactor: 1.2,
  maxRetries: 40,
};
const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers }, reconnectionOptions });
await client.connect(transport);
say({ tools: (await client.listTools()).tools.map((tool) => tool.name), server: client.getServerVersion() });
for (const newContent of ["two\n", "three\n"]) {
  say(await client.callTool({ name: "openDiff", arguments: { filePath, newContent } }));
  say(await next());
}
await transport.terminateSession();
await client.close();
