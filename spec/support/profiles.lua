-- Reads the formats of exported profiles back, as far as specs need it: apart from the library,
-- from the public descriptions of the formats.
local files = require "spec.support.files"

local profiles = {}

local escapes = { ["\\b"] = "\b", ["\\f"] = "\f", ["\\n"] = "\n", ["\\r"] = "\r",
  ["\\t"] = "\t", ['\\"'] = '"', ["\\\\"] = "\\", ["\\/"] = "/" }

-- A reader of JSON texts that are valid; anything else raises.
local function json_value(text, at)
  local value, word
  at = text:find("%S", at)
  local c = text:sub(at, at)
  if c == "{" or c == "[" then
    local result, close = {}, c == "{" and "}" or "]"
    at = text:find("%S", at + 1)
    while text:sub(at, at) ~= close do
      local key = #result + 1
      if c == "{" then
        key, at = json_value(text, at)
        assert(type(key) == "string")
        at = text:match("^%s*:()", at)
      end
      result[key], at = json_value(text, at)
      local comma
      comma, at = text:match("^%s*(,?)%s*()", at)
      assert(comma == "," or text:sub(at, at) == close)
    end
    return result, at + 1
  elseif c == '"' then
    local parts = {}
    at = at + 1
    while text:sub(at, at) ~= '"' do
      local plain, escape = text:match('^[^"\\%c]+', at), text:match('^\\[bfnrt"\\/]', at)
      local code = text:match('^\\u%x%x%x%x', at)
      value = assert(plain or escape or code, "no JSON string")
      parts[#parts + 1] = plain or escapes[escape] or utf8.char(tonumber(code:sub(3), 16))
      at = at + #value
    end
    value = table.concat(parts)
    assert(utf8.len(value), "no UTF-8")
    return value, at + 1
  end
  word, at = text:match("^([%w.+-]+)()", at)
  if word == "null" then return nil, at end
  if word == "true" or word == "false" then return word == "true", at end
  return assert(math.tointeger(word) or tonumber(word)), at
end

---@param text string
---@return any
function profiles.json(text)
  local value, at = json_value(text, 1)
  assert(not text:find("%S", at), "something is after the JSON")
  return value
end

---Reads one message of protocol buffers.
---@param bytes string
---@return table<integer, table> # field → list of its values, integers or bytes
function profiles.message(bytes)
  local fields, at = {}, 1
  local function varint()
    local x, shift = 0, 0
    repeat
      local byte = bytes:byte(at)
      x, shift, at = x | (byte & 0x7f) << shift, shift + 7, at + 1
    until byte < 0x80
    return x
  end
  while at <= #bytes do
    local tag = varint()
    local list, n, value = fields[tag >> 3] or {}
    if tag & 7 == 0 then
      value = varint()
    else
      assert(tag & 7 == 2, "a kind of field that no profile has")
      n = varint()
      assert(at + n <= #bytes + 1, "a field ends after its message")
      value, at = bytes:sub(at, at + n - 1), at + n
    end
    list[#list + 1] = value
    fields[tag >> 3] = list
  end
  return fields
end

local message = profiles.message

local function packed(bytes)
  local list, x, shift = {}, 0, 0
  for i = 1, #bytes do
    local byte = bytes:byte(i)
    x, shift = x | (byte & 0x7f) << shift, shift + 7
    if byte < 0x80 then
      list[#list + 1], x, shift = x, 0, 0
    end
  end
  return list
end

---@param path string of a profile of pprof
---@return { types: string[][], samples: table[], mappings: table[], time: integer?,
--- duration: integer?, period_type: string[]?, period: integer?, default: string? }
--- samples: { stack, values, labels }, stack as names of functions, callee first, parted by ;
function profiles.pprof(path)
  local top = message(files.output("gzip -dc " .. files.quote(path)))
  local function text(field) return top[6][(field and field[1] or 0) + 1] end
  local functions, locations, result = {}, {}, { types = {}, samples = {}, mappings = {} }
  for number, name in pairs { [9] = "time", [10] = "duration", [12] = "period" } do
    result[name] = top[number] and top[number][1]
  end
  result.default = top[14] and text(top[14])
  if top[11] then
    local one = message(top[11][1])
    result.period_type = { text(one[1]), text(one[2]) }
  end
  for _, bytes in ipairs(top[5]) do
    local one = message(bytes)
    functions[one[1][1]] = { name = text(one[2]), file = text(one[4]) }
  end
  for _, bytes in ipairs(top[3]) do
    local one = message(bytes)
    result.mappings[one[1][1]] = { name = text(one[5]), build_id = text(one[6]) }
  end
  for _, bytes in ipairs(top[4]) do
    local one, names = message(bytes), {}
    for i, line in ipairs(one[4]) do names[i] = functions[message(line)[1][1]].name end
    locations[one[1][1]] = table.concat(names, ";")
    assert(result.mappings[one[2][1]], "a location without a mapping")
  end
  for i, bytes in ipairs(top[1]) do
    local one = message(bytes)
    result.types[i] = { text(one[1]), text(one[2]) }
  end
  for i, bytes in ipairs(top[2] or {}) do
    local one, names, labels = message(bytes), {}, {}
    for k, id in ipairs(packed(one[1][1])) do names[k] = locations[id] end
    for _, label in ipairs(one[3] or {}) do
      local of = message(label)
      labels[text(of[1])] = of[3] and of[3][1] or text(of[2])
    end
    result.samples[i] = { stack = table.concat(names, ";"), values = packed(one[2][1]),
      labels = labels }
  end
  return result
end

-- Reads the stacks of a profile of the Firefox Profiler: number → names, caller first, and the
-- category of the last one.
local function firefox_stacks(shared, categories)
  local names, kinds, list = {}, {}, { names = {}, kinds = {} }
  local function text(number) return shared.stringArray[number + 1] end
  for i = 1, shared.frameTable.length do
    local func = shared.frameTable.func[i] + 1
    names[i] = text(shared.funcTable.name[func])
    kinds[i] = categories[shared.frameTable.category[i] + 1].name
    local resource = shared.funcTable.resource[func] + 1
    assert(shared.resourceTable.name[resource], "no such resource")
  end
  for i = 1, shared.stackTable.length do
    local prefix, frame = shared.stackTable.prefix[i], shared.stackTable.frame[i] + 1
    assert(prefix == false or prefix < i - 1, "a stack before its caller")
    list.names[i] = (prefix and list.names[prefix + 1] .. ";" or "") .. names[frame]
    list.kinds[i] = kinds[frame]
  end
  return list
end

---@param path string of a profile of the Firefox Profiler
---@return { meta: table, libs: table[], counters: table[], threads: table[] } threads: { name,
--- process, pid, tid, is_main, used, samples = { { time, stack, kind, weight } … }, markers = {
--- { name, time, stop, stack } … } }, times in milliseconds from the start; used: ns of
--- processor time
function profiles.firefox(path)
  local text = files.output("gzip -dc " .. files.quote(path)):gsub("([%[,])null%f[,%]]",
    "%1false")
  local got = profiles.json(text)
  local stacks = firefox_stacks(got.shared, got.meta.categories)
  local result = { meta = got.meta, libs = got.libs, shared = got.shared,
    counters = got.counters, threads = {} }
  for i, thread in ipairs(got.threads) do
    local one = { name = thread.name, process = thread.processName, pid = thread.pid,
      tid = thread.tid, unit = thread.samples.weightType, is_main = thread.isMainThread,
      samples = {}, markers = {} }
    local samples, markers, time = thread.samples, thread.markers, 0
    for k = 1, samples.length do
      local stack = samples.stack[k] + 1
      time = time + samples.timeDeltas[k]
      one.samples[k] = { time = time, stack = stacks.names[stack], kind = stacks.kinds[stack],
        weight = samples.weight[k] }
      local used = samples.threadCPUDelta
      if used then one.used = (one.used or 0) + used[k] end
    end
    for k = 1, markers.length do
      local cause = markers.data[k].cause
      one.markers[k] = { name = got.shared.stringArray[markers.name[k] + 1],
        time = markers.startTime[k], stop = markers.endTime[k] or nil,
        stack = cause and stacks.names[cause.stack + 1] }
    end
    result.threads[i] = one
  end
  return result
end

---@param text string of a profile of callgrind
---@return { events: string[], summary: integer[], self: table<string, integer[]>,
--- calls: table<string, { n: integer, cost: integer[] }> } calls by "caller > callee"
function profiles.callgrind(text)
  local names, result, name, callee, n = { fn = {} }, { self = {}, calls = {} }, nil, nil, nil
  names.cfn = names.fn
  local function integers(words)
    local list = {}
    for word in words:gmatch "%d+" do list[#list + 1] = math.tointeger(word) end
    return list
  end
  local function add(map, key, costs)
    local sum = map[key] or {}
    map[key] = sum
    for i, cost in ipairs(costs) do sum[i] = (sum[i] or 0) + cost end
  end
  for line in text:gmatch "[^\n]+" do
    local kind, id, rest = line:match "^(c?fn)=%((%d+)%) ?(.*)$"
    if kind then
      if rest ~= "" then names.fn[id] = rest end
      local is = assert(names.fn[id], "a number of no name")
      if kind == "fn" then name = is else callee = is end
    elseif line:find "^events: " then
      result.events = {}
      for word in line:sub(9):gmatch "%S+" do table.insert(result.events, word) end
    elseif line:find "^summary: " then
      result.summary = integers(line:sub(10))
    elseif line:find "^calls=" then
      n = integers(line)[1]
    elseif line:find "^%d" then
      local costs = integers(line:match "^%d+ (.*)$")
      if n then
        local key = name .. " > " .. callee
        result.calls[key] = result.calls[key] or { n = 0, cost = {} }
        result.calls[key].n = result.calls[key].n + n
        add({ cost = result.calls[key].cost }, "cost", costs)
        n = nil
      else
        add(result.self, name, costs)
      end
    end
  end
  return result
end

return profiles
