-- Over real recordings the same question asked in several ways has one answer.
local needs = require "spec.support.needs"
local perflua = require "perflua"
local corpus = require "spec.support.corpus"
local reading = require "spec.support.reading"

-- Samples as they are delivered, where records() gives them as they lie.
local SAMPLES = { type = "sample", expand = true }

local names = { "ip", "pid", "tid", "time", "cpu", "period", "addr" }

-- The names among these that samples of a file can have.
local function known_names(file)
  local list = {}
  for _, name in ipairs(names) do
    if pcall(function() file:samples():select(name) end) then list[#list + 1] = name end
  end
  return list
end

-- Sums and counts by (event, pid, cpu), from reading records one by one.
local function by_hand(file)
  local groups = {}
  for s in file:records(SAMPLES):each() do
    local key = ("%s %s %s"):format(s.event and s.event.index, s.pid, s.cpu)
    local g = groups[key] or { count = 0, period = 0 }
    groups[key] = g
    g.count, g.period = g.count + 1, g.period + s.period
  end
  return groups
end

local function check(path)
  local file = perflua.open(path)
  if not file or file.mode ~= "file" then return end -- other specs say which cannot be opened
  local _ <close> = file
  local fields = known_names(file)
  if file:samples():count() == 0 then return end
  local step = file:records(SAMPLES):each()
  for _, row in ipairs(file:samples():select(table.unpack(fields)):collect()) do
    local record = step()
    for i, name in ipairs(fields) do
      local value = record[name]
      if value == nil then value = false end
      -- asserting all takes longer than reading them
      if value ~= row[i] then assert.equal(value, row[i]) end
    end
  end
  assert.is_nil(step())

  local groups, n = by_hand(file), 0
  for _ in pairs(groups) do n = n + 1 end
  local keys = {}
  for _, name in ipairs { "pid", "cpu" } do
    if table.concat(fields, " "):find(name, 1, true) then keys[#keys + 1] = name end
  end
  if #keys == 2 then
    local t = file:samples():group_by("pid", "cpu"):count():sum("period"):sort()
    assert.equal(n, #t)
    local total = 0
    for row in t:rows() do total = total + row.count end
    assert.equal(file:records(SAMPLES):count(), total)
    local lua = file:samples():where(function()
      return true
    end):group_by("pid", "cpu"):count():sum("period"):sort()
    assert.equal(tostring(lua), tostring(t))
  end
  local all = file:records(SAMPLES):count()
  assert.equal(all, file:samples():where("period >= 2"):count() + file:samples()
    :where("not (period >= 2)"):count())
end

describe("queries over the corpus", function()
  for _, recording in ipairs(corpus.recordings()) do
    if recording.mode == "file" then
      needs.it("corpus", recording.name, function() reading.quietly(check, recording.path) end)
    end
  end
end)
