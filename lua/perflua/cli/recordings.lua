-- The recordings among the arguments of the interpreter.

local core = require "perflua.core"
local errors = require "perflua.errors"
local recording = require "perflua.recording"
local strip_position, usage_error = errors.strip_position, errors.usage_error

local recordings = {}

---@param path string
---@return boolean # whether it is a file that begins as recordings do, or a directory with one
function recordings.is(path)
  return recording.is_at(path) or recording.is_at(path .. "/data")
end

---Tells whether an argument is for the chunk of -e: a recording, or what may be one: standard
---input, a pipe (which is not opened, as that cannot be done twice), an empty file.
---@param argument string
---@return boolean
function recordings.is_for_chunk(argument)
  if argument == "-" then return true end
  local kind, size = core.stat(argument)
  return kind == "stream" or kind == "file" and size == 0 or recordings.is(argument)
end

local filters = {} -- of -f

-- Restricts the samples of a File to those that -f chooses; returns what is wrong with it.
local function choose_samples(file)
  if #filters == 0 then return nil end
  require("perflua.file.records").select(file, function(query, alone)
    for _, text in ipairs(filters) do
      query = query:where(alone and text or ("type_id ~= 9 or (%s)"):format(text))
    end
    return query
  end)
  local ok, message = pcall(file.samples, file)
  if not ok then return "-f: " .. strip_position(message) end
end

---Opens the recordings that are the arguments, several as one; perf.data if there is none.
---@param meta table what is needed of them: see perflua.meta.needs
---@param paths string[]? default: all arguments
---@return perflua.File? file, string? message, boolean? is_usage true: a filter is wrong
function recordings.open(meta, paths)
  paths = paths or table.move(_G.arg, 1, #_G.arg, 1, {})
  local needs = require "perflua.meta.needs" -- loaded when it is asked for
  local file, message = needs.open(#paths > 1 and paths or paths[1] or "perf.data", meta)
  if not file then return nil, message end
  message = choose_samples(file)
  if message then
    file:close()
    return nil, message, true
  end
  return file
end

local opened -- the global `file`

---Opens the recordings for the global `file`, once.
---@return perflua.File? file, string? message, boolean? is_usage as open()
function recordings.file()
  if opened then return opened end
  local file, message, is_usage = recordings.open {}
  opened = file
  return file, message, is_usage
end

---Makes the global `file`, which opens the arguments when it is first read.
---@param texts string[] filters of its samples
function recordings.define_file(texts)
  filters = texts
  local globals = getmetatable(_G) or {}
  local index = globals.__index
  function globals.__index(env, name)
    if name ~= "file" then
      if type(index) == "function" then return index(env, name) end
      return index and index[name]
    end
    local file, message = recordings.file()
    if not file then
      usage_error("%s%s", message, #_G.arg > 1 and "; the global 'file' opens all arguments"
        or "")
    end
    rawset(_G, "file", file)
    return file
  end
  setmetatable(_G, globals)
end

---@return string # what the headers of the recordings say, in one line; or why they do not open
function recordings.title()
  local file, message = recordings.file()
  if not file then return message end
  -- what a prompt needs is loaded for it
  return require "perflua.overview.show".line(require "perflua.overview".describe(file))
end

return recordings
