-- Recordings of the sides that a tool compares, and the queries over them.

local aside = require "perflua.group.aside"
local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local perflua = require "perflua"
local strip_position = require("perflua.errors").strip_position

local sides = {}

local SAVED <const> = "perflua table "

-- Returns whether a file is a saved table.
local function is_saved(path)
  local file <close> = path ~= "-" and io.open(path, "rb")
  return file and file:read(#SAVED) == SAVED
end

local function has_samples(file)
  for _, event in ipairs(file.size and core.count(file).events or {}) do
    if event.count > 0 then return true end
  end
  return not file.size
end

-- Returns the query over a recording. Without samples, fields of samples may be absent.
local function make_query(make, file)
  local ok, query = pcall(make, file:samples())
  if not ok and not has_samples(file) then
    local samples_of_none = file:samples()
    core.query_spec(samples_of_none).scope.any = true
    ok, query = pcall(make, samples_of_none)
  end
  return ok, query
end

---Loads the saved tables of a side, and opens its recordings.
---@param paths string[]
---@param open fun(path: string): perflua.File?, string?, integer?
---@return table? # { Table or nil … }; `paths` of them, `files` are open recordings, `saved` is
--- the path of a saved table
---@return string? message, integer? status of the tool
function sides.open(paths, open)
  local side = { paths = paths, files = {} }
  for i, path in ipairs(paths) do
    local message, status
    if is_saved(path) then
      side[i], message = perflua.load(path)
      side.saved = path
    else
      side.files[i], message, status = open(path)
    end
    if message then return nil, message, status end
  end
  return side
end

---Asks the recordings of sides, also for something else than before: makes each side an array
---of queries and Tables.
---@param list table[] sides
---@param make fun(query: perflua.Query): perflua.Query what is asked of samples
---@return string? message what is wrong with it
function sides.ask(list, make)
  for _, side in ipairs(list) do
    for i = 1, #side.paths do
      local file = side.files[i]
      if file then
        local ok, query = make_query(make, file)
        if not ok then return strip_position(query) end
        aside.from(query)
        side[i] = query
      end
    end
  end
end

local function count_inputs(paths)
  local n = 0
  for _, path in ipairs(paths) do n = path == "-" and n + 1 or n end
  return n
end

---Cuts the operands of a tool in two sides.
---@param args table of the command line
---@return string[][]? before_and_after, string? message
function sides.cut(args)
  local n = args.before or #args == 2 and 1 or nil
  if count_inputs(args) > 1 then
    return nil, "-: standard input is one recording, which can be read only once"
  elseif not n then
    return nil, fmt.phrase(#args, "{recording is|recordings are} named: BEFORE and AFTER are "
      .. "expected, or several on both sides of --")
  elseif n == 0 or n == #args then
    return nil, ("no recording %s --"):format(n == 0 and "before" or "after")
  end
  return { table.move(args, 1, n, 1, {}), table.move(args, n + 1, #args, 1, {}) }
end

return sides
