-- Folded stacks as text: "name;name;… value", a line for each distinct stack.

local fmt = require "perflua.text.fmt"

local folded = {}

-- Kinds of frames, for their colour: a letter for each frame of a stack, callers first. Trees
-- that the core makes have the same letters (src/export/export.h).
--
--   n  no code: the root, a command's name     k  kernel     i  inlined
--   u  user                                    j  made at run time (JIT)
--   p  no code: the thread was preempted

local U = ("u"):byte()

-- Returns the name of a frame without the mark of its kind, and the kind; nil: it has none.
local function parse_name(name)
  local bare, kind = name:match("^(.+)_%[([kij])%]$")
  if bare then return bare, kind end
  return name, name == "[preempted]" and "p" or nil
end

---Returns a function for many annotated stacks: it returns the names without their kinds, and a
---letter for each; those that are missing at the end are "u".
---@param first string? the letter of the first name, unless it says one: "n" of a command
---@return fun(text: string): string, string
function folded.splitter(first)
  local bare, letter = {}, {} -- by name: most names are in many stacks
  setmetatable(bare, { __index = function(_, name)
    bare[name], letter[name] = parse_name(name)
    letter[name] = letter[name] or "u"
    return bare[name]
  end })
  return function(text)
    if not (text:find("_[", 1, true) or text:find("[preempted]", 1, true)) then
      return text, first or "" -- stacks of other programs have no kinds
    end
    local stack = text:gsub("[^;]+", bare)
    local letters = text:gsub("[^;]+", letter):gsub(";", "")
    if first and letters:byte() == U then letters = first .. letters:sub(2) end
    return stack, letters
  end
end

-- Returns valid UTF-8, in which controls, hidden characters and invalid bytes are "?".
local function beyond_ascii(text)
  local parts, at = {}, 1
  while at <= #text do
    local length, bad = utf8.len(text, at)
    local stop = length and #text or bad - 1
    parts[#parts + 1] = fmt.replace_hidden(text:sub(at, stop), "?")
    if not length then parts[#parts + 1] = "?" end
    at = (bad or #text) + 1
  end
  return table.concat(parts)
end

---Replaces what separates frames or lines, or could move a terminal's cursor. In a call chain's
---own names the core has done so already (src/machine/stack.c).
---@param text string frames joined by ";"
---@return string
function folded.clean(text)
  if text:find("%c") then text = text:gsub("%c", "?") end
  return text:find("[\x80-\xff]") and beyond_ascii(text) or text
end

---@param text string one name
---@return string
function folded.clean_name(text)
  return folded.clean((text:gsub(";", ":")))
end

---@param write fun(text: string)
---@param list table[] of { stack, value }
function folded.write(write, list)
  for _, entry in ipairs(list) do write(("%s %s\n"):format(entry.stack, entry.value)) end
end

---@param lines fun(): string? an iterator
---@return table? set { total, samples, list, skipped } list: of { stack, value, kinds }, with a
--- letter for each frame, see folded.splitter(); skipped: how many lines were not understood
---@return string? message
function folded.read(lines)
  local set = { total = 0, samples = 0, skipped = 0, list = {} }
  local by_stack, list, split = {}, set.list, folded.splitter "n"
  for line in lines do
    local text, number = line:match("^%s*(.*%S)%s+(%d+%.?%d*)%s*$")
    local value = number and tonumber(number)
    if value and value < math.huge then
      local stack, letters = split(folded.clean(text))
      local entry = by_stack[stack]
      if not entry then
        entry = { stack = stack, value = 0, kinds = letters }
        by_stack[stack], list[#list + 1] = entry, entry
      end
      entry.value = entry.value + value
      set.total = set.total + value
      if set.total < 0 or set.total == math.huge then
        return nil, "the weights add up to more than 2^63"
      end
    elseif line:find("%S") then
      set.skipped = set.skipped + 1
    end
  end
  table.sort(list, function(a, b) return a.stack < b.stack end)
  return set
end

return folded
