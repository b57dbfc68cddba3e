-- Print fmts and raw data that ask for what is not there, divide by zero or nest without an
-- end.
local messages = require "spec.support.messages"
local perflua = require "perflua"
local run = require "spec.cli.run"

local failed = "[FAILED TO PARSE]"

-- what is wrong with the format itself
local refused = {
  [["%d", 1 / 0]], [["%d", 4 / 2 * 0]], [["%d", 7 / 0x0UL]], [["%d", 7 / 08]],
  [["%d", 7 % NONE]], [["%d", REC->none]],
  [["%s", __print_flags(REC->none, "|", { 1, "A" })]], [["%s", __print_symbolic(REC->i)]],
  [["%s", __print_symbolic(REC->i, { 1 })]], [["%d", REC->a[0][1] ]], [["%d", (REC->a[0])[1] ]],
  [["%d", REC->i[REC->a + 1] ]], [["%d", __get_dynamic_array_len(i)]],
  [["%s", __get_str(c)]], [["%s", __get_str(none)]], [["%s", __get_cpumask(l)]],
  [["%d", sizeof(none)]],
  [["%d", sizeof(REC->none)]], [["%d", sizeof(]], [["%d", REC->]], [["%d", REC]], [["%d"]],
  [["%d %d", REC->i]],
  [["%1000000d", REC->i]], [["%*.*d", 1, 2, REC->i]], [["%n", REC->i]], [["%ld%]], [["%]], [[]],
  [[REC->i]],
  [["open]], [["\\" , REC->i]], [["%d", REC->i REC->b]], [["%d", REC->i ? 1]],
  [["%d", REC->i ? : 2]],
  [["%d", (((REC->i]],
  [["%d", )]], [["%d", REC->i++]], [["%d", __print_hex(REC->mac)]], [["%s", __print_hex(1, 2)]],
  [["%s", __print_hex(REC->d, 4)]],
  [["%s", __print_array((u8 *)REC->mac, 1, 1)]], [["%d", ({ int x = 1; x; })]],
  [["%s", LOCAL_PR_FMT]],
  [["%d", REC->i,]],
  "\"\1\"", "\"\255\"", "\"%d\", \1",
  '"%d", ' .. ("("):rep(60000) .. "1", '"%d", ' .. ("("):rep(20000) .. "1" .. (")"):rep(20000),
  '"%d", ' .. ("-"):rep(3, " ") .. ("! "):rep(30000) .. "1", '"%d", 1' .. (" + 1"):rep(15000),
  '"' .. ("%d"):rep(1000) .. '"' .. (", 1"):rep(1000), '"' .. ("x"):rep(70000) .. '"',
}

-- what is wrong with a sample alone
local wrong = {
  { [["%d", REC->a[REC->l] ]], values = { l = 1 << 20 } },
  { [["%d", REC->a[REC->l] ]], values = { l = -1 } },
  { [["%.*s", REC->i, REC->c]], values = { i = -1 } },
  { [["%*d", REC->i, REC->b]], values = { i = 0x7fffffff } },
  { [["%s", __print_hex(REC->mac, REC->l)]], values = { l = 1 << 40 } },
  { [["%s", __print_hex(__get_dynamic_array(d), REC->b)]], values = { b = 255 } },
  { [["%s", __print_hex(REC->mac, 7)]] },
  { [["%s", __print_array(REC->a, REC->b, 4)]], values = { b = 5 } },
  { [["%s", __print_array(REC->a, 4, REC->b)]], values = { b = 0 } },
  { [["%s", __get_cpumask(mask)]], values = { mask = { descriptor = 0 } } },
  { [["%s", __get_str(s)]], values = { s = { descriptor = 0xffff | 1 << 16 } } },
  { [["%s", __get_str(s)]], values = { s = { descriptor = 8 | 0xffff << 16 } } },
  { [["%s", __get_rel_str(r)]], values = { r = { descriptor = 0xffff } } },
  { [["%d", REC->i / -REC->b]] }, { [["%d", REC->v % REC->i]], values = { i = 0 } },
  { [["%d", REC->i]], cut = 40 },
}

describe("the message of a sample", function()
  for name, endian in pairs { ["little-endian"] = "little", ["big-endian"] = "big" } do
    it("is its fields when the print fmt is none that can be, " .. name, function()
      for _, fmt in ipairs(refused) do
        local got = messages.one({ fmt }, { endian = endian })
        assert.are.equal(fmt:sub(1, 80) .. failed .. messages.plain,
          fmt:sub(1, 80) .. got:sub(1, #failed + #messages.plain))
      end
    end)
  end

  it("is its fields when what the print fmt asks for is not in the data", function()
    for _, one in ipairs(wrong) do
      local got = messages.one(one)
      assert.are.equal(one[1] .. " b=", one[1] .. got:sub(1, 3))
    end
  end)

  it("has a reason, with its place in the print fmt, when the print fmt is none that can "
    .. "be", function()
    for _, one in ipairs {
      { [["%d", unknown(REC->i)]], "byte 7: an unknown function" },
      { [["%d", REC->i + REC->none]], "byte 21: there is no such field" },
      { [["%d" " %n", REC->i, 2]], "byte 8: an unknown conversion" },
      { [["%d %u", REC->i]], "byte 5: a conversion has no argument" },
      { [["%d", REC->i / 0]], "byte 17: a division by zero" },
    } do
      local file <close> = assert(perflua.open(messages.recording { { one[1] } }))
      assert.are.equal("test:e1: print fmt, " .. one[2], file.events[1].print_fmt_error)
    end
    local file <close> = assert(perflua.open(messages.recording { { [["%d", REC->i]] } }))
    assert.is_nil(file.events[1].print_fmt_error)
  end)

  it("says nothing beside", function()
    local list = {}
    for _, fmt in ipairs(refused) do list[#list + 1] = { fmt } end
    local got = run.shell('"$perflua" script -F trace ' .. messages.recording(list))
    assert.are.equal("", got.err)
    assert.are.equal(#list, select(2, got.out:gsub("\n", "")))
  end)
end)
