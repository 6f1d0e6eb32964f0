-- What agents learn without asking: the selection, what the user points at, diagnostics, and the focus.

local hub = require("linkspan.hub")
local notice = require("linkspan.notice")
local text = require("linkspan.text")

local M = {}

local SELECTION_MS, DIAGNOSTICS_MS = 100, 150
---Enough for any agent.
local MAX_TEXT = 1000000
---A server that has reported since the last change is done when it stays quiet for this long; one that has not, after the
---second time; one that never reported on the file may still be starting.
local QUIET_MS, SILENT_MS, STARTING_MS = 250, 2000, 10000
local DEFAULT_WAIT_MS, LONGEST_WAIT_MS = 2000, 60000
local SEVERITIES = { "error", "warning", "info", "hint" }

---@type linkspan.Selection?
local latest

local function is_file(buf) return vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf):sub(1, 1) == "/" end

---The selection in the current buffer, if it is a file. Rows from 0.
local function current()
  local buf = vim.api.nvim_get_current_buf()
  if not is_file(buf) then return nil end
  local path = vim.api.nvim_buf_get_name(buf)
  local mode = vim.fn.mode()
  if not mode:find("^[vV\22]") then
    local row, byte = unpack(vim.api.nvim_win_get_cursor(0))
    local at = text.position(buf, row - 1, byte)
    return { path = path, text = "", range = { start = at, ["end"] = at }, isEmpty = true, reversed = false }
  end
  local from, to = vim.fn.getpos("v"), vim.fn.getpos(".")
  local reversed = from[2] > to[2] or (from[2] == to[2] and from[3] > to[3])
  local lines = vim.fn.getregion(from, to, { type = mode })
  if reversed then
    from, to = to, from
  end
  local start, stop
  if mode == "V" then
    start, stop = { line = from[2] - 1, character = 0 }, text.position(buf, to[2] - 1, math.huge)
  else
    local last = vim.api.nvim_buf_get_lines(buf, to[2] - 1, to[2], false)[1] or ""
    -- The character under the cursor is part of the selection.
    local after = math.min(#last, to[3] - 1)
    local width = #last > after and #(vim.fn.matchstr(last:sub(after + 1), ".")) or 0
    start, stop = text.position(buf, from[2] - 1, from[3] - 1), text.position(buf, to[2] - 1, after + width)
  end
  local selected = table.concat(lines, "\n"):sub(1, MAX_TEXT)
  return {
    path = path,
    text = text.is_valid(selected) and selected or vim.fn.strtrans(selected),
    range = { start = start, ["end"] = stop },
    isEmpty = false,
    reversed = reversed,
  }
end

---The file under the cursor of a file explorer.
local function explored()
  local kind = vim.bo.filetype
  if kind == "oil" then
    local oil = require("oil")
    local folder, entry = oil.get_current_dir(), oil.get_cursor_entry()
    return folder and entry and vim.fs.joinpath(folder, entry.name)
  elseif kind == "neo-tree" then
    local state = require("neo-tree.sources.manager").get_state_for_window()
    local node = state and state.tree and state.tree:get_node()
    return node and node.path
  elseif kind == "netrw" then
    return vim.fs.joinpath(vim.b.netrw_curdir, vim.fn["netrw#Call"]("NetrwGetWord"))
  end
end

---`:[range]Linkspan send [files]`.
---@param words string[]
---@param call table
function M.send(words, call)
  local away = hub.why_away()
  if away then return notice.warn(away) end
  local named = {}
  for _, word in ipairs(words) do
    named[#named + 1] = { path = vim.fn.fnamemodify(vim.fn.expand(word), ":p") }
  end
  local ok, path = pcall(explored)
  if #named == 0 and ok and path then
    named = { { path = path } }
  elseif #named == 0 and is_file(0) then
    local lines = call.range > 0 and { first = call.line1 - 1, last = call.line2 - 1 } or nil
    named = { { path = vim.api.nvim_buf_get_name(0), lines = lines } }
  end
  if #named == 0 then return notice.warn("there is no file here to send") end
  for _, mention in ipairs(named) do
    if not vim.uv.fs_stat(mention.path) then return notice.warn(mention.path .. " is not a file on this machine") end
    hub.notify("mentioned", mention)
  end
  local lines = named[1].lines
  local what = vim.fs.basename(named[1].path) .. (lines and (":%d-%d"):format(lines.first + 1, lines.last + 1) or "")
  notice.info("mentioned " .. what .. (#named > 1 and (" and %d more"):format(#named - 1) or "") .. " to agents")
end

local function describe(path, buf, is_settled)
  local found = vim.diagnostic.get(buf)
  table.sort(found, function(a, b) return a.lnum < b.lnum or (a.lnum == b.lnum and a.col < b.col) end)
  local diagnostics = vim.tbl_map(
    function(each)
      return {
        message = each.message,
        severity = SEVERITIES[each.severity] or "error",
        range = {
          start = text.position(buf, each.lnum, each.col),
          ["end"] = text.position(buf, each.end_lnum or each.lnum, each.end_col or each.col),
        },
        source = each.source,
        code = each.code and tostring(each.code) or nil,
      }
    end,
    found
  )
  local version = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_changedtick(buf) or nil
  return { path = path, version = version, settled = is_settled, diagnostics = diagnostics }
end

local function attach_diagnostics()
  ---By buffer: the version of its text that was last seen, since when, and when its diagnostics changed.
  local seen, changed, reported = {}, {}, {} ---@type table<integer, integer>, table<integer, integer>, table<integer, integer>
  local unsent = {} ---@type table<integer, true>
  ---Notices a change of the text, which raises no event in a buffer that is not the current one.
  local function look(buf, now)
    local version = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_changedtick(buf) or 0
    if seen[buf] ~= version then
      seen[buf], changed[buf] = version, now
    end
  end
  local function report(buf)
    reported[buf] = vim.uv.now()
    look(buf, reported[buf] - 1)
  end
  for _, each in ipairs(vim.diagnostic.get()) do
    report(each.bufnr)
  end
  vim.api.nvim_create_autocmd("DiagnosticChanged", {
    desc = "Linkspan: diagnostics",
    callback = function(event)
      report(event.buf)
      if next(unsent) == nil then
        vim.defer_fn(function()
          local files = {}
          for buf in pairs(unsent) do
            if vim.api.nvim_buf_is_valid(buf) and is_file(buf) then
              files[#files + 1] = { path = vim.api.nvim_buf_get_name(buf) }
            end
          end
          unsent = {}
          if #files > 0 then hub.notify("diagnostics/changed", { files = files }) end
        end, DIAGNOSTICS_MS)
      end
      unsent[event.buf] = true
    end,
  })
  local function is_settled(buf)
    look(buf, vim.uv.now())
    local change, last = changed[buf], reported[buf]
    local has_server = #vim.lsp.get_clients({ bufnr = buf }) > 0
    local wait = last and (last > change and QUIET_MS or SILENT_MS) or (has_server and STARTING_MS or SILENT_MS)
    return vim.uv.now() - math.max(change, last or 0) >= wait
  end
  hub.on("diagnostics/get", function(params)
    local function buffers()
      if not params.path then
        local all = vim.tbl_filter(
          function(buf) return vim.api.nvim_buf_is_valid(buf) and is_file(buf) and #vim.diagnostic.get(buf) > 0 end,
          vim.api.nvim_list_bufs()
        )
        return all
      end
      return { require("linkspan.documents").buffer(params.path) }
    end
    local wait = params.waitMs or (params.path and DEFAULT_WAIT_MS or 0)
    hub.poll(math.min(wait, LONGEST_WAIT_MS), function() return vim.iter(buffers()):all(is_settled) end)
    local files = vim.tbl_map(
      function(buf) return describe(params.path or vim.api.nvim_buf_get_name(buf), buf, is_settled(buf)) end,
      buffers()
    )
    if params.path and #files == 0 then files = { { path = params.path, settled = false, diagnostics = {} } } end
    return { files = files }
  end)
end

function M.attach()
  latest = current()
  local is_due = false
  vim.api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "ModeChanged", "BufEnter" }, {
    desc = "Linkspan: the selection",
    callback = function()
      if is_due then return end
      is_due = true
      vim.defer_fn(function()
        is_due = false
        local now = current()
        if now then
          latest = now
          hub.notify("selection/changed", { selection = vim.deepcopy(now) })
        end
      end, SELECTION_MS)
    end,
  })
  hub.on("selection/current", current)
  hub.on("selection/latest", function()
    latest = current() or latest
    return vim.deepcopy(latest)
  end)
  for event, focused in pairs({ FocusGained = true, FocusLost = false }) do
    vim.api.nvim_create_autocmd(event, {
      desc = "Linkspan: the focus",
      callback = function() hub.notify("focus/changed", { focused = focused }) end,
    })
  end
  attach_diagnostics()
end

return M
