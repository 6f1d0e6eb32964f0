-- What the user is told: messages that do not wait for a key, warnings, and a log of both.

local M = {}

local plain = require("linkspan.text").plain

---@type string[]
M.log = {}
local KEPT = 500

local function record(text, level)
  local names = { [vim.log.levels.WARN] = "warning", [vim.log.levels.ERROR] = "error" }
  M.log[#M.log + 1] = ("%s %s: %s"):format(os.date("%H:%M:%S"), names[level] or "info", text)
  if #M.log > KEPT then table.remove(M.log, 1) end
end

---Something happened. One line, cut to what fits without a prompt to continue: the log has all of it.
---@param text string
function M.info(text)
  local line = "Linkspan: " .. plain(text)
  record(plain(text), vim.log.levels.INFO)
  local room = math.max(vim.v.echospace, 10)
  if vim.fn.strdisplaywidth(line) > room then line = vim.fn.strcharpart(line, 0, room - 1) .. "…" end
  vim.notify(line, vim.log.levels.INFO)
end

---Something that the user wanted did not happen.
---@param text string
---@param level? integer
function M.warn(text, level)
  record(plain(text), level or vim.log.levels.WARN)
  vim.notify("Linkspan: " .. plain(text), level or vim.log.levels.WARN)
end

---Shows a long text in a window of its own.
---@param title string
---@param text string
function M.page(title, text)
  local buf = vim.api.nvim_create_buf(false, true)
  local lines = vim.split(text, "\n", { plain = true })
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = "wipe"
  pcall(vim.api.nvim_buf_set_name, buf, "linkspan-text://" .. title)
  vim.cmd("botright sbuffer " .. buf)
  vim.api.nvim_win_set_height(0, math.max(3, math.min(#lines, math.floor(vim.o.lines / 2))))
end

return M
