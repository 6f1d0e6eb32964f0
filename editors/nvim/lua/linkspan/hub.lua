-- The connection to the hub: the process `linkspan attach`, started, attached, and started again when it ends. Knows no
-- request by name except those of the connection itself.

local notice = require("linkspan.notice")
local protocol = require("linkspan.protocol")
local text = require("linkspan.text")

local M = {}

local VERSION = "0.1.0"
local FIRST_PAUSE_MS, LONGEST_PAUSE_MS = 500, 30000
---A process that ran this long has started successfully.
local HEALTHY_RUN_MS = 10000
---The exit code of a bug, which may not come again.
local INTERNAL_ERROR = 70
local ENDED = "the connection to the hub ended; try again in a moment"

M.errors = protocol.ERRORS

---What to do when `linkspan attach` says by its exit code why it does not go on.
local EXITS = {
  [3] = "there is no hub, and none could be started. Run `linkspan doctor`",
  [5] = "the hub did not admit this Neovim. Run `linkspan doctor`",
  [6] = "the running hub has a different version. Run `linkspan hub stop`, then `:Linkspan restart`",
}

---@class linkspan.State
---@field kind "starting"|"attached"|"away"|"failed"
---@field why? string
---@field window? string
---@field port? integer
---@field pending? string[]

---@type linkspan.State
M.state = { kind = "starting" }

---@type table<string, fun(params: table): any>
local handlers = {}
---@type (fun(state: linkspan.State))[]
local listeners = {}
---Requests without an answer.
---@type table<function, true>
local unanswered = {}
local rpc ---@type vim.lsp.rpc.PublicClient?
local pause = FIRST_PAUSE_MS
---Grows with each start, so that what belongs to an earlier process is ignored.
local run = 0

---Registers the handler of a request from the hub. It may wait with `await` and `poll`.
---@param method string
---@param handler fun(params: table): any
function M.on(method, handler) handlers[method] = handler end

