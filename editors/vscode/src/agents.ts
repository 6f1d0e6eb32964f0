// The Agents view: the agents that are connected to this window, one row for each connection, and what each may do.

import { basename } from "node:path";
import * as vscode from "vscode";
import type { AgentStatus, ClientSummary, HubEvent, PermissionKind } from "../../protocol";
import { inBackground } from "./promises";
import type { Hub } from "./hub";
import { plain } from "./plain_text";

const MAY: Record<PermissionKind, string> = {
  command: "run commands",
  code: "execute code",
  edit: "edit without review",
  git: "stage and commit",
};
/** What changes the list. */
const CHANGES = new Set(["agentJoined", "agentLeft", "askOver"]);

export function agents(context: vscode.ExtensionContext, hub: Hub, log: vscode.LogOutputChannel): void {
  const changed = new vscode.EventEmitter<undefined>();
  let rows: vscode.TreeItem[] = [];
  const refresh = async (): Promise<void> => {
    const connected = await agentsOf(hub);
    const { clients } = connected.length === 0 ? { clients: [] } : await hub.request("clients/list", {});
    rows = connected.map((agent) => row(agent, clients.find((client) => client.agent === agent.agent)));
    changed.fire(undefined);
  };
  const provider = { onDidChangeTreeData: changed.event, getTreeItem: (item: vscode.TreeItem) => item, getChildren: () => rows };
  context.subscriptions.push(
    changed,
    vscode.window.createTreeView("linkspan.agents", { treeDataProvider: provider }),
    hub.onState(({ kind }) => {
      if (kind === "attached") {
        inBackground(log, hub.request("hub/watch", {}).then(refresh));
      }
    }),
    hub.onNotification(({ method, params }) => {
      if (method === "hub/event" && CHANGES.has((params as HubEvent).what.kind)) {
        inBackground(log, refresh());
      }
    }),
  );
}

/** The agents of this window, the oldest connection first. */
export async function agentsOf(hub: Hub): Promise<AgentStatus[]> {
  if (hub.state.kind !== "attached") {
    return [];
  }
  const { window } = hub.state;
  const { windows } = await hub.request("hub/status", {});
  return windows.find((each) => each.window === window)?.agents ?? [];
}

/** Tells connections of one agent apart. */
export function sessionOf({ agent, pid }: AgentStatus): string {
  return pid === undefined ? `session ${agent}` : `session ${agent}, process ${pid}`;
}

function row(agent: AgentStatus, client: ClientSummary | undefined): vscode.TreeItem {
  const item = new vscode.TreeItem(plain(agent.name));
  const grants = (client?.may ?? []).map(({ deed, since }) => MAY[deed] + (since === undefined ? " (until it disconnects)" : ""));
  const may = grants.length === 0 ? "asks before it runs anything" : `may ${grants.join(", ")}`;
  const folders = (client?.folders ?? []).map((folder) => plain(basename(folder)));
  item.id = agent.agent;
  item.iconPath = new vscode.ThemeIcon("hubot");
  item.description = [...folders, sessionOf(agent), may].join(" · ");
  item.tooltip = [`${plain(agent.name)} ${plain(agent.version)}`, ...(client?.folders ?? []), sessionOf(agent), may].join("\n");
  return item;
}
