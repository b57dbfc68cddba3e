-- The text of source files, as far as they may be read: regular files of up to 64 MB.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"

local source = {}

local MOST <const> = 64 << 20 -- bytes

---@class perflua.Sources
---@field prefix string?
---@field strip integer leading parts of a path to leave out before the prefix is put in front
---@field files table<string, table> by path as the compiler wrote it
local Sources = {}
Sources.__index = Sources

---@param prefix string? put in front of paths
---@param strip integer? default: 0
---@return perflua.Sources
function source.new(prefix, strip)
  return setmetatable({ prefix = prefix, strip = strip or 0, files = {} }, Sources)
end

-- Returns the path here of a file.
function Sources:place(path)
  if path:sub(1, 1) ~= "/" then return self.prefix and self.prefix .. "/" .. path or path end
  for _ = 1, self.strip do path = path:match "^/+[^/]+(/.*)$" or path end
  return self.prefix and self.prefix:gsub("/+$", "") .. path or path
end

local function read(path)
  local kind, size, modified = core.stat(path)
  if not kind then return { reason = "not found" } end
  if kind ~= "file" then return { reason = "not a regular file" } end
  if size > MOST then return { reason = "larger than 64 MB" } end
  local file <close>, message = io.open(path, "rb")
  local text = file and file:read "a"
  if not text then return { reason = message or "cannot be read" } end
  return { text = text, starts = { 1 }, modified = modified }
end

---@param path string as the compiler wrote it
---@return table # { path, reason } or { path, text, modified }
function Sources:file(path)
  local found = self.files[path]
  if not found then
    local place = self:place(path)
    found = read(place)
    found.path = place
    self.files[path] = found
  end
  return found
end

-- Returns where a line begins; nil: the file ends before it.
local function start_of(file, line)
  local starts = file.starts
  while #starts < line do
    local stop = file.text:find("\n", starts[#starts], true)
    if not stop then return nil end
    starts[#starts + 1] = stop + 1
  end
  return starts[line] <= #file.text and starts[line] or nil
end

---@param path string as the compiler wrote it
---@param line integer from 1 on
---@return string? # its text, safe for a terminal; nil: the file is not there, or is shorter
function Sources:line(path, line)
  local file = self:file(path)
  local at = file.text and start_of(file, line)
  if not at then return nil end
  local text = file.text:sub(at, (file.text:find("\n", at, true) or #file.text + 1) - 1)
  return (fmt.escape((text:gsub("\r$", ""):gsub("\t", "        "))))
end

return source
