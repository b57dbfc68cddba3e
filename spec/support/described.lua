-- Descriptions of recordings, as perflua dump --lua prints them, and recordings built of them.
local core = require "perflua.core"
local build = require "perflua.write.build"
local files = require "spec.support.files"
local perflua = require "perflua"
local plan = require "perflua.plan"
local rewritten = require "spec.support.rewritten"

local described = {}

local silent = 0

--- Calls fn(...) without warnings, and returns what it returns.
function described.silently(fn, ...)
  silent = silent + 1
  warn "@off"
  local results = table.pack(pcall(fn, ...))
  silent = silent - 1
  if silent == 0 then warn "@on" end
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

--- The description of a recording; nil and a message if it cannot be opened or described.
function described.text(path)
  local file <close>, message = perflua.open(path)
  if not file then return nil, message end
  local query = file:records { container = true, order = "file" }
  local to = files.temporary()
  local out = assert(io.open(to, "wb"))
  local ok
  ok, message = core.describe(file, out, plan.walk(core.query_spec(query)))
  out:close()
  local text = files.read(to)
  os.remove(to)
  return ok and text, message
end

--- Builds a recording of a description: its path, and the summary; or nil and what is wrong.
function described.build(text)
  local from, to = files.temporary(text), rewritten.path()
  local summary, message, code = described.silently(build.file, from, to, {})
  os.remove(from)
  if not summary then return nil, message:gsub(from:gsub("%p", "%%%0"), "X.lua"), code end
  return to, summary
end

--- The bytes of a recording that is built of the description of another; nil and why not.
function described.again(path)
  local text, message = described.text(path)
  if not text then return nil, message end
  local built
  built, message = described.build(text)
  assert(built, message)
  local bytes = files.read(built)
  os.remove(built)
  return bytes
end

return described
