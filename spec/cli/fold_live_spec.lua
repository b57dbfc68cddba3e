-- Folded stacks are those that perf script prints, frame by frame.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

-- Ends of functions that call keep them from being jumps.
local program = [[
#include <stdio.h>
static volatile unsigned sum;
static inline __attribute__((always_inline)) unsigned mix(unsigned x) { return x * 1664525u ^ x >> 7; }
__attribute__((noinline)) static void leaf(unsigned n) { for (unsigned i = 0; i < n; i++) sum += mix(i); }
__attribute__((noinline)) static void often(void) { leaf(300000); sum++; }
__attribute__((noinline)) static void seldom(void) { leaf(100000); sum++; }
__attribute__((noinline)) static void again(int n) { if (n) again(n - 1); else often(); sum++; }
int main(void) { for (int i = 0; i < 60; i++) { often(); seldom(); again(i % 3); } return !sum; }
]]

local function record()
  local dir = files.directory { ["program.c"] = program }
  local binary, path = dir .. "/a;b", files.temporary()
  local _, ok =
    files.output(
      ("gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o %s %s/program.c && "
    .. "perf record -q --no-bpf-event -F 2000 -g -e cpu-clock:u -o %s %s 2>&1"):format(
    files.quote(binary), dir, path, files.quote(binary)))
  assert.is_true(ok)
  return path, binary
end

-- perf script's samples folded: comm; callers first; [binary] of a frame without a symbol.
local function of_perf(path)
  local weights, comm, period, frames = {}, nil, nil, {}
  local function finish()
    if comm then
      local stack = comm:gsub(";", ":") .. ";" .. table.concat(frames, ";")
      weights[stack] = (weights[stack] or 0) + period
    end
    comm, frames = nil, {}
  end
  local command = "perf script --no-inline -F comm,tid,period,ip,sym,dso -i "
    .. files.quote(path) .. " 2>/dev/null"
  for line in files.lines(command) do
    local name, weight = line:match "^%s*(%S.-)%s+%d+%s+(%d+)%s*$"
    local symbol, dso = line:match "^%s+%x+ (.*) %((.*)%)$"
    if symbol then
      if symbol == "[unknown]" and dso:find "^/" then
        symbol = "[" .. dso:match "[^/]+$" .. "]"
      end
      table.insert(frames, 1, (symbol:gsub(";", ":")))
    elseif line == "" then
      finish()
    elseif name then
      comm, period = name, math.tointeger(tonumber(weight))
    end
  end
  finish()
  return weights
end

local function of_fold(words)
  local got, weights = run.perflua(words), {}
  assert.are.same({ 0, "" }, { got.status, got.err })
  for stack, weight in got.out:gmatch "([^\n]+) (%d+)\n" do
    assert.is_nil(weights[stack])
    weights[stack] = math.tointeger(tonumber(weight))
  end
  return weights
end

-- perf calls some entries of a procedure linkage table "@plt", without a name: then none of
-- their names counts.
local function without_plt_names(weights)
  local got = {}
  for stack, weight in pairs(weights) do
    stack = stack:gsub("[^;]*@plt", "@plt")
    got[stack] = (got[stack] or 0) + weight
  end
  return got
end

needs.describe("record,gcc", "the stacks of a recording made now", function()
  local path, binary

  setup(function() path, binary = record() end)
  teardown(function() os.remove(binary) end)

  it("are perf's", function()
    local theirs, depths = of_perf(path), {}
    for stack in pairs(theirs) do
      if stack:find "^a:b;" and stack:find ";main;" then
        depths[select(2, stack:gsub(";again", ""))] = true
      end
    end
    assert.is_true(depths[0] and depths[1] and depths[3])
    local ours, is_unnamed = of_fold { "fold", path }, false
    for stack in pairs(theirs) do is_unnamed = is_unnamed or stack:find ";@plt" ~= nil end
    if is_unnamed then theirs, ours = without_plt_names(theirs), without_plt_names(ours) end
    assert.are.same(theirs, ours)
  end)

  it("have the name of a binary where its functions are not found", function()
    for stack in pairs(of_fold { "fold", "--symfs", "spec/fixtures/empty", path }) do
      assert.is_nil(stack:find "main")
    end
    local got = run.perflua { "flame", "--symfs=spec/fixtures/empty", path, "-o", "-" }
    assert.matches(" samples  ·  0 lost  ·  100 % unresolved  ·  ", got.out, 1, true)
    assert.matches(">[a:b]</text>", got.out, 1, true)
  end)

  it("have the functions that were inlined on request", function()
    local plain, inlined = of_fold { "fold", path },
      of_fold { "fold", "--inline", "--annotate", path }
    local inside, without = 0, {}
    for stack, weight in pairs(inlined) do
      if stack:find ";leaf;mix_%[i%]$" then inside = inside + weight end
      local bare = stack:gsub(";[^;]*_%[i%]", "")
      without[bare] = (without[bare] or 0) + weight
    end
    assert.is_true(inside > 0)
    assert.are.same(plain, without)
  end)
end)
