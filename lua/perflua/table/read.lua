-- Saved tables, one after another from a file or a pipe.

local errno = require("perflua.errors").errno
local merge = require "perflua.table.merge"
local saved = require "perflua.table.saved"

local read = {}

-- Returns the first bytes of the next line that is not empty, and the rest if they begin a
-- saved table. Any other line is not read further, as it may have no end. Returns nil at the
-- end, or nil, message, code.
local function next_line(file)
  local first, message, code
  repeat first, message, code = errno(file:read(1)) until first ~= "\n" and first ~= "\r"
  if not first then return nil, message, code end
  local head = first .. (file:read(saved.HEAD_SIZE - 1) or "")
  if saved.refused(head) then return head end
  local body
  body, message, code = errno(file:read("L"))
  if message then return nil, message, code end
  return head, body or ""
end

---@param from file*|string an open file, a path, or "-" for standard input
---@return file*? file, string name, string? code # nil, message and code if it cannot be opened
local function open_source(from)
  if from == "-" then return io.stdin, "standard input" end
  if type(from) ~= "string" then return from, "the file" end
  local file, message, code = errno(io.open(from, "rb"))
  return file, file and from or message, code
end

---Returns an iterator over the tables of a file: data, show; or nil, message, code for a
---damaged one, after which the next ones are read if possible. The loop's control value comes
---first: true.
---@param from file*|string
---@return fun(): true?, table?, table|string?, string?
---@return nil, nil, file*? closing
function read.each(from)
  local file, name, code = open_source(from)
  local n, ended = 0, false
  local function describe_failure(message, why)
    return true, nil, ("%s: table %d: %s"):format(name, n, message), why
  end
  local function read_next()
    if ended then return nil end
    if not file then
      ended = true
      return true, nil, name, code
    end
    local head, body, why = next_line(file)
    n = n + 1
    if not head then
      ended = true
      if body then return true, nil, ("%s: %s"):format(name, body), why end
      return nil
    end
    local message = saved.refused(head)
    if message then
      ended = true
      return describe_failure(message, "FORMAT")
    end
    local data, show = saved.decode(body)
    if data then return true, data, show end
    return describe_failure(show, "FORMAT")
  end
  return read_next, nil, nil, type(from) == "string" and from ~= "-" and file or nil
end

---Returns all tables of a file, merged.
---@param from file*|string
---@return table? data, table|string? show, string? code # nil, message and code if one cannot
--- be read
function read.all(from)
  local first, all, show
  for _, data, one_show, code in read.each(from) do
    if not data then return nil, one_show, code end
    if not first then
      first, show = data, one_show
    else
      all = all or merge.start(first)
      local ok, message = all:add(data)
      if not ok then
        return nil, ("the file has tables of different queries: %s"):format(message),
          "FORMAT"
      end
    end
  end
  if not first then
    return nil, ("%s: empty file, expected a table"):format(tostring(from)), "FORMAT"
  end
  return all and all.data or first, show
end

return read
