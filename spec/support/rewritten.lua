-- Recordings that perflua wrote, compared with those that they were written from.
local files = require "spec.support.files"
local perflua = require "perflua"
local seen = require "spec.support.seen"

local rewritten = {}

--- The forms that write() knows, by name.
rewritten.forms = {
  file = {}, pipe = { pipe = true }, compressed = { compress = 1 },
  compressed2 = { compress = 2, level = 3 }, sorted = { sort = true },
  ["compressed pipe"] = { compress = 1, pipe = true },
}

--- A path at which nothing is yet.
function rewritten.path()
  local path = files.temporary()
  os.remove(path)
  return path
end

--- The records of a File, without those of the container, as text.
function rewritten.records(file, order)
  return seen.each(file:records { order = order or "file" })
end

--- The records of a File that was written in a form, without the names that a pipe gets.
function rewritten.copied(file, form)
  local list, names = {}, {}
  for _, event in ipairs(form.pipe and file.events or {}) do
    names[('name=%q '):format(event.name)] = true
  end
  for _, line in ipairs(rewritten.records(file)) do
    local name = line:find 'type="event_update"' and line:match '(name="[^"]*" )'
    if not names[name or ""] then list[#list + 1] = line end
  end
  return list
end

--- Writes a query, or all records of a File, in a form; returns the new File and the summary.
function rewritten.open(from, form)
  local path = rewritten.path()
  local is_file = pcall(function() return from.path end)
  local query = is_file and from:records { container = true } or from
  local summary = assert(query:write(path, form))
  return assert(perflua.open(path)), summary
end

return rewritten
