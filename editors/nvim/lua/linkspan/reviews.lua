-- The pending reviews, oldest first: what the hub sent, the user's marks, comments and edits, and decisions. How they look
-- is in `view.lua`.

local hub = require("linkspan.hub")
local notice = require("linkspan.notice")
local text = require("linkspan.text")

local M = {}

---A decision this soon after a change was probably meant for what was there before.
local MISCLICK_MS = 400

---@class linkspan.Review
---@field shown linkspan.ReviewShow
---@field proposed string The proposed text as the hub has it, with LF.
---@field marks table<string, "accepted"|"left">
---@field comments { line: integer, text: string, mark?: integer }[]
---@field moved_at integer When what is shown changed, but not by the user.
---@field newer boolean A newer proposal came while the user had edits that were not sent.
---@field deciding boolean
---@field sending? (fun(why: string?))[] Who waits for the edits that are being sent.
---@field buf? integer The buffer of the proposed side.
---@field from? integer The tab page that it was opened from.
---@field typed? integer How often its text was changed here.
---@field closed? boolean It is over.

---@type linkspan.Review[]
local reviews = {}

---@return linkspan.Review[]
function M.pending() return reviews end

---@param id string?
---@return linkspan.Review?
function M.get(id)
  for _, review in ipairs(reviews) do
    if review.shown.review == id then return review end
  end
end

---@param review linkspan.Review
---@return string
function M.name(review) return text.plain(vim.fs.basename(review.shown.path)) end

---@param review linkspan.Review
---@return integer added
---@return integer removed
function M.lines_changed(review)
  local added, removed = 0, 0
  for _, hunk in ipairs(review.shown.hunks) do
    added, removed = added + hunk.afterCount, removed + hunk.beforeCount
  end
  return added, removed
end

