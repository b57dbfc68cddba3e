-- perflua faults: page faults by object and by function are perf's, and what it makes of other
-- events.
local builder = require "spec.support.builder"
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"
local tool_rows = require "spec.support.tool_rows"
local tracing = require "spec.support.builder_tracing"

local workload =
  "sh -c 'for i in 1 2 3; do ls -la / >/dev/null; done; dd if=/dev/zero of=/dev/null bs=2M "
    .. "count=1 2>&1'"

local function recorded(names, options)
  return not needs.missing(names) and oracle.record(options, workload)
end

-- name → a column's value.
local function column(path, by, name)
  local got = run.perflua { "faults", "--csv", "--by", by, path }
  assert.are.equal(0, got.status, got.err)
  local values = {}
  for row in tool_rows(got.out) do values[row[by]] = (values[row[by]] or 0) + row[name] end
  return values
end

local function perf_script(path, fields, pattern)
  local counts = {}
  for line in files.lines(("perf script -G -F %s -i %s 2>/dev/null"):format(fields,
      files.quote(path))) do
    local name = assert(line:match(pattern), line)
    counts[name] = (counts[name] or 0) + 1
  end
  return counts
end

local path = recorded("kernel", "-e page-faults -c 1 -d -g")

needs.describe("kernel", "perflua faults, of a recording made now", function()
  it("has as many faults of each object as perf script names", function()
    local perf = perf_script(path, "addr,dso", "^%s*%x+ %((.*)%)%s*$")
    perf["[unknown]"] = (perf["unknown"] or 0) + (perf["[unknown]"] or 0)
    if perf["[unknown]"] == 0 then perf["[unknown]"] = nil end
    assert.is_true(perf["//anon"] >= 512)
    assert.are.same(perf, column(path, "object", "faults"))
  end)

  -- perf report looks up the address where the code is: of the kernel's code it is in no map of
  -- the kernel. It shows the last part of a path.
  it("has the objects of perf report --sort dso_daddr, and those of the faults that the "
    .. "kernel met", function()
    local perf, ours, total = {}, { ["[unknown]"] = 0 }, 0
    for line in files.lines(
        "perf report --stdio --no-children -g none --mem-mode --sort dso_daddr -n -i "
      .. files.quote(path) .. " 2>/dev/null") do
      local n, name = line:match "^%s+[%d.]+%%%s+(%d+)%s+(.-)%s*$"
      if n then perf[name], total = (perf[name] or 0) + tonumber(n), total + tonumber(n) end
    end
    local of_kernel = column(path, "object", "kernel")
    for name, n in pairs(column(path, "object", "faults")) do
      local short = name:match "[^/]+$"
      if n > of_kernel[name] then ours[short] = (ours[short] or 0) + n - of_kernel[name] end
      ours["[unknown]"] = ours["[unknown]"] + of_kernel[name]
    end
    assert.is_true(total > 500)
    assert.are.same(perf, ours)
  end)

  -- perf has no name for the entries of some procedure linkage tables; some perfs have none for
  -- functions of the vdso.
  it("has as many faults of each function as perf report and perf script", function()
    local function nameless(counts)
      local list = {}
      for name, n in pairs(counts) do
        name = name:match "@plt$" or (name:find "^0x%x+$" or name:find "^__vdso_")
          and "[unknown]" or name
        list[name] = (list[name] or 0) + n
      end
      return list
    end
    local ours, named = nameless(column(path, "function", "faults")), {}
    assert.are.same(nameless(perf_script(path, "ip,sym", "^%s*%x+ (.-)%s*$")), ours)
    for line in files.lines(
        "perf report --stdio --no-children -g none --sort sym -F sample,sym -i "
      .. files.quote(path) .. " 2>/dev/null") do
      local n, name = line:match "^%s+(%d+)%s+%[.%] (.-)%s*$"
      if n then named[name] = (named[name] or 0) + tonumber(n) end
    end
    assert.are.same(nameless(named), ours)
  end)

  it("has the call chains that perflua fold has", function()
    local folded = run.perflua { "fold", "--by", "none", path }
    for stack, n in pairs(column(path, "stack", "faults")) do
      if stack ~= "[unknown]" then
        assert.matches(("\n%s %d\n"):format(stack, n), "\n" .. folded.out, 1, true)
      end
    end
  end)
end)

local split = recorded("record", "-e page-faults,minor-faults,major-faults -c 1 -d")

needs.describe("record", "of faults that are told apart", function()
  it("tells how many were minor and major, each counted once", function()
    local function perfs(name) -- those of a user who may not record the kernel end with :u
      local events = oracle.stats(split).events
      return events[name] or events[name .. ":u"]
    end
    local sums = { faults = 0, minor = 0, major = 0 }
    for name in pairs(sums) do
      for _, n in pairs(column(split, "object", name)) do sums[name] = sums[name] + n end
    end
    assert.are.same({ faults = perfs "page-faults", minor = perfs "minor-faults",
      major = perfs "major-faults" or 0 },
      sums)
  end)
end)

local TRAPS = "exceptions:page_fault_user"
local traps = recorded(TRAPS, "-e exceptions:page_fault_user,exceptions:page_fault_kernel -d")

needs.describe(TRAPS, "of the tracepoints of exceptions", function()
  it("counts those of user and of kernel code as perf report --stats does", function()
    local events = oracle.stats(traps).events
    local all, of_kernel = 0, 0
    for _, n in pairs(column(traps, "object", "faults")) do all = all + n end
    for _, n in pairs(column(traps, "function", "kernel")) do of_kernel = of_kernel + n end
    assert.are.same({ events["exceptions:page_fault_user"] + of_kernel,
      events["exceptions:page_fault_kernel"] },
      { all, of_kernel })
    assert.is_true((column(traps, "object", "faults")["[unknown]"] or 0) < all / 2)
  end)
end)

