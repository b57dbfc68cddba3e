-- Why there is no sample: names in a tool's options that nothing in the recording has, or a
-- recording of counters.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local functions = require "perflua.file.functions"
local parser = require "perflua.filter.parser"
local samples = require "perflua.toolkit.samples"
local select = require("perflua.file.records").select
local suggest = require "perflua.errors.suggest"
local types = require("perflua.recording").types
local words = require "perflua.doctor.words"

local unchosen = {}

local SAMPLE <const> = 9

-- Records that perf writes instead of samples, and what answers questions about them.
local ASKED <const> = {
  stat = [[perflua -e 'print(file:records("stat"):group_by("event.name"):sum("val"))' FILE ]]
    .. "adds up its counters",
  schedstat_cpu = "perflua fields FILE says what they have",
}

-- Says that a recording has no samples at all, and of one that has counters what to ask; nil:
-- it has some, or can be read only once.
local function describe_none(file)
  if not file.size then return nil end
  local list, counted, hint = {}, core.count(file), nil
  if counted.types[SAMPLE] then return nil end
  for id, row in pairs(counted.types) do
    local name = types()[id] and types()[id].name or "unknown " .. id
    list[#list + 1], hint = { name = name, n = row.count }, ASKED[name] or hint
  end
  if not hint then return "no samples" end
  table.sort(list, function(a, b)
    if a.n ~= b.n then return a.n > b.n end
    return a.name < b.name
  end)
  return ("no samples; records: %s: %s"):format(words.first(list, "type", function(one)
    return ("%s %d"):format(one.name, one.n)
  end), hint)
end

local function names_of_threads(file)
  local names = {}
  for _, thread in ipairs(file:threads()) do names[thread.comm] = true end
  return names
end

-- Adds the functions that a filter names in under(…), but for globs.
local function add_under(node, found)
  if type(node) ~= "table" then return end
  if node.op == "call" and node.name == "under" then
    local name = node.args[1] and node.args[1].value
    if type(name) == "string" and not name:find "[*?%[]" then found[#found + 1] = name end
  end
  for _, child in pairs(node) do add_under(child, found) end
end

local function functions_of(args)
  local found = {}
  for name in (args.symbol or ""):gmatch "[^,]+" do found[#found + 1] = name end
  if args.where then add_under(parser.expression(args.where), found) end
  return found
end

-- Adds a sentence for each name that is none of those that `read` returns.
local function add_unknown(list, what, wanted, read, file)
  local names, candidates
  for _, name in ipairs(wanted) do
    names = names or read(file)
    candidates = candidates or suggest.names(names)
    if not names[name] then
      list[#list + 1] = suggest.message(("%s '%s'"):format(what, name), name, candidates)
    end
  end
end

---Says that there is no sample. If options choose samples, says which names of threads and
---functions in them nothing has; of a recording of counters, how to ask for them. That takes
---further passes over the recording.
---@param file perflua.File
---@param args table what tools.parse gave
---@return string # escaped
function unchosen.text(file, args)
  local none = describe_none(file)
  if none or not samples.is_chosen(args) then return none or "no samples" end
  local list, comms = {}, {}
  if file.size then
    select(file, nil)
    for name in (args.comm or ""):gmatch "[^,]+" do comms[#comms + 1] = name end
    add_unknown(list, "no thread is named", comms, names_of_threads, file)
    add_unknown(list, "no sample is of function", functions_of(args), functions.sampled, file)
  end
  return fmt.escape("no samples that the options choose"
    .. (#list > 0 and ": " .. table.concat(list, "; ") or ""))
end

return unchosen
