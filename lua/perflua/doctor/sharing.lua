-- Tells what a recording would tell a stranger, by kind of data: as it is, or scrubbed.

local core = require "perflua.core"
local errors = require "perflua.errors"
local fmt = require "perflua.text.fmt"
local rules = require "perflua.write.rules"
local words = require "perflua.doctor.words"

local sharing = {}

local STAYS <const> = { keep = "kept", hash = "hashed", base = "base", relative = "relative" }

-- Returns how much there is of a kind.
local function amount(kind)
  if kind.distinct > 0 then
    return ("%s, %s"):format(words.count(kind.distinct, "name"), words.count(kind.n, "time"))
  elseif kind.bytes > 0 then
    return ("%s, %s"):format(words.count(kind.n, "time"), words.bytes(kind.bytes))
  end
  return words.count(kind.n, "time")
end

local function length(text) return utf8.len(text, 1, -1, true) or #text end

local function pad(text, width) return text .. (" "):rep(width - length(text)) end

-- Returns rows of cells as lines.
local function align(rows)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do
      widths[i] = math.max(widths[i] or 0, length(cell))
    end
  end
  for i, row in ipairs(rows) do
    local cells = {}
    for k, cell in ipairs(row) do cells[k] = pad(cell, widths[k]) end
    lines[i] = table.concat(cells, "  "):gsub("%s+$", "")
  end
  return lines
end

local function examples_of(kind)
  local list = {}
  for i, text in ipairs(kind.examples) do list[i] = fmt.escape(text) end
  if kind.distinct > #list and #list > 0 then list[#list + 1] = "…" end
  return #list > 0 and table.concat(list, ", ") or kind.doc
end

---Returns what the recording would tell as it is, as Scrubbed (perflua.api) has it; or nil, a
---message and a code.
---@param file perflua.File
---@return table?
---@return string?
function sharing.of(file)
  return errors.guard(core.sharing, file, { order = "file", scrub = rules.keeping() })
end

---Returns what remains in a scrubbed recording as lines, and what was dropped.
---@param scrubbed table Scrubbed
---@return string[]
function sharing.lines(scrubbed)
  local rows, dropped = {}, {}
  for _, kind in ipairs(scrubbed.kinds) do
    if kind.n > 0 and STAYS[kind.action] then
      rows[#rows + 1] = { kind.name, STAYS[kind.action], amount(kind), examples_of(kind) }
    elseif kind.n > 0 then
      dropped[#dropped + 1] = kind.name
    end
  end
  local lines = align(rows)
  if #dropped > 0 then lines[#lines + 1] = "dropped: " .. table.concat(dropped, ", ") end
  if scrubbed.unreadable > 0 then
    lines[#lines + 1] = words.count(scrubbed.unreadable, "record")
      .. (scrubbed.unreadable == 1 and " left out: it cannot be read"
        or " left out: they cannot be read")
  end
  if #scrubbed.features > 0 then
    lines[#lines + 1] = "features that cannot be read: "
      .. table.concat(scrubbed.features, ", ")
  end
  return lines
end

return sharing
