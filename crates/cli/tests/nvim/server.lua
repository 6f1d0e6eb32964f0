-- A language server inside Neovim, for tests. It counts columns in bytes, and reports the word `bad` as an error.

local function position(text, offset)
  local before = text:sub(1, offset)
  local _, line = before:gsub("\n", "")
  return { line = line, character = #before:match("[^\n]*$") }
end

local function ranges(text, word)
  local found, from = {}, 1
  while true do
    local first, last = text:find(word, from, true)
    if not first then
      return found
    end
    found[#found + 1] = { start = position(text, first - 1), ["end"] = position(text, last) }
    from = last + 1
  end
end

local function start(buf)
  local texts = {}
  local function report(dispatchers, uri)
    local diagnostics = vim.tbl_map(function(range)
      return { range = range, message = "bad is not good", severity = 1, source = "judge", code = "E7" }
    end, ranges(texts[uri], "bad"))
    dispatchers.notification("textDocument/publishDiagnostics", { uri = uri, diagnostics = diagnostics })
  end
  local answers = {
    initialize = function()
      return {
        capabilities = {
          positionEncoding = "utf-8",
          textDocumentSync = { openClose = true, change = 1 },
          hoverProvider = true,
          definitionProvider = true,
          referencesProvider = true,
          documentSymbolProvider = true,
          documentFormattingProvider = true,
        },
      }
    end,
    ["textDocument/hover"] = function(params)
      return { contents = { kind = "markdown", value = "column " .. params.position.character } }
    end,
    ["textDocument/definition"] = function(params)
      return { uri = params.textDocument.uri, range = ranges(texts[params.textDocument.uri], "name")[1] }
    end,
    ["textDocument/references"] = function(params)
      local uri = params.textDocument.uri
      return vim.tbl_map(function(range)
        return { uri = uri, range = range }
      end, ranges(texts[uri], "name"))
    end,
    ["textDocument/documentSymbol"] = function(params)
      local range = ranges(texts[params.textDocument.uri], "name")[1]
      return { { name = "name", kind = 12, range = range, selectionRange = range } }
    end,
  }
  vim.lsp.start({
    name = "judge",
    root_dir = vim.fn.getcwd(),
    cmd = function(dispatchers)
      local is_closing = false
      return {
        request = function(method, params, callback)
          callback(nil, answers[method] and answers[method](params) or vim.NIL)
          return true, 1
        end,
        notify = function(method, params)
          local uri = params and params.textDocument and params.textDocument.uri
          if method == "textDocument/didOpen" or method == "textDocument/didChange" then
            texts[uri] = params.textDocument.text or params.contentChanges[1].text
            report(dispatchers, uri)
          end
          return true
        end,
        is_closing = function()
          return is_closing
        end,
        terminate = function()
          is_closing = true
        end,
      }
    end,
  }, { bufnr = buf })
end

vim.api.nvim_create_autocmd("BufReadPost", {
  pattern = "*.judged",
  callback = function(event)
    start(event.buf)
  end,
})
