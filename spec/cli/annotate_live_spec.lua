-- perflua annotate beside perf annotate, of recordings that are made now.
local binaries = require "spec.support.binaries"
local files = require "spec.support.files"
local listings = require "spec.annotate.listings"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"

-- The hottest functions, most of whose code is not the kernel's; but not _init, which has no
-- size: perf lists what follows in the next section, too.
local function hottest(path, n)
  local file <close> = assert(perflua.open(path))
  local list = {}
  local query = file:samples():where "symbol ~= '_init' and cpumode == 'user'"
  for row in query:group_by("dso", "symbol"):sum "period":top(n):rows() do
    list[#list + 1] = row.symbol
  end
  return list
end

local function compare(path, least)
  local compared = 0
  for _, name in ipairs(hottest(path, 10)) do
    for _, layout in ipairs { "stdio", "stdio2" } do
      local ours = listings[layout](run.perflua { "annotate", "--" .. layout, path, name }.out)
      local command = ("perf annotate -f --%s -i %s %s 2>/dev/null"):format(layout, path,
        files.quote(name))
      local theirs = listings[layout]((files.output(command)))
      if #theirs > 0 then
        assert.are.same(theirs, ours, name)
        compared = compared + 1
      end
    end
  end
  assert(compared >= least, ("only %d functions were compared"):format(compared))
end

needs.describe("capstone,record,objdump", "perflua annotate, of a recording made now",
  function()
    local tree = binaries.tree()
    for _, name in ipairs { "hot.c", "hot.cpp" } do
      tree:write(name, files.read("spec/annotate/" .. name))
    end
    tree:sh "gcc -O2 -g -o hot hot.c && g++ -O2 -g -o hotter hot.cpp"

    it("has the addresses, shares and source lines of perf annotate, of C", function()
      compare(oracle.record("-e cpu-clock:u -F 5000", tree.path .. "/hot"), 10)
    end)

    it("has the addresses, shares and source lines of perf annotate, of C++", function()
      compare(oracle.record("-e cpu-clock:u -F 20000", tree.path .. "/hotter"), 6)
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
