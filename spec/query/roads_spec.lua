-- A field has one value, however a script asks for it: of the record, by select, as a key, in a
-- filter, as a handler's argument, or in the JSON of dump. Of the corpus, the first 50 records
-- of each type and file are asked, on two of the roads by turns; ROADS=all asks all on each.
local corpus = require "spec.support.corpus"
local everything = require "spec.support.everything"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local roads = require "spec.support.roads"

local ALL = os.getenv "ROADS" == "all"
local MOST = ALL and math.huge or 50
local ROADS <const> = { "select", "key", "filter", "handler", "json" }
local OF_RECORDS <const> = { handler = true, json = true } -- of all types at once

local function check(path, most, symfs, on)
  local file <close> = perflua.open(path, { symfs = symfs or "spec/fixtures/empty" })
  if not file then return nil end -- that it is not a recording is known by other specs
  local kinds = reading.quietly(roads.kinds, file, most)
  local n = 0
  for _, kind in ipairs(kinds) do n = n + #kind.rows end
  for _, road in ipairs(on or ROADS) do
    if not OF_RECORDS[road] then
      for _, kind in ipairs(kinds) do
        assert.is_nil(roads[road](kind), ("%s, %s"):format(road, kind.name or kind.type_id))
      end
    elseif n > 0 then
      assert.is_nil(roads[road](kinds), road)
    end
  end
  return kinds
end

describe("a field", function()
  -- what is made is mostly short-lived: half the time
  setup(function() collectgarbage "generational" end)
  teardown(function() collectgarbage "incremental" end)

  for _, name in ipairs { "words/perf.data", "demo.perf.data", "calls.perf.data",
    "switches.perf.data" } do
    it("has one value on all roads: " .. name, function()
      local kinds = check("spec/fixtures/" .. name, math.huge, "spec/fixtures/words")
      assert.is_true(#kinds > 5)
    end)
  end

  it("has the source file that its line has", function()
    local kinds = check("spec/fixtures/words/perf.data", 5, "spec/fixtures/words")
    local found = {}
    for _, kind in ipairs(kinds) do
      for i, field in ipairs(kind.fields) do
        found[field.text] = found[field.text] or kind.rows[1][i]
      end
    end
    assert.equal("words.c", found.srcfile)
    assert.matches("^words%.c:%d+$", found.srcline)
  end)

  reading.either_order(describe, function(endian)
    it("has one value on all roads, of every record type", function()
      local kinds, seen = check(everything.builder(endian):write(), math.huge), {}
      for _, kind in ipairs(kinds) do seen[kind.name] = true end
      for _, record in ipairs(everything.records) do
        assert.is_true(seen[record[1]], record[1])
      end
      assert.is_true(seen.sample)
    end)
  end)

  local turn = 0
  corpus.each_file(it, "has one value on all roads", function(recording)
    turn = turn + 1
    local on = { ROADS[turn % #ROADS + 1], ROADS[(turn + 1) % #ROADS + 1] }
    check(recording.path, MOST, nil, not ALL and on or nil)
  end)
end)
