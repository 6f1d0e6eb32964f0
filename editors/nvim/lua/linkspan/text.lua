-- Texts as Neovim holds them and as the protocol sends them: lines, line endings, UTF-16 columns, and what may be printed.
-- Knows nothing of reviews or the hub.

local M = {}

local lpeg = vim.lpeg
local VALID = lpeg.utfR(0, 0x10ffff) ^ 0 * -1
local has_11 = vim.fn.has("nvim-0.11") == 1

---Whether it is valid UTF-8, which JSON needs.
---@param text string
---@return boolean
function M.is_valid(text) return VALID:match(text) ~= nil end

---One line for people: no control characters, and none that reorder or hide text.
---@param text string
---@return string
function M.plain(text)
  local shown = text:gsub("%c", " "):gsub("\226\128[\139-\143\168-\174]", "?"):gsub("\226\129[\160-\175]", "?")
  return shown
end

---@param text string
---@return string
function M.with_lf(text) return text:find("\r", 1, true) and (text:gsub("\r\n", "\n")) or text end

---The lines of a text with LF, and whether its last line has an end.
---@param text string
---@return string[] lines
---@return boolean eol
function M.lines(text)
  local lines = vim.split(text, "\n", { plain = true })
  local eol = #lines > 1 and lines[#lines] == ""
  if eol then lines[#lines] = nil end
  return lines, eol
end

---The last text that was put together, which is asked for several times in a row.
local last = {}

---The text of a buffer. `ending` is what separates its lines.
---@param buf integer
---@param ending string
---@return string
function M.of_buffer(buf, ending)
  local bo, version = vim.bo[buf], vim.api.nvim_buf_get_changedtick(buf)
  local has_end = bo.endofline or (bo.fixendofline and not bo.binary)
  if last.buf == buf and last.version == version and last.ending == ending and last.has_end == has_end then
    return last.text
  end
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  local text = table.concat(lines, ending) .. (has_end and ending or "")
  -- An empty buffer is an empty file, unless that file has one empty line.
  if #lines == 1 and lines[1] == "" and not (bo.endofline and vim.b[buf].linkspan_one_line) then text = "" end
  last = { buf = buf, version = version, ending = ending, has_end = has_end, text = text }
  return text
end

---What separates the lines of a document.
---@param buf integer
---@return string
function M.ending(buf) return ({ dos = "\r\n", mac = "\r" })[vim.bo[buf].fileformat] or "\n" end

---Gives the buffer these lines by changing only those that differ, so that cursors, folds and marks elsewhere stay. It is
---one undo step.
---@param buf integer
---@param lines string[]
function M.set_lines(buf, lines)
  local before = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  -- Of a large file, most is equal, and not worth a diff.
  local shorter, head, tail = math.min(#before, #lines), 0, 0
  while head < shorter and before[head + 1] == lines[head + 1] do
    head = head + 1
  end
  while tail < shorter - head and before[#before - tail] == lines[#lines - tail] do
    tail = tail + 1
  end
  if head + tail == #before and head + tail == #lines then return end
  local function middle(all) return table.concat(all, "\n", head + 1, #all - tail) .. "\n" end
  local hunks = { { 1, #before - head - tail, 1, #lines - head - tail } }
  if hunks[1][2] > 0 and hunks[1][4] > 0 then
    -- Renamed in Neovim 0.12.
    local diff = vim.text and vim.text.diff or vim.diff
    hunks = diff(middle(before), middle(lines), { result_type = "indices" }) --[[@as integer[][] ]]
  elseif hunks[1][2] == 0 then
    hunks[1][1] = 0
  end
  for i = #hunks, 1, -1 do
    local from, count, to, new = unpack(hunks[i])
    local first = head + (count == 0 and from or from - 1)
    vim.api.nvim_buf_set_lines(buf, first, first + count, true, vim.list_slice(lines, head + to, head + to + new - 1))
  end
end

---A column in bytes, within the line, of one in another encoding; UTF-16 if none is named.
---@param line string
---@param column integer
---@param encoding? "utf-8"|"utf-16"|"utf-32"
---@return integer
function M.to_byte(line, column, encoding)
  encoding = encoding or "utf-16"
  if encoding == "utf-8" then return math.min(column, #line) end
  if has_11 then return vim.str_byteindex(line, encoding, column, false) end
  local ok, byte = pcall(vim.str_byteindex, line, column, encoding == "utf-16")
  return ok and byte or #line
end

---The other way round.
---@param line string
---@param byte integer
---@param encoding? "utf-8"|"utf-16"|"utf-32"
---@return integer
function M.from_byte(line, byte, encoding)
  encoding, byte = encoding or "utf-16", math.min(byte, #line)
  if encoding == "utf-8" then return byte end
  if has_11 then return vim.str_utfindex(line, encoding, byte, false) end
  local utf32, utf16 = vim.str_utfindex(line, byte)
  return encoding == "utf-16" and utf16 or utf32
end

---@param buf integer
---@param row integer From 0.
---@param byte integer From 0.
---@return linkspan.Position
function M.position(buf, row, byte)
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
  return { line = row, character = M.from_byte(line, byte) }
end

---The cursor for a position: row from 1, byte from 0, both inside the buffer.
---@param buf integer
---@param position linkspan.Position
---@return integer[]
function M.cursor(buf, position)
  local row = math.max(0, math.min(position.line, vim.api.nvim_buf_line_count(buf) - 1))
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
  return { row + 1, M.to_byte(line, position.character) }
end

return M
