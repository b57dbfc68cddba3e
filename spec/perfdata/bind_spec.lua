-- Every record that has an id belongs to the event of that id.
local builder = require "spec.support.builder"
local everything = require "spec.support.everything"
local perflua = require "perflua"

local FIRST, SECOND, UNKNOWN = 7, 8, 9

-- Types whose id is in a field of another name: the fields of a record with that id.
local other_fields = {
  read = function(id)
    return { read = { { value = 1, id = id }, { value = 2, id = FIRST } } }
  end,
  header_attr = function(id) return { ids = { id, FIRST } } end,
}

local function has_own_id(desc)
  for _, field in ipairs(desc.fields) do
    if field.name == "id" then return true end
  end
  return other_fields[desc.name] ~= nil
end

-- The names of all types, by the id that decides their event: the record's own, that of its
-- trailer, or none.
local own, trailer, none = {}, {}, {}
for _, desc in pairs(require("perflua.core").types()) do
  local list = has_own_id(desc) and own or desc.trailer and trailer or none
  if desc.name ~= "sample" then list[#list + 1] = desc.name end
end
table.sort(own)
table.sort(trailer)

-- The fields of a record as specs build it; some types need more than zeros.
local function fields_of(name, id)
  local fields = {}
  for _, record in ipairs(everything.records) do
    if record[1] == name then
      for k, v in pairs(record[2]) do fields[k] = v end
    end
  end
  for k, v in pairs(other_fields[name] and other_fields[name](id) or { id = id }) do
    fields[k] = v
  end
  return fields
end

-- How recordings of two events can be laid out.
local layouts = {}
for _, endian in ipairs { "little", "big" } do
  for _, container in ipairs { "file", "pipe" } do
    for _, parts in ipairs { { "id" }, { "identifier" }, { "id", "stream_id", "cpu" },
      { "id", "cpu", "identifier" } } do
      layouts[#layouts + 1] = {
        name = ("%s-endian %s with %s"):format(endian, container, table.concat(parts, ", ")),
        endian = endian, container = container, parts = parts,
      }
    end
  end
end

-- Returns the name of the event of one record, in a recording of `layout`.
local function event_of(name, layout, fields, id)
  local b = builder.new { endian = layout.endian, container = layout.container }
  for i, event_id in ipairs { FIRST, SECOND } do
    b:event {
      name = i == 1 and "one" or "two", ids = { event_id },
      sample_type = { "ip", "tid", "time", table.unpack(layout.parts) },
      read_format = { "id", "group" }, sample_id_all = layout.sample_id_all,
    }
  end
  b:record(name, fields, id and { id = id, identifier = id, tid = 1, time = 1 })
  local file <close> = assert(perflua.open(b:write()))
  local record
  for r in file:records({ type = name, order = "file" }):each() do record = r:copy() end
  assert.equal(0, #file.damage)
  return record.event and record.event.name
end

describe("a record", function()
  it("has an id of its own, one in its trailer, or none", function()
    assert.same({ "event_update", "header_attr", "lost", "read", "stat", "throttle",
      "unthrottle" }, own)
    assert.is_true(#trailer > 10 and #none > 10)
  end)

  for _, name in ipairs(own) do
    it("belongs to the event of its own id: " .. name, function()
      for _, layout in ipairs(layouts) do
        for id, event in pairs { [FIRST] = "one", [SECOND] = "two" } do
          assert.equal(event, event_of(name, layout, fields_of(name, id), id), layout.name)
        end
      end
    end)
  end

  for _, name in ipairs(own) do
    it("needs no trailer: " .. name, function()
      for _, layout in ipairs(layouts) do
        layout = setmetatable({ sample_id_all = false }, { __index = layout })
        assert.equal("two", event_of(name, layout, fields_of(name, SECOND)), layout.name)
      end
    end)
  end

  for _, name in ipairs(trailer) do
    it("belongs to the event of the id in its trailer: " .. name, function()
      for _, layout in ipairs(layouts) do
        local fields = fields_of(name)
        assert.equal("two", event_of(name, layout, fields, SECOND), layout.name)
        assert.equal("one", event_of(name, layout, fields, 0), layout.name)
      end
    end)
  end

  it("has no event if no event has its id", function()
    for _, name in ipairs { "stat", "event_update", "lost" } do
      assert.is_nil(event_of(name, layouts[1], fields_of(name, UNKNOWN), UNKNOWN), name)
    end
  end)
end)

describe("counts of perf stat", function()
  it("are chosen and grouped by event", function()
    local b = builder.new()
    for i, name in ipairs { "cpu-clock", "page-faults", "cycles" } do
      b:event { name = name, ids = { i }, sample_type = { "identifier" } }
      b:record("event_update", { id = i, unit = "u" .. i })
      b:record("stat", { id = i, cpu = 0, val = 10 * i })
      b:record("stat", { id = i, cpu = 1, val = i })
    end
    local file <close> = assert(perflua.open(b:write()))
    local sums = {}
    for row in file:records("stat"):group_by("event.name"):sum("val"):sort():rows() do
      sums[row["event.name"]] = row.val
    end
    assert.same({ ["cpu-clock"] = 11, ["page-faults"] = 22, cycles = 33 }, sums)
    local stat = file:records "stat"
    assert.equal(22, stat:where("event == 'page-faults'"):sum "val")
    assert.equal(33, file:records({ type = "stat", event = "cycles" }):sum "val")
    for event, unit in file:records("event_update"):select("event.name", "unit"):each() do
      assert.equal(unit, "u" .. ({ ["cpu-clock"] = 1, ["page-faults"] = 2, cycles = 3 })[event])
    end
  end)
end)
