-- The fields of tracepoints as perf's own decoder has them, and how those of perflua compare
-- with them.
local files = require "spec.support.files"

local oracle_args = {}

local command =
  "perf script -f -s spec/support/oracle_args.py --symfs=spec/fixtures/empty "
    .. "--kallsyms=/dev/null -i %s"
  .. " 2>/dev/null"

--- perf's samples of tracepoints: { key, time, fields = name → text } for each line.
local function theirs(path)
  local next_line, _, _, pipe = files.lines(command:format(files.quote(path)))
  return function()
    local line = next_line()
    while line and not line:match "^%d+\t%d+\t%-?%d+\t" do
      line = next_line()
    end
    if not line then
      return nil
    end
    local time, cpu, tid, event, rest = line:match "^(%d+)\t(%d+)\t(%-?%d+)\t([^\t]*)(.*)$"
    local fields = {}
    for name, value in rest:gmatch "\t([^=\t]+)=([^\t]*)" do
      fields[name] = value
    end
    return { key = table.concat({ time, cpu, tid, event }, " "), fields = fields }
  end, pipe
end

local function unhex(digits)
  return (digits:gsub("%x%x", function(d) return string.char(tonumber(d, 16)) end))
end

-- A number's bits without its sign: perf's Python does not know of signs of less than 64 bits.
local function bits(v, size)
  return size >= 8 and v or v & ((1 << 8 * size) - 1)
end

local function wrapped(digits)
  -- unsigned 64-bit numbers of Python
  if #digits < 19 then
    return math.tointeger(tonumber(digits))
  end
  local n = 0
  local negative = digits:sub(1, 1) == "-"
  for d in digits:gmatch "%d" do
    n = n * 10 + tonumber(d)
  end
  return negative and -n or n
end

local function item_size(field, bytes, values)
  return field.count and field.count > 0 and field.size // field.count
    or #values > 0 and #bytes // #values or 1
end

--- A list as the bytes it is of; as bits if it may be a mask.
local function same_list(field, values, bytes, order)
  local unit = item_size(field, bytes, values)
  if #bytes == 0 then
    return #values == 0
  end
  if unit == 1 or unit == 2 or unit == 4 or unit == 8 then
    local out = {}
    for i = 1, #values do
      local v = values[i]
      out[i] = math.type(v) == "integer" and string.pack(order .. "I" .. unit, bits(v, unit))
        or ""
    end
    if unit == 8 then
      for i = 1, #values do
        out[i] = string.pack(order .. "i8", values[i])
      end
    end
    local packed = table.concat(out)
    if packed == bytes:sub(1, #packed) and #bytes - #packed < unit then
      return true
    end
  end
  return false
end

--- A mask of longs, as the list of its bits.
local function same_mask(values, bytes, order, long_size)
  local n = 0
  for at = 1, #bytes - long_size + 1, long_size do
    local word = string.unpack(order .. "i" .. long_size, bytes, at)
    for bit = 0, 8 * long_size - 1 do
      if word >> bit & 1 == 1 then
        n = n + 1
        if values[n] ~= (at - 1) // long_size * 8 * long_size + bit then
          return false
        end
      end
    end
  end
  return n == #values
end

-- Why two values are not the same; nil if they are.
local function differs(field, ours, text, machine)
  local kind, value = text:sub(1, 1), text:sub(2)
  if kind == "i" then
    if math.type(ours) ~= "integer" then
      return "no integer", ours, value
    end
    return bits(ours, field.size) ~= bits(wrapped(value), field.size) and "integer" or nil
  end
  local bytes = unhex(value)
  if ours == nil then
    return #bytes > 0 and "nil" or nil
  elseif type(ours) == "string" then
    return ours ~= bytes:match "^[^\0]*" and ours ~= bytes and "text" or nil
  elseif math.type(ours) == "integer" then
    return "an integer"
  elseif kind == "s" then -- bytes that perf takes for text, which ends at a NUL
    for i = 1, #bytes do
      if ours[i] ~= bytes:byte(i) then return "list" end
    end
    return (ours[#bytes + 1] or 0) ~= 0 and "list" or nil
  end
  return not same_list(field, ours, bytes, machine.order)
    and not same_mask(ours, bytes, machine.order, machine.long)
    and "list" or nil
end

local function shown(v)
  if type(v) == "userdata" or type(v) == "table" then
    local out = {}
    for i = 1, math.min(#v, 8) do
      out[i] = tostring(v[i])
    end
    return "{" .. table.concat(out, ",") .. "}"
  end
  return tostring(v)
end

local function note(result, class, example)
  local entry = result.differences[class]
  if not entry then
    entry = { n = 0, example = example }
    result.differences[class] = entry
  end
  entry.n = entry.n + 1
end

local function compare_sample(result, s, fields, one)
  local n = 0
  for name, text in pairs(one.fields) do
    n = n + 1
    local field = fields[name]
    if not field then
      note(result, "no such field", s.event.name .. "." .. name)
    else
      local ours = s.args[name]
      local why = differs(field, ours, text, result.machine)
      result.values = result.values + 1
      if why then
        note(result, why .. " " .. s.event.name .. "." .. name,
          ("%s, perf %s"):format(shown(ours), text:sub(1, 80)))
      end
    end
  end
  if n < fields.own then
    note(result, "perf has fewer fields", s.event.name)
  end
end

--- Compares all fields of all samples of tracepoints: { samples, values, theirs, unmatched,
--- differences = class → { n, example } }. machine: order ("<", ">") of raw data and size of a
--- long.
function oracle_args.compare(file, path, machine)
  local result = { samples = 0, values = 0, theirs = 0, unmatched = 0, differences = {},
    machine = machine }
  local waiting = {}
  local next_one = theirs(path)
  for one in next_one do
    local queue = waiting[one.key]
    if not queue then
      queue = { first = 1 }
      waiting[one.key] = queue
    end
    queue[#queue + 1] = one
    result.theirs = result.theirs + 1
  end
  local of_event = {}
  for s in file:samples { reuse = true } do
    local event = s.event
    local fields = event and event.fields
    if fields then
      local known = of_event[event.index]
      if not known then
        known = { own = 0 }
        for _, f in ipairs(fields) do
          known.own = known.own + ((f.common or known[f.name]) and 0 or 1)
          known[f.name] = f
        end
        of_event[event.index] = known
      end
      local queue = waiting[("%d %d %d %s"):format(s.time, s.cpu or 0, s.tid, event.name)]
      local one = queue and queue[queue.first]
      result.samples = result.samples + 1
      if one then
        queue.first = queue.first + 1
        compare_sample(result, s, known, one)
      else
        result.unmatched = result.unmatched + 1
      end
    end
  end
  return result
end

--- The differences as lines, for messages.
function oracle_args.shown(result)
  local lines = {}
  for class, entry in pairs(result.differences) do
    lines[#lines + 1] = ("%s: %d, as %s"):format(class, entry.n, entry.example)
  end
  table.sort(lines)
  return table.concat(lines, "\n")
end

return oracle_args
