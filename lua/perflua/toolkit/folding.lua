-- Common parts of the tools that fold stacks: options, the events of a recording, its stacks.

local core = require "perflua.core"
local aside = require "perflua.group.aside"
local explained = require "perflua.toolkit.explained"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local samples = require "perflua.toolkit.samples"
local stacks = require "perflua.flame.stacks"
local suggest = require "perflua.errors.suggest"
local unchosen = require "perflua.toolkit.unchosen"

local folding = {}

local USAGE = 2

folding.options = {
  event = { "EVENT", "use samples of this event; default: the first with samples" },
  by = { "comm|pid|tid|none", "the first frame of each stack; default: comm" },
  count = "count samples; default: add up their periods",
  inline = "show inlined functions, where there is debug information",
}

---@param own table<string, string|string[]> a tool's own options
---@return table<string, string|string[]> # with these
function folding.with_options(own)
  for name, option in pairs(folding.options) do own[name] = option end
  return own
end

---@param name string an option
---@return boolean # true if it chooses what is read of a recording
function folding.reads(name)
  return folding.options[name] ~= nil or samples.options[name] ~= nil
end

---@param tool string
---@param format string
---@param ... any for string.format; escaped, for it may come from a recording
function folding.log(tool, format, ...)
  io.stderr:write("perflua: ", tool, ": ", fmt.escape(format:format(...)), "\n")
end

---@param options table<string, any> what is allowed, by its name
---@return string? message what is wrong with this value
function folding.wrong(option, value, options)
  if value == nil or options[value] then return nil end
  return suggest.message(("--%s: no '%s'"):format(option, value), value, suggest.names(options))
end

---Says of which event samples are taken, and how others are: events are never added together.
---@param tool string
---@param used perflua.Event
---@param others (perflua.Event|false)[] false: not known
function folding.tell_others(tool, used, others)
  local names, same = {}, {}
  for _, event in ipairs(others) do
    if event and event.name == used.name then
      same[#same + 1] = ("; --where 'event.index == %d' selects another of this name"):format(
        event.index)
    else
      names[#names + 1] = event and event.name or "(event unknown)"
    end
  end
  if not others[1] then return end
  local selects = names[1] and "; --event selects another: " .. fmt.names(names) or ""
  folding.log(tool, "using samples of %s%s%s", fmt.short(used.name), selects,
    table.concat(same))
end

---Returns those of a list of events that have samples, whatever options choose of them.
---@param list perflua.Event[]
---@param counts table what core.count() gave
---@return perflua.Event[]
function folding.with_samples(list, counts)
  local found = {}
  for _, event in ipairs(list) do
    if counts.events[event.index].count > 0 then found[#found + 1] = event end
  end
  return found
end

local function stacks_options(args, shows)
  return { by = args.by or "comm", count = args.count, inline = args.inline,
    lines = shows.lines, names = shows.names, split = true }
end

---Explains what folding.recording() reads.
---@param file perflua.File
---@param args table what tools.parse gave
---@param shows { lines: boolean?, names: boolean? }
---@param steps string[][] what follows
---@return table[]? parts for explained.text()
---@return string? message
---@return integer? status
function folding.explain(file, args, shows, steps)
  local events, message = stacks.choose(file, args.event)
  if message then return nil, message, USAGE end
  local counts, found = nil, {}
  if file.size then counts, found = explained.counts(file, { names = true }) end
  local parts = { counts }
  local is_first = file.size and #events > 1 and not samples.is_chosen(args)
  local query = file:samples { event = (args.event or is_first) and events or nil,
    order = file.size and "file" or nil, reuse = true }
  if is_first then
    table.insert(steps, 1, { "Lua", "only the first of these events that has samples is read" })
  end
  parts[#parts + 1] = explained.reading(stacks.reading(query, stacks_options(args, shows)),
    steps, found)
  return parts
end

---@param tool string its name
---@param file perflua.File
---@param args table what tools.parse gave
---@param shows { lines: boolean?, names: boolean? } with source lines; of frames only names
---@return perflua.flame.Stacks? set with event_name, lost, cmdline
---@return string? message
---@return integer? status of the tool, if it is not 1
function folding.recording(tool, file, args, shows)
  local counts = file.size and core.count(file, { names = true }) or nil
  local all, query, set, n_aside
  local events, message = stacks.choose(file, args.event)
  if message then return nil, message, USAGE end
  -- where nothing else chooses samples, those of other events need not be read
  if counts and not samples.is_chosen(args) then all = folding.with_samples(events, counts) end
  query = file:samples { event = all and all[1] or args.event and events or nil,
    order = file.size and "file" or nil, reuse = true }
  set, n_aside = stacks.collect(query, stacks_options(args, shows))
  if n_aside > 0 then folding.log(tool, "%s", aside.said(n_aside)) end
  if set.samples == 0 and not interrupted.part() then
    folding.log(tool, "%s: %s", fmt.paths(file.path), unchosen.text(file, args))
  end
  set.event = set.event or all and all[1] or events[1]
  if set.event then
    folding.tell_others(tool, set.event, all and { table.unpack(all, 2) } or set.others)
  end
  set.event_name = set.event and set.event.name or "unknown event"
  set.lost = counts and counts.lost_records + counts.lost_samples
  set.cmdline = file.features.cmdline
  return set
end

return folding
