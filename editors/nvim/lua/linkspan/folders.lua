-- The workspace folders of this Neovim: the projects of its working directories.

local M = {}

---Whoever starts Neovim in the home directory has not opened it as a project.
local function is_broad(folder)
  local home = vim.uv.os_homedir() or ""
  return folder == "/" or folder == home or folder == vim.uv.fs_realpath(home)
end

local function project(folder)
  local root = vim.fs.root(folder, ".git")
  if root and not is_broad(root) then return root end
  return not is_broad(folder) and folder or nil
end

---The project of the working directory first, then those of other tab pages.
---@return string[]
function M.current()
  local found, seen = {}, {}
  local function add(folder)
    local root = project(folder)
    if root and not seen[root] then
      seen[root] = true
      found[#found + 1] = root
    end
  end
  add(vim.fn.getcwd(-1, -1))
  for number = 1, vim.fn.tabpagenr("$") do
    add(vim.fn.getcwd(-1, number))
  end
  return found
end

return M
