-- Inlined functions and lines of a recording made now, as perf script shows them.
local binaries = require "spec.support.binaries"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"

local SOURCE = [[
volatile unsigned long sink;
static inline __attribute__((always_inline)) unsigned long inner(unsigned long x)
{
	for (int i = 0; i < 50; i++)
		x = x * 31 + (x >> 3);
	return x;
}
static inline __attribute__((always_inline)) unsigned long middle(unsigned long x)
{
	return inner(x) ^ 7;
}
__attribute__((noinline)) unsigned long outer(unsigned long x)
{
	return middle(x) + 1;
}
int main(void)
{
	for (unsigned long i = 0; i < 2000000; i++)
		sink += outer(i);
	return 0;
}
]]

local OURS = { inner = true, middle = true, outer = true, main = true }

---Returns the functions of the program for each sample, "name file:line", callee first.
local function of_perf(path)
  local list, chain = {}, nil
  local name
  for line in files.lines("perf script -f -F ip,sym,srcline -i " .. files.quote(path)
      .. " 2>/dev/null") do
    local sym, srcline = line:match "^%s+%x+ (.*)$", line:match "^  (%S+)"
    if line == "" then
      chain = nil
    elseif sym then
      name = sym
      if not chain then
        chain = {}
        list[#list + 1] = chain
      end
    elseif OURS[name] then
      chain[#chain + 1] = name .. " " .. srcline
    end
  end
  return list
end

local function of_perflua(path)
  local file <close> = assert(perflua.open(path))
  local list = {}
  for s in file:samples() do
    local chain = {}
    for i = 1, #s.callchain do
      local frame = s.callchain[i]
      for _, f in ipairs(frame.inlined or {}) do
        chain[#chain + 1] = OURS[f.symbol] and f.symbol .. " " .. f.srcline or nil
      end
      chain[#chain + 1] = OURS[frame.symbol] and frame.symbol .. " " .. frame.srcline or nil
    end
    list[#list + 1] = chain
  end
  return list
end

describe("the functions inlined in a recording made now", function()
  needs.it("record", "are those that perf script shows", function()
    local tree = binaries.tree()
    tree:write("spin.c", SOURCE)
    -- perf asks addr2line, which does not know all that DWARF 5 of clang says
    tree:sh "gcc -gdwarf-4 -O2 -o spin spin.c"
    local path = oracle.record("-e cpu-clock -F 500 --call-graph dwarf,4096",
      tree.path .. "/spin")
    local expected, found = of_perf(path), of_perflua(path)
    local deep = 0
    for i, chain in ipairs(expected) do
      assert.same(chain, found[i])
      deep = deep + (#chain == 4 and 1 or 0)
    end
    assert.equal(#expected, #found)
    assert.is_true(deep > 10)
  end)
end)
