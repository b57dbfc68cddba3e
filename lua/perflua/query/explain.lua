-- Query:explain(): what a query reads, in which order, and where each of its steps runs; the
-- same of what tools read.

local check_open = require("perflua.recording").check_open
local core = require "perflua.core"
local description = require "perflua.table.description"
local engine = require "perflua.plan.engine"
local fmt = require "perflua.text.fmt"
local guard = require("perflua.errors").guard
local trees = require "perflua.plan.trees"
local plan = require "perflua.plan"

local SHOWN = 8 -- names in a list

local function listed(names) return fmt.names(names, SHOWN) end

local function records_of(spec)
  if not spec.types then
    return spec.container and "all records, the container's too" or "all records"
  end
  local names = description.type_names(spec.types)
  return #names == 1 and names[1] == "sample" and "samples" or "records of type "
    .. listed(names)
end

local function events_of(spec)
  if not spec.events then return "" end
  local names = {}
  for _, event in ipairs(spec.scope:events()) do names[#names + 1] = event.name end
  return " of " .. listed(names)
end

local function place_of(file)
  local path, size = file.path, file.size
  local where = type(path) == "table" and ("%d files"):format(#path) or path
  if not size then return where .. ", a stream that can be read once" end
  return ("%s, %s bytes"):format(where, fmt.unsigned(size))
end

local function times_of(spec)
  if not spec.from and not spec.to then return nil end
  local from = spec.from and spec.from ~= 0 and "from @" .. core.seconds(spec.from)
  local to = spec.to and "before @" .. core.seconds(spec.to)
  return from and to and from .. ", " .. to or from or to
    or "any, but records without a time are left out"
end

local orders = { time = "time", file = "file", any = "file" }

local function order_of(spec, in_core)
  local order, why
  if spec.keys or spec.reader then
    order, why = engine.order(spec, spec.keys, spec.columns)
  else
    order = spec.order or "time"
    why = spec.order and "as requested" or "loops read in time order"
  end
  if order == "any" and not spec.file.size then
    return in_core
      and "file, or time if names are needed: the answer is the same in both"
      or "time: a stream tells names among its records"
  end
  return ("%s: %s"):format(orders[order], why)
end

-- Filters in the order in which they are asked: those that call functions of Lua come last.
-- Between those of records and those of rows stands what rows are.
local function add_filters(spec, builder, add)
  local of_records, of_rows = engine.split_filters(spec)
  local function add_list(filters)
    for _, entry in ipairs(engine.filter_trees(filters, builder)) do
      local filter = entry.filter
      add(filter.node and "C" or "Lua", "where " .. filter.shown, filter.node and entry.why)
    end
  end
  add_list(of_records)
  local unnest = spec.unnest
  if unnest then
    local once = unnest.once and (", once for each %s"):format(unnest.once.text) or ""
    local inlined = unnest.inline and " with inlined functions" or ""
    add("C", ("items of %s as %s%s%s"):format(unnest.text, unnest.prefix, inlined, once))
  end
  add_list(of_rows)
end

local function texts_of(refs)
  local texts = {}
  for i, ref in ipairs(refs) do texts[i] = ref.text end
  return table.concat(texts, ", ")
end

local function columns_of(spec)
  local texts = {}
  for i, column in ipairs(spec.columns) do
    local argument = column.ref and ("(%s)"):format(column.ref.text) or "()"
    local weight = column.weight and (" weighted by %s"):format(column.weight.text) or ""
    texts[i] = column.measure .. argument .. weight
  end
  return #texts > 0 and table.concat(texts, ", ") or "count()"
end

local function keys_of(spec)
  local refs = {}
  for i, key in ipairs(spec.keys) do refs[i] = key.ref end
  local split = spec.split and #spec.scope:events() ~= 1
  return (split and "event, " or "") .. texts_of(refs)
end

local ALONE = "Lua sees one record after another"

local function grouping_of(spec)
  local columns = {}
  for _, column in ipairs(spec.columns) do -- times are kept by profiles only
    if column.measure ~= "times" then columns[#columns + 1] = column end
  end
  columns[1] = columns[1] or { measure = "count" }
  return engine.grouping(spec, spec.keys, columns)
end

-- Adds the grouping. Returns whether the core does it without functions of Lua, by how many
-- workers, why not by more, and the passes before.
local function add_grouping(spec, add)
  local grouping = grouping_of(spec)
  add("C", "group by " .. keys_of(spec), grouping.keys_call)
  add("C", columns_of(spec), grouping.measures_call)
  local workers, why, passes = guard(core.group_workers, spec.file, grouping)
  if grouping.calls then return false, 1, ALONE, passes end
  return true, workers, why, passes
end

-- Adds a loop, as add_grouping does the grouping.
local function add_loop(spec, add)
  if not spec.refs then
    add("C", spec.reader and "spans, or what is inside of them, made for the loop"
      or "records, made for the loop")
    local _, _, passes = plan.workers(spec)
    return false, 1, ALONE, passes
  end
  local of_values, calls = plan.calls(spec, spec.refs)
  add("C", "values of " .. texts_of(spec.refs), of_values)
  local workers, why, passes = plan.workers(spec, spec.refs)
  if calls then return false, 1, ALONE, passes end
  return true, workers, why, passes
end

local explain = {}

-- after the name of a pass: it finds names
explain.WITH_NAMES = ", and with them the recorded system"

-- Returns the passes, as --timing names them, and how many there are: without those whose
-- result an earlier pass found.
local function passes_of(passes, own, found)
  local names = {}
  for _, name in ipairs(passes) do
    if not found[name] then names[#names + 1] = name end
  end
  names[#names + 1] = own
  local with_names = passes.with_system and not found["recorded system"]
  return ("%d: %s%s"):format(#names, table.concat(names, ", "),
    with_names and explain.WITH_NAMES .. " if that is safe" or ""), #names
end

---@param spec table
---@param own { steps: string[][]?, found: table<string, boolean>? }? steps after those of the
--- spec: where each runs, and what it does; found: passes whose result an earlier pass found
---@return string # lines
---@return integer # the number of passes
function explain.spec(spec, own)
  check_open(spec.file)
  local lines, steps = {}, {}
  local function line(name, text)
    if text then lines[#lines + 1] = fmt.escape(("%-8s %s"):format(name, text)) end
  end
  local function add(where, text, why)
    text = text:gsub("%s+", " ") .. (why and (" (%s)"):format(why) or "")
    steps[#steps + 1] = fmt.escape(("  %d  %-3s  %s"):format(#steps + 1, where, text))
  end
  local what = spec.reader and spec.reader.reads or records_of(spec) .. events_of(spec)
  line("reads", ("%s in %s"):format(what, place_of(spec.file)))
  line("times", times_of(spec))
  add_filters(spec, spec.reader and spec.reader:builder(spec, {}) or trees.builder(), add)
  local in_core, workers, why, passes = (spec.keys and add_grouping or add_loop)(spec, add)
  for _, step in ipairs(own and own.steps or {}) do add(step[1], step[2]) end
  line("order", order_of(spec, in_core))
  line("workers", workers .. (why and ": " .. why or ""))
  local listed_passes, n_passes = passes_of(passes, spec.keys and "groups" or "loop",
    own and own.found or {})
  line("passes", listed_passes)
  return table.concat(table.move(steps, 1, #steps, #lines + 1, lines), "\n"), n_passes
end

---Explains groups of a query by keys and measures that are not those of its group_by.
---@param spec table
---@param keys {ref: table}[]
---@param columns table[]
---@param own table? see explain.spec
---@return string # lines
---@return integer # the number of passes
function explain.grouping(spec, keys, columns, own)
  local grouped = { keys = keys, columns = columns, split = false }
  return explain.spec(setmetatable(grouped, { __index = spec }), own)
end

---Explains a pass over all records of a recording.
---@param file perflua.File
---@param pass string what --timing calls it
---@param workers integer
---@param why string? why there are not more
---@param step string what is done
---@return string # lines
function explain.all(file, pass, workers, why, step)
  return fmt.escape(("reads    all records in %s"):format(place_of(file)))
    .. "\norder    file: the answer is the same in any order\nworkers  " .. workers
    .. (why and ": " .. why or "") .. ("\npasses   1: %s\n  1  C    %s"):format(pass, step)
end

return explain
