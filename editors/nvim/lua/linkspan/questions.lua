-- Questions for permission, each in a float that shows all of what would happen, and messages. Nothing here takes the
-- focus: keys answer only in the float, which the user enters with `:Linkspan answer`.

local hub = require("linkspan.hub")
local notice = require("linkspan.notice")
local text = require("linkspan.text")

local M = {}

local TITLES = {
  allowOnce = "Allow once",
  allowSession = "Allow for this session",
  allowAlways = "Always allow",
  deny = "Deny",
}
---A key this soon after the user came here was probably meant for what was there before.
local MISCLICK_MS = 400

---@class linkspan.Question
---@field ask string
---@field question string
---@field detail? string
---@field options string[]
---@field win? integer

---@type linkspan.Question[]
local questions = {}

---@return integer
function M.count() return #questions end

local function remove(id)
  for i, question in ipairs(questions) do
    if question.ask == id then
      table.remove(questions, i)
      if question.win and vim.api.nvim_win_is_valid(question.win) then vim.api.nvim_win_close(question.win, true) end
      vim.cmd.redrawstatus()
      return question
    end
  end
end

local show_next

local function answer(question, option)
  if not remove(question.ask) then return end
  local result = { kind = "answered", option = option }
  hub.request("user/answered", { ask = question.ask, result = result }, function(failed, taken)
    if failed then
      notice.warn("not answered: " .. failed)
    elseif not taken.taken then
      notice.info("that question is no longer pending")
    end
  end)
  show_next()
end

local function lines_of(question)
  local lines = { text.plain(question.question), "" }
  for _, line in ipairs(vim.split(question.detail or "", "\n", { plain = true })) do
    lines[#lines + 1] = text.plain(line)
  end
  lines[#lines + 1] = ""
  for number, option in ipairs(question.options) do
    lines[#lines + 1] = ("  %d  %s"):format(number, TITLES[option] or option)
  end
  lines[#lines + 1] = "  q  Decide later"
  return lines
end

local function open(question)
  local buf = vim.api.nvim_create_buf(false, true)
  local lines = lines_of(question)
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].modifiable, vim.bo[buf].bufhidden = false, "wipe"
  local width = math.max(20, math.min(80, vim.o.columns - 4))
  local height = 0
  for _, line in ipairs(lines) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  height = math.max(1, math.min(height, vim.o.lines - 6))
  question.win = vim.api.nvim_open_win(buf, false, {
    relative = "editor",
    anchor = "SE",
    row = vim.o.lines - 2,
    col = vim.o.columns - 1,
    width = width,
    height = height,
    style = "minimal",
    border = "rounded",
    title = " An agent asks. :Linkspan answer ",
    noautocmd = true,
  })
  vim.wo[question.win].wrap = true
  local entered_ms = math.huge
  vim.api.nvim_create_autocmd("BufEnter", {
    buffer = buf,
    callback = function() entered_ms = vim.uv.now() end,
  })
  local function map(key, act)
    vim.keymap.set("n", key, function()
      if vim.uv.now() - entered_ms >= MISCLICK_MS then act() end
    end, { buffer = buf, nowait = true })
  end
  for number, option in ipairs(question.options) do
    map(tostring(number), function() answer(question, option) end)
  end
  -- To close the float answers nothing.
  map("q", function() vim.api.nvim_win_close(question.win, true) end)
end

---Shows the oldest question that no float shows: one at a time.
show_next = function()
  local first = questions[1]
  if first and not (first.win and vim.api.nvim_win_is_valid(first.win)) and vim.fn.getcmdwintype() == "" then
    open(first)
  end
end

---`:Linkspan answer [option]`: goes to the float, or answers what it shows.
---@param option string?
function M.answer(option)
  local question = questions[1]
  if not question then return notice.info("no agent asks anything") end
  show_next()
  if not option then
    vim.api.nvim_set_current_win(question.win)
  elseif vim.list_contains(question.options, option) then
    answer(question, option)
  else
    notice.warn(("this question has no answer %s; it has %s"):format(option, table.concat(question.options, ", ")))
  end
end

function M.attach()
  hub.on("status/message", function(params)
    if params.level == "info" then
      notice.info(params.text)
    else
      notice.warn(params.text, vim.log.levels[params.level == "error" and "ERROR" or "WARN"])
    end
  end)
  hub.on("user/ask", function(params)
    for _, question in ipairs(questions) do
      if question.ask == params.ask then return vim.NIL end
    end
    questions[#questions + 1] = params
    notice.info(params.question .. " :Linkspan answer")
    show_next()
    vim.cmd.redrawstatus()
  end)
  hub.on("user/unask", function(params)
    remove(params.ask)
    show_next()
  end)
  hub.on_state(function(state)
    -- The hub asks again what is still pending.
    if state.kind == "attached" then
      for _, question in ipairs(vim.list_slice(questions)) do
        remove(question.ask)
      end
    end
  end)
end

return M
