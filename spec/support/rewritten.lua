-- Recordings that perflua wrote, compared with those that they were written from.
local files = require "spec.support.files"
local perflua = require "perflua"
local recording = require "perflua.recording"
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

--- The records of a File as text; of the container's those of build-ids and of formats of
--- tracepoints, which count in files, too, but if they go to or come from a pipe.
function rewritten.records(file, order, pipes)
  local list, counts = {}, { build_id = true, tracing_data = true }
  for r in file:records { order = order or "file", container = true } do
    local desc = recording.types()[r.type]
    if not (desc and desc.container) or not pipes and counts[r.type] then
      list[#list + 1] = seen.of(r)
    end
  end
  return list
end

-- Leaves out the records that name events.
local function without_names(list, events)
  local names, kept = {}, {}
  for _, event in ipairs(events) do names[('name=%q '):format(event.name)] = true end
  for _, line in ipairs(list) do
    local name = line:find 'type="event_update"' and line:match '(name="[^"]*" )'
    if not names[name or ""] then kept[#kept + 1] = line end
  end
  return kept
end

--- Those of a File, and of its copy in a form; without the names that events get in a pipe.
function rewritten.both(file, copy, form, order)
  local pipes = file.mode == "pipe" or form.pipe
  local expected = rewritten.records(file, order, pipes)
  local found = rewritten.records(copy, nil, pipes)
  if not form.pipe or file.mode == "pipe" then return expected, found end
  return without_names(expected, copy.events), without_names(found, copy.events)
end

--- Writes a query, or all records of a File, in a form; returns the new File and the summary.
function rewritten.open(from, form)
  local path = rewritten.path()
  local is_file = pcall(function() return from.path end)
  local query = is_file and from:records { container = true } or from
  local summary = assert(query:write(path, form))
  return assert(perflua.open(path)), summary
end

--- The samples of a query with the names that other records tell, as sorted lines.
function rewritten.named(query)
  local list = {}
  for s in query do
    list[#list + 1] = ("%s %s %s %s %s %s %s %s"):format(s.time, s.event and s.event.name,
      s.tid, s.period, s.comm, s.dso, s.symbol, s.callchain and seen.of(s.stack))
  end
  table.sort(list)
  return list
end

return rewritten
