-- Common parts of the tools that fold stacks: options, the events of a recording, its stacks.

local core = require "perflua.core"
local aside = require "perflua.group.aside"
local fmt = require "perflua.text.fmt"
local interrupted = require "perflua.table.interrupted"
local perflua = require "perflua"
local samples = require "perflua.toolkit.samples"
local stacks = require "perflua.flame.stacks"
local suggest = require "perflua.errors.suggest"
local symbols = require "perflua.toolkit.symbols"
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
  return samples.with_options(symbols.with_options(own))
end

---@param name string an option
---@return boolean # true if it chooses what is read of a recording
function folding.reads(name)
  return folding.options[name] ~= nil or samples.is_option(name)
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

-- Events are never added together unless they were asked for by one name.
local function tell_others(tool, file, args, events, counts, of_stream)
  if args.event then
    if events[2] then
      folding.log(tool, "'%s' matches %d events, which are added up", args.event, #events)
    end
    return
  end
  local others = {}
  for i, count in ipairs(counts and counts.events or {}) do
    if count.count > 0 and file.events[i].name ~= events[1].name then
      others[#others + 1] = file.events[i].name
    end
  end
  for _, event in ipairs(of_stream) do
    others[#others + 1] = event and event.name or "(event unknown)"
  end
  if others[1] then
    folding.log(tool, "using samples of %s; --event selects another: %s", events[1].name,
      table.concat(others, ", "))
  end
end

---@param tool string its name
---@param args table what tools.parse gave
---@param lines boolean? with source lines
---@return perflua.flame.Stacks? set with events, event_name, lost, cmdline
---@return string? message
---@return integer? status of the tool, if it is not 1
function folding.recording(tool, args, lines)
  local file <close>, message = perflua.open(args[1], symbols.of(args))
  if not file then return nil, message end
  local counts = file.size and core.count(file) or nil
  local events, query, set, n_aside
  events, message = stacks.choose(file, args.event, counts)
  if message then return nil, message, USAGE end
  message = samples.choose(file, args, { event = true })
  if message then return nil, tool .. ": " .. message, USAGE end
  query = file:samples { event = events, order = file.size and "file" or nil, reuse = true }
  set, n_aside = stacks.collect(query, {
    by = args.by or "comm", count = args.count, inline = args.inline, lines = lines,
    split = not events,
  })
  if n_aside > 0 then folding.log(tool, "%s", aside.said(n_aside)) end
  if set.samples == 0 and not interrupted.part() then
    folding.log(tool, "%s: %s", fmt.paths(file.path), unchosen.text(file, args))
  end
  events = events or { set.event }
  tell_others(tool, file, args, events, counts, set.others)
  set.events, set.event_name = events, #events > 1 and args.event or events[1]
    and events[1].name or "unknown event"
  set.lost = counts and counts.lost_records + counts.lost_samples
  set.cmdline = file.features.cmdline
  return set
end

return folding
