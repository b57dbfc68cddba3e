-- Tells, once for each, that a name in the filters of a query which found nothing is that of no
-- thread or function of the recording.

local core = require "perflua.core"
local interrupted = require "perflua.table.interrupted"
local named = require "perflua.filter.named"
local output = require "perflua.table.output"
local sentences = require("perflua.file.unfound").sentences
local warning = require("perflua.errors").warning

local known = setmetatable({}, { __mode = "k" }) -- by File
local told = {}

-- Returns the names in the filters of a query; functions of Lua and windows of time have none.
local function names_of(spec)
  local wanted = { functions = {}, threads = {} }
  for _, one in ipairs(spec.filters) do
    local ok, found = false, nil
    if not one.fn and not one.is_window then ok, found = pcall(named, one.shown) end
    for key, names in pairs(ok and found or {}) do
      table.move(names, 1, #names, #wanted[key] + 1, wanted[key])
    end
  end
  return wanted
end

local function tell(file, wanted)
  known[file] = known[file] or {}
  for _, sentence in ipairs(sentences(file, wanted, known[file])) do
    if not told[sentence] then warning("%s", sentence) end
    told[sentence] = true
  end
end

local is_busy = false -- what is read to tell it may find nothing, too

---@param query perflua.Query that found nothing
return function(query)
  local spec = core.query_spec(query)
  if is_busy or output.is_tool or not spec.file.size or interrupted.now() then return end
  is_busy = true
  local ok, message = pcall(tell, spec.file, names_of(spec))
  is_busy = false
  if not ok and not interrupted.now() then warning("%s", message) end
end
