-- The symbols of recordings made on the spot are those that perf script prints.
local binaries = require "spec.support.binaries"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"

local cases = {
  { "of compiling", "-F 4000 -e cpu-clock", [[
    echo 'int main(void) { return 0; }' >a.c; for i in 1 2 3; do gcc -O2 -g -o a a.c; done]] },
  { "of scripts and sorting", "-F 4000 -e cpu-clock", [[
    python3 -c 'import json; print(len(json.dumps(list(range(200000)))))'
    ls -lR /usr/lib | sort | gzip | wc -c]] },
  { "of page faults and what is compressed", "-z -c 1 -e page-faults:u", [[
    ls /usr/share /usr/lib | sort | tail -1; gzip -c /usr/bin/perf | md5sum; date]] },
  { "of node", "-F 4000 -e cpu-clock", [[
    node --perf-basic-prof -e 'let x = 0; for (let i = 0; i < 3e7; i++) x += Math.sqrt(i); console.log(x)' ]],
    "node" },
}

-- A compressed recording has no build-id of the kernel, so that only perf takes the one that
-- runs for it.
-- perf names the vdso only if another recording left it in the build-id cache.
--- perf 6.1 takes entries of procedure linkage tables by their order, also where that is not
--- theirs.
local function is_plt(line)
  return line:find "[@.]plt%+"
end

-- Where perf shows parameters, names are compared as the linker has them.
local demangle = not oracle.does.parameters

local function of_perf(path)
  local list, command = {}, "perf script -f -G -F ip,sym,symoff,dso %s -i %s 2>/dev/null"
  for line in files.lines(command:format(demangle and "" or "--no-demangle", path)) do
    list[#list + 1] = line:match "^%s*(.-)%s*$"
  end
  return list
end

local function of_file(path)
  local list = {}
  local file <close> = assert(perflua.open(path, { demangle = demangle }))
  for s in file:samples() do
    local symbol = s.symbol and ("%s+0x%x"):format(s.symbol, s.symoff) or "[unknown]"
    list[#list + 1] = ("%x %s (%s)"):format(s.ip, symbol, s.dso or "[unknown]")
  end
  return list
end

needs.describe("record", "symbols in a recording made now", function()
  for _, case in ipairs(cases) do
    needs.it(case[4] or "record", case[1] .. " are perf's", function()
      local tree = binaries.tree()
      tree:write("work.sh", case[3])
      tree:sh("perf record -N --no-bpf-event -m 64 -o data " .. case[2]
        .. " sh work.sh >/dev/null 2>log || { cat log; exit 1; }")
      local path = tree.path .. "/data"
      local theirs, ours = of_perf(path), of_file(path)
      assert.is_true(#theirs > 100, #theirs .. " samples")
      assert.equal(#theirs, #ours)
      local different = {}
      for i, line in ipairs(theirs) do
        local other = is_plt(line) or is_plt(ours[i]) or case[2]:find "^-z"
          and line:find("([vdso])", 1, true) or line:find("[unknown] ([vdso])", 1, true)
        if line ~= ours[i] and not other then
          different[#different + 1] = line .. " ~= " .. ours[i]
        end
      end
      assert.equal("", table.concat(different, "\n", 1, math.min(#different, 5)))
    end)
  end
end)
