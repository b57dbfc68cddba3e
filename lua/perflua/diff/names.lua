-- Names by which rows of two recordings are matched: binaries by their file name, call chains
-- by their functions, all after the renaming that was asked for; and names of events.

local fmt = require "perflua.text.fmt"

local names = {}

-- Returns whether a key is a binary: "dso", "dso_daddr", "frame.dso", "callchain[1].dso".
local function is_binary(key)
  local field = key.text or key.name
  return field:find "%f[%w]dso$" ~= nil or field:find "%f[%w]dso_%w+$" ~= nil
end

-- The name of a binary without its directories. A kernel has one name, wherever its symbols
-- came from.
local function name_of_binary(path)
  local base = fmt.base_name(path)
  if base:find "^vmlinux%f[^%w]" or path:find "^%[kernel" then return "[kernel.kallsyms]" end
  return base
end

-- Returns the new name of a value; nil if it keeps its own.
local function find_renamed(name, match, used)
  local to = match[name]
  if to then used[name] = true end
  return to
end

local function rename_frames(stack, match, used)
  return (stack:gsub("[^;]+", function(frame) return find_renamed(frame, match, used) end))
end

---Returns how the core matches texts of keys.
---@param keys { name: string, kind: string, text: string? }[]
---@param match table<string, string> renames values of keys, and functions of folded stacks
---@param used table<string, boolean> gets the names that were renamed
---@return { matched: boolean[], match_stacks: boolean, match: function } # see core.comparison
function names.matcher(keys, match, used)
  local renames, binaries, matched = next(match) ~= nil, {}, {}
  for i, key in ipairs(keys) do
    binaries[i] = key.kind == "string" and is_binary(key)
    matched[i] = renames or binaries[i]
  end
  return { matched = matched, match_stacks = renames, match = function(text, i, is_stack)
    if is_stack then return rename_frames(text, match, used) end
    if binaries[i] then text = name_of_binary(text) end
    if not renames then return text end
    return find_renamed(text, match, used) or rename_frames(text, match, used)
  end }
end

---Finds the key that has binaries.
---@param keys { name: string, text: string? }[]
---@return integer? # its place
function names.binary(keys)
  for i, key in ipairs(keys) do
    if (key.text or key.name):find "%f[%w]dso$" then return i end
  end
end

---Finds the key that has functions.
---@param keys { name: string, text: string? }[]
---@return integer? # its place
function names.symbol(keys)
  for i, key in ipairs(keys) do
    if (key.text or key.name):find "%f[%w]symbol$" then return i end
  end
end

---Returns the name of an event without modifiers that say how exactly it is sampled (p, P), or
---that some versions of perf show only (H).
---@param name string
---@return string # "cycles:u" of "cycles:Pu"
function names.event(name)
  local event, modifiers = name:match "^(.*[:/])([%a]+)$"
  if not event or not modifiers:find "^[ukhGHpPSDIWeb]+$" then return name end
  modifiers = modifiers:gsub("[pPH]", "")
  return modifiers == "" and event:gsub(":$", "") or event .. modifiers
end

local COUNTED <const> = { ["page-faults"] = true, faults = true, ["minor-faults"] = true,
  ["major-faults"] = true, ["context-switches"] = true, cs = true, ["cpu-migrations"] = true,
  migrations = true, ["alignment-faults"] = true, ["emulation-faults"] = true, dummy = true,
  ["bpf-output"] = true, ["cgroup-switches"] = true }

---Returns whether samples of an event are taken now and then, as those of clocks and cycles:
---others, such as of tracepoints, are counted one by one, and vary in ways of their own.
---@param name string|false of event()
---@return boolean
function names.is_sampled(name)
  if not name or name == "unknown event" then return false end
  local event, modifiers = name:gsub(" %(%d+%)$", ""):match "^([^:]*):?(.*)$"
  if COUNTED[event] then return false end
  return modifiers:find "^[ukhGSDIWeb]*$" ~= nil
end

---Returns the names by which events are matched.
---@param data table of a Table
---@return table<integer, string|false> # by their place; of several of one name, with a number
function names.events(data)
  if not data.events then return { [0] = false } end
  local list, seen = { [0] = "unknown event" }, {}
  for i, name in ipairs(data.events) do
    name = names.event(name)
    seen[name] = (seen[name] or 0) + 1
    list[i] = seen[name] > 1 and ("%s (%d)"):format(name, seen[name]) or name
  end
  return list
end

return names
