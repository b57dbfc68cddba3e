-- Fields of tracepoints' samples whose raw data are short, lie, or are not of the types they
-- seem.
local reading = require "spec.support.reading"
local tracing = require "spec.support.builder_tracing"
local traced_args = require "spec.support.traced_args"

local args_of, value_of, list = traced_args.of, traced_args.value, traced_args.list

describe("s.args", function()
  it("gives all fields in the format's order", function()
    local args = args_of({ { "u32", "z" }, { "char", "y", count = 4 },
      { "__data_loc char[]", "x" } },
      { z = 1, y = "two", x = "three", common_pid = 4 })
    local got = {}
    for name, value in pairs(args) do
      got[#got + 1] = ("%s=%s"):format(name, value)
    end
    assert.are.equal(
      "common_type=300 common_flags=0 common_preempt_count=0 common_pid=4 z=1 y=two x=three",
      table.concat(got, " "))
  end)

  it("has fields with the names of Lua's words and of methods", function()
    local args = args_of({ { "u32", "end" }, { "u32", "copy" }, { "u32", "type" },
      { "void *", "function" } },
      { ["end"] = 1, copy = 2, type = 3, ["function"] = 4 })
    assert.are.same({ 1, 2, 3, 4 }, { args["end"], args.copy, args.type, args["function"] })
  end)

  it("is of the size that the format says, whatever the type is", function()
    -- as of system calls: "int dfd" in eight bytes
    local args = args_of({ { "int", "dfd", kind = "u64", signed = false } },
      { dfd = 0xffffff9c })
    assert.are.equal(0xffffff9c, args.dfd)
  end)

  it("is signed as the format says, whatever the type is", function()
    assert.are.equal(0xffffffff, value_of({ "int", "v", signed = false }, -1))
    assert.are.equal(-1, value_of({ "u32", "v", signed = true }, -1))
    assert.are.same({ -1, -2 },
      list(value_of({ "u32", "v", count = 2, signed = true }, { -1, -2 })))
  end)

  it("has no value of a field that the raw data are too short for", function()
    local fields = { { "u32", "a" }, { "u64", "b" }, { "char", "c", count = 16 },
      { "u16", "d", count = 2 },
      { "__data_loc char[]", "e" }, { "u8", "f" } }
    local t = tracing.new()
    local event = t:event("sys", "ev", { fields = fields })
    local whole = t:raw(event, { a = 1, b = 2, c = "text", d = { 3, 4 }, e = "five", f = 6 })
    local places = {}
    for _, f in ipairs(event.fields) do
      places[f.name] = f.at + f.size
    end
    local b, events = t:recording()
    for n = 0, #whole do
      b:sample(events[1], { time = n + 1, raw = whole:sub(1, n), raw_size = n })
    end
    -- a size that lies shifts what follows, so raw is the only part after which nothing comes
    local seen = 0
    for s in reading.open(b):samples() do
      local n = s.time - 1
      assert.are.equal(n, #(s.raw or ""))
      for name, at in pairs(places) do
        if name ~= "e" and name ~= "c" then
          assert.are.equal(n >= at, s.args[name] ~= nil, name .. " in " .. n)
        end
      end
      assert.are.equal(n >= places.a and 1 or nil, s.args.a)
      assert.are.equal(n >= places.b and 2 or nil, s.args.b)
      assert.are.equal(n >= #whole and "five" or nil, n >= #whole and s.args.e or nil)
      seen = seen + 1
    end
    assert.are.equal(#whole + 1, seen)
  end)

  it("has no value where a descriptor points out of the raw data", function()
    local lies = { 0xffffffff, 0xffff, 0xffff0000, 4 << 16 | 0xfffe, 1 << 16 | 4000,
      9 << 16 | 8 }
    for _, how in ipairs { "__data_loc char[]", "__rel_loc char[]", "__data_loc cpumask_t" } do
      for _, descriptor in ipairs(lies) do
        local value, file
        local args
        args, file = args_of({ { how, "v" } }, { v = { descriptor = descriptor } })
        value = args.v
        local raw = file:samples():first().raw
        -- nil, or made of the bytes that are there: never more
        assert.is_true(value == nil or #value <= #raw * 8, ("%s %x"):format(how, descriptor))
        if descriptor >> 16 > #raw then
          assert.is_nil(value, ("%s %x"):format(how, descriptor))
        end
      end
    end
  end)

  it("has of a list of odd size the items that are whole", function()
    assert.are.same({ 0x04030201 },
      list(value_of({ "__data_loc u32[]", "v", kind = "u32" }, "\1\2\3\4\5\6")))
  end)
end)
