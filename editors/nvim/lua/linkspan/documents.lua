-- The files that are open in Neovim: listing, reading, opening, changing, saving and closing them.

local hub = require("linkspan.hub")
local text = require("linkspan.text")

local M = {}

local CHANGED_MS = 50

---A buffer that holds a file, and is not only loaded to be read.
local function is_document(buf)
  local bo = vim.bo[buf]
  local name = vim.api.nvim_buf_get_name(buf)
  return vim.api.nvim_buf_is_loaded(buf)
    and bo.buftype == ""
    and name:sub(1, 1) == "/"
    and (bo.buflisted or bo.modified)
end

---@return integer[]
function M.all() return vim.tbl_filter(is_document, vim.api.nvim_list_bufs()) end

---The buffer of a path, which the user may have opened through a link.
---@param path string
---@return integer?
function M.buffer(path)
  local real
  for _, buf in ipairs(M.all()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if name == path then return buf end
    real = real or vim.uv.fs_realpath(path) or path
    if vim.fs.basename(name) == vim.fs.basename(path) and vim.uv.fs_realpath(name) == real then return buf end
  end
end

local function needed(path)
  local buf = M.buffer(path)
  return buf or hub.refuse(hub.errors.NOT_FOUND, path .. " is not open in Neovim: open it first")
end

---Loads a file without showing it. A swap file of another Neovim asks nothing: the file is only read.
---@param path string
---@return integer
function M.load(path)
  local buf = M.buffer(path)
  if buf then return buf end
  local file = vim.uv.fs_stat(path)
  if not file or file.type ~= "file" then hub.refuse(hub.errors.NOT_FOUND, "there is no file " .. path) end
  buf = vim.fn.bufadd(path)
  local messages = vim.o.shortmess
  vim.opt.shortmess:append("A")
  local ok, why = pcall(vim.fn.bufload, buf)
  vim.o.shortmess = messages
  if not ok then hub.refuse(hub.errors.UNSUPPORTED, ("Neovim cannot open %s: %s"):format(path, why)) end
  return buf
end

---The window that shows a buffer, preferably the current one.
local function window(buf)
  local wins = vim.fn.win_findbuf(buf)
  local here = vim.api.nvim_get_current_win()
  return vim.list_contains(wins, here) and here or wins[1]
end

local function cursor_range(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local row, byte = unpack(vim.api.nvim_win_get_cursor(win))
  local at = text.position(buf, row - 1, byte)
  return { start = at, ["end"] = at }
end

---The document that is active, or was last.
---@type integer?
local last_active

local function describe(buf)
  local win = window(buf)
  local path = vim.api.nvim_buf_get_name(buf)
  return {
    path = path,
    label = vim.fs.basename(path),
    active = buf == last_active,
    dirty = vim.bo[buf].modified,
    untitled = false,
    pinned = false,
    preview = false,
    language = vim.bo[buf].filetype ~= "" and vim.bo[buf].filetype or nil,
    groupIndex = 0,
    groupActive = true,
    lineCount = vim.api.nvim_buf_line_count(buf),
    selection = win and { range = cursor_range(win), reversed = false } or nil,
    version = vim.api.nvim_buf_get_changedtick(buf),
  }
end

local function read(params)
  local buf = M.buffer(params.path)
  if not buf then return { open = false, dirty = false } end
  local content = text.of_buffer(buf, text.ending(buf))
  if not text.is_valid(content) then
    if vim.bo[buf].modified then
      hub.refuse(hub.errors.UNSUPPORTED, params.path .. " has unsaved changes and is not valid UTF-8: save it first")
    end
    -- The file counts, which the hub reads in its own encoding.
    return { open = false, dirty = false }
  end
  return {
    open = true,
    dirty = vim.bo[buf].modified,
    version = vim.api.nvim_buf_get_changedtick(buf),
    language = vim.bo[buf].filetype ~= "" and vim.bo[buf].filetype or nil,
    text = content,
  }
end

---Whether somebody else wrote the file since it was read. Neovim would ask the user, and wait.
local function is_changed_on_disk(buf)
  local reason
  local watch = vim.api.nvim_create_autocmd("FileChangedShell", {
    buffer = buf,
    callback = function()
      reason, vim.v.fcs_choice = vim.v.fcs_reason, ""
    end,
  })
  vim.cmd("silent! checktime " .. buf)
  vim.api.nvim_del_autocmd(watch)
  return reason == "conflict" or reason == "changed"
end

---Saves without asking anything: whoever calls this knows what the file holds.
local function save(buf)
  if vim.bo[buf].readonly or vim.bo[buf].buftype ~= "" then return "the buffer is read-only: save it with `:w!`" end
  local ok, why = pcall(vim.api.nvim_buf_call, buf, function() vim.cmd("silent keepalt write!") end)
  if not ok or vim.bo[buf].modified then return ok and "it is still modified after saving" or tostring(why) end
end

local function apply(params)
  local buf = M.buffer(params.path)
  local version = buf and vim.api.nvim_buf_get_changedtick(buf)
  if not buf or (params.version and params.version ~= version) or not vim.bo[buf].modifiable then
    return { applied = false, saved = false, version = version }
  end
  if params.edits.kind == "text" then
    local ending = text.ending(buf)
    local content = params.edits.text
    local lines, eol = text.lines(ending == "\n" and content or (content:gsub(ending, "\n")))
    text.set_lines(buf, lines)
    vim.b[buf].linkspan_one_line = content == ending
    vim.bo[buf].endofline = eol
    -- As with every file, unless the user wants a last line to get its end.
    vim.bo[buf].fixendofline = eol and vim.bo[buf].fixendofline
  else
    vim.lsp.util.apply_text_edits(params.edits.edits, buf, "utf-16")
  end
  local why = params.save and save(buf)
  if why then require("linkspan.notice").warn(("%s was changed here but not saved: %s"):format(params.path, why)) end
  local now = text.of_buffer(buf, text.ending(buf))
  local differs = params.edits.kind == "text" and now ~= params.edits.text
  return {
    applied = true,
    saved = params.save and not why,
    version = vim.api.nvim_buf_get_changedtick(buf),
    text = differs and now or nil,
  }
end

---Where a target is, as byte offsets into the text.
local function find(buf, target)
  if target.kind == "range" then return target.range end
  local content = text.of_buffer(buf, "\n")
  local first, last = content:find(text.with_lf(target.start), 1, true)
  if first and target["end"] then
    local _, stop = content:find(text.with_lf(target["end"]), last + 1, true)
    last = stop
  end
  if not first or not last then return end
  local function position(offset)
    local before = content:sub(1, offset)
    local _, row = before:gsub("\n", "")
    return text.position(buf, row, #before - #before:gsub("[^\n]*$", ""))
  end
  local range = { start = position(first - 1), ["end"] = position(last) }
  if target.toEndOfLine then range["end"] = text.position(buf, range["end"].line, math.huge) end
  return range
end

local function open(params)
  local buf = M.load(params.path)
  vim.bo[buf].buflisted = true
  local result = {
    language = vim.bo[buf].filetype ~= "" and vim.bo[buf].filetype or nil,
    lineCount = vim.api.nvim_buf_line_count(buf),
  }
  local win = window(buf)
  local here = vim.api.nvim_get_current_win()
  local is_busy = vim.api.nvim_get_mode().mode ~= "n" or vim.bo.buftype ~= ""
  if params.focus and not is_busy then
    if win then
      vim.api.nvim_set_current_win(win)
    else
      vim.cmd("tab sbuffer " .. buf)
      win = vim.api.nvim_get_current_win()
    end
  elseif not win then
    -- The window that the user works in keeps its file.
    require("linkspan.notice").info("an agent opened " .. vim.fn.fnamemodify(params.path, ":~:."))
  end
  local range = params.target and find(buf, params.target)
  if range and win and (params.focus or win ~= here) then
    vim.api.nvim_win_set_cursor(win, text.cursor(buf, range.start))
    result.selected = range
  end
  return result
end

local function close(params)
  local buf = M.buffer(params.path)
  if buf and not vim.bo[buf].modified then
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      local ok = pcall(vim.api.nvim_win_close, win, false)
      if not ok then
        -- The last window stays, with an empty buffer.
        vim.api.nvim_win_set_buf(win, vim.api.nvim_create_buf(true, false))
      end
    end
    pcall(vim.api.nvim_buf_delete, buf, {})
  end
  return { closed = M.buffer(params.path) == nil }
end

local function visible(params)
  local buf = M.buffer(params.path)
  local win = buf and window(buf)
  if not buf or not win then return vim.empty_dict() end
  local first, last = vim.fn.line("w0", win), vim.fn.line("w$", win)
  return { range = { start = { line = first - 1, character = 0 }, ["end"] = text.position(buf, last - 1, math.huge) } }
end

local function follow_active()
  local buf = vim.api.nvim_get_current_buf()
  last_active = is_document(buf) and buf or last_active
end

function M.attach()
  follow_active()
  local is_due = false
  vim.api.nvim_create_autocmd({ "BufEnter", "BufAdd", "BufDelete", "BufModifiedSet", "BufFilePost" }, {
    desc = "Linkspan: the open documents",
    callback = function()
      follow_active()
      if not is_due then
        is_due = true
        vim.defer_fn(function()
          is_due = false
          hub.notify("documents/changed", vim.empty_dict())
        end, CHANGED_MS)
      end
    end,
  })
  hub.on("ping", function() end)
  hub.on("documents/list", function() return { documents = vim.tbl_map(describe, M.all()) } end)
  hub.on("document/text", read)
  hub.on("document/dirty", function(params)
    local buf = M.buffer(params.path)
    return { open = buf ~= nil, dirty = buf ~= nil and vim.bo[buf].modified, untitled = false }
  end)
  hub.on("document/save", function(params)
    local buf = M.buffer(params.path)
    if not buf then return { open = false, saved = false } end
    local is_newer = vim.bo[buf].modified and is_changed_on_disk(buf)
    local why = is_newer and "the file changed on disk since Neovim read it: the user has to save it" or save(buf)
    return { open = true, saved = why == nil, message = why }
  end)
  hub.on("document/close", close)
  hub.on("document/open", open)
  hub.on("document/reveal", function(params)
    local buf = M.buffer(params.path)
    local win = buf and window(buf)
    if buf and win and win ~= vim.api.nvim_get_current_win() then
      vim.api.nvim_win_set_cursor(win, text.cursor(buf, params.range.start))
    elseif buf and win then
      -- Only scrolls: the cursor is where the user types, and moves no further than it must.
      vim.fn.winrestview({ topline = math.max(1, params.range.start.line + 1 - math.floor(vim.fn.winheight(win) / 2)) })
    end
    return { revealed = win ~= nil }
  end)
  hub.on("document/visibleRange", visible)
  hub.on("edits/apply", apply)
  hub.on(
    "document/format",
    function(params) return require("linkspan.language").format(needed(params.path), params.range) end
  )
  hub.on_state(function(state)
    if state.kind == "attached" then
      hub.notify("folders/changed", { folders = require("linkspan").config.folders() })
    end
  end)
  vim.api.nvim_create_autocmd({ "DirChanged", "TabClosed" }, {
    desc = "Linkspan: the workspace folders",
    callback = function() hub.notify("folders/changed", { folders = require("linkspan").config.folders() }) end,
  })
end

return M
