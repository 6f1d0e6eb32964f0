-- Defines the command and the `<Plug>` maps, and connects to the hub once Neovim has started. Everything else is loaded
-- when it is first needed.

if vim.g.loaded_linkspan or vim.fn.has("nvim-0.10") == 0 then return end
vim.g.loaded_linkspan = true

vim.api.nvim_create_user_command("Linkspan", function(call) require("linkspan.command").run(call) end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Review what coding agents propose",
  complete = function(lead, line) return require("linkspan.command").complete(lead, line) end,
})

for name, mode in pairs({
  accept = "n",
  reject = "n",
  review = "n",
  list = "n",
  next = "n",
  previous = "n",
  ["hunk-accept"] = "n",
  ["hunk-leave"] = "n",
  comment = "n",
  answer = "n",
  undo = "n",
  send = { "n", "x" },
}) do
  vim.keymap.set(mode, ("<Plug>(linkspan-%s)"):format(name), (":Linkspan %s<CR>"):format(name), { silent = true })
end

-- After the user's configuration, which may call `setup`, and never before the screen is there.
if vim.v.vim_did_enter == 1 then
  vim.schedule(function() require("linkspan").start(true) end)
else
  vim.api.nvim_create_autocmd("VimEnter", {
    once = true,
    callback = function()
      vim.schedule(function() require("linkspan").start(true) end)
    end,
  })
end
