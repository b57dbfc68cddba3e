-- The lines of perf script of tracepoints' samples, made now or kept in the corpus, compared
-- with the samples' fields.
local files = require "spec.support.files"
local trace_text = require "spec.support.trace_text"

local trace_texts = {}

local command =
  "perf script --ns -f --symfs=spec/fixtures/empty --kallsyms=/dev/null -F "
    .. "tid,cpu,time,event,trace -i %s"
  .. " 2>/dev/null"

--- perf's lines now: an iterator of { key, text }; times are of nanoseconds.
function trace_texts.live(path)
  local next_line, _, _, pipe = files.lines(command:format(files.quote(path)))
  return function()
    for line in next_line do
      local tid, cpu, seconds, ns, event,
        text = line:match "^%s*(%-?%d+)%s+%[(%d+)%]%s+(%d+)%.(%d+):%s+(%S+): (.*)$"
      if tid then
        return { key = ("%s %d %d %s"):format(tid, tonumber(cpu), tonumber(seconds .. ns),
          event), text = text }
      end
    end
    pipe:close()
  end
end

--- The lines that were kept of a recording's own perf, whose times are of microseconds.
function trace_texts.kept(path)
  local next_line, _, _, pipe = files.lines("gzip -dcf " .. files.quote(path))
  return function()
    for line in next_line do
      local before, seconds, us, event,
        text = line:match "^%s*(%S.-)%s+(%d+)%.(%d%d%d%d%d%d):%s+%d*%s*(%S+:%S+): (.*)$"
      local tid, cpu
      if before then
        tid, cpu = before:match "(%-?%d+)%s+%[(%d+)%]$"
      end
      if tid then
        return { key = ("%s %d %d %s"):format(tid, tonumber(cpu), tonumber(seconds .. us),
          event), text = text }
      end
    end
    pipe:close()
  end
end

local function note(result, class, example)
  local entry = result.differences[class] or { n = 0, example = example }
  entry.n = entry.n + 1
  result.differences[class] = entry
end

local function compare_line(result, s, parsed, text)
  local n, field, printed = trace_text.compare(parsed, text, s.args, result.long_bits)
  if not n then
    result.unparsed = result.unparsed + 1
    result.foreign[s.event.name] = text
    return
  end
  result.values = result.values + n
  if field then
    note(result, "text " .. s.event.name .. "." .. field,
      ("%s, perf %s"):format(tostring(s.args[field]), printed))
  end
end

--- Compares what the lines say with the samples: { samples, values, theirs, unmatched,
--- unparsed, foreign (an example of each event whose text is not of its print format),
--- differences = class → { n, example } }. unit: nanoseconds of the lines' times.
function trace_texts.compare(file, next_line, unit, long_bits)
  local result = { samples = 0, values = 0, theirs = 0, unmatched = 0, unparsed = 0,
    foreign = {}, differences = {},
    long_bits = long_bits or 64 }
  local waiting = {}
  for one in next_line do
    local queue = waiting[one.key] or { first = 1 }
    waiting[one.key] = queue
    queue[#queue + 1] = one.text
    result.theirs = result.theirs + 1
  end
  local parsed_of = {}
  for s in file:samples { reuse = true } do
    local event = s.event
    if event and event.fields then
      local parsed = parsed_of[event.index]
      if parsed == nil then
        parsed = trace_text.parse(event.print_fmt or "") or false
        parsed_of[event.index] = parsed
      end
      local queue = waiting[("%d %d %d %s"):format(s.tid, s.cpu or 0, s.time // unit,
        event.name)]
      local text = queue and queue[queue.first]
      result.samples = result.samples + 1
      if not text then
        result.unmatched = result.unmatched + 1
      else
        queue.first = queue.first + 1
        if parsed then
          compare_line(result, s, parsed, text)
        end
      end
    end
  end
  return result
end

return trace_texts
