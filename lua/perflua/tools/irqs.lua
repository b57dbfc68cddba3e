-- perflua irqs FILE: how long the processors served interrupts and softirqs, and how long
-- softirqs had to wait.

local aside = require "perflua.group.aside"
local described = require "perflua.toolkit.described"
local fmt = require "perflua.text.fmt"
local result_table = require "perflua.table.result_table"

local known = { "vector", "cpu" }

local columns = { { "type", "string" }, { "number", "signed" }, { "name", "string" },
  { "cpu", "signed" }, { "count", "unsigned" }, { "total_ms", "float" }, { "avg_us", "float" },
  { "max_us", "float" }, { "delays", "unsigned" }, { "avg_delay_us", "float" },
  { "max_delay_us", "float" } }

local tool = {
  description =
    "time in interrupts and softirqs, and until softirqs began: by vector, by processor",
  usage = "irqs [options] FILE",
  reads = "samples",
  needs = {
    events = {
      { any = { "irq:irq_handler_entry", "irq:softirq_entry", "irq_vectors:*_entry" } } },
    fields = { "cpu", "time" },
  },
  record = "perf record -a -e 'irq:*' -- COMMAND",
  options = result_table.with_options(columns, {
    by = { "WHAT", "group by vector, cpu, or vector,cpu (default)", values = known } }),
  help = [[
The delay of a softirq runs from its first raise; perf kwork latency takes the last one. The time of a
handler includes handlers that interrupt it. To record the processor's own vectors, too:
perf record -a -e 'irq:*,irq_vectors:local_timer_*,irq_vectors:reschedule_*' -- COMMAND

  $ perflua irqs --by vector --count 3 perf.data
  # 3157 runs and raises; not counted: 5 repeated starts
  type     number  name         count  total_ms  avg_us  max_us  delays  avg_delay_us  max_delay_us
  vector        -  local_timer    437     12.76   29.20  219.26       -             -             -
  softirq       9  RCU            401      4.18   10.43   53.88     401         87.34       3975.55
  softirq       4  BLOCK          503      1.98    3.93   22.02     503          1.72         17.72]],
}

-- The kinds of spans: what opens and closes them, and the argument that tells those of one kind
-- apart on a processor. Keys begin with the place in this list.
local kinds = {
  { open = "irq:softirq_raise", close = "irq:softirq_entry", number = "args.vec",
    again = "keep" },
  { open = "irq:softirq_entry", close = "irq:softirq_exit", number = "args.vec" },
  { open = "irq:irq_handler_entry", close = "irq:irq_handler_exit", number = "args.irq" },
  { open = "irq_vectors:*_entry", close = "irq_vectors:*_exit", number = "args.vector" },
}
local RAISE <const> = kinds[1].open

local function has_event(file, glob)
  local pattern = "^" .. glob:gsub("%*", ".*") .. "%f[:\0]"
  for _, event in ipairs(file.events) do
    if event.name:find(pattern) then return true end
  end
  return false
end

-- Returns the query: of runs of handlers, and of softirqs from their raise to their start; nil
-- and why there is none.
local function query_of(file, by)
  local open, close, has = {}, {}, {}
  for i, kind in ipairs(kinds) do
    if has_event(file, kind.open) and has_event(file, kind.close) then
      local key = { "cpu", tostring(i), kind.number }
      open[#open + 1] = { event = kind.open, key = key, again = kind.again }
      close[#close + 1], has[kind.number] = { event = kind.close, key = key }, true
    end
  end
  if #open == 0 then
    return nil, fmt.paths(file.path) .. ": no handler has both its start and its end recorded"
  end
  local keys = { "event.name" }
  for _, number in ipairs { "args.irq", "args.vec" } do
    if by.vector and has[number] then keys[#keys + 1] = number end
  end
  if by.cpu then keys[#keys + 1] = "cpu" end
  local query = described.samples(file):pair { open = open, close = close }
  if not by.vector then
    keys[1] = has_event(file, RAISE) and ("event == '%s'"):format(RAISE) or nil
  end
  query = query:group_by(table.unpack(keys)):sum("duration"):count():max("duration")
  return by.vector and has["args.irq"] and query:first("args.name"):as("name") or query
end

function tool.queries(file, _, by)
  local query, message = query_of(file, by)
  return query and { query }, message
end

tool.prepare = result_table.prepare("vector,cpu", known)

-- Returns the names of softirqs in the recorded kernel, from the print format of their events:
-- { 1, "TIMER" }.
local function softirq_names(file)
  local names, event = {}, file.events["irq:softirq_entry"] or file.events["irq:softirq_raise"]
  for number, name in (event and event.print_fmt or ""):gmatch '{%s*(%d+),%s*"([^"]*)"%s*}' do
    names[math.tointeger(tonumber(number))] = name
  end
  return names
end

-- Returns the type of handlers that begin with this event, and the name of a vector.
local function type_of(event)
  local vector = event:match "^irq_vectors:(.*)_entry"
  return vector and "vector" or event:match "^irq:(%a-)_", vector
end

-- Returns the rows of the tool: those of runs, each with what became of raises.
local function rows_of(file, made, by)
  local rows, delays, names = {}, {}, softirq_names(file)
  for row in made:rows() do
    local event, vec = row["event.name"], row["args.vec"]
    local is_raise = row[("event == '%s'"):format(RAISE)] or event == RAISE
    local key = ("%s %s"):format(vec, row.cpu)
    if is_raise then
      delays[key] = row
    else
      local kind, vector
      if by.vector then kind, vector = type_of(event) end
      rows[#rows + 1] = { type = kind, number = row["args.irq"] or vec, key = key,
        name = vector or row.name or names[vec] or vec and tostring(vec), cpu = row.cpu,
        count = row.count, total_ms = row.duration / 1e6,
        avg_us = row.duration / row.count / 1e3, max_us = row.max_duration / 1e3 }
    end
  end
  for _, row in ipairs(rows) do
    local delay = delays[row.key]
    if delay and (row.type == "softirq" or not by.vector) then
      row.delays, row.avg_delay_us = delay.count, delay.duration / delay.count / 1e3
      row.max_delay_us = delay.max_duration / 1e3
    end
  end
  return rows
end

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  local query, message = query_of(file, by)
  if not query then return nil, message end
  local set_aside = aside.from(query.query)
  local list = result_table.new(columns, "total_ms", { type = not by.vector,
    number = not by.vector, name = not by.vector, cpu = not by.cpu })
  local made = query:table()
  for _, row in ipairs(rows_of(file, made, by)) do list:add(row) end
  list:note_spans(made, "{run or raise|runs and raises}")
  aside.note(list, set_aside.n)
  return list:write(args, out)
end

return tool
