-- Commands of agents, in terminal buffers that the user can look at. They arrive only after the user allowed them.

local hub = require("linkspan.hub")
local notice = require("linkspan.notice")

local M = {}

local MAX_OUTPUT = 1024 * 1024

---@class linkspan.Terminal
---@field id string
---@field cwd? string
---@field environment table<string, string>
---@field output string
---@field running boolean
---@field code? integer

---@type table<string, linkspan.Terminal>
local terminals = {}
local created = 0

---Runs a program in the current buffer, which becomes a terminal.
---@param command string[]
---@param options table
---@return integer job
function M.start(command, options)
  if vim.fn.has("nvim-0.11") == 1 then
    return vim.fn.jobstart(command, vim.tbl_extend("force", options, { term = true }))
  end
  return vim.fn.termopen(command, options)
end

local function without_escapes(output)
  return (
    output
      :gsub("\27%][^\7\27]*\7", "")
      :gsub("\27%][^\7\27]*\27\\", "")
      :gsub("\27%[[%d;:?>=]*[ -/]*[@-~]", "")
      :gsub("\27[()][%w]", "")
      :gsub("\27.", "")
      :gsub("\r\n", "\n")
  )
end

local function run(terminal, command)
  local buf = vim.api.nvim_create_buf(true, true)
  terminal.output, terminal.running, terminal.code = "", true, nil
  local options = {
    cwd = terminal.cwd or hub.attach_params().folders[1],
    env = next(terminal.environment) and terminal.environment or nil,
    on_stdout = function(_, data) terminal.output = (terminal.output .. table.concat(data, "\n")):sub(-MAX_OUTPUT) end,
    on_exit = function(_, code)
      terminal.running, terminal.code = false, code
    end,
  }
  local ok, why = pcall(vim.api.nvim_buf_call, buf, function() return M.start(command, options) end)
  if not ok then
    vim.api.nvim_buf_delete(buf, { force = true })
    terminal.running = false
    hub.refuse(hub.errors.UNSUPPORTED, "the command could not be started: " .. tostring(why))
  end
  return buf
end

local function create(cwd, environment)
  created = created + 1
  local terminal = { id = "t" .. created, cwd = cwd, environment = environment, output = "", running = false }
  terminals[terminal.id] = terminal
  return terminal
end

local function known(id)
  return terminals[id] or hub.refuse(hub.errors.NOT_FOUND, ("there is no terminal %s in this Neovim"):format(id))
end

local function result_of(terminal)
  return { terminal = terminal.id, output = without_escapes(terminal.output), exitCode = terminal.code }
end

function M.attach()
  hub.on("terminal/create", function(params)
    local terminal = create(params.cwd, params.environment or {})
    return { terminal = terminal.id }
  end)
  hub.on("terminal/run", function(params)
    local terminal = params.terminal and known(params.terminal) or create(params.cwd, {})
    if terminal.running then terminal = create(terminal.cwd, terminal.environment) end
    terminal.cwd = params.cwd or terminal.cwd
    -- Not the user's shell, which may be none that understands commands of agents.
    local buf = run(terminal, { "sh", "-c", params.command })
    notice.info(("an agent runs a command in buffer %d: %s"):format(buf, params.command))
    local is_done = hub.poll(params.timeoutMs, function() return not terminal.running end)
    return vim.tbl_extend("force", result_of(terminal), { timedOut = not is_done })
  end)
  hub.on("terminal/output", function(params)
    local terminal = known(params.terminal)
    local result = result_of(terminal)
    return { output = result.output, running = terminal.running, exitCode = result.exitCode }
  end)
end

return M
