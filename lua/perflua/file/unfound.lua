-- Says why a condition may choose nothing: names in it that no thread and no function of a
-- recording has.

local core = require "perflua.core"
local interrupted = require "perflua.table.interrupted"
local output = require "perflua.table.output"
local parser = require "perflua.filter.parser"
local suggest = require "perflua.errors.suggest"
local warning = require("perflua.errors").warning

local unfound = {}

-- Names of fields, also of items of call chains, by what they name.
local named_by = { comm = "threads", symbol = "functions", sym = "functions",
  ["frame.symbol"] = "functions" }

local function add_texts(list, nodes)
  for _, node in ipairs(nodes) do
    if node.op == "const" and node.kind == "string" then list[#list + 1] = node.value end
  end
end

local function add_named(names, node)
  local list = node.left and names[named_by[node.left.text]]
  if node.op == "and" or node.op == "or" then
    for _, part in ipairs(node.parts) do add_named(names, part) end
  elseif node.op == "call" and node.name == "under" then
    local name = node.args[1] and node.args[1].value
    local is_glob = type(name) == "string" and name:find "[*?%[]"
    if not is_glob then add_texts(names.functions, node.args) end
  elseif list and (node.op == "==" or node.op == "in") then
    add_texts(list, node.items or { node.right })
  end
end

---Returns the functions and threads that a condition asks for by name.
---@param condition string
---@return { functions: string[], threads: string[] } # none of what must not be there
function unfound.named(condition)
  local names = { functions = {}, threads = {} }
  add_named(names, parser.expression(condition))
  return names
end

local function add_values(names, query, field)
  for row in query:group_by(field):all_events():each() do
    if row[field] then names[row[field]] = true end
  end
end

---Reads a recording, which must be readable again.
---@param file perflua.File
---@return table<string, true> # names of functions that a sample or its call chain has
function unfound.functions(file)
  local names, samples = {}, file:samples()
  local scope = core.query_spec(samples).scope
  if scope:root "symbol" then add_values(names, samples, "symbol") end
  if scope:root "callchain" then
    add_values(names, samples:unnest "callchain", "frame.symbol")
  end
  return names
end

-- Names of threads, also those that a thread had earlier.
local function names_of_threads(file)
  local names, samples = {}, file:samples()
  for _, thread in ipairs(file:threads()) do names[thread.comm or false] = true end
  if core.query_spec(samples).scope:root "comm" then
    for row in samples:group_by("comm"):all_events():each() do
      names[row.comm or false] = true
    end
  end
  names[false] = nil
  return names
end

local kinds <const> = {
  { "threads", names_of_threads, "no thread is named" },
  { "functions", unfound.functions, "no sample is of function" },
}

---Reads a recording, which must be readable again, at most once for each kind of names.
---@param file perflua.File
---@param wanted { functions: string[], threads: string[] }
---@param known table? # keeps what was read for the next call
---@return string[] # a sentence for each name that is none, with the closest one
function unfound.sentences(file, wanted, known)
  local list = {}
  known = known or {}
  for _, kind in ipairs(kinds) do
    local key, read, what = table.unpack(kind)
    for _, name in ipairs(wanted[key]) do
      known[key] = known[key] or read(file)
      if not known[key][name] then
        list[#list + 1] = suggest.message(("%s '%s'"):format(what, name), name,
          suggest.names(known[key]))
      end
    end
  end
  return list
end

local known_names = setmetatable({}, { __mode = "k" }) -- by File
local told = {}

-- Returns the names in the filters of a query; functions of Lua and windows of time have none.
local function names_of(spec)
  local wanted = { functions = {}, threads = {} }
  for _, filter in ipairs(spec.filters) do
    local ok, found = false, nil
    if not filter.fn and not filter.is_window then
      ok, found = pcall(unfound.named, filter.shown)
    end
    for key, names in pairs(ok and found or {}) do
      table.move(names, 1, #names, #wanted[key] + 1, wanted[key])
    end
  end
  return wanted
end

local function tell(file, wanted)
  known_names[file] = known_names[file] or {}
  for _, sentence in ipairs(unfound.sentences(file, wanted, known_names[file])) do
    if not told[sentence] then warning("%s", sentence) end
    told[sentence] = true
  end
end

local is_busy = false -- what is read to tell it may find nothing, too

---Warns, once for each, of names in the filters of a query that nothing of the recording has.
---@param query perflua.Query that found nothing
function unfound.tell(query)
  local spec = core.query_spec(query)
  if is_busy or output.is_tool or not spec.file.size or interrupted.now() then return end
  is_busy = true
  local ok, message = pcall(tell, spec.file, names_of(spec))
  is_busy = false
  if not ok and not interrupted.now() then warning("%s", message) end
end

return unfound
