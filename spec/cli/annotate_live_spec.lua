-- perflua annotate beside perf annotate, of recordings that are made now.
local binaries = require "spec.support.binaries"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"

local C <const> = [[
#include <stdio.h>
static unsigned table[4096];
static inline unsigned fold(unsigned x) { return (x >> 16) ^ (x & 0xffff); }
__attribute__((noinline)) unsigned mix(unsigned x, int n)
{
  unsigned s = 0;
  for (int i = 0; i < n; i++) {
    s += table[(x + i) & 4095];
    if (s & 1) s ^= x >> 3; else s = s * 33 + fold(i);
  }
  return s;
}
int main(void)
{
  unsigned s = 0;
  for (int i = 0; i < 9000; i++) s += mix(i, 5000);
  printf("%u\n", s);
  return 0;
}
]]

local CXX <const> = [[
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int main()
{
  std::map<std::string, std::vector<int>> m;
  for (int i = 0; i < 90000; i++) m["key" + std::to_string(i * 7919 % 5003)].push_back(i);
  long n = 0;
  for (auto &p : m) {
    std::sort(p.second.begin(), p.second.end(), [](int a, int b) { return a % 17 < b % 17; });
    n += p.second[0];
  }
  printf("%ld\n", n);
}
]]

-- Returns the rows of the first listing in the layout of --stdio: "1234 5.00" of instructions,
-- and source lines. Names of functions and of files that were not found are left out: their
-- spelling differs.
local function rows_of(text)
  local rows = {}
  for line in text:gmatch "[^\n]+" do
    local percent, address = line:match "^ +(%d+%.%d%d) +: +(%x+):%s"
    local source = line:match "^ +: %d* *(.*)$"
    if percent then
      rows[#rows + 1] = address .. " " .. percent
    elseif source and source ~= "" and not source:find ":$" and not source:find ":%d+$"
      and not source:find "^Disassembly of" and not source:find "discriminator" then
      rows[#rows + 1] = source:gsub("%s+", " ")
    end
  end
  return rows
end

-- The hottest functions that are named once, most of whose code is not the kernel's.
local function hottest(path, n)
  local file <close> = assert(perflua.open(path))
  local list = {}
  local query = file:samples():where "symbol ~= nil and cpumode == 'user'"
  for row in query:group_by("dso", "symbol"):sum "period":top(n):rows() do
    list[#list + 1] = row.symbol
  end
  return list
end

local function compare(path, least)
  local compared = 0
  for _, name in ipairs(hottest(path, 10)) do
    local got = run.perflua { "annotate", "--stdio", path, name }
    local ours = rows_of(got.out)
    local theirs = rows_of((files.output(("perf annotate -f --stdio -i %s %s 2>/dev/null")
      :format(path, files.quote(name)))))
    if #theirs > 0 then
      assert.are.same(theirs, ours, name)
      compared = compared + 1
    end
  end
  assert(compared >= least, ("only %d functions were compared"):format(compared))
end

needs.describe("capstone,record,objdump", "perflua annotate, of a recording made now",
  function()
    local tree = binaries.tree()
    tree:write("hot.c", C)
    tree:write("hot.cpp", CXX)
    tree:sh "gcc -O2 -g -o hot hot.c && g++ -O2 -g -o hotter hot.cpp"

    it("has the addresses, shares and source lines of perf annotate, of C", function()
      compare(oracle.record("-e cpu-clock:u -F 5000", tree.path .. "/hot"), 1)
    end)

    it("has the addresses, shares and source lines of perf annotate, of C++", function()
      compare(oracle.record("-e cpu-clock:u -F 20000", tree.path .. "/hotter"), 3)
    end)

    it("has the instructions and source code of perf script, of C", function()
      local path = oracle.record("-e cpu-clock:u -F 5000", tree.path .. "/hot")
      for _, fields in ipairs { "ip,sym,insn,insnlen", "tid,ip,sym,srccode" } do
        local ours = run.perflua { "script", "--as", oracle.version, "--symbol", "mix,main",
          "-F", fields, path }
        assert.are.equal("", ours.err)
        local command = "perf script -f -S mix,main -F %s -i %s 2>/dev/null"
        local theirs = files.output(command:format(fields, path))
        assert.are.equal(theirs, ours.out)
      end
    end)
  end)
