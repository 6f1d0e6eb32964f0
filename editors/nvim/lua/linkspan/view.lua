-- Reviews on the screen: buffers, tab pages, signs, and which review and hunk the cursor is in. Decides nothing. The focus
-- moves only on the user's request.

local hub = require("linkspan.hub")
local notice = require("linkspan.notice")
local text = require("linkspan.text")

local M = {}

local NAMESPACE = vim.api.nvim_create_namespace("linkspan")
local COMMENTS = vim.api.nvim_create_namespace("linkspan.comments")
local SCHEMES = { base = "linkspan-base://", proposed = "linkspan://" }
---Below this, both texts are one above the other.
local WIDE_COLUMNS = 80
local TYPING_MS = 200
---More removed lines than this are only counted.
local MAX_REMOVED = 200

local group = vim.api.nvim_create_augroup("linkspan.view", {})
---The revision that the hub was last told about, by review.
---@type table<string, integer>
local reported = {}

local function reviews() return require("linkspan.reviews") end

local function name_of(review, side) return SCHEMES[side] .. review.shown.review .. review.shown.path end

local function parse(buf)
  if not vim.api.nvim_buf_is_valid(buf) then return end
  local name = vim.api.nvim_buf_get_name(buf)
  for side, scheme in pairs(SCHEMES) do
    if vim.startswith(name, scheme) then return reviews().get(name:sub(#scheme + 1):match("^[^/]+")), side end
  end
end

local function existing(review, side)
  local name = name_of(review, side)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buf) == name then return buf end
  end
end

local function fill(buf, content, is_first)
  local bo = vim.bo[buf]
  local was_modifiable, levels = bo.modifiable, bo.undolevels
  bo.modifiable = true
  -- The first text cannot be undone.
  bo.undolevels = is_first and -1 or levels
  local lines, eol = text.lines(content)
  text.set_lines(buf, lines)
  vim.b[buf].linkspan_one_line = content == "\n"
  bo.fixendofline = false
  bo.endofline = eol or content == ""
  bo.undolevels = levels
  bo.modifiable = was_modifiable
  bo.modified = false
end

local function make(review, side)
  local buf = existing(review, side) or vim.api.nvim_create_buf(false, true)
  local bo = vim.bo[buf]
  bo.buftype = side == "proposed" and "acwrite" or "nofile"
  bo.bufhidden, bo.swapfile, bo.modeline, bo.undofile = "hide", false, false, false
  vim.b[buf].editorconfig = false
  if vim.api.nvim_buf_get_name(buf) == "" then vim.api.nvim_buf_set_name(buf, name_of(review, side)) end
  fill(buf, side == "base" and text.with_lf(review.shown.base) or review.proposed, true)
  bo.modifiable = side == "proposed"
  local filetype = vim.filetype.match({ filename = review.shown.path, buf = buf })
  if filetype then
    -- A plugin for the file type may fail on a buffer without a file.
    pcall(function() bo.filetype = filetype end)
  end
  for command, key in pairs(require("linkspan").config.keys) do
    if key then
      local options = { buffer = buf, desc = "Linkspan: " .. command }
      vim.keymap.set("n", key, ("<Cmd>Linkspan %s<CR>"):format(command), options)
    end
  end
  if side == "proposed" then review.buf = buf end
  return buf
end

local function buffer(review, side)
  local buf = existing(review, side)
  if buf and vim.api.nvim_buf_is_loaded(buf) then return buf end
  return make(review, side)
end

---The review that the user means: the one here, or the only one.
---@return linkspan.Review?
---@return ("base"|"proposed")? side
function M.current()
  local review, side = parse(vim.api.nvim_get_current_buf())
  if review then return review, side end
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    review, side = parse(vim.api.nvim_win_get_buf(win))
    if review then return review, side end
  end
  local pending = reviews().pending()
  return #pending == 1 and pending[1] or nil
end

---The windows that show a review, of all tab pages.
local function windows(review)
  return vim.tbl_filter(
    function(win) return parse(vim.api.nvim_win_get_buf(win)) == review end,
    vim.api.nvim_list_wins()
  )
end

local function is_inline(review) return review.shown.inline or require("linkspan").config.style == "inline" end

---The hunk at the cursor, or the only one.
---@param review linkspan.Review
---@return linkspan.ReviewHunk?
function M.hunk(review)
  local here, side = parse(vim.api.nvim_get_current_buf())
  if here ~= review then return #review.shown.hunks == 1 and review.shown.hunks[1] or nil end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local near
  for _, hunk in ipairs(review.shown.hunks) do
    local start = side == "base" and hunk.beforeStart or hunk.afterStart
    local count = side == "base" and hunk.beforeCount or hunk.afterCount
    if row >= start and row < start + count then
      return hunk
    elseif count == 0 and (row == start or row == start - 1) then
      -- Lines that are not on this side are between two lines.
      near = hunk
    end
  end
  return near
end

local function look_of(review, index, hunk)
  local mark = review.marks[hunk.id]
  local label = ("hunk %d of %d"):format(index, #review.shown.hunks)
  if mark == "accepted" then
    return label .. ": accepted", "LinkspanAccepted", "+"
  elseif mark == "left" then
    return label .. ": left out", "LinkspanLeft", "-"
  end
  return label, "LinkspanHunk", "┃"
end

---The removed lines of a hunk as virtual lines.
local function removed_lines(base, hunk)
  local lines = {}
  for row = hunk.beforeStart + 1, hunk.beforeStart + math.min(hunk.beforeCount, MAX_REMOVED) do
    lines[#lines + 1] = { { "- " .. text.plain(base[row] or ""), "LinkspanRemoved" } }
  end
  if hunk.beforeCount > MAX_REMOVED then
    lines[#lines + 1] = { { ("… %d more removed lines"):format(hunk.beforeCount - MAX_REMOVED), "LinkspanRemoved" } }
  end
  return lines
end

local function draw_hunks(review, buf)
  vim.api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  local last = vim.api.nvim_buf_line_count(buf) - 1
  local base = is_inline(review) and text.lines(text.with_lf(review.shown.base)) or nil
  for index, hunk in ipairs(review.shown.hunks) do
    local label, highlight, sign = look_of(review, index, hunk)
    local row = math.max(0, math.min(hunk.afterStart, last))
    local is_past = hunk.afterStart > last
    vim.api.nvim_buf_set_extmark(buf, NAMESPACE, row, 0, {
      sign_text = sign,
      sign_hl_group = highlight,
      virt_text = { { label, highlight } },
    })
    if base then
      if hunk.afterCount > 0 then
        vim.api.nvim_buf_set_extmark(buf, NAMESPACE, row, 0, {
          end_row = math.min(row + hunk.afterCount, last + 1),
          hl_group = "LinkspanAdded",
          hl_eol = true,
          strict = false,
        })
      end
      local lines = removed_lines(base, hunk)
      if #lines > 0 then
        vim.api.nvim_buf_set_extmark(buf, NAMESPACE, row, 0, { virt_lines = lines, virt_lines_above = not is_past })
      end
    end
  end
  for _, conflict in ipairs(review.shown.conflicts) do
    vim.api.nvim_buf_set_extmark(buf, NAMESPACE, math.max(0, math.min(conflict.afterStart, last)), 0, {
      sign_text = "!",
      sign_hl_group = "LinkspanConflict",
      virt_text = { { "conflict: the file changed here too", "LinkspanConflict" } },
      priority = 5000,
    })
  end
end

local function draw_bar(review, win, side)
  local shown = review.shown
  local title = " now"
  if side == "proposed" then
    local state = #shown.conflicts > 0 and (", %d conflicts"):format(#shown.conflicts)
      or review.newer and ", changed while you were editing"
      or shown.ownerGone and ", the agent is gone"
      or ""
    local new = (shown.newFile and " (new)" or "") .. (shown.lineEndings and ", " .. shown.lineEndings or "")
    title = (" %s proposes %s%s%s"):format(shown.agent, vim.fs.basename(shown.path), new, state)
  end
  local note = shown.receivesNotes and (side == "base" or is_inline(review)) and "  " .. shown.receivesNotes.all or ""
  -- Neovim itself would cut the beginning.
  local room = vim.api.nvim_win_get_width(win) - vim.fn.strdisplaywidth(title)
  if vim.fn.strdisplaywidth(note) > room then note = vim.fn.strcharpart(note, 0, math.max(0, room - 1)) .. "…" end
  local function escaped(line) return (text.plain(line):gsub("%%", "%%%%")) end
  vim.wo[win].winbar = escaped(title) .. "%#LinkspanConflict#" .. escaped(note)
end

---Draws marks, conflicts and the state of a review again.
---@param review linkspan.Review
function M.redraw(review)
  local buf = existing(review, "proposed")
  if buf and vim.api.nvim_buf_is_loaded(buf) then draw_hunks(review, buf) end
  for _, win in ipairs(windows(review)) do
    local _, side = parse(vim.api.nvim_win_get_buf(win))
    draw_bar(review, win, side --[[@as string]])
  end
end

local function report_shown(review)
  if reported[review.shown.review] ~= review.shown.revision and #windows(review) > 0 then
    reported[review.shown.review] = review.shown.revision
    hub.notify("review/shown", { review = review.shown.review, revision = review.shown.revision })
  end
end

---A review is new.
---@param review linkspan.Review
function M.arrived(review)
  local mode = vim.api.nvim_get_mode()
  local is_idle = mode.mode == "n" and not mode.blocking and vim.fn.getcmdwintype() == ""
  if require("linkspan").config.open == "tab" and is_idle and not review.shown.omitted then return M.open(review) end
  notice.info(reviews().describe(review) .. ". Look at it: :Linkspan review")
end

---A review has another state, and perhaps another text.
---@param review linkspan.Review
---@param is_new boolean The proposed text is another, and replaces what is on the screen.
function M.update(review, is_new)
  local base, proposed = existing(review, "base"), existing(review, "proposed")
  if base and vim.api.nvim_buf_is_loaded(base) then fill(base, text.with_lf(review.shown.base), false) end
  if is_new and proposed and vim.api.nvim_buf_is_loaded(proposed) then fill(proposed, review.proposed, false) end
  M.redraw(review)
  report_shown(review)
end

---The window is a copy of the one that the user was in.
local function put(buf)
  vim.wo[0][0].winfixbuf, vim.wo[0][0].diff = false, false
  vim.api.nvim_win_set_buf(0, buf)
end

local function open_too_large(review)
  local name = reviews().name(review)
  local choices = { "Review it in a terminal", "Accept", "Reject", "Decide later" }
  vim.ui.select(choices, { prompt = ("The change of %s is too large to show here"):format(name) }, function(chosen)
    if chosen == choices[1] then
      vim.cmd("tabnew")
      require("linkspan.terminal").start({ hub.program(), "review", review.shown.review }, {})
      vim.cmd.startinsert()
    elseif chosen == choices[2] or chosen == choices[3] then
      reviews().decide(review, { kind = chosen:lower() })
    end
  end)
end

---Opens a review in a tab page of its own, or goes there.
---@param review linkspan.Review
function M.open(review)
  if review.shown.omitted then return open_too_large(review) end
  local there = windows(review)
  if #there > 0 then
    vim.api.nvim_set_current_win(there[#there])
    return
  end
  local base, proposed = buffer(review, "base"), buffer(review, "proposed")
  review.from = vim.api.nvim_get_current_tabpage()
  vim.cmd("tab split")
  if is_inline(review) then
    put(proposed)
  else
    put(base)
    vim.cmd.diffthis()
    vim.cmd(vim.o.columns >= WIDE_COLUMNS and "rightbelow vertical split" or "rightbelow split")
    put(proposed)
    vim.cmd.diffthis()
  end
  -- Only here: new windows would inherit what is set for the window alone.
  vim.wo[0][0].signcolumn = "yes"
  M.redraw(review)
  local first = review.shown.hunks[1]
  if first then
    vim.api.nvim_win_set_cursor(0, text.cursor(proposed, { line = first.afterStart, character = 0 }))
    vim.cmd("normal! zz")
  end
  M.redraw_comments(review)
  report_shown(review)
end

---@param review linkspan.Review
---@param mark integer?
---@return integer?
function M.row_of(review, mark)
  local buf = mark and existing(review, "proposed")
  local at = buf and vim.api.nvim_buf_get_extmark_by_id(buf, COMMENTS, mark, {})
  return at and at[1]
end

---@param review linkspan.Review
function M.redraw_comments(review)
  local buf = existing(review, "proposed")
  if not buf then return end
  local now = reviews().comments(review)
  vim.api.nvim_buf_clear_namespace(buf, COMMENTS, 0, -1)
  for i, comment in ipairs(review.comments) do
    comment.line = math.max(1, math.min(now[i].line, vim.api.nvim_buf_line_count(buf)))
    local lines = vim.tbl_map(
      function(line) return { { "  » " .. line, "LinkspanComment" } } end,
      vim.split(comment.text, "\n", { plain = true })
    )
    comment.mark = vim.api.nvim_buf_set_extmark(buf, COMMENTS, comment.line - 1, 0, { virt_lines = lines })
  end
end

---Removes a review from the screen, and goes back to where it was opened from. Text that the hub does not have stays.
---@param review linkspan.Review
function M.close(review)
  local base, proposed = existing(review, "base"), existing(review, "proposed")
  local buf = vim.api.nvim_get_current_buf()
  local is_here = buf == base or buf == proposed
  -- Not by its end: this also drops what is sent after a while.
  review.closed, reported[review.shown.review] = true, nil
  if review.newer and proposed and review.buf == proposed then
    vim.bo[proposed].buftype = "nofile"
    vim.api.nvim_buf_set_name(proposed, "linkspan-text://" .. review.shown.review .. " (your text)")
    notice.warn(reviews().name(review) .. " is no longer pending, but you edited it: your text is still in its window")
    proposed = nil
  end
  for _, each in pairs({ base, proposed }) do
    pcall(vim.api.nvim_buf_delete, each, { force = true })
  end
  if is_here and review.from and vim.api.nvim_tabpage_is_valid(review.from) then
    vim.api.nvim_set_current_tabpage(review.from)
  end
end

---Goes to another review.
---@param by 1|-1
function M.step(by)
  local pending = reviews().pending()
  local current, at = parse(vim.api.nvim_get_current_buf()), by > 0 and 0 or #pending + 1
  for i, review in ipairs(pending) do
    at = review == current and i or at
  end
  if #pending == 0 then return notice.info("there is nothing to review") end
  M.open(pending[(at + by - 1) % #pending + 1])
end

---Sends the user's edits when nothing was typed for a while.
local function send_soon(review)
  review.typed = (review.typed or 0) + 1
  local this = review.typed
  vim.defer_fn(function()
    if this == review.typed and not review.closed and not review.newer then
      reviews().flush(review, false, function(why)
        local buf = existing(review, "proposed")
        if not why and buf then vim.bo[buf].modified = false end
      end)
    end
  end, TYPING_MS)
end

local function define_highlights()
  for name, link in pairs({
    Hunk = "DiagnosticInfo",
    Accepted = "DiagnosticOk",
    Left = "DiagnosticWarn",
    Conflict = "DiagnosticWarn",
    Comment = "DiagnosticHint",
    Removed = "DiffDelete",
    Added = "DiffAdd",
  }) do
    vim.api.nvim_set_hl(0, "Linkspan" .. name, { link = link, default = true })
  end
end

local function on(events, side, act)
  vim.api.nvim_create_autocmd(events, {
    group = group,
    pattern = SCHEMES[side] .. "*",
    callback = function(event)
      local review = parse(event.buf)
      if review then
        act(review, event)
      elseif event.event == "BufWriteCmd" then
        notice.warn("this review is no longer pending")
      end
    end,
  })
end

function M.attach()
  define_highlights()
  vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = define_highlights })
  on(
    "BufWriteCmd",
    "proposed",
    function(review) reviews().decide(review, { kind = "accept", replace_newer = vim.v.cmdbang == 1 }) end
  )
  on("BufReadCmd", "proposed", function(review)
    reviews().reload(review)
    make(review, "proposed")
    M.redraw(review)
  end)
  on("BufReadCmd", "base", function(review) make(review, "base") end)
  on({ "TextChanged", "TextChangedI" }, "proposed", send_soon)
  on("BufWinEnter", "proposed", function(review)
    vim.schedule(function() report_shown(review) end)
  end)
  -- Its last window was closed, which decides nothing.
  on("BufWinLeave", "proposed", function(review)
    vim.schedule(function()
      local left = windows(review)
      local is_open = vim.iter(left):any(function(win) return vim.api.nvim_win_get_buf(win) == review.buf end)
      if review.closed or is_open then return end
      reported[review.shown.review] = nil
      hub.notify("review/closed", { review = review.shown.review })
      for _, win in ipairs(left) do
        pcall(vim.api.nvim_win_close, win, true)
      end
    end)
  end)
end

return M
