-- Questions about a File that need none of its records, and whether a path names a recording.

local core = require "perflua.core"
local guard = require("perflua.errors").guard

-- `failed` is why the last call of open() returned nil; nil if it opened a recording.
local recording = {}

local types -- made when first asked for

---@return table # descriptions { id, name, doc, container, trailer, fields } of the record
--- types, by id and by name
function recording.types()
  if not types then
    types = {}
    for _, desc in ipairs(core.types()) do
      types[desc.id], types[desc.name] = desc, desc
    end
  end
  return types
end

local EVERY_RECORD = 0 -- any type would do

---Raises at the script's line if a File is closed.
---@param file perflua.File
function recording.check_open(file) guard(core.fields_of, file, EVERY_RECORD) end

---@param file perflua.File
---@return boolean
function recording.is_open(file) return (pcall(core.fields_of, file, EVERY_RECORD)) end

---@param file perflua.File
---@param name string of a difference between the texts of perf's versions, see
--- src/perfdata/format/perf_text.c
---@return boolean # whether it holds for the version whose text is printed of the file
function recording.has_difference(file, name)
  for _, difference in ipairs(core.perf_differences(file.as)) do
    if difference.name == name then return true end
  end
  return false
end

local MAGIC <const> = { PERFILE2 = true, ["2ELIFREP"] = true, PERFFILE = true }

---@param path string
---@return boolean # whether it is a file that begins as recordings do; what can be read only
--- once is not opened
function recording.is_at(path)
  local file <close> = core.stat(path) == "file" and io.open(path, "rb") or nil
  return file ~= nil and MAGIC[file:read(8)] ~= nil
end

return recording
