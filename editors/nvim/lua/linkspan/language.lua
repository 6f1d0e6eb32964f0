-- Hover, definitions, references, symbols, rename and formatting, from the language servers that Neovim runs.

local hub = require("linkspan.hub")
local text = require("linkspan.text")

local M = {}

---A server may still be starting for a file that was opened a moment ago.
local START_MS, ANSWER_MS = 3000, 10000
local is_new = vim.fn.has("nvim-0.11") == 1

local function request(client, method, params, buf)
  local failed, result = hub.await(function(resume)
    local is_over = false
    local function finish(...)
      if not is_over then
        is_over = true
        resume(...)
      end
    end
    -- Renamed from a function to a method in 0.11.
    local sent = is_new and client:request(method, params, finish, buf)
      or not is_new and client.request(method, params, finish, buf)
    if not sent then finish({ message = "the language server has ended" }) end
    vim.defer_fn(function() finish({ message = "the language server did not answer" }) end, ANSWER_MS)
  end)
  if failed then return nil end
  return result ~= vim.NIL and result or nil
end

local function line_of(path, row)
  local buf = require("linkspan.documents").buffer(path)
  if buf then return vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or "" end
  local ok, lines = pcall(vim.fn.readfile, path, "", row + 1)
  return ok and lines[row + 1] or ""
end

---A position between UTF-16, as the protocol has it, and what a server counts.
local function convert(path, position, from, to)
  if from == to then return position end
  local line = line_of(path, position.line)
  return { line = position.line, character = text.from_byte(line, text.to_byte(line, position.character, from), to) }
end

local function our_range(path, range, encoding)
  return {
    start = convert(path, range.start, encoding, "utf-16"),
    ["end"] = convert(path, range["end"], encoding, "utf-16"),
  }
end

local function clients_of(buf, method)
  local function clients() return vim.lsp.get_clients({ bufnr = buf, method = method }) end
  if #clients() == 0 then hub.poll(START_MS, function() return #clients() > 0 end) end
  return clients()
end

---Asks every server of a file; gives what each answered, with its encoding.
local function ask(path, method, params)
  local buf = require("linkspan.documents").load(path)
  local answers = {}
  for _, client in ipairs(clients_of(buf, method)) do
    local asked = vim.tbl_extend("force", params, { textDocument = { uri = vim.uri_from_bufnr(buf) } })
    asked.position = params.position and convert(path, params.position, "utf-16", client.offset_encoding)
    local result = request(client, method, asked, buf)
    if result then answers[#answers + 1] = { result = result, encoding = client.offset_encoding } end
  end
  return answers
end

local function locations_of(answers)
  local found = {}
  for _, answer in ipairs(answers) do
    local places = vim.islist(answer.result) and answer.result or { answer.result }
    for _, place in ipairs(places) do
      local uri = place.uri or place.targetUri
      if uri and vim.startswith(uri, "file:") then
        local path = vim.uri_to_fname(uri)
        local range = place.range or place.targetSelectionRange or place.targetRange
        found[#found + 1] = { path = path, range = our_range(path, range, answer.encoding) }
      end
    end
  end
  return found
end

local function markdown(contents)
  return vim.trim(table.concat(vim.lsp.util.convert_input_to_markdown_lines(contents), "\n"))
end

local function flatten(symbols, path, container, encoding, into)
  for _, symbol in ipairs(symbols) do
    local uri = symbol.location and symbol.location.uri
    local where = uri and vim.uri_to_fname(uri) or path
    local range = symbol.range or (symbol.location and symbol.location.range)
    if where and range then
      local kind = vim.lsp.protocol.SymbolKind[symbol.kind] or "Unknown"
      local inside = symbol.containerName or container
      into[#into + 1] = {
        name = symbol.name,
        symbolKind = kind:sub(1, 1):lower() .. kind:sub(2),
        location = { path = where, range = our_range(where, range, encoding) },
        container = inside ~= "" and inside or nil,
      }
    end
    if symbol.children then flatten(symbol.children, path, symbol.name, encoding, into) end
  end
end

local function our_edits(path, edits, encoding)
  return vim.tbl_map(
    function(edit) return { range = our_range(path, edit.range, encoding), newText = edit.newText } end,
    edits
  )
end

local function rename(params)
  local asked = { position = params.position, newName = params.newName }
  local answer = ask(params.path, "textDocument/rename", asked)[1]
  local files = {}
  for uri, edits in pairs(answer and answer.result.changes or {}) do
    local path = vim.uri_to_fname(uri)
    files[#files + 1] = { path = path, edits = our_edits(path, edits, answer.encoding) }
  end
  for _, change in ipairs(answer and answer.result.documentChanges or {}) do
    if change.textDocument then
      local path = vim.uri_to_fname(change.textDocument.uri)
      files[#files + 1] = { path = path, edits = our_edits(path, change.edits, answer.encoding) }
    end
  end
  return { files = files }
end

---@param buf integer
---@param range linkspan.Range?
function M.format(buf, range)
  local path = vim.api.nvim_buf_get_name(buf)
  local method = range and "textDocument/rangeFormatting" or "textDocument/formatting"
  local client = clients_of(buf, method)[1]
  if not client then hub.refuse(hub.errors.UNSUPPORTED, ("no language server of Neovim formats %s"):format(path)) end
  local version = vim.api.nvim_buf_get_changedtick(buf)
  local tab = vim.bo[buf].shiftwidth > 0 and vim.bo[buf].shiftwidth or vim.bo[buf].tabstop
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    options = { tabSize = tab, insertSpaces = vim.bo[buf].expandtab },
  }
  params.range = range
    and {
      start = convert(path, range.start, "utf-16", client.offset_encoding),
      ["end"] = convert(path, range["end"], "utf-16", client.offset_encoding),
    }
  local edits = request(client, method, params, buf) or {}
  if vim.api.nvim_buf_get_changedtick(buf) ~= version then
    hub.refuse(hub.errors.CONFLICT, path .. " changed while it was being formatted: try again")
  end
  return { edits = our_edits(path, edits, client.offset_encoding) }
end

function M.attach()
  hub.on("language/hover", function(params)
    local contents, range = {}, nil
    for _, answer in ipairs(ask(params.path, "textDocument/hover", { position = params.position })) do
      local shown = markdown(answer.result.contents)
      if shown ~= "" then
        contents[#contents + 1] = shown
        range = range or (answer.result.range and our_range(params.path, answer.result.range, answer.encoding))
      end
    end
    return { contents = contents, range = range }
  end)
  hub.on(
    "language/definition",
    function(params)
      return { locations = locations_of(ask(params.path, "textDocument/definition", { position = params.position })) }
    end
  )
  hub.on("language/references", function(params)
    local asked = { position = params.position, context = { includeDeclaration = params.includeDeclaration } }
    return { locations = locations_of(ask(params.path, "textDocument/references", asked)) }
  end)
  hub.on("language/symbols", function(params)
    local symbols = {}
    if params.kind == "document" then
      for _, answer in ipairs(ask(params.path, "textDocument/documentSymbol", {})) do
        flatten(answer.result, params.path, nil, answer.encoding, symbols)
      end
      return { symbols = symbols }
    end
    for _, client in ipairs(vim.lsp.get_clients({ method = "workspace/symbol" })) do
      local result = request(client, "workspace/symbol", { query = params.query }, 0)
      flatten(result or {}, nil, nil, client.offset_encoding, symbols)
    end
    return { symbols = symbols }
  end)
  hub.on("language/rename", rename)
end

return M
