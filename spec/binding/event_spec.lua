local builder = require "spec.support.builder"
local everything = require "spec.support.everything"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local two_events = require "spec.support.two_events"

describe("the events of a file", function()
  local file

  before_each(function() file = assert(perflua.open(two_events.write())) end)
  after_each(function() file:close() end)

  it("are an array, and found by name", function()
    assert.are.equal(2, #file.events)
    assert.are.equal("cycles:P", file.events[1].name)
    assert.are.equal(file.events[2], file.events["faults"])
    assert.are.equal(file.events[1], file.events["cycles"])
  end)

  it("are nil for an unknown name", function()
    local keys = { 0, -1, 3, 1.5, 0 / 0, math.huge, math.maxinteger, "nope", "", "faults\0",
      true, {}, print }
    for _, key in ipairs(keys) do
      assert.is_nil(file.events[key])
    end
  end)

  it("are the same objects wherever they are met", function()
    assert.are.equal(file.events[1], file:samples():first().event)
    assert.are.equal(file.events, file.events)
    for event in file:samples():select "event" do
      assert.are.equal(file.events[event.index], event)
    end
  end)

  it("are empty in a recording without events", function()
    local empty = reading.open(builder.new())
    assert.are.equal(0, #empty.events)
    assert.is_nil(empty.events[1])
    assert.is_nil(empty.events["cycles"])
  end)
end)

describe("an event", function()
  it("says how it was counted, by the names of its attribute", function()
    local b = builder.new()
    b:event { name = "x", type = 1, config = 2, freq = true, sample_period = 99, ids = { 5, 6 },
      precise_ip = 2,
      exclude_kernel = true, sample_type = { "ip", "tid" } }
    b:record("comm", { comm = "sh" })
    local event = reading.open(b).events[1]
    assert.are.equal("x", event.name)
    assert.are.equal("x", tostring(event))
    assert.are.equal(1, event.index)
    assert.are.same({ 5, 6 }, event.ids)
    assert.are.equal(1, event.type)
    assert.are.equal(2, event.config)
    assert.are.equal(99, event.sample_freq)
    assert.is_nil(event.sample_period)
    assert.are.equal(2, event.precise_ip)
    assert.is_true(event.exclude_kernel)
    assert.is_false(event.exclude_user)
    assert.are.same({ "ip", "pid", "tid" }, event.sample_fields)
    assert.is_nil(event.system)
  end)

  it("raises for a name no event has", function()
    local event = assert(perflua.open(two_events.write())).events[1]
    assert.error_matches(function() return event.nmae end, "no field 'nmae'")
    for _, key in ipairs { "", "\0", ("x"):rep(100000), 1, 0 / 0, true, {}, print } do
      assert.has_error(function() return event[key] end)
    end
    assert.has_error(function() event.name = "mine" end)
  end)

  it("leads itself when it is in no group", function()
    local event = assert(perflua.open(two_events.write())).events[2]
    assert.are.equal(event, event.leader)
    assert.are.same({ event }, event.members)
  end)

  it("knows its group", function()
    local b, _, two = everything.empty "little"
    b:feature("group_desc", { { name = "g", leader = 0, members = 2 } })
    b:sample(two, everything.sample)
    local events = reading.open(b).events
    assert.are.equal(events[1], events[2].leader)
    assert.are.same({ events[1], events[2] }, events[2].members)
    assert.are.same({ events[1], events[2] }, events[1].members)
  end)

  it("gives its lists away as copies", function()
    local event = assert(perflua.open(two_events.write())).events[1]
    event.ids[1], event.members[1], event.sample_fields[1] = nil, nil, nil
    assert.are.same({ 11 }, event.ids)
    assert.are.same({ event }, event.members)
    assert.is_true(#event.sample_fields > 5)
  end)

  it("outlives close() and keeps its file's description", function()
    local event
    do
      local file = assert(perflua.open(two_events.write()))
      event = file.events[1]
      file:close()
    end
    collectgarbage()
    collectgarbage()
    assert.are.equal("cycles:P", event.name)
    assert.are.same({ 11 }, event.ids)
    assert.are.equal(event, event.leader)
  end)
end)
