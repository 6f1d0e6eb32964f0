// Drives `linkspan mcp` with the official TypeScript client and prints what it got, one JSON document at the end.
// Arguments: the folder with node_modules, the binary, the era (`handshake` or `now`).
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, binary, era] = process.argv.slice(2);
const require = createRequire(modules + "/package.json");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

async function connect(roots) {
  if (era === "handshake") {
    const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
    const { ListRootsRequestSchema } = await load("@modelcontextprotocol/sdk/types.js");
    const client = new Client({ name: "typescript-sdk", version: "1" }, { capabilities: { roots: {} } });
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
    await client.connect(new StdioClientTransport({ command: binary, args: ["mcp"], env: process.env, stderr: "inherit" }));
    const call = (params, options) => client.callTool(params, undefined, options);
    return { client, call };
  }
  const { Client } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  const client = new Client(
    { name: "typescript-client", version: "2" },
    { capabilities: { roots: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("roots/list", () => ({ roots }));
  await client.connect(new StdioClientTransport({ command: binary, args: ["mcp"], env: process.env, stderr: "inherit" }));
  return { client, call: (params, options) => client.callTool(params, options) };
}

const roots = [{ uri: pathToFileURL(process.env.PROJECT).href, name: "project" }];
const { client, call } = await connect(roots);
const said = { progress: [] };
said.revision = client.getNegotiatedProtocolVersion?.() ?? client.transport?._protocolVersion ?? null;
said.instructions = client.getInstructions() ?? "";
said.tools = (await client.listTools()).tools.map((tool) => tool.name);
said.folders = (await call({ name: "getWorkspaceFolders", arguments: {} })).structuredContent;
said.refused = await call({ name: "openFile", arguments: { path: 7 } });
said.proposed = await call(
  { name: "proposeChange", arguments: { path: "a.txt", newText: "two\n", label: "from TypeScript" } },
  { timeout: 60_000, resetTimeoutOnProgress: true, onprogress: (progress) => said.progress.push(progress) },
);
const abort = new AbortController();
const withdrawn = call({ name: "proposeChange", arguments: { path: "a.txt", newText: "three\n" } }, {
  signal: abort.signal,
  onprogress: () => abort.abort("changed my mind"),
});
said.withdrawn = await withdrawn.then(
  (result) => ({ result }),
  (error) => ({ error: String(error) }),
);
await client.close();
console.log(JSON.stringify(said));
