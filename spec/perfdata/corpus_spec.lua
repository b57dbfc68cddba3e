-- The recordings of $PERFLUA_CORPUS: what perf and an independent inspector find in them.
local corpus = require "spec.support.corpus"
local everything = require "spec.support.everything"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"

--- Opens a recording; nil where nobody else finds a record in it either, and the message says
--- why.
local function open(recording)
  local file, message, code = perflua.open(recording.path)
  if not file then
    local dumps = recording.expected.dump
    assert(not recording.records and (not dumps or #oracle.expected_dump(dumps[1]) == 0),
      message)
    assert.are.equal("FORMAT", code)
    assert.truthy(message:find(recording.path .. ": offset ", 1, true), message)
  end
  return file
end

-- perf counts from the first record of a pipe.
local PIPE_HEADER = 16

local function dump_of(recording)
  local dumps = recording.expected.dump
  local dump = {}
  for _, r in ipairs(dumps and oracle.expected_dump(dumps[#dumps]) or {}) do
    if recording.mode == "pipe" then
      r.offset = r.offset + PIPE_HEADER
    end
    -- perf does not know where they lie that it took from AUX area data
    dump[#dump + 1] = r.offset > 0 and r or nil
  end
  return dump
end

local PERIOD = 1 << 8 -- in sample_type; perf shows other periods where there is none

local unnamed = { __index = function() return 0 end }

---Returns what identifies a record where perf gives no offset of its own: inside compressed
---records.
local function likeness(r)
  return ("type %d size %d time %d"):format(r.type_id, r.size, r.time or 0)
end

local function by_offset(file)
  local found, by_id, by_name, inside = {}, {}, {}, {}
  for r in file:records({ order = "file", container = true }):each() do
    local id = r.type_id < 64 and r.sample_id
    local ours = {
      type_id = r.type_id, size = r.size, time = r.type_id < 64 and (id and id.time or r.time)
        or 0,
    }
    if r.type == "sample" then
      ours.pid, ours.tid, ours.ip, ours.addr = r.pid, r.tid, r.ip, r.addr
      ours.period = r.event and r.event.sample_type & PERIOD ~= 0 and r.period or nil
    end
    if r.chunk_offset then
      inside[likeness(ours)] = (inside[likeness(ours)] or 0) + 1
    else
      found[r.offset] = ours
    end
    by_id[r.type_id] = (by_id[r.type_id] or 0) + 1
    local name = r.type:upper()
    by_name[name] = (by_name[name] or 0) + 1
  end
  return found, by_id, by_name, inside
end

--- Asserts that a part of a record is perf's; there are very many of them, and words for an
--- assertion take longer.
local function assert_same(theirs, ours, what, record)
  if theirs ~= ours then
    assert.are.equal(theirs, ours, ("%s at 0x%x"):format(what, record.offset))
  end
end

--- Every record perf saw is there, with perf's size, type and time.
local function compare_with_dump(dump, found)
  for _, theirs in ipairs(dump) do
    local ours = found[theirs.offset]
    assert_same(true, ours ~= nil, "record", theirs)
    assert_same(theirs.type_id, ours.type_id, "type", theirs)
    assert_same(theirs.size, ours.size, "size", theirs)
    if theirs.type_id < 64 and theirs.time and theirs.time >= 0 then
      assert_same(theirs.time, ours.time or 0, "time", theirs)
    end
    for _, field in ipairs { "pid", "tid", "ip", "addr", "period" } do
      if theirs[field] and ours[field] then
        local form = theirs[field]:match "^0x" and "0x%x" or "%d"
        assert_same(theirs[field], form:format(ours[field]), field, theirs)
      end
    end
  end
end

--- Every record perf saw, one way or the other, where some are inside of compressed records.
local function compare_inside(dump, found, inside)
  for _, theirs in ipairs(dump) do
    local ours = found[theirs.offset]
    if not (ours and ours.type_id == theirs.type_id) then
      local like = likeness(theirs)
      assert.is_true((inside[like] or 0) > 0, "no " .. like)
      inside[like] = inside[like] - 1
    end
  end
end

--- The inspector's counts; simpleperf's own types have no name here.
local function compare_with_counts(counts, by_name, file)
  local expected = setmetatable({}, unnamed)
  for name, n in pairs(counts) do
    name = name:match "^SP_" and "UNKNOWN" or name
    expected[name] = expected[name] + n
  end
  setmetatable(expected, nil)
  if #file.damage == 0 then
    return assert.are.same(expected, by_name)
  end
  -- the inspector stops at damage, perflua goes on after it
  for name, n in pairs(expected) do
    assert.is_true((by_name[name] or 0) >= n,
      ("%d records %s expected, found %d"):format(n, name, by_name[name] or 0))
  end
end

describe("a real recording", function()
  corpus.each_file(it, "has the records perf finds", function(recording)
    warn "@off"
    local file <close> = open(recording)
    if not file then
      return
    end
    assert.are.equal(recording.byte_order, file.byte_order)
    assert.are.equal(recording.version, file.version)
    assert.are.equal(recording.mode, file.mode)
    local found, by_id, by_name, inside = by_offset(file)
    if recording.records then
      compare_with_counts(recording.records, by_name, file)
    end
    local dump = dump_of(recording)
    if next(inside) then
      compare_inside(dump, found, inside)
    else
      compare_with_dump(dump, found)
    end
    if next(inside) then
      by_id[81], by_id[83] = nil, nil -- perf shows only what they hold
    end
    if #dump > 0 and not recording.records then
      assert.are.same(oracle.count(dump), by_id)
    end
  end)

  corpus.each_file(it, "can be read field by field", function(recording)
    warn "@off"
    local file <close> = open(recording)
    if not file then
      return
    end
    everything.read(file.features)
    for _, event in ipairs(file.events) do
      assert.is_string(event.name)
      assert.is_true(#event.name > 0)
    end
    local n = 0
    for r in file:records({ order = "file", container = true }):each() do
      everything.read(r)
      assert.is_string(tostring(r))
      n = n + 1
      if n == 400 then
        break
      end
    end
  end)
end)
