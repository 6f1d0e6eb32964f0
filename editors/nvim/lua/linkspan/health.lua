-- `:checkhealth linkspan`.

local M = {}

function M.check()
  local hub, health = require("linkspan.hub"), vim.health
  health.start("Linkspan")
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok("Neovim " .. tostring(vim.version()))
  else
    health.error("Neovim is older than 0.10", "update Neovim")
  end
  local program = hub.program()
  if not program then
    local named = require("linkspan").config.program
    health.error(
      named == "" and "there is no `linkspan` on PATH" or ("`program` is %s, which cannot be executed"):format(named),
      "install Linkspan, or set `program` to its path in setup()"
    )
    return
  end
  local result = vim.system({ program, "--version" }, { text = true, timeout = 5000 }):wait()
  if result.code == 0 then
    health.ok(("%s: %s"):format(program, vim.trim(result.stdout or "")))
  else
    health.error(("%s does not run: %s"):format(program, vim.trim(result.stderr or "")), "install Linkspan again")
  end
  local state = hub.state
  if state.kind == "attached" then
    health.ok(("connected: window %s, port %d"):format(state.window, state.port))
  else
    health.error(("%s: %s"):format(state.kind, state.why or "no answer yet"), {
      "run `:Linkspan doctor`",
      "run `:Linkspan restart`",
      "see `:Linkspan log` and `:LspLog`",
    })
  end
  local folders = require("linkspan").config.folders()
  if #folders > 0 then
    health.ok("agents find this Neovim in " .. table.concat(folders, ", "))
  else
    health.warn("no folder is open, so agents cannot find this Neovim", "`:cd` to the folder that they work in")
  end
  health.info(("%d changes to review"):format(#require("linkspan.reviews").pending()))
end

return M
