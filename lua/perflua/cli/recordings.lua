-- The recordings among the arguments of the interpreter.

local usage_error = require("perflua.errors").usage_error
local needs = require "perflua.meta.needs"

local recordings = {}

local MAGIC = { PERFILE2 = true, ["2ELIFREP"] = true, PERFFILE = true }

---@param path string
---@return boolean # whether it is a file that begins as recordings do, or a directory with one
function recordings.is(path)
  for _, candidate in ipairs { path, path .. "/data" } do
    local file <close> = io.open(candidate, "rb")
    if file and MAGIC[file:read(8)] then return true end
  end
  return false
end

---Tells whether an argument is for the chunk of -e: a recording, or what may be one: standard
---input, a pipe (which is not opened, as that cannot be done twice), an empty file.
---@param argument string
---@param host table what src/host/perflua.c gives
---@return boolean
function recordings.is_for_chunk(argument, host)
  if argument == "-" then return true end
  local kind, size = host.stat(argument)
  return kind == "stream" or kind == "file" and size == 0 or recordings.is(argument)
end

---Opens the recordings that are the arguments, several as one; perf.data if there is none.
---@param meta table what is needed of them: see perflua.meta.needs
---@return perflua.File? file, string? message
function recordings.open(meta)
  local arg = _G.arg
  return needs.open(#arg > 1 and table.move(arg, 1, #arg, 1, {}) or arg[1] or "perf.data", meta)
end

---Makes the global `file`, which opens the arguments when it is first read.
function recordings.define_file()
  local globals = getmetatable(_G) or {}
  local index = globals.__index
  function globals.__index(env, name)
    if name ~= "file" then
      if type(index) == "function" then return index(env, name) end
      return index and index[name]
    end
    local file, message = recordings.open {}
    if not file then
      usage_error("%s%s", message, #_G.arg > 1 and "; the global 'file' opens all arguments"
        or "")
    end
    rawset(_G, "file", file)
    return file
  end
  setmetatable(_G, globals)
end

return recordings
