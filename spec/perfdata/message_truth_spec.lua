-- Messages of all tracepoints of this machine's kernel, with raw data made at random: perf
-- script prints the same. MESSAGE_SEED=n begins with that seed instead of 1; MESSAGE_ROUNDS=n
-- makes that many samples of each tracepoint.
local files = require "spec.support.files"
local lines = require "spec.script.lines"
local needs = require "spec.support.needs"
local tracing = require "spec.support.builder_tracing"

local SEED = math.tointeger(tonumber(os.getenv "MESSAGE_SEED")) or 1
local ROUNDS = math.tointeger(tonumber(os.getenv "MESSAGE_ROUNDS")) or 2

-- All format files: lists of { system, name, format }.
local function formats()
  local list = {}
  for path in files.lines "ls /sys/kernel/tracing/events/*/*/format 2>/dev/null" do
    local system, name = path:match "([^/]+)/([^/]+)/format$"
    local f = assert(io.open(path))
    local format = f:read "a"
    -- perf prints the line feeds of a text, and cannot read formats that have tabs themselves
    local text = format:match "print fmt: (.-)%s*$"
    if system ~= "ftrace" and not text:find "[\t\n]" and not text:find("\\n", 1, true) then
      list[#list + 1] = { system, name, format }
    end
    f:close()
  end
  return list
end

-- Bytes of one kind: printable ones, any, small numbers, mostly zeros.
local kinds = {
  function() return math.random(33, 126) end,
  function() return math.random(0, 255) end,
  function() return math.random(4) == 1 and math.random(0, 15) or 0 end,
  function() return math.random(3) == 1 and 1 << math.random(0, 7) or 0 end,
}

local function random_bytes(n, kind)
  local list = {}
  for i = 1, n do list[i] = string.char(kinds[kind]()) end
  return table.concat(list)
end

-- A random value for a field; characters are printable, for perf script escapes nothing.
local function field_bytes(declaration, n)
  -- perf believes it
  if declaration:find "len$" and n > 0 then return ("<I" .. n):pack(math.random(0, 6)) end
  if declaration:find "char" or declaration:find "u8" or declaration:find "%[" then
    return n > 0 and random_bytes(n - 1, 1) .. "\0" or ""
  end
  return random_bytes(n, math.random(#kinds))
end

-- Raw data of a sample: fields, then what descriptors say lies after them.
local function random_raw(id, format)
  local raw = ""
  local function put(at, bytes) raw = raw:sub(1, at) .. bytes .. raw:sub(at + #bytes + 1) end
  for declaration, offset, n in format:gmatch "field:([^;]*);\toffset:(%d+);\tsize:(%d+);" do
    offset, n = tonumber(offset), tonumber(n)
    raw = raw .. ("\0"):rep(offset - #raw)
    put(offset, field_bytes(declaration, n))
  end
  for declaration, offset in format:gmatch "field:(__%a+_loc [^;]*);\toffset:(%d+);" do
    offset = tonumber(offset)
    local after = field_bytes(declaration:gsub("%[%]", ""), math.random(1, 6) * 8)
    local from = #raw - (declaration:find "^__rel_loc" and offset + 4 or 0)
    put(offset, ("<I4"):pack(from | #after << 16))
    raw = raw .. after
  end
  put(0, ("<I2"):pack(id))
  return raw
end

needs.describe("perf,tracefs", "messages of all tracepoints of this kernel", function()
  it("are perf's", function()
    math.randomseed(SEED)
    local t = tracing.new()
    for _, one in ipairs(formats()) do
      local system, name, format = table.unpack(one)
      t:event(system, name, { id = tonumber(format:match "ID: (%d+)"), format = format })
    end
    local b, events = t:recording()
    for round = 1, ROUNDS do
      for i, event in ipairs(events) do
        b:sample(event, { ip = 0, pid = 7, tid = 7, time = round * 100000 + i, cpu = 0,
          period = 1,
          raw = random_raw(t.events[i].id, t.events[i].format) })
      end
    end
    local path = files.temporary(b:bytes())
    local theirs, ours = lines.of_perf(path, "-F event,trace"),
      lines.of_ours(path, "-F event,trace")
    assert.is_true(#theirs >= ROUNDS * #events,
      ("%d lines, MESSAGE_SEED=%d"):format(#theirs, SEED))
    lines.same(theirs, ours)
  end)
end)
