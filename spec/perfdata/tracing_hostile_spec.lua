-- Tracing data nobody's kernel wrote: what can be read of them is, the rest is said to be
-- damage, raw data stay, and nothing costs more than its bytes.
local reading = require "spec.support.reading"
local tracing = require "spec.support.builder_tracing"

local RAW = "\44\1\0\0\0\0\0\0\1\0\0\0\2\0\0\0rawrawrawrawrawr"

--- A file whose one tracepoint has this format text, or is made of these fields; its sample has
--- RAW as raw data.
local function file_of(how, wrong)
  local t = tracing.new()
  t:event("sys", "ev", type(how) == "string" and { format = how } or how)
  local b, events = t:recording()
  b:feature("tracing_data", t:bytes(wrong))
  b:sample(events[1], { time = 1, raw = RAW, raw_size = #RAW })
  return reading.quietly(reading.open, b)
end

--- Reads all that is known of a file's samples; returns the last one. Nothing may raise.
local function read_all(file)
  local last
  for s in file:samples() do
    for name, value in pairs(s.args or {}) do
      assert(type(name) == "string")
      if type(value) == "userdata" then
        for i = 1, math.min(#value, 100) do
          assert(value[i] ~= nil)
        end
      end
    end
    last = s
  end
  for _, event in ipairs(file.events) do
    for _, f in ipairs(event.fields or {}) do
      assert(f.name and f.type and f.kind)
    end
  end
  return last
end

local head = "name: ev\nID: 300\nformat:\n"

describe("a format that cannot be read", function()
  local formats = {
    ["is empty"] = "",
    ["is not a format"] = "hello",
    ["has no fields"] = head .. "\nprint fmt: \"\"\n",
    ["has a field without a name"] = head .. "\tfield:;\toffset:0;\tsize:4;\tsigned:1;\n",
    ["has a field of nothing but brackets"] = head
      .. "\tfield:[4];\toffset:0;\tsize:4;\tsigned:1;\n",
    ["has a field without an offset"] = head .. "\tfield:int a;\tsize:4;\tsigned:1;\n",
    ["has a field without a size"] = head .. "\tfield:int a;\toffset:0;\tsigned:1;\n",
    ["has an offset that is not a number"] = head
      .. "\tfield:int a;\toffset:x;\tsize:4;\tsigned:1;\n",
    ["has an offset beyond all numbers"] = head
      .. "\tfield:int a;\toffset:99999999999999999999;\tsize:4;\tsigned:1;\n",
    ["ends in a field"] = head .. "\tfield:int a;\toff",
    ["has brackets that do not end"] = head
      .. "\tfield:int a[;\toffset:0;\tsize:4;\tsigned:1;\n",
    ["has an attribute that does not end"] = head
      .. "\tfield:int __attribute__((user a;\toffset:0;\tsize:4;\tsigned:1;\n",
    ["has a type of 3000 words"] = head .. "\tfield:" .. ("int "):rep(3000)
      .. "a;\toffset:0;\tsize:4;\tsigned:1;\n",
  }
  for what, format in pairs(formats) do
    it("is refused: it " .. what
      .. " leaves raw data readable, and says why unless it could be read", function()
      local file = file_of(format)
      assert.are.equal(RAW, read_all(file).raw)
      if not file.events[1].fields then
        -- a format without an id is nobody's
        assert.matches(format:find("ID:", 1, true) and "format" or "", reading.reasons(file))
      end
    end)
  end

  it("is said to be damage, with its event and what is wrong", function()
    local file = file_of(formats["has an offset that is not a number"])
    read_all(file)
    assert.is_nil(file.events[1].fields)
    assert.matches("ev", reading.reasons(file))
    assert.matches("offset", reading.reasons(file))
  end)

  it("is said to be damage once, however many samples there are", function()
    local t = tracing.new()
    t:event("sys", "ev", { format = formats["has an offset that is not a number"] })
    local b, events = t:recording()
    for i = 1, 50 do
      b:sample(events[1], { time = i, raw = RAW })
    end
    local file = reading.quietly(reading.open, b)
    read_all(file)
    assert.are.equal(1, #file.damage)
  end)
end)

describe("a format that lies", function()
  local lies = {
    { "an offset beyond the raw data", { offset = 4000 } },
    { "an offset whose end overflows 32 bits", { offset = 4294967295 } },
    { "an offset whose end overflows 64 bits", { offset = "18446744073709551615" } },
    { "a size beyond the raw data", { size = 65536 } },
    { "a size of 4 GB", { size = 4294967295 } },
    { "a negative offset", { offset = -4 } },
    { "a negative size", { size = -4 } },
  }
  local kinds = {
    { "int", "a" }, { "char", "a", count = 8 }, { "u32", "a", count = 4 },
    { "__data_loc char[]", "a" },
    { "__rel_loc u32[]", "a", kind = "u32" }, { "__data_loc cpumask_t", "a" },
    { "unsigned long", "a", rest = true },
  }
  for _, lie in ipairs(lies) do
    it("has a field with " .. lie[1]
      .. " has no value of it, and those of the others", function()
      for _, kind in ipairs(kinds) do
        local field = { lie = lie[2] }
        for k, v in pairs(kind) do
          field[k] = v
        end
        local file = file_of { fields = { field, { "u32", "z", lie = { offset = 12 } } } }
        local s = read_all(file)
        assert.are.equal(RAW, s.raw)
        if file.events[1].fields then
          assert.is_nil(s.args.a, kind[1])
          assert.are.equal(2, s.args.z)
        else
          assert.is_true(#file.damage > 0)
        end
      end
    end)
  end

  it("has no wrong numbers if sizes of integers are wrong", function()
    for _, size in ipairs { 0, 3, 5, 6, 7, 9, 16 } do
      local s = read_all(file_of { fields = { { "int", "a", lie = { size = size } } } })
      local a = s.args and s.args.a
      assert.is_true(math.type(a) ~= "integer", size .. ": " .. tostring(a))
    end
  end)

  it("has no value if sizes of descriptors are wrong", function()
    for _, size in ipairs { 0, 1, 3, 8, 16 } do
      for _, decl in ipairs { "__data_loc char[]", "__rel_loc u32[]",
          "__data_loc cpumask_t" } do
        local s = read_all(file_of { fields = { { decl, "a", lie = { size = size } } } })
        assert.is_true(not s.args or type(s.args.a) ~= "userdata" and #(s.args.a or "") <= size)
      end
    end
  end)

  it("has only the items that are there if counts of arrays are wrong", function()
    for _, brackets in ipairs { "[0]", "[3]", "[4294967295]", "[99999999999999999999]", "[-1]",
        "[]", "[x]", "[[4]" } do
      local s =
        read_all(file_of { fields = { { "u32", "a", count = 2, brackets = brackets } } })
      local a = s.args and s.args.a
      if type(a) == "table" or type(a) == "userdata" then
        assert.is_true(#a <= 8, brackets)
      end
    end
  end)

  it("has common fields where it says they are", function()
    local s = read_all(file_of { fields = { { "u32", "a" } }, common = {
      { "unsigned short", "common_type", lie = { offset = 9999 } },
      { "int", "common_pid", lie = { size = 0 } },
    } })
    assert.is_nil(s.args.common_type)
  end)
end)

describe("an odd format", function()
  it("may name two fields alike: the first is meant", function()
    local file = file_of { fields = { { "u32", "a" }, { "u32", "a" } } }
    local s = read_all(file)
    assert.are.equal(1, s.args.a)
    assert.are.equal(6, #file.events[1].fields)
  end)

  it("may have a name of 5000 letters, or of other bytes", function()
    for _, name in ipairs { ("n"):rep(5000), "\xff\xfe", "a-b", "ä" } do
      local s = read_all(file_of { fields = { { "u32", name }, { "u32", "z" } } })
      assert.are.equal(RAW, s.raw)
    end
  end)

  it("may have NULs anywhere", function()
    local whole = tracing.new():event("sys", "ev",
      { fields = { { "u32", "a" }, { "char", "c", count = 4 } } }).format
    for at = 1, #whole, 3 do
      local s = read_all(file_of(whole:sub(1, at - 1) .. "\0" .. whole:sub(at + 1)))
      assert.are.equal(RAW, s.raw)
    end
  end)

  it("may end at any byte", function()
    local whole = tracing.new():event("sys", "ev", {
      fields = { { "u32", "a" }, { "__data_loc char[]", "c" } },
      print_fmt = '"%s", __get_str(c)',
    }).format
    for n = 0, #whole do
      assert.are.equal(RAW, read_all(file_of(whole:sub(1, n))).raw)
    end
  end)

  it("may have thousands of fields: they are there, or it is said why not", function()
    for _, n in ipairs { 900, 5000, 30000 } do
      local fields = {}
      for i = 1, n do
        fields[i] = { "u8", "f" .. i, lie = { offset = 8 + i % 16 } }
      end
      local file = file_of { fields = fields }
      local s = read_all(file)
      assert.are.equal(RAW, s.raw)
      if file.events[1].fields then
        assert.are.equal(n + 4, #file.events[1].fields)
      else
        assert.matches("format of tracepoint sys:ev: too ", reading.reasons(file))
      end
    end
  end)

  it("may nest brackets, attributes and its print format without end", function()
    local deep = 200000
    for _, text in ipairs {
      "\tfield:int a" .. ("["):rep(deep) .. ";\toffset:8;\tsize:4;\tsigned:1;\n",
      "\tfield:int " .. ("__attribute__(("):rep(deep // 10)
        .. " a;\toffset:8;\tsize:4;\tsigned:1;\n",
      "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", " .. ("("):rep(deep)
        .. "REC->a\n",
      "\tfield:__data_loc u8[] a;\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: \"%s\", "
        .. ("__get_sockaddr("):rep(deep // 10) .. "a\n",
    } do
      assert.are.equal(RAW, read_all(file_of(head .. text)).raw)
    end
  end)

  it("has an id that another has, too: the first is meant", function()
    local t = tracing.new()
    local one = t:event("sys", "one", { id = 300, fields = { { "u32", "a" } } })
    t:event("sys", "two", { id = 300, fields = { { "u32", "b" } } })
    local b, events = t:recording()
    b:sample(events[1], { time = 1, raw = t:raw(one, { a = 7 }) })
    assert.are.equal(7, read_all(reading.quietly(reading.open, b)).args.a)
  end)
end)

local function small(endian)
  local t = tracing.new { endian = endian, kallsyms = "1 T a\n", printk_formats = '0x1 : "a"\n',
    cmdlines = "7 sh\n",
    ftrace = { "name: f\n" } }
  local one = t:event("sys", "one", { fields = { { "u32", "a" } } })
  t:event("other", "two", { fields = { { "char", "text", count = 8 } } })
  return t, one
end

reading.either_order(describe, function(endian)
  it("tracing data that end at any byte have the formats before it, and say so", function()
    local t, one = small(endian)
    local whole = t:bytes()
    local raw = t:raw(one, { a = 7 })
    for _, container in ipairs { "file", "pipe" } do
      local known = 0
      for n = #whole % 7, #whole, 7 do
        local b, events = t:recording { container = container }
        b:feature("tracing_data", whole:sub(1, n))
        b:sample(events[1], { time = 1, raw = raw })
        local file = reading.quietly(reading.open, b)
        local s = read_all(file)
        assert.are.equal(raw, s.raw:sub(1, #raw))
        if file.events[1].fields then
          known = known + 1
          assert.are.equal(7, s.args.a)
        end
        if n == #whole then
          assert.are.equal("", reading.reasons(file))
        elseif n > 8 and container == "file" then
          assert.is_true(#file.damage > 0, "at " .. n)
        end
      end
      assert.is_true(known > 15)
    end
  end)

  it("tracing data with any byte wrong are read all the same", function()
    local t, one = small(endian)
    local whole = t:bytes()
    local raw = t:raw(one, { a = 7 })
    for at = 1, #whole, 3 do
      local byte = ({ "\0", "\xff", "9", ";" })[at % 4 + 1]
      local b, events = t:recording()
      b:feature("tracing_data", whole:sub(1, at - 1) .. byte .. whole:sub(at + 1))
      b:sample(events[1], { time = 1, raw = raw })
      assert.are.equal(raw, read_all(reading.quietly(reading.open, b)).raw:sub(1, #raw))
    end
  end)

  it("tracing data whose counts and sizes lie have what is there", function()
    local huge = { 0xffffffff, 0x7fffffff, 1 << 20 }
    for _, n in ipairs(huge) do
      for _, wrong in ipairs {
        { counts = { systems = n } }, { counts = { events = n } }, { counts = { ftrace = n } },
        { sizes = { format = n } }, { sizes = { format = -1 } }, { sizes = { kallsyms = n } },
        { sizes = { printk_formats = n } }, { sizes = { cmdlines = -n } },
        { sizes = { header_page = -1 } },
        { sizes = { header_event = 1 << 63 } },
      } do
        local t, one = small(endian)
        local b, events = t:recording()
        b:feature("tracing_data", t:bytes(wrong))
        local raw = t:raw(one, { a = 7 })
        b:sample(events[1], { time = 1, raw = raw })
        local file = reading.quietly(reading.open, b)
        assert.are.equal(raw, read_all(file).raw:sub(1, #raw))
        assert.is_true(#file.damage > 0)
      end
    end
  end)
end)
