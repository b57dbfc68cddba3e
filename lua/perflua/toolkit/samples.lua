-- The options by which tools look at some samples only: one set for all that read samples.
--
-- After choose() all queries over samples of a File look at those that were chosen, also for
-- what pairs samples.

local narrow = require("perflua.query").narrow
local select = require("perflua.file.records").select
local strip_position = require("perflua.errors").strip_position
local words = require "perflua.toolkit.sample_words"
local apply_option = words.apply

local samples = {}

samples.options = {
  time = { "RANGES", "only these times: 1718.35,1718.40 or 10% or 10%/2 or 10%-20%; several "
    .. "with spaces or commas" },
  comm = { "NAME,…", "only threads of these names" },
  pid = { "PID,…", "only these processes" },
  tid = { "TID,…", "only these threads" },
  cpu = { "LIST", "only these processors: 0,2-3" },
  dso = { "NAME,…", "only samples in these binaries, by path or file name" },
  symbol = { "NAME,…", "only samples in these functions" },
  event = { "EVENT,…", "only these events, by name or glob" },
  where = { "EXPR", "only samples for which a filter is true", fields = true },
}

--- The option of tools that count spans by the processor on which they begin.
samples.cpu_of_spans = { "LIST", "only what begins on these processors: 0,2-3" }

---@param args table what tools.parse gave
---@return any[]? # the range of --time, { from, to }, where it is a single one
function samples.window(args)
  local windows = args.time and apply_option("time", words.windows, args.time)
  return windows and #windows == 1 and type(windows[1]) == "table" and windows[1] or nil
end

