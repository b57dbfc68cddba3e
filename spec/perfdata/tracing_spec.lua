-- Tracing data: which tracepoints' formats a recording holds, and what a format says of each
-- field.
local reading = require "spec.support.reading"
local traced_args = require "spec.support.traced_args"
local tracing = require "spec.support.builder_tracing"

local COMMON = 4

--- The event of a tracepoint with these fields, and its file; options are those of the tracing
--- data.
local function event_of(fields, options, more)
  local file = traced_args.open(fields, {}, options, more)
  return file.events[1], file
end

--- The only field that is not common, of an event with this declaration.
local function field_of(field, options)
  local event = event_of({ field }, options)
  assert.are.equal(COMMON + 1, #event.fields)
  return event.fields[COMMON + 1]
end

local function members(field, ...)
  local list = {}
  for i, name in ipairs { ... } do
    list[i] = field[name]
  end
  return list
end

describe("a tracepoint's event", function()
  it("has its fields in the format's order, the common ones first", function()
    local event = event_of { { "char", "prev_comm", count = 16 }, { "pid_t", "prev_pid" },
      { "long", "prev_state" } }
    local names, commons = {}, {}
    for i, f in ipairs(event.fields) do
      names[i], commons[i] = f.name, f.common and "common" or "own"
    end
    assert.are.equal(
      "common_type common_flags common_preempt_count common_pid prev_comm prev_pid prev_state",
      table.concat(names, " "))
    assert.are.equal("common common common common own own own", table.concat(commons, " "))
  end)

  it("has its system, its name and the format's print format", function()
    local event = event_of({ { "int", "a" } }, nil, { print_fmt = [["a=%d \"x\"", REC->a]] })
    assert.are.equal("sys", event.system)
    assert.are.equal("sys:ev", event.name)
    assert.are.equal([["a=%d \"x\"", REC->a]], event.print_fmt)
  end)

  it("says of each field where it lies and what it is", function()
    local event = event_of { { "unsigned short", "a" }, { "s64", "b" }, { "void *", "p" },
      { "u16", "l", count = 3 },
      { "__data_loc char[]", "text" } }
    local got = {}
    for i = COMMON + 1, #event.fields do
      got[#got + 1] = members(event.fields[i], "name", "type", "offset", "size", "signed",
        "kind")
    end
    assert.are.same({
      { "a", "unsigned short", 8, 2, false, "unsigned" },
      { "b", "s64", 16, 8, true, "signed" },
      { "p", "void *", 24, 8, false, "address" },
      { "l", "u16[3]", 32, 6, false, "view" },
      { "text", "__data_loc char[]", 40, 4, false, "string" },
    }, got)
  end)

  it("has neither fields nor a print format if no tracepoint is known", function()
    local t = tracing.new()
    t:event("sys", "ev")
    local b = t:recording()
    b:event { name = "cycles", sample_type = { "ip" } }
    local file = reading.open(b)
    assert.is_nil(file.events[2].fields)
    assert.is_nil(file.events[2].print_fmt)
  end)

  it("has no fields, but its raw data, if its format is missing", function()
    local t = tracing.new()
    local event = t:event("sys", "ev", { fields = { { "int", "a" } } })
    event.config = 9999
    local b, events = t:recording()
    b:sample(events[1], { time = 1, raw = t:raw(event, { a = 7 }) })
    local file = reading.open(b)
    assert.is_nil(file.events[1].fields)
    assert.are.equal(12, #file:samples():first().raw)
  end)
end)

-- { what it is, the field, kind, type, count, dynamic }
local forms = {
  { "a pointer", { "const char *", "p" }, "address", "const char *" },
  { "a pointer to a pointer", { "const char *const *", "argv" }, "address",
    "const char *const *" },
  { "a pointer of a structure, whose * stands at its name",
    { "struct file *", "p", decl = "struct file *p" },
    "address", "struct file *" },
  { "an enumeration", { "enum hrtimer_mode", "mode", kind = "u32", signed = false }, "unsigned",
    "enum hrtimer_mode" },
  { "a type of several words", { "unsigned long long", "v" }, "unsigned",
    "unsigned long long" },
  { "an array", { "u32", "list", count = 4 }, "view", "u32[4]", 4 },
  { "an array whose size has a name", { "u8", "mac", count = 6, symbol = "ETH_ALEN" }, "view",
    "u8[ETH_ALEN]", 6 },
  { "an array whose size is a sum", { "char", "name", count = 33, symbol = "32 + 1" }, "string",
    "char[32 + 1]" },
  { "an array whose size is computed",
    { "u8", "ht", count = 26, symbol = "(int)sizeof(struct cap)" }, "view",
    "u8[(int)sizeof(struct cap)]", 26 },
  { "an array whose size is a product", { "u8", "mcs", count = 42, symbol = "2 * 21" }, "view",
    "u8[2 * 21]", 42 },
  { "a processor mask at a fixed place", { "cpumask_t", "mask" }, "view", "cpumask_t", 1 },
  { "an array of pointers", { "void *", "stack", count = 3 }, "view", "void *[3]", 3 },
  { "characters", { "char", "comm", count = 16 }, "string", "char[16]" },
  { "text of any length", { "__data_loc char[]", "name" }, "string", "__data_loc char[]", nil,
    true },
  { "a list of any length", { "__data_loc u64[]", "addrs", kind = "u64" }, "view",
    "__data_loc u64[]", nil, true },
  { "a list of unsigned ints", { "__data_loc unsigned int[]", "len", kind = "u32" }, "view",
    "__data_loc unsigned int[]", nil, true },
  { "a processor mask", { "__data_loc cpumask_t", "mask" }, "view", "__data_loc cpumask_t", nil,
    true },
  { "text with brackets after the name", { "__rel_loc char", "name", brackets = "[]" },
    "string", nil, nil, true },
  { "text with brackets before the name", { "__rel_loc char[]", "name" }, "string", nil, nil,
    true },
  { "a relative list", { "__rel_loc u32", "list", brackets = "[]", kind = "u32" }, "view", nil,
    nil, true },
  { "the rest as longs", { "unsigned long", "args", rest = true }, "view", nil, nil, true },
  { "the rest as text", { "char", "buf", rest = true }, "string", nil, nil, true },
  { "the rest with brackets before the name",
    { "u32[]", "buf", rest = true, brackets = "", kind = "u32" }, "view",
    nil, nil, true },
  { "text that an old kernel wrote, by an offset of 2 bytes",
    { "__data_loc char[]", "name", short = true }, "string",
    nil, nil, true },
  { "user memory", { "char *", "buf", decl = "char __attribute__((user)) *buf", kind = "ul" },
    "address" },
  { "memory of an attribute with a list",
    { "int *", "p", decl = 'int __attribute__((btf_type_tag("user"))) *p' },
    "address" },
  { "a pointer of this processor", { "void __seg_gs *", "p" }, "address" },
  { "a bool", { "bool", "yes" }, "unsigned", "bool" },
  { "a single character", { "char", "c", signed = true }, "signed", "char" },
}

for _, options in ipairs { { endian = "little", long_size = 8 },
    { endian = "big", long_size = 4 } } do
  describe(("in a %s-endian recording with longs of %d bytes"):format(options.endian,
    options.long_size), function()
    for _, form in ipairs(forms) do
      it("a field may be " .. form[1], function()
        local f = field_of(form[2], options)
        assert.are.equal(form[2][2], f.name)
        assert.are.equal(form[3], f.kind)
        if form[4] then
          assert.are.equal(form[4], f.type)
        end
        if form[5] then
          assert.are.equal(form[5], f.count)
        end
        assert.are.equal(form[6] or false, f.dynamic)
      end)
    end
  end)
end

describe("a format", function()
  it("has signed fields by their types if a very old kernel does not say", function()
    local event = event_of { { "int", "a", signed = "missing" },
      { "unsigned int", "b", signed = "missing" },
      { "u64", "c", signed = "missing" }, { "pid_t", "d", signed = "missing" } }
    local signed = {}
    for i = COMMON + 1, COMMON + 3 do
      signed[#signed + 1] = event.fields[i].signed
    end
    assert.are.equal(4, #event.fields - COMMON)
    assert.are.equal(4, event.fields[COMMON + 4].size)
    assert.is_false(signed[2])
    assert.is_false(signed[3])
  end)

  it("may name fields as words of C or Lua, or as methods", function()
    local fields = {}
    for i, name in ipairs { "function", "end", "int", "signed", "offset", "size", "name", "ID",
        "print", "fmt" } do
      fields[i] = { "u32", name }
    end
    local event = event_of(fields)
    for i, f in ipairs(fields) do
      assert.are.equal(f[2], event.fields[COMMON + i].name)
      assert.are.equal("u32", event.fields[COMMON + i].type)
    end
  end)

  it("may be spaced in other ways", function()
    local lines = {
      "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n",
      "\tfield: int a; offset: 8; size: 4; signed: 1;\n",
      "field:int a;\toffset:8;\tsize:4;\tsigned:1;\n",
      "\tfield:int  a ;\toffset:8;\tsize:4;\tsigned:1;\r\n",
      "\t\tfield:int\ta;\t\toffset:8;\t\tsize:4;\t\tsigned:1;\t\n",
    }
    for _, line in ipairs(lines) do
      local f = field_of { "int", "a", lie = { line = line } }
      assert.are.same({ "a", "int", 8, 4, true },
        members(f, "name", "type", "offset", "size", "signed"), line)
    end
  end)

  it("may say special instead of field, as those of ftrace do", function()
    local f = field_of { "int", "a",
      lie = { line = "\tfield special:int a;\toffset:8;\tsize:4;\tsigned:1;\n" } }
    assert.are.equal("a", f.name)
  end)

  it("may lack a print format", function()
    local event = event_of(nil, nil, {
      format = "name: ev\nID: 300\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n",
    })
    assert.are.equal("a", event.fields[1].name)
    assert.is_true(event.print_fmt == nil or event.print_fmt == "")
  end)

  it("has the common fields that its kernel wrote, at any places", function()
    local event = event_of({ { "int", "a" } }, nil, { common = {
      { "unsigned short", "common_type" }, { "unsigned char", "common_flags" },
      { "unsigned char", "common_preempt_count" }, { "int", "common_pid" },
      { "unsigned char", "common_migrate_disable" },
      { "unsigned char", "common_preempt_lazy_count" },
    } })
    local lazy = event.fields[6]
    assert.are.same({ "common_preempt_lazy_count", 9, true },
      members(lazy, "name", "offset", "common"))
    assert.are.same({ "a", 12, false }, members(event.fields[7], "name", "offset", "common"))
  end)
end)

reading.either_order(describe, function(endian)
  for _, container in ipairs { "file", "pipe" } do
    for _, version in ipairs { "0.5", "0.6" } do
      it(("reads tracing data of version %s with all their parts, %s"):format(version,
        container), function()
        local t = tracing.new {
          endian = endian, version = version, page_size = 1 << 20,
          ftrace = { "name: f\nID: 1\nformat:\n", "" },
          kallsyms = "ffffffff81000000 T _text\n",
          printk_formats = '0xffffffff82000000 : "hi"\n', cmdlines = "7 sh\n",
        }
        for i = 1, 3 do
          t:event("one", "a" .. i, { fields = { { "int", "x" .. i } } })
          t:event("two", "b" .. i, { fields = { { "u64", "y" .. i } } })
        end
        local b, events = t:recording { container = container }
        for i, e in ipairs(t.events) do
          local name = e.fields[5].name
          b:sample(events[i], { time = i, raw = t:raw(e, { [name] = 70 + i }) })
        end
        local file = reading.open(b)
        local got = {}
        for s in file:samples() do
          local e = t.events[s.time]
          assert.are.equal(e.system .. ":" .. e.name, s.event.name)
          got[#got + 1] = s.args[e.fields[5].name]
        end
        assert.are.same({ 71, 72, 73, 74, 75, 76 }, got)
        assert.are.equal("", reading.reasons(file))
      end)
    end
  end
end)

describe("a recording of Android's simpleperf", function()
  local records = {
    { "its own record", function(b, data) b:raw(0x8009, 0, b.w:u32(#data) .. data) end },
    { "perf's record, which holds them", function(b, data)
      b:raw(66, 0, b.w:u32(#data) .. data .. ("\0"):rep(36))
    end },
  }
  for _, endian in ipairs { "little", "big" } do
    for _, record in ipairs(records) do
      it(("has its tracing data in its first record, %s, %s-endian"):format(record[1],
        endian), function()
        local t = tracing.new { version = "0.5", endian = endian }
        local event = t:event("sys", "ev", { fields = { { "u32", "a" } } })
        local b, events = t:recording { event_desc = false }
        b.sections = {}
        record[2](b, t:bytes())
        b:sample(events[1], { time = 1, raw = t:raw(event, { a = 7 }) })
        local file = reading.open(b)
        local s = file:samples():first()
        assert.are.equal("sys:ev", s.event.name)
        assert.are.equal(7, s.args.a)
        assert.are.equal("", reading.reasons(file))
      end)
    end
  end

  it("has no fields if a record says more than it holds", function()
    local t = tracing.new { version = "0.5" }
    t:event("sys", "ev", { fields = { { "u32", "a" } } })
    local b, events = t:recording { event_desc = false }
    b.sections = {}
    local data = t:bytes()
    b:raw(0x8009, 0, b.w:u32(#data + 1) .. data)
    b:sample(events[1], { time = 1, raw = "raw data" })
    assert.is_nil(reading.open(b).events[1].fields)
  end)
end)

describe("longs of the recorded kernel", function()
  it("are as wide as header_page says, also when perf was a program of 32 bits", function()
    local t = tracing.new { long_size = 4, kernel_long_size = 8 }
    local event = t:event("sys", "ev",
      { fields = { { "__data_loc cpumask_t", "mask", kind = "u64" } } })
    local b, events = t:recording()
    b:sample(events[1], { time = 1, raw = t:raw(event, { mask = { 1 << 0 | 1 << 33, 1 } }) })
    local mask = reading.open(b):samples():first().args.mask
    assert.are.same({ 0, 33, 64 }, { mask[1], mask[2], mask[3] })
  end)
end)
