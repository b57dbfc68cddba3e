-- perflua dump FILE: every record with its recorded fields, as text or JSON. Lines are made by
-- the core.

local core = require "perflua.core"
local samples = require "perflua.toolkit.samples"
local strip_position = require("perflua.errors").strip_position
local plan = require "perflua.plan"
local suggest = require "perflua.errors.suggest"
local known_types = require("perflua.recording").types
local spec_of = core.query_spec

local USAGE = 2

-- Fields that are not recorded, but known of a record from others: each where the record has
-- it.
local NAMES = { "comm", "dso", "symbol", "symoff", "stack" }

local tool = {
  description = "print one line for each record, with its recorded fields",
  usage = "dump [--json | --lua] [--names] [--type TYPE,…] [--where EXPR] [--time RANGES] "
    .. "FILE…",
  reads = "records", several = true,
  takes = "samples symbols",
  options = {
    json = "print one JSON object per line; integers are exact",
    lua = "print the whole recording as a description in Lua, of which perflua build makes the "
      .. "same bytes",
    names = "also show " .. table.concat(NAMES, ", "),
    type = { "TYPE,…", "only records of these types, by name or number",
      values = suggest.names(known_types()) },
    where = { "EXPR", "only records that match a filter", fields = true },
    between =
      { "FROM,TO",
        "only records from time FROM on and before TO; one may be empty" },
  },
  help = [[
Records come in file order, with the container's own records, as they are in the file. With --names or
--where, records of a stream come in time order, because names need it. The other options that choose
samples choose records here: those of a thread, of an event, and so on.

Times are as in between(): nanoseconds, seconds as a line of text shows them (1718.320686), time since
the first record (20ms, 1.5s) or a percentage of the recording (10%). Records without a time never match.

--lua describes one whole recording: header, attrs, ids, features, and every record by its fields, in the
order of the file. See perflua help writing for its form. Compressed records stay as they are; perflua
convert decompresses them first.

  $ perflua dump --lua perf.data >perf.lua && perflua build perf.lua -o same.data
  $ perflua dump --names --type sample --where "symbol == 'compare'" --between 10%,20% perf.data]],
}

-- Parses one end of --between.
local function time_of(text)
  if text == "" then return nil end
  return text:match "^%d+$" and math.tointeger(tonumber(text)) or text:gsub("^%d+%.%d+$", "@%0")
end

-- Returns the query. May raise what a Query raises.
local function query_of(file, args)
  local types = args.type and {}
  for name in (args.type or ""):gmatch "[^,]+" do
    types[#types + 1] = math.tointeger(tonumber(name)) or name
  end
  local waits = not file.size and (args.names or samples.is_chosen(args))
  local query = file:records { type = types, container = true, order = waits and "time"
    or "file" }
  if args.where then query = query:where(args.where) end
  if args.between then
    local from, to = args.between:match "^([^,]*),([^,]*)$"
    if not from then error("between: FROM,TO expected, got '" .. args.between .. "'", 0) end
    query = query:between(time_of(from), time_of(to))
  end
  return samples.narrow(query, args, { where = true })
end

-- Options that choose or show records, which a description has all.
local OTHERS <const> = { "json", "names", "type", "where", "between" }

function tool.prepare(args)
  if not args.lua then return nil end
  for _, name in ipairs(OTHERS) do
    if args[name] then return nil, "--lua describes the whole recording: without --" .. name end
  end
  if samples.is_chosen(args) then
    return nil, "--lua describes the whole recording: perflua cut writes a part of it first"
  elseif type(args[1]) == "table" and #args[1] > 1 then
    return nil, "--lua describes one recording"
  end
end

local function describe(file, out)
  local query = file:records { container = true, order = "file" }
  local ok, message = core.describe(file, out, plan.walk(spec_of(query)))
  if not ok then return nil, message end
  return 0
end

---@param file perflua.File
---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out)
  if args.lua then return describe(file, out) end
  local ok, query = pcall(query_of, file, args)
  if not ok then return USAGE, "dump: " .. strip_position(query) end
  local options = plan.walk(spec_of(query))
  options.json, options.names = args.json, args.names and NAMES
  core.dump(file, out, options)
end

return tool
