-- The text of source files, as far as they may be read: see src/symbols/source.h.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"

local source = {}

---@class perflua.Sources
---@field prefix string?
---@field strip integer leading parts of a path to leave out before the prefix is put in front
---@field recording perflua.File
---@field machine integer see annotate/functions.lua
---@field files table<string, table> by path as the compiler wrote it
local Sources = {}
Sources.__index = Sources

---@param prefix string? put in front of paths
---@param strip integer? default: 0
---@param recording perflua.File
---@param machine integer of the binaries that name the files: its bundle may have their lines
---@return perflua.Sources
function source.new(prefix, strip, recording, machine)
  return setmetatable({ prefix = prefix, strip = strip or 0, recording = recording,
    machine = machine, files = {} }, Sources)
end

-- Returns the path here of a file.
function Sources:place(path)
  if path:sub(1, 1) ~= "/" then
    return self.prefix and self.prefix .. "/" .. path:gsub("^%./", "") or path
  end
  for _ = 1, self.strip do path = path:match "^/+[^/]+(/.*)$" or path end
  return self.prefix and self.prefix:gsub("/+$", "") .. path or path
end

---Adds lines of files whose text is known.
---@param texts table<string, table<integer, string>> by path, by number
function Sources:add(texts)
  for path, lines in pairs(texts) do
    local known = self.files[path]
    local all = known and known.lines or {}
    for number, text in pairs(lines) do all[number] = text end
    self.files[path] = { path = path, lines = all,
      line_of = function(number) return all[number] end }
  end
end

---@param path string as the compiler wrote it
---@return table # { path, reason } or { path, line_of, modified }
function Sources:file(path)
  local found = self.files[path]
  if not found then
    local place = self:place(path)
    local line_of, told = core.source(place, self.recording, self.machine)
    found = { path = place, line_of = line_of, modified = line_of and told,
      reason = not line_of and told or nil }
    self.files[path] = found
  end
  return found
end

---@param path string as the compiler wrote it
---@param line integer from 1 on
---@return string? # its text, safe for a terminal; nil: the file is not there, or is shorter
function Sources:line(path, line)
  local file = self:file(path)
  local text = file.line_of and file.line_of(line)
  return text and fmt.escape((text:gsub("\t", "        ")))
end

return source
