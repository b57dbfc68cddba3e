-- --explain of tools: what they would read, as query:explain() says it.

local core = require "perflua.core"
local explain = require "perflua.query.explain"
local fmt = require "perflua.text.fmt"
local guard = require("perflua.errors").guard
local spec_of = core.query_spec

local explained = {}

---Explains a pass that counts all records.
---@param file perflua.File
---@param options { is_health: boolean?, names: boolean?, order: boolean? }? is_health: it also
--- looks for what is wrong with them; names, order: it finds names, or the index of times, if
--- it can
---@return { text: string, n: integer }
---@return table<string, boolean> # by name: passes that are not made, as it finds their results
function explained.counts(file, options)
  local is_health = options and options.is_health
  local n, why, can_find = guard(core.count_workers, file, is_health)
  local finds = options and options.names and can_find or false
  local pass = is_health and "counts for doctor" or "counts of records"
  return { n = 1, text = explain.all(file, finds and pass .. explain.WITH_NAMES or pass, n, why,
    is_health and "count samples, losses and damage"
    or "count records, samples and losses") }, {
    ["recorded system"] = finds, ["index of times"] = options and options.order and can_find }
end

---Explains the pass that reads who ran and what was mapped, for functions that ask for it.
---@param file perflua.File
---@return { text: string, n: integer }
function explained.names(file)
  return { n = 1, text = explain.all(file, "recorded system", guard(core.count_workers, file),
    nil, "read the names of threads") }
end

---Explains the pass that finds the first and the last time.
---@param file perflua.File whose header does not tell them
---@return { text: string, n: integer }
function explained.times(file)
  return { n = 1, text = explain.all(file, "first and last time", 1, nil,
    "find the first and the last time") }
end

---Explains what is read of a recording, and what is done with it.
---@param reading { query: perflua.Query, keys: table[]?, columns: table[]? } groups by keys, or
--- the values that the query selects
---@param steps string[][]? further steps, where each runs and what it does
---@param found table<string, boolean>? passes whose result an earlier pass found
---@return { text: string, n: integer }
function explained.reading(reading, steps, found)
  local spec, own = spec_of(reading.query), { steps = steps, found = found }
  local text, n
  if reading.keys then
    text, n = explain.grouping(spec, reading.keys, reading.columns, own)
  else
    text, n = explain.spec(spec, own)
  end
  return { text = text, n = n }
end

-- Adds the passes that were made to explain what is read: options with shares of the time need
-- the first and the last.
local function add_made(texts)
  local names = {}
  for _, pass in ipairs(core.timing().passes) do names[#names + 1] = pass.what end
  if names[1] then
    texts[#texts + 1] = ("passes   %d: %s (made now, as options need it)"):format(#names,
      table.concat(names, ", "))
  end
  return #names
end

---@param parts { text: string, n: integer }[] made while time was measured
---@return string # lines: the parts, and how many passes there are together
function explained.text(parts)
  local texts = {}
  local n = add_made(texts)
  for _, part in ipairs(parts) do texts[#texts + 1], n = part.text, n + part.n end
  if texts[2] then texts[#texts + 1] = fmt.phrase(n, "{pass|passes}") .. " together" end
  return table.concat(texts, "\n\n") .. "\n"
end

return explained
