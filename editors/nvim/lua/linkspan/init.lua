-- The entry point: `setup`, the start, and the component for a status line. Knows every part only by its `attach`.

local M = {}

---@class linkspan.Config
---@field enabled boolean Connect to the hub when Neovim has started, not only at the first command.
---@field program string Path of the `linkspan` program; empty: the one on `PATH`.
---@field open "notify"|"tab" What an arriving review does: a notification, or its tab page opens.
---@field style "diff"|"inline" Two windows with a diff, or one with the removed lines between its own.
---@field environment boolean Give terminals the variables by which agents find this Neovim.
---@field folders fun(): string[] The workspace folders, main one first.
---@field keys table<string, string|false> The keys in the buffers of a review, by sub-command.

---@type linkspan.Config
M.config = {
  enabled = true,
  program = "",
  open = "notify",
  style = "diff",
  environment = true,
  folders = function() return require("linkspan.folders").current() end,
  keys = {
    accept = "ga",
    reject = "gR",
    ["hunk-accept"] = "+",
    ["hunk-leave"] = "-",
    comment = "gC",
    next = "]r",
    previous = "[r",
  },
}

local PARTS = { "reviews", "documents", "context", "language", "terminal", "questions" }
local started = false

---Sets options. Not needed for the defaults.
---@param options? table
function M.setup(options) M.config = vim.tbl_deep_extend("force", M.config, options or {}) end

---Connects to the hub; later calls do nothing.
---@param by_itself? boolean Neovim has started, and nobody asked for it.
function M.start(by_itself)
  if started or (by_itself and not M.config.enabled) then return end
  started = true
  for _, part in ipairs(PARTS) do
    require("linkspan." .. part).attach()
  end
  require("linkspan.hub").start()
end

---For a status line: what waits for the user, and whether the hub is connected. Empty before the start.
---@return string
function M.status()
  if not started then return "" end
  local state = require("linkspan.hub").state
  local reviews, asks = #require("linkspan.reviews").pending(), require("linkspan.questions").count()
  if state.kind ~= "attached" then return "linkspan: " .. state.kind end
  local waiting = (reviews > 0 and (" %d"):format(reviews) or "") .. (asks > 0 and (" ?%d"):format(asks) or "")
  return "linkspan" .. waiting
end

return M