---@param args table what tools.parse gave
---@param owned table<string, any>? names of options that the tool understands itself
---@return (fun(query: perflua.Query, alone: boolean): perflua.Query)? # nil: nothing asked
---@return string[][]? steps of a query over samples that choose the same: { method, argument }
local function make_selection(args, owned)
  local parts = {}
  for _, condition in ipairs(words.conditions) do
    local name, value = condition[1], args[condition[1]]
    if value and not (owned and owned[name] ~= nil) then
      parts[#parts + 1] = { name = name, text = apply_option(name, condition[2], value) }
    end
  end
  local windows = args.time and not (owned and owned.time and samples.window(args))
    and apply_option("time", words.windows, args.time)
  if #parts == 0 and not windows then return nil end
  local steps = { windows and { "between", windows } }
  for _, part in ipairs(parts) do steps[#steps + 1] = { "where", part.text } end
  return function(query, alone)
    if windows then query = apply_option("time", narrow, query, windows, nil, true) end
    for _, part in ipairs(parts) do
      local text = alone and part.text or ("type_id ~= 9 or (%s)"):format(part.text)
      query = apply_option(part.name, query.where, query, text)
    end
    return query
  end, steps
end

-- By File: the steps with which its queries over samples begin.
local steps_of = setmetatable({}, { __mode = "k" })

---@param file perflua.File
---@return table[] # the steps that chose its samples, as { method, argument }
function samples.steps(file) return steps_of[file] or {} end

---Returns the conditions of options that a tool applies itself, without that of events.
---@param args table what tools.parse gave
---@param owned table<string, any> names of these options
---@return string[]? # filters; nil: one of them is wrong
---@return string? message
function samples.conditions(args, owned)
  local list = {}
  for _, condition in ipairs(words.conditions) do
    local name, value = condition[1], args[condition[1]]
    if value and name ~= "event" and owned[name] ~= nil then
      local ok, text = pcall(apply_option, name, condition[2], value)
      if not ok then return nil, text end
      list[#list + 1] = text
    end
  end
  return list
end

---Names the options that choose samples.
---@param args table what tools.parse gave
---@return string? # "--comm, --time"; nil: none is given
function samples.given(args)
  local names = {}
  for name in pairs(samples.options) do
    if args[name] then names[#names + 1] = "--" .. name end
  end
  table.sort(names)
  return names[1] and table.concat(names, ", ")
end

---Restricts a query over records of any type to those that the options choose; records
---without what an option is about are not among them.
---@param query perflua.Query
---@param args table what tools.parse gave
---@param owned table<string, any>? names of options that the tool understands itself
---@return perflua.Query # raises what is wrong with the options
function samples.narrow(query, args, owned)
  local selected = make_selection(args, owned)
  return selected and selected(query, true) or query
end

---Restricts a tool to the samples that its options choose.
---@param file perflua.File
---@param args table what tools.parse gave
---@param owned table<string, boolean>? options that the tool applies itself; true: by
--- threads(), of_tids() or of_cpus(), which then find no fault in them
---@return string? message what is wrong with the options
function samples.choose(file, args, owned)
  local ok, chosen = pcall(function()
    if owned then
      samples.threads { pid = owned.pid and args.pid, tid = owned.tid and args.tid,
        cpu = owned.cpu and args.cpu, comm = owned.comm and args.comm }
    end
    local selected
    selected, steps_of[file] = make_selection(args, owned)
    return selected
  end)
  if not ok then return strip_position(chosen) end
  if owned and owned.cpu and args.cpu then -- raises where no record has it
    local has_cpu, message = pcall(file.samples(file).where, file:samples(), "cpu == 0")
    if not has_cpu then return "--cpu: " .. strip_position(message) end
  end
  if not chosen then return nil end
  select(file, chosen)
  local message
  ok, message = pcall(file.samples, file)
  if not ok then return strip_position(message) end
end

-- For choose(), where a tool chooses threads, processors as well, or a range of times, too, by
-- itself.
samples.of_threads = { comm = true, pid = true, tid = true }
samples.of_spans = { comm = true, pid = true, tid = true, cpu = true }
samples.of_cut_spans = { comm = true, pid = true, tid = true, cpu = true, time = true }

---Returns a condition on spans that begin on some processors, or with some threads.
---@param args table what tools.parse gave
---@param fields table<string, string> by the names of options: what tells it of a span
---@return string? # nil: all are chosen
function samples.span_condition(args, fields)
  local parts = {}
  for _, row in ipairs(words.conditions) do
    local name, field = row[1], fields[row[1]]
    if field and args[name] then
      local condition = apply_option(name, row[2], args[name])
      parts[#parts + 1] = field .. condition:sub(#name + 1)
    end
  end
  return parts[1] and table.concat(parts, " and ")
end

---Chooses the threads and processors whose rows are shown, in tools that read samples of all of
---them to know what one did.
---@param args table what tools.parse gave
---@return fun(tid: integer?, comm: string?, pid: integer?, cpu: integer?): boolean is_chosen
function samples.threads(args)
  local sets = {}
  for _, name in ipairs { "pid", "tid", "cpu" } do
    local set = args[name] and {}
    if set then
      apply_option(name, words.each_number, args[name], function(i) set[i] = true end)
    end
    sets[name] = set
  end
  for _, name in ipairs(args.comm and apply_option("comm", words.split, args.comm) or {}) do
    sets.comm = sets.comm or {}
    sets.comm[name] = true
  end
  return function(tid, comm, pid, cpu)
    return (not sets.tid or sets.tid[tid] == true) and (not sets.pid or sets.pid[pid] == true)
      and (not sets.comm or sets.comm[comm] == true) and (not sets.cpu or sets.cpu[cpu] == true)
  end
end

---Chooses threads by their number alone, of a recording whose names were read.
---@param file perflua.File
---@param args table what tools.parse gave
---@return (fun(tid: integer, time: integer?): boolean)? is_chosen nil: all are
function samples.of_tids(file, args)
  local of_threads = { comm = args.comm, pid = args.pid, tid = args.tid }
  if not next(of_threads) then return nil end
  local is_chosen = samples.threads(of_threads)
  return function(tid, time)
    local thread = file:thread(tid, time)
    return is_chosen(tid, thread and thread.comm, thread and thread.pid)
  end
end

---@param args table what tools.parse gave
---@return (fun(cpu: integer?): boolean)? is_chosen nil: all are
function samples.of_cpus(args)
  if not args.cpu then return nil end
  local is_chosen = samples.threads { cpu = args.cpu }
  return function(cpu) return is_chosen(nil, nil, nil, cpu) end
end

---@param args table what tools.parse gave
---@return boolean # true if options choose samples by more than their events
function samples.is_chosen(args)
  for name in pairs(samples.options) do
    if name ~= "event" and args[name] then return true end
  end
  return false
end

---@param args table
---@return string[]? names of events; nil: all, or see message
---@return string? message
function samples.events(args)
  if not args.event then return nil end
  local ok, names = pcall(apply_option, "event", words.split_events, args.event)
  return ok and names or nil, not ok and names or nil
end

return samples
