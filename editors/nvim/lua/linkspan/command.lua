-- `:Linkspan` and its sub-commands, with completion. Each is a few lines that ask other parts.

local hub = require("linkspan.hub")
local notice = require("linkspan.notice")
local reviews = require("linkspan.reviews")
local view = require("linkspan.view")

local M = {}

---The review that the user means; if that is not clear, they choose.
local function with_review(act, prompt)
  local review = view.current()
  if review then
    return act(review)
  elseif #reviews.pending() == 0 then
    return notice.info("there is nothing to review")
  end
  vim.ui.select(reviews.pending(), { prompt = prompt, format_item = reviews.describe }, function(chosen)
    if chosen and reviews.get(chosen.shown.review) == chosen then act(chosen) end
  end)
end

---`all`, `set`, or the review here.
local function with_reviews(which, act, prompt)
  if which ~= "all" and which ~= "set" then return with_review(act, prompt) end
  local here = view.current()
  local set = here and here.shown.set
  if which == "set" and not set then return notice.warn("this review is not part of a set") end
  for _, review in ipairs(vim.list_slice(reviews.pending())) do
    if which == "all" or review.shown.set == set then act(review) end
  end
end

local function note(review, about)
  local notes = review.shown.receivesNotes
  return notes and notes[about] and require("linkspan.text").plain(notes[about]) .. " " or ""
end

local function ask_reason(review)
  local seen = review.shown.revision
  local prompt = ("%sWhy not %s? (empty: no reason) "):format(note(review, "reason"), reviews.name(review))
  vim.ui.input({ prompt = prompt }, function(reason)
    if reason then reviews.decide(review, { kind = "reject", reason = vim.trim(reason), seen = seen }) end
  end)
end

local function mark(kind)
  with_review(function(review)
    local first = next(review.marks) == nil
    reviews.flush(review, false, function(why)
      local hunk = view.hunk(review)
      if why or not hunk then return notice.warn(why or "move the cursor into a hunk first: ]c goes to the next") end
      if first and note(review, "hunks") ~= "" then notice.info(note(review, "hunks")) end
      reviews.mark(review, hunk.id, kind)
    end)
  end, "Mark a hunk of which change?")
end

local function comment(words)
  local review, side = view.current()
  if not review or side ~= "proposed" then
    return notice.warn("a comment belongs to a line of the proposed side: move the cursor there first")
  end
  local line = vim.api.nvim_win_get_cursor(0)[1]
  local function add(said)
    if said and vim.trim(said) ~= "" then
      table.insert(review.comments, { line = line, text = vim.trim(said) })
      view.redraw_comments(review)
    end
  end
  if #words > 0 then return add(table.concat(words, " ")) end
  vim.ui.input({ prompt = ("%sComment on line %d: "):format(note(review, "comments"), line) }, add)
end

---Every hunk of every review in the quickfix list.
local function list()
  local items = {}
  for _, review in ipairs(reviews.pending()) do
    local shown = review.shown
    for _, hunk in ipairs(#shown.hunks > 0 and shown.hunks or { { afterStart = 0 } }) do
      items[#items + 1] = {
        filename = "linkspan://" .. shown.review .. shown.path,
        lnum = hunk.afterStart + 1,
        text = reviews.describe(review),
      }
    end
  end
  vim.fn.setqflist({}, " ", { title = "Linkspan: changes to review", items = items })
  if #items == 0 then return notice.info("there is nothing to review") end
  vim.cmd("botright copen")
end

---Runs a command of the program and shows what it prints.
local function show_output(args)
  local program = hub.program()
  if not program then return notice.warn("there is no `linkspan` program: see :checkhealth linkspan") end
  local command = vim.list_extend({ program }, args)
  local options = { text = true, timeout = 30000, env = { NO_COLOR = "1" }, cwd = hub.attach_params().folders[1] }
  vim.system(command, options, function(result)
    vim.schedule(function() notice.page(table.concat(args, " "), (result.stdout or "") .. (result.stderr or "")) end)
  end)
end

---What may follow a sub-command.
local WORDS = {
  accept = { "all", "set" },
  reject = { "all", "set" },
  answer = { "allowOnce", "allowSession", "allowAlways", "deny" },
}

---@type table<string, fun(words: string[], call: table)>
local COMMANDS = {
  review = function(words)
    local named = reviews.get(words[1])
    if words[1] and not named then return notice.warn("there is no pending review " .. words[1]) end
    if named then return view.open(named) end
    with_review(view.open, "Look at which change?")
  end,
  accept = function(words)
    with_reviews(words[1], function(review) reviews.decide(review, { kind = "accept" }) end, "Accept which change?")
  end,
  reject = function(words)
    local is_many = words[1] == "all" or words[1] == "set"
    if #words == 0 then return with_review(ask_reason, "Reject which change?") end
    local choice = { kind = "reject", reason = table.concat(words, " ", is_many and 2 or 1) }
    with_reviews(words[1], function(review) reviews.decide(review, choice) end, "Reject which change?")
  end,
  ["hunk-accept"] = function() mark("accepted") end,
  ["hunk-leave"] = function() mark("left") end,
  comment = comment,
  next = function() view.step(1) end,
  previous = function() view.step(-1) end,
  list = list,
  send = function(words, call) require("linkspan.context").send(words, call) end,
  answer = function(words) require("linkspan.questions").answer(words[1]) end,
  undo = function() require("linkspan.history").undo() end,
  history = function() require("linkspan.history").show() end,
  page = function() show_output({ "page" }) end,
  doctor = function() show_output({ "doctor" }) end,
  status = function()
    local state = hub.state
    local where = state.window and ("window %s, port %d"):format(state.window, state.port) or state.why or ""
    notice.info(("%s, %d to review (%s)"):format(state.kind, #reviews.pending(), where))
  end,
  restart = hub.restart,
  log = function() notice.page("log", table.concat(notice.log, "\n")) end,
}

---@param call table
function M.run(call)
  require("linkspan").start()
  local words = vim.list_slice(call.fargs)
  local name = table.remove(words, 1) or "review"
  local command = COMMANDS[name]
  if not command then return notice.warn(("there is no `:Linkspan %s`; see :help :Linkspan"):format(name)) end
  command(words, call)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local name = line:match("Linkspan!?%s+(%S+)%s")
  local words = vim.tbl_keys(COMMANDS)
  if name == "review" then
    words = vim.tbl_map(function(review) return review.shown.review end, reviews.pending())
  elseif name == "send" then
    return vim.fn.getcompletion(lead, "file")
  elseif name then
    words = WORDS[name] or {}
  end
  table.sort(words)
  return vim.tbl_filter(function(word) return vim.startswith(word, lead) end, words)
end

return M