local function map_data(b, addr, filename)
  b:record("mmap", { pid = 7, tid = 7, addr = addr, len = 0x10000, pgoff = 0,
    filename = filename, data = true },
    { time = 2 })
end

-- A recording of software faults { config, ip, addr } in a process with a file, a heap and a
-- library.
local function built(list, name)
  local b = builder.new()
  local fields = { "ip", "tid", "time", "addr", "period", "identifier" }
  local events = {}
  for i, config in ipairs { 2, 5, 6 } do
    events[config] = b:event { name =
      ({ name or "page-faults:u", "minor-faults", "major-faults" })[i], type = 1,
      config = config, sample_period = 1, sample_type = fields, ids = { i } }
  end
  b:record("comm", { pid = 7, tid = 7, comm = "a\27b" }, { time = 1 })
  for i, map in ipairs { "/bin/a", "[heap]", "/lib/b\27.so" } do
    map_data(b, i * 0x10000, map)
  end
  for i, one in ipairs(list) do
    if one[1] == "lost" then
      b:record("lost", { id = 1, lost = one[2] }, { time = 10 * i, id = 1 })
    else
      b:sample(events[one[1]], { ip = one[2], pid = 7, tid = 7, time = 10 * i, addr = one[3],
        period = one[4] or 1,
        identifier = ({ [2] = 1, [5] = 2, [6] = 3 })[one[1]] }, { misc = 2 })
    end
  end
  return b:write()
end

describe("perflua faults", function()
  it("adds up periods, tells minor from major, and says what was lost", function()
    local got = run.perflua { "faults",
      built { { 2, 0x10010, 0x20010, 3 }, { 6, 0x10010, 0x20010 },
      { 2, 0x10010, 0x30010 }, { 5, 0x10010, 0x30010 }, { "lost", 4 },
      { 2, 0x10010, 0x90000 } } }
    assert.are.equal([[
# 4 records were lost
faults  percent  kernel  minor  major  object
     3   60.00%       0      0      1  [heap]
     1   20.00%       0      1      0  /lib/b\x1b.so
     1   20.00%       0      0      0  [unknown]
]], got.out)
  end)

  it("has rows by command and thread, and several names together", function()
    local path_of = built { { 2, 0x10010, 0x20010 }, { 2, 0x10010, 0x30010 } }
    local got = run.perflua { "faults", "--by", "thread,object", "--count", "1", path_of }
    assert.matches("\n +1 +50.00%% +0 +0 +0 +a\\x1bb +7 +/lib/b\\x1b.so\n$", got.out)
    got = run.perflua { "faults", "--json", "--by", "comm", path_of }
    assert.are.same({ { faults = 2, percent = 100, kernel = 0, minor = 0, major = 0,
      comm = "a\27b" } },
      dkjson.decode(got.out).rows)
  end)

  -- A recording of the tracepoint of user's faults at addresses, in a process with a file and a
  -- heap whose thread is often renamed, and of a fault without arguments.
  local function of_traps(addresses)
    local t = tracing.new()
    local user = t:event("exceptions", "page_fault_user", {
      fields = { { "unsigned long", "address" }, { "unsigned long", "ip" },
        { "unsigned long", "error_code" } },
    })
    local b, events = t:recording()
    for i, map in ipairs { "/bin/a", "[heap]" } do
      map_data(b, i * 0x10000, map)
    end
    for i, address in ipairs(addresses) do
      b:sample(events[1], { ip = 0, pid = 7, tid = 7, time = 10 * i, period = 1,
        raw = t:raw(user, { address = address, ip = 0x10000 }) })
      if i % 100 == 0 then
        b:record("comm", { pid = 7, tid = 7, comm = "name" .. i }, { time = 10 * i })
      end
    end
    b:sample(events[1], { ip = 0, pid = 7, tid = 7, time = 10 * #addresses + 90, period = 1,
      raw = "\0\0" })
    return b:write()
  end

  it("takes address and code of the tracepoints from their arguments", function()
    assert.are.same({ ["[heap]"] = 2, ["/bin/a"] = 1, ["[unknown]"] = 1, ["[no address]"] = 1 },
      column(of_traps { 0x20008, 0x20010, 0x10010, 0 }, "object", "faults"))
  end)

  it("reads recordings of the tracepoints twice: names are found with the times", function()
    local addresses = {}
    for i = 1, 20000 do addresses[i] = 0x20000 + i % 4096 end
    local got = run.perflua { "-j", "2", "--timing=json", "faults", of_traps(addresses) }
    local file, bytes = dkjson.decode(got.err).files[1], 0
    for _, pass in ipairs(file.passes) do
      for _, stage in ipairs(pass.stages) do
        if stage.name == "read" then bytes = bytes + stage.bytes end
      end
    end
    assert.is_true(bytes > 1.9 * file.size and bytes < 2.5 * file.size, bytes / file.size)
  end)

  it("says what it needs, and what is wrong with its options", function()
    local got = run.perflua { "faults", "--by", "page", built {} }
    assert.are.equal(2, got.status)
    assert.matches("--by: object, function, stack, comm, thread expected, got 'page'", got.err,
      1, true)
    got = run.perflua { "faults", built({}, "cycles") }
    assert.are.equal(0, got.status) -- minor and major ones are enough
    local b = builder.new()
    b:event { name = "cycles", sample_type = { "ip" }, ids = { 1 } }
    got = run.perflua { "faults", b:write() }
    assert.are.equal(1, got.status)
    assert.matches("record it with: perf record -e page-faults -c 1 -d -g -- COMMAND", got.err,
      1, true)
  end)
end)
