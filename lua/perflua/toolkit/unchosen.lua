-- Why there is no sample: names in a tool's options that nothing in the recording has, or a
-- recording of counters.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local samples = require "perflua.toolkit.samples"
local select = require("perflua.file.records").select
local types = require("perflua.recording").types
local unfound = require "perflua.file.unfound"
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
  return ("no samples; records: %s: %s"):format(words.first(list, "type", function(entry)
    return ("%s %d"):format(entry.name, entry.n)
  end), hint)
end

-- Returns the names of threads and functions in the options.
local function names_in(args)
  local wanted = args.where and unfound.named(args.where) or { functions = {}, threads = {} }
  for name in (args.comm or ""):gmatch "[^,]+" do table.insert(wanted.threads, name) end
  for name in (args.symbol or ""):gmatch "[^,]+" do table.insert(wanted.functions, name) end
  return wanted
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
  local list = {}
  if file.size then
    select(file, nil)
    list = unfound.sentences(file, names_in(args))
  end
  return fmt.escape("no samples that the options choose"
    .. (#list > 0 and ": " .. table.concat(list, "; ") or ""))
end

return unchosen
