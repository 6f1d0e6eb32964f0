-- The decisions of this window, undo and redo.

local hub = require("linkspan.hub")
local notice = require("linkspan.notice")
local text = require("linkspan.text")

local M = {}

local SHOWN = 50

local function entries(undoable, limit, act)
  local asked = { window = hub.state.window, undoable = undoable, limit = limit }
  hub.request("history/list", asked, function(failed, result)
    if failed then return notice.warn(failed) end
    act(result.entries)
  end)
end

local function undo(change)
  hub.request("history/undo", { change = change }, function(failed, result)
    if failed then return notice.warn("not undone: " .. failed) end
    local removed = result.removedFile and " (the file was removed)" or ""
    notice.info(("undone: %s%s. `:Linkspan history` can redo it"):format(vim.fs.basename(result.path), removed))
    require("linkspan.reviews").reread(result.path)
  end)
end

---Undoes the newest change of this window.
function M.undo()
  entries(true, 1, function(found)
    if #found == 0 then return notice.info("this window has no change to undo") end
    undo(found[1].change or found[1].review)
  end)
end

local function describe(entry)
  local outcome = entry.undoes and "undo" or entry.ended.kind
  outcome = outcome .. (entry.ended.taken and entry.ended.taken ~= "all" and (" (%s)"):format(entry.ended.taken) or "")
  local notes = (entry.undone and ", undone" or "") .. (entry.onDisk == false and ", not on disk" or "")
  local when = os.date("%d %b %H:%M", math.floor(entry.endedAtMs / 1000))
  local path = vim.fn.fnamemodify(entry.path, ":~:.")
  return text.plain(
    ("%s  %s  %s  %s%s  +%d −%d"):format(
      when,
      path,
      entry.agent,
      outcome,
      notes,
      entry.added or 0,
      entry.removed or 0
    )
  )
end

function M.show()
  entries(false, SHOWN, function(found)
    if #found == 0 then return notice.info("no decisions in this window yet") end
    vim.ui.select(found, { prompt = "Decisions, newest first", format_item = describe }, function(entry)
      if not entry then return end
      local choices = { "Open the file" }
      if entry.undoable and not entry.undone then
        table.insert(choices, 1, entry.undoes and "Redo the change" or "Undo the change")
      end
      vim.ui.select(choices, { prompt = describe(entry) }, function(chosen)
        if chosen == "Open the file" then
          vim.cmd.tabedit(vim.fn.fnameescape(entry.path))
        elseif chosen then
          undo(entry.change or entry.review)
        end
      end)
    end)
  end)
end

return M