---One line about a review, for lists.
---@param review linkspan.Review
---@return string
function M.describe(review)
  local shown = review.shown
  local added, removed = M.lines_changed(review)
  local about = shown.omitted and "too large to show" or ("+%d −%d"):format(added, removed)
  local notes = (shown.newFile and ", new file" or "")
    .. (shown.set and ", set " .. shown.set or "")
    .. (#shown.conflicts > 0 and (", %d conflicts"):format(#shown.conflicts) or "")
    .. (shown.ownerGone and ", agent gone" or "")
  return text.plain(("%s  %s (%s%s)"):format(vim.fn.fnamemodify(shown.path, ":~:."), shown.agent, about, notes))
end

---The text in the buffer of the proposed side; nil if there is none.
local function draft(review)
  local buf = review.buf
  if buf and vim.api.nvim_buf_is_loaded(buf) then return text.of_buffer(buf, "\n") end
end

local function changed_while_editing(review)
  local ways = "`:e!` shows the new proposal, `:w!` accepts your text instead"
  return ("%s changed while you were editing it. %s"):format(M.name(review), ways)
end

---Whether the user has edits that the hub does not have.
---@param review linkspan.Review
---@return boolean
function M.is_unsent(review)
  local now = draft(review)
  return now ~= nil and now ~= review.proposed
end

---Sends the user's edits, one at a time. A newer proposal is replaced only if the user says so.
---@param review linkspan.Review
---@param replace_newer boolean
---@param done fun(why: string?)
function M.flush(review, replace_newer, done)
  if not M.is_unsent(review) then
    return done(nil)
  elseif review.newer and not replace_newer then
    return done(changed_while_editing(review))
  elseif review.sending then
    table.insert(review.sending, done)
    return
  end
  local sent = draft(review) --[[@as string]]
  if not text.is_valid(sent) then return done("your text is not valid UTF-8") end
  review.sending = { done }
  local shown = review.shown
  local asked = { review = shown.review, revision = shown.revision, digest = shown.digest, text = sent }
  hub.request("review/edited", asked, function(failed, result)
    local waiting = review.sending or {}
    review.sending = nil
    local why = failed
    if not failed and result.kind == "taken" then
      shown = review.shown
      if result.revision >= shown.revision then
        shown.revision, shown.digest, shown.hunks, shown.conflicts = result.revision, result.digest, result.hunks, {}
        review.proposed, review.newer = sent, false
        M.prune(review)
        require("linkspan.view").redraw(review)
      end
    elseif not failed then
      why = M.name(review) .. " changed while you were editing it. Look at it again"
    end
    for _, callback in ipairs(waiting) do
      -- More may have been typed in the meantime.
      if why then
        callback(why)
      else
        M.flush(review, replace_newer, callback)
      end
    end
  end)
end

---Forgets marks of hunks that are gone.
---@param review linkspan.Review
function M.prune(review)
  local marks = {}
  for _, hunk in ipairs(review.shown.hunks) do
    marks[hunk.id] = review.marks[hunk.id]
  end
  review.marks = marks
end

---@param review linkspan.Review
function M.remove(review)
  for i, each in ipairs(reviews) do
    if each == review then
      table.remove(reviews, i)
      require("linkspan.view").close(review)
      M.reread(review.shown.path)
      vim.cmd.redrawstatus()
      return
    end
  end
end

---The hub or an agent may have written a file that is open here.
---@param path string
function M.reread(path)
  local buf = require("linkspan.documents").buffer(path)
  -- Without 'autoread' Neovim would ask.
  if buf and not vim.bo[buf].modified and vim.o.autoread and vim.uv.fs_stat(path) then
    vim.cmd("silent! checktime " .. buf)
  end
end

---What the user decided, as the protocol has it; or why it cannot be decided.
local function verdict_of(review, choice)
  if choice.kind == "reject" then return { kind = "reject", reason = choice.reason ~= "" and choice.reason or nil } end
  local taken = {}
  for _, hunk in ipairs(review.shown.hunks) do
    if review.marks[hunk.id] ~= "left" then taken[#taken + 1] = hunk.id end
  end
  if #taken == #review.shown.hunks then
    return { kind = "accept" }
  elseif #taken == 0 then
    return nil, ("every hunk of %s is left out. Reject the change, or unmark a hunk"):format(M.name(review))
  end
  return { kind = "acceptHunks", hunks = taken }
end

---@class linkspan.Choice
---@field kind "accept"|"reject"
---@field reason? string
---@field write_here? boolean The hub writes the file instead of an agent that is gone.
---@field replace_newer? boolean The user's text replaces a newer proposal.
---@field seen? integer The revision that the user saw, if they were asked something since.

---Where the result of a decision is no "taken": what the user is told, and whether the review is over.
local function refusal_of(review, result)
  local name = M.name(review)
  if result.kind == "stale" then
    return name .. " changed while you were deciding. Look at it again", false
  elseif result.kind == "askAgain" then
    return ("%s changed in the meantime, and %d places conflict. Look at it again"):format(name, result.conflicts),
      false
  elseif result.kind == "alreadyDecided" then
    return ("%s was already decided: %s"):format(name, result.by), true
  elseif result.kind == "notPending" then
    return name .. " is no longer pending", true
  end
  return ("%s: %s"):format(name, result.message or result.kind), false
end

---Submits a decision. Nothing is decided unless the hub says so.
---@param review linkspan.Review
---@param choice linkspan.Choice
function M.decide(review, choice)
  local name = M.name(review)
  local function refuse(why)
    review.deciding = false
    notice.warn("not decided: " .. why)
  end
  local seen = choice.seen or review.shown.revision
  if review.deciding then
    return refuse(name .. ": your decision is already being sent")
  elseif vim.uv.now() - review.moved_at < MISCLICK_MS then
    return refuse(name .. " appeared or changed a moment ago. Look at it again")
  elseif seen ~= review.shown.revision then
    return refuse(name .. " changed while you were deciding. Look at it again")
  end
  review.deciding = true
  local function submit()
    local verdict, why = verdict_of(review, choice)
    if not verdict then
      return refuse(why --[[@as string]])
    end
    local shown = review.shown
    local decision = { verdict = verdict, comments = M.comments(review), writeHere = choice.write_here }
    local asked = { review = shown.review, revision = shown.revision, digest = shown.digest, decision = decision }
    hub.request("review/decided", asked, function(failed, result)
      review.deciding = false
      if failed then
        return refuse(failed)
      elseif result.kind == "taken" then
        return M.remove(review)
      end
      local message, is_over = refusal_of(review, result)
      if is_over then M.remove(review) end
      if not result.canWriteHere then return is_over and notice.info(message) or refuse(message) end
      local options = { prompt = text.plain(message) }
      vim.ui.select({ "Write it here", "Leave it pending" }, options, function(chosen)
        if chosen == "Write it here" and M.get(shown.review) == review then
          M.decide(review, vim.tbl_extend("force", choice, { write_here = true, seen = shown.revision }))
        end
      end)
    end)
  end
  if choice.kind == "reject" then return submit() end
  M.flush(review, choice.replace_newer or false, function(why)
    if why then return refuse(why) end
    submit()
  end)
end

---The comments with the lines where they are now.
---@param review linkspan.Review
---@return { line: integer, text: string }[]
function M.comments(review)
  return vim.tbl_map(function(comment)
    local row = require("linkspan.view").row_of(review, comment.mark)
    return { line = row and row + 1 or comment.line, text = comment.text }
  end, review.comments)
end

---Marks a hunk, or unmarks it if it has that mark. When every hunk is marked, the change is decided.
---@param review linkspan.Review
---@param id string
---@param mark "accepted"|"left"
function M.mark(review, id, mark)
  review.marks[id] = review.marks[id] ~= mark and mark or nil
  require("linkspan.view").redraw(review)
  local accepted = 0
  for _, hunk in ipairs(review.shown.hunks) do
    if not review.marks[hunk.id] then return end
    accepted = accepted + (review.marks[hunk.id] == "accepted" and 1 or 0)
  end
  M.decide(review, { kind = accepted > 0 and "accept" or "reject" })
end

---Takes the newer proposal instead of the user's edits.
---@param review linkspan.Review
function M.reload(review)
  review.newer = false
  review.proposed = text.with_lf(review.shown.proposed)
end

local function show(shown)
  shown.hunks, shown.conflicts = shown.hunks or {}, shown.conflicts or {}
  local proposed = text.with_lf(shown.proposed)
  local review = M.get(shown.review)
  if not review then
    review =
      { shown = shown, proposed = proposed, marks = {}, comments = {}, moved_at = 0, newer = false, deciding = false }
    reviews[#reviews + 1] = review
    require("linkspan.view").arrived(review)
  elseif shown.revision >= review.shown.revision then
    local is_new = proposed ~= review.proposed
    if is_new or shown.base ~= review.shown.base then review.moved_at = vim.uv.now() end
    review.newer = review.newer or (is_new and M.is_unsent(review))
    review.shown = shown
    if is_new and review.newer then notice.warn(changed_while_editing(review)) end
    -- The user's own text stays on the screen.
    local is_shown = is_new and not review.newer
    review.proposed = is_shown and proposed or review.proposed
    M.prune(review)
    require("linkspan.view").update(review, is_shown)
  end
  vim.cmd.redrawstatus()
  return vim.NIL
end

---Removes every review that is no longer pending: it may have been decided while the connection was away.
---@param pending string[]
local function keep_only(pending)
  for _, review in ipairs(vim.list_slice(reviews)) do
    if not vim.list_contains(pending, review.shown.review) and not review.deciding then M.remove(review) end
  end
end

---What is typed last is sent before Neovim ends, and comes back with the review.
local function send_drafts()
  local waiting = 0
  for _, review in ipairs(reviews) do
    if M.is_unsent(review) and not review.newer and not hub.why_away() then
      waiting = waiting + 1
      M.flush(review, false, function() waiting = waiting - 1 end)
    end
  end
  vim.wait(2000, function() return waiting == 0 end, 10)
end

function M.attach()
  hub.on("review/show", show)
  hub.on("review/waiting", function(params)
    local review = M.get(params.review)
    if review then
      review.shown.ownerGone = params.ownerGone
      require("linkspan.view").redraw(review)
    end
  end)
  hub.on("review/hide", function(params)
    local review = M.get(params.review)
    if review then
      local why = params.reason
      if why.kind == "failed" then
        notice.warn(("%s: %s"):format(M.name(review), why.error))
      elseif not review.deciding then
        notice.info(
          ("%s is no longer pending: %s"):format(M.name(review), why.by and "decided in " .. why.by or why.kind)
        )
      end
      M.remove(review)
    end
  end)
  hub.on_state(function(state)
    if state.pending then keep_only(state.pending) end
  end)
  vim.api.nvim_create_autocmd("VimLeavePre", { callback = send_drafts, desc = "Linkspan keeps edits of reviews" })
  require("linkspan.view").attach()
end

return M
