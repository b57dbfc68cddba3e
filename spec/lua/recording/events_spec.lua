local events = require "perflua.recording.events"

describe("looking up an event by name", function()
  local function list_of(...)
    local list = {}
    for i, name in ipairs { ... } do
      list[i] = { name = name, index = i, type = name:find("^sched:") and 2 or 0 }
    end
    return list
  end

  local function found(list, wanted)
    local indexes = {}
    for index in pairs(events.resolve(list, wanted)) do indexes[#indexes + 1] = index end
    table.sort(indexes)
    return indexes
  end

  it("takes the exact name first", function()
    assert.same({ 2 }, found(list_of("cycles:P", "cycles"), "cycles"))
    assert.same({ 1 }, found(list_of("cycles:P", "cycles"), "cycles:P"))
  end)

  it("leaves modifiers and PMUs away, for all that match", function()
    local list = list_of("cycles:P", "cpu_core/cycles/", "cpu_atom/cycles:Pu/", "cpu/cycles/ku",
      "cycles-ct",
      "cycles:x")
    assert.same({ 1, 2, 3, 4 }, found(list, "cycles"))
  end)

  it("does not take a tracepoint's name for modifiers", function()
    local list = list_of("sched:S", "sched:sched_switch", "sched:sched_switch:u")
    assert.error_matches(function()
      found(list, "sched")
    end, "no event 'sched'; the closest is 'sched:S'")
    assert.same({ 2 }, found(list, "sched:sched_switch"))
    assert.same({ 3 }, found(list_of("x", "y", "sched:sched_switch:u"), "sched:sched_switch"))
  end)

  it("takes globs over whole names", function()
    local list = list_of("sched:sched_switch", "sched:sched_wakeup", "cycles", "sys.x")
    assert.same({ 1, 2 }, found(list, "sched:*"))
    assert.same({ 2 }, found(list, "*w?ke*"))
    assert.same({ 3, 4 }, found(list, "[cs]y*"))
    assert.same({ 1, 2, 4 }, found(list, "[!c]*"))
    assert.same({ 4 }, found(list, "sys.?"))
    assert.has_error(function() found(list, "sys?.") end)
  end)

  it("takes Events and arrays", function()
    local list = list_of("a", "b", "c")
    assert.same({ 2 }, found(list, list[2]))
    assert.same({ 1, 3 }, found(list, { "a", list[3] }))
    assert.error_matches(function()
      found(list, { name = "z", index = 9 })
    end, "another recording")
    assert.error_matches(function() found(list, {}) end, "list of events is empty")
    assert.error_matches(function()
      found(list, 5)
    end, "a name, glob or Event expected, got a number")
  end)
end)
