// The Linkspan plugin for opencode: asks `linkspan hook` before a file is changed. `linkspan hook install opencode`
// writes this file with the path of its own program, and `linkspan hook remove opencode` removes it.
import { spawn } from "node:child_process"

const COMMAND = ["linkspan", "hook"]
const CONTEXT = true
const COMMANDS = false

const EDITS = ["edit", "write", "multiedit", "patch", "apply_patch"]
const ASKED = COMMANDS ? [...EDITS, "bash"] : EDITS

const REQUIRED = COMMAND.includes("--require")
/** The exit code with which the hook denies, as for other agents. */
const DENIED = 2
const LONGEST_ERROR = 4096

/** Runs the hook. A denial is an error; so is everything that goes wrong, if the hook is required. Otherwise opencode goes
 * on as if there were none. */
function ask(event) {
  return new Promise((resolve, reject) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "pipe"] })
    let text = ""
    let errors = ""
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (part) => (text += part))
    child.stderr.setEncoding("utf8")
    child.stderr.on("data", (part) => (errors = (errors + part).slice(-LONGEST_ERROR)))
    child.stdin.on("error", () => {})
    child.on("error", (error) => failed(`Linkspan could not be started: ${error.message}`))
    child.on("close", (code, signal) => {
      const why = errors.trim() || `linkspan hook ended with ${code ?? signal}`
      if (code === DENIED) return reject(new Error(why))
      if (code !== 0) return failed(why)
      try {
        resolve(JSON.parse(text || "{}"))
      } catch {
        failed("linkspan hook gave an answer that is not JSON")
      }
    })
    child.stdin.end(JSON.stringify({ agent: "opencode", ...event }))

    function failed(why) {
      if (REQUIRED) reject(new Error(`${why}. The hook is required, so nothing was changed.`))
      else resolve({})
    }
  })
}

export const Linkspan = async ({ client, directory }) => {
  /** What the model reads after a tool has run, by the id of the call. */
  const later = new Map()
  const decide = (event, call) => ask({ event, cwd: directory, ...call })
  /** For events in which nothing is to be denied. */
  const hook = (event, call) => decide(event, call).catch(() => ({}))

  async function permission({ id, sessionID, permission, metadata, tool }) {
    const answer = await hook("permission.asked", { sessionID, permission, metadata, callID: tool?.callID })
    if (!answer.permission) return
    await client.postSessionIdPermissionsPermissionId({
      path: { id: sessionID, permissionID: id },
      body: { response: answer.permission },
    })
  }

  return {
    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      if (!ASKED.includes(tool)) return
      const answer = await decide("tool.execute.before", { tool, sessionID, callID, args: output.args })
      if (answer.error) throw new Error(answer.error)
      if (answer.args) Object.assign(output.args, answer.args)
      if (answer.append) later.set(callID, answer.append)
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      if (!EDITS.includes(tool)) return
      const before = later.get(callID)
      later.delete(callID)
      const answer = await hook("tool.execute.after", { tool, sessionID, callID, args })
      for (const text of [before, answer.append]) if (text) output.output += "\n\n" + text
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      if (!CONTEXT) return
      const { append } = await hook("chat.message", { sessionID })
      const last = parts.at(-1)
      if (!append || !last) return
      parts.push({ id: last.id + "0", messageID: message.id, sessionID, type: "text", text: append, synthetic: true })
    },
    event: async ({ event }) => {
      if (event.type === "permission.asked") permission(event.properties).catch(() => {})
      if (event.type === "session.idle") hook("session.idle", { sessionID: event.properties.sessionID })
    },
  }
}