---@param listener fun(state: linkspan.State)
function M.on_state(listener) listeners[#listeners + 1] = listener end

---Ends a handler with an error for the hub.
---@param code integer
---@param message string
function M.refuse(code, message) error({ code = code, message = message }, 0) end

---Waits in a handler for a callback.
---@param begin fun(resume: fun(...))
---@return any ...
function M.await(begin)
  local this, early, waiting = coroutine.running(), nil, false
  begin(function(...)
    if waiting then
      waiting = false
      coroutine.resume(this, ...)
    elseif early == nil then
      early = vim.F.pack_len(...)
    end
  end)
  if early then return vim.F.unpack_len(early) end
  waiting = true
  return coroutine.yield()
end

---Waits in a handler until something holds, at most this long.
---@param ms integer
---@param holds fun(): boolean
---@return boolean
function M.poll(ms, holds)
  local until_ms = vim.uv.now() + ms
  while not holds() do
    if vim.uv.now() >= until_ms then return false end
    M.await(function(resume) vim.defer_fn(resume, 25) end)
  end
  return true
end

---Invalid UTF-8, of a file's name for example, would end the connection.
local function encodable(value)
  if type(value) == "string" then
    return text.is_valid(value) and value or vim.fn.strtrans(value)
  elseif type(value) == "table" then
    for key, inner in pairs(value) do
      if type(inner) == "string" or type(inner) == "table" then value[key] = encodable(inner) end
    end
  end
  return value
end

local function set_state(state)
  M.state = state
  for _, listener in ipairs(listeners) do
    listener(state)
  end
  vim.cmd.redrawstatus()
end

local function answer(method, params)
  local handler = handlers[method]
  if not handler then
    return nil, { code = M.errors.METHOD_NOT_FOUND, message = ("Neovim does not support `%s`"):format(method) }
  end
  local ok, result = pcall(handler, params)
  if ok then return result == nil and vim.NIL or encodable(result) end
  local failed = type(result) == "table" and result or { code = M.errors.INTERNAL, message = tostring(result) }
  notice.log[#notice.log + 1] = ("%s: %s"):format(method, failed.message)
  return nil, { code = failed.code, message = encodable(failed.message) }
end

---Variables for terminals and what else is started here.
local function set_environment(environment)
  if not require("linkspan").config.environment then return end
  for name, value in pairs(environment) do
    vim.env[name] = value
  end
  local folder = vim.fs.dirname(M.program() or "")
  local path = vim.env.PATH or ""
  if folder ~= "." and not vim.list_contains(vim.split(path, ":", { plain = true }), folder) then
    vim.env.PATH = path .. ":" .. folder
  end
end

local function attached(window)
  set_environment(window.environment)
  set_state({ kind = "attached", window = window.window, port = window.port, pending = window.pendingReviews })
end

local function fail(why)
  set_state({ kind = "failed", why = why })
  notice.warn(why .. ". See :checkhealth linkspan", vim.log.levels.ERROR)
end

---The program as an absolute path.
---@return string?
function M.program()
  local named = require("linkspan").config.program
  local path = vim.fn.exepath(named == "" and "linkspan" or vim.fn.expand(named))
  return path ~= "" and path or nil
end

local function abandon_requests()
  local callbacks = vim.tbl_keys(unanswered)
  unanswered = {}
  for _, callback in ipairs(callbacks) do
    callback(ENDED)
  end
end

---The process of a run ended. It is started again, unless it said before it was attached that this is useless.
local function ended(this, started_ms, is_attached, code)
  if this ~= run then return end
  rpc = nil
  abandon_requests()
  if not is_attached and code ~= INTERNAL_ERROR and code ~= 0 then
    return fail(EXITS[code] or ("`linkspan attach` ended with code %d; :LspLog has what it printed"):format(code))
  end
  local is_healthy = vim.uv.now() - started_ms >= HEALTHY_RUN_MS
  pause = is_healthy and FIRST_PAUSE_MS or math.min(pause * 2, LONGEST_PAUSE_MS)
  set_state({ kind = "away", why = ("`linkspan attach` ended with code %d and is started again"):format(code) })
  vim.defer_fn(function()
    if this == run then M.start() end
  end, pause)
end

function M.start()
  run = run + 1
  local this, started_ms, is_attached = run, vim.uv.now(), false
  local program = M.program()
  if not program then
    local named = require("linkspan").config.program
    return fail(
      named == "" and "there is no `linkspan` on PATH. Install it, or set `program` in setup()"
        or ("`program` is %s, which cannot be executed"):format(named)
    )
  end
  -- `vim.lsp.rpc` sends no code that it does not know.
  for name, code in pairs(M.errors) do
    vim.lsp.protocol.ErrorCodes[code] = vim.lsp.protocol.ErrorCodes[code] or ("Linkspan" .. name)
  end
  local ok, client = pcall(vim.lsp.rpc.start, { program, "attach" }, {
    notification = function(method, params)
      if this ~= run then
        return
      elseif method == "hub/lost" then
        set_state({ kind = "away", why = params.reason })
      elseif method == "hub/back" then
        attached(params)
      end
    end,
    server_request = answer,
    on_exit = function(code)
      vim.schedule(function() ended(this, started_ms, is_attached, code) end)
    end,
    on_error = function(_, what) notice.log[#notice.log + 1] = "connection: " .. vim.inspect(what) end,
  })
  if not ok then return fail(("%s cannot be started (%s)"):format(program, client)) end
  rpc = client
  client.request("attach", M.attach_params(), function(failed, window)
    if this ~= run then
      return
    elseif failed then
      return fail("the hub did not take this Neovim: " .. tostring(failed.message))
    end
    is_attached, pause = true, FIRST_PAUSE_MS
    attached(window)
  end)
end

---@return table
function M.attach_params()
  local version = vim.version()
  return encodable({
    protocol = protocol.PROTOCOL,
    version = VERSION,
    editor = { name = "Neovim", version = ("%d.%d.%d"):format(version.major, version.minor, version.patch) },
    pid = vim.fn.getpid(),
    folders = require("linkspan").config.folders(),
    capabilities = {
      documents = true,
      selection = true,
      diagnostics = true,
      reviews = true,
      edits = true,
      editRanges = false,
      format = true,
      language = true,
      terminal = true,
      messages = true,
      questions = true,
      executeCode = false,
      trusted = true,
    },
  })
end

---Ends the process and starts another.
function M.restart()
  run = run + 1
  local old = rpc
  rpc, pause = nil, FIRST_PAUSE_MS
  abandon_requests()
  set_state({ kind = "starting" })
  if old then old.terminate() end
  -- The hub would see two windows if the next began before.
  vim.defer_fn(M.start, 200)
end

---Why nothing can be sent to the hub now.
---@return string?
function M.why_away()
  if M.state.kind == "attached" then return nil end
  return "not connected to the hub: " .. (M.state.why or "still starting")
end

---@param method string
---@param params table
---@param callback fun(failed: string?, result: any)
function M.request(method, params, callback)
  local away = M.why_away()
  if not rpc or away then return callback(away or ENDED) end
  local function done(failed, result)
    if unanswered[done] then
      unanswered[done] = nil
      callback(failed, result)
    end
  end
  unanswered[done] = true
  local sent = rpc.request(
    method,
    encodable(params),
    function(failed, result) done(failed and tostring(failed.message) or nil, result) end
  )
  if not sent then done(ENDED) end
end

---Dropped while there is no connection.
---@param method string
---@param params table
function M.notify(method, params)
  if rpc and M.state.kind == "attached" then rpc.notify(method, encodable(params)) end
end

return M
