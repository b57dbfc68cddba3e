-- Interrupts and softirqs: from the entry of a handler to its exit, and from a softirq's raise
-- to its entry.

local pending = require "perflua.waits.pending"
local samples_with_losses = require "perflua.file.samples_with_losses"

local interrupts = {}

local SAMPLE <const> = 9 -- PERF_RECORD_SAMPLE

-- Parses the name of an event: "irq", "softirq" or "vector"; what it does; the name of a
-- vector.
local function parse_event(event)
  event = event:match "^[^:]+:[^:]+" -- without modifiers
  local kind, does = event:match "^irq:(%a+)_.-(%a+)$"
  if kind then return kind, does end
  local vector
  vector, does = event:match "^irq_vectors:(.*)_(e%a+)$"
  return "vector", does, vector
end

-- Returns the names of softirqs in the recorded kernel, from the print format of their events:
-- { 1, "TIMER" }.
local function softirq_names(file)
  local names, event = {}, file.events["irq:softirq_entry"] or file.events["irq:softirq_raise"]
  for number, name in (event and event.print_fmt or ""):gmatch '{%s*(%d+),%s*"([^"]*)"%s*}' do
    names[math.tointeger(tonumber(number))] = name
  end
  return names
end

-- Returns the values that a pass reads, as far as this recording has them.
local function values_of(file)
  local has, tests = {}, {}
  for _, event in ipairs(file.events) do
    local family = event.name:match "^irq:irq_" or event.name:match "^irq:softirq_"
      or event.name:match "^irq_vectors:"
    if family and not has[family] then
      has[family], tests[#tests + 1] = true, ("event == '%s*'"):format(family)
    end
  end
  local names = file.events["irq:irq_handler_entry"]
  return samples_with_losses.matching(file, tests)
    :select("type_id", "time", "cpu", "event.name", has["irq:irq_"] and "args.irq" or "false",
      names and "args.name" or "false", has["irq:softirq_"] and "args.vec" or "false")
end

---Takes each run of a handler that ended, and each softirq that began after it was raised:
---since the first raise. Both are { kind, number, name, cpu, time }; kind is "irq", "softirq"
---or "vector", which has no number.
---@param file perflua.File
---@param take fun(run: table, duration: integer)
---@param waited fun(run: table, duration: integer)
---@return table runs, table raises # waits/pending.lua: what was not taken
function interrupts.each(file, take, waited)
  local runs, raises, names, events = pending.new(), pending.new(true), softirq_names(file), {}
  for type_id, time, cpu, event, irq, name, vec in values_of(file) do
    if type_id ~= SAMPLE then
      runs:drop(cpu or nil)
      raises:drop(cpu or nil)
    elseif not (cpu and time) then
      runs:skip()
    else
      if not events[event] then events[event] = { parse_event(event) } end
      local kind, does, vector = table.unpack(events[event])
      local number = irq or vec or nil
      local key = does and kind .. (vector or number or "?")
      if does == "raise" then
        raises:begin(cpu, key, time)
      elseif does == "entry" then
        local run = { kind = kind, number = number, name = vector or name or names[vec] or vec,
          cpu = cpu, time = time }
        runs:begin(cpu, key, run)
        local raised = kind == "softirq" and raises:finish(cpu, key)
        if raised then raises:pass(waited, run, time - raised) end
      elseif does == "exit" then
        local run = runs:finish(cpu, key)
        if run then runs:pass(take, run, time - run.time) end
      end
    end
  end
  return runs, raises
end

return interrupts
