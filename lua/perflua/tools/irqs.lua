-- perflua irqs FILE: how long the processors served interrupts and softirqs, and how long
-- softirqs had to wait.

local interrupts = require "perflua.waits.interrupts"
local result_table = require "perflua.table.result_table"
local totals = require "perflua.waits.totals"

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
  # 5 raises are not counted: the softirq had been raised before
  type     number  name         count  total_ms  avg_us  max_us  delays  avg_delay_us  max_delay_us
  vector        -  local_timer    437     12.76   29.20  219.26       -             -             -
  softirq       9  RCU            401      4.18   10.43   53.88     401         87.34       3975.55
  softirq       4  BLOCK          503      1.98    3.93   22.02     503          1.72         17.72]],
}

local raise_notes = {
  prefix = "raise_", unopened = "{softirq|softirqs} began without a recorded raise",
  restarted = "{raise is|raises are} not counted: the softirq had been raised before",
}

tool.prepare = result_table.prepare("vector,cpu", known)

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  local rows, delays = totals.new(), totals.new()
  local function key_of(run)
    return by.vector and run.kind, by.vector and (run.number or run.name), by.cpu and run.cpu
  end
  local runs, raises = interrupts.each(file, function(run, duration)
    local row = rows:row(key_of(run))
    row.type, row.number, row.name, row.cpu = run.kind, run.number, run.name, run.cpu
    totals.add(row, duration)
  end, function(run, duration) totals.add(delays:row(key_of(run)), duration) end)
  local list = result_table.new(columns, "total_ms", { type = not by.vector,
    number = not by.vector, name = not by.vector, cpu = not by.cpu })
  delays:sorted()
  for _, row in ipairs(rows:sorted()) do
    local delay = delays.by_key[row.key]
    if delay then
      row.delays, row.avg_delay_us, row.max_delay_us = delay.count, delay.avg_us, delay.max_us
    end
    list:add(row)
  end
  runs:add_notes(list, "handler")
  raises:add_notes(list, "raise", raise_notes)
  return list:write(args, out)
end

return tool
