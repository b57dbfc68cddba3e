-- The fields of tracepoints' samples: their values, in every size and form, from raw data that
-- may lie.
local builder = require "spec.support.builder"
local traced_args = require "spec.support.traced_args"

local args_of, value_of, list = traced_args.of, traced_args.value, traced_args.list

local machines = {}
for _, endian in ipairs { "little", "big" } do
  for _, long_size in ipairs { 4, 8 } do
    machines[#machines + 1] = { endian = endian, long_size = long_size }
  end
end

for _, options in ipairs(machines) do
  local where = ("in a %s-endian recording with longs of %d bytes"):format(options.endian,
    options.long_size)
  describe(where .. ", s.args", function()
    for bits = 8, 64, 8 do
      if bits & bits - 1 == 0 then
        it(("has integers of %d bits, signed and not"):format(bits), function()
          local all, least = -1 >> 64 - bits, -1 << bits - 1
          assert.are.equal(-1, value_of({ "s" .. bits, "v" }, -1, options))
          assert.are.equal(least, value_of({ "s" .. bits, "v" }, least, options))
          assert.are.equal(~least, value_of({ "s" .. bits, "v" }, ~least, options))
          assert.are.equal(all, value_of({ "u" .. bits, "v" }, all, options))
          assert.are.equal(least & all, value_of({ "u" .. bits, "v" }, least & all, options))
        end)
      end
    end

    it("has longs, and addresses", function()
      local bits = 8 * options.long_size
      local top = 1 << bits - 1
      assert.are.equal(-7, value_of({ "long", "v" }, -7, options))
      assert.are.equal(top, value_of({ "unsigned long", "v" }, top, options))
      assert.are.equal(top | 5, value_of({ "void *", "v" }, top | 5, options))
    end)

    it("has arrays as tables", function()
      assert.are.same({ 1, 0xffff, 3 },
        list(value_of({ "u16", "v", count = 3 }, { 1, 0xffff, 3 }, options)))
      assert.are.same({ -1, 2 }, list(value_of({ "s32", "v", count = 2 }, { -1, 2 }, options)))
      local six = { 1, 2, 3, 4, 5, 6 }
      assert.are.same(six, list(value_of({ "unsigned long", "v", count = 6 }, six, options)))
      assert.are.same({ 0, 17, 255, 1, 2, 3 },
        list(value_of({ "u8", "v", count = 6, symbol = "ETH_ALEN" }, { 0, 17, 255, 1, 2, 3 },
          options)))
      assert.are.same({ 1 << 63, 4 },
        list(value_of({ "u64", "v", count = 2 }, { 1 << 63, 4 }, options)))
    end)

    it("has lists of any length", function()
      for _, how in ipairs { { "__data_loc u32[]", "v", kind = "u32" },
          { "__rel_loc u32[]", "v", kind = "u32" },
        { "__rel_loc u32", "v", brackets = "[]", kind = "u32" } } do
        assert.are.same({ 9, 0xffffffff }, list(value_of(how, { 9, 0xffffffff }, options)))
        assert.are.same({}, list(value_of(how, {}, options)))
      end
      assert.are.same({ -1 }, list(value_of({ "__data_loc s64[]", "v", kind = "s64" }, { -1 },
        options)))
    end)

    it("has text, up to its NUL", function()
      for _, how in ipairs {
        { "char", "v", count = 16 }, { "__data_loc char[]", "v" }, { "__rel_loc char[]", "v" },
        { "__rel_loc char", "v", brackets = "[]" }, { "char", "v", rest = true },
        { "__data_loc char[]", "v", short = true },
        { "__data_loc const char[]", "v", text = true, kind = "s8" },
      } do
        assert.are.equal("kworker/0:1", value_of(how, "kworker/0:1", options), how[1])
        assert.are.equal("", value_of(how, "", options), how[1])
        assert.are.equal("a", value_of(how, "a\0b", options), how[1])
      end
      assert.are.equal("sixteen letters!",
        value_of({ "char", "v", count = 16 }, "sixteen letters!", options))
      assert.are.equal("\xff\xfe", value_of({ "char", "v", count = 4 }, "\xff\xfe", options))
    end)

    it("has text that stands among other fields", function()
      local args = args_of({ { "__data_loc char[]", "one" }, { "u8", "a" },
        { "__rel_loc char[]", "two" },
        { "u64", "b" }, { "__data_loc char[]", "three" } },
        { one = "first", a = 7, two = "second", b = 8, three = "third" }, options)
      assert.are.same({ "first", 7, "second", 8, "third" },
        { args.one, args.a, args.two, args.b, args.three })
    end)

    it("has the processors of a mask", function()
      local words = options.long_size == 8 and { 1 | 1 << 63, 2 } or { 1, 1 << 31, 2 }
      for _, how in ipairs { { "__data_loc cpumask_t", "v" },
          { "__rel_loc cpumask_t", "v" } } do
        assert.are.same({ 0, 63, 65 }, list(value_of(how, words, options)))
        assert.are.same({}, list(value_of(how, { 0 }, options)))
      end
    end)

    it("has the bits of a bitmask, which only the print format tells from a list", function()
      local words = options.long_size == 8 and { 1 << 3 | 1 << 40 } or { 1 << 3, 1 << 8 }
      local how = { "__data_loc unsigned long[]", "v", kind = "ul" }
      assert.are.same({ 3, 40 },
        list(value_of(how, words, options, { print_fmt = '"m=%s", __get_bitmask(v)' })))
      assert.are.same({ 3, 40 },
        list(value_of(how, words, options, { print_fmt = '"m=%s", __get_cpumask(v)' })))
      assert.are.same(words, list(value_of(how, words, options)))
      how[1] = "__rel_loc unsigned long[]"
      assert.are.same({ 3, 40 },
        list(value_of(how, words, options, { print_fmt = '"m=%s", __get_rel_bitmask(v)' })))
    end)

    it("has addresses of sockets as text", function()
      local w = builder.new(options).w
      local how = { "__data_loc u8[]", "v", kind = "u8" }
      local as = { print_fmt = '"addr=%pISpc", __get_sockaddr(v)' }
      local four = w:u16(2) .. "\0\80" .. "\127\0\0\1" .. ("\0"):rep(8)
      local six = w:u16(10) .. "\x1f\x90" .. w:u32(0) .. ("\0"):rep(15) .. "\1" .. w:u32(0)
      local long = w:u16(10) .. "\0\80" .. w:u32(0) .. "\x20\x01\x0d\xb8" .. ("\0"):rep(11)
        .. "\5" .. w:u32(0)
      assert.are.equal("127.0.0.1:80", value_of(how, four, options, as))
      assert.are.equal("[::1]:8080", value_of(how, six, options, as))
      assert.are.equal("[2001:db8::5]:80", value_of(how, long, options, as))
      assert.are.equal("/run/x.sock", value_of(how, w:u16(1) .. "/run/x.sock\0", options, as))
      how[1], as.print_fmt = "__rel_loc u8[]", '"addr=%pISpc", __get_rel_sockaddr(v)'
      assert.are.equal("127.0.0.1:80", value_of(how, four, options, as))
    end)

    it("has all that is left of the raw data", function()
      local size = options.long_size
      local values = { 5, -1 & (1 << 8 * size) - 1 | (size == 8 and -1 or 0) }
      local args = args_of({ { "u32", "a" }, { "u32", "b" },
        { "unsigned long", "v", rest = true } },
        { a = 1, b = 2, v = values }, options)
      local got = list(args.v)
      assert.are.same(values, { got[1], got[2] })
      assert.is_true(#got * size <= 2 * size + 7) -- a sample's raw data are padded
    end)

    it("has the common fields", function()
      local t = { common_flags = 3, common_preempt_count = 250, common_pid = -1, a = 4 }
      local args = args_of({ { "int", "a" } }, t, options)
      assert.are.equal(300, args.common_type)
      assert.are.equal(3, args.common_flags)
      assert.are.equal(250, args.common_preempt_count)
      assert.are.equal(-1, args.common_pid)
    end)
  end)
end
