-- perflua alloc: the kernel's memory as perf kmem stat has it, and where it has it otherwise.
local dkjson = require "dkjson"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"
local tool_rows = require "spec.support.tool_rows"
local tracing = require "spec.support.builder_tracing"

local events =
  "-a -c 1 -e kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,kmem:kmem_cache_free"
local workload = "sh -c 'i=0; while [ $i -lt 100 ]; do cat /dev/null; i=$((i + 1)); done'"
local NEEDS = "tracepoints,cpus"
local path = not needs.missing(NEEDS) and oracle.record_whole(2048, events, workload)

local function json(...)
  local got = run.perflua { "alloc", "--json", ... }
  assert.are.same({ 0, "" }, { got.status, got.err })
  return dkjson.decode(got.out)
end

-- perf kmem's rows by their first column, those of the same name added: { hits, requested,
-- allocated, ping-pong }; and its summary.
local function of_perf(options)
  local rows, summary = {}, {}
  for line in files.lines(("perf kmem -i %s %s stat 2>/dev/null"):format(files.quote(path),
      options)) do
    local name, allocated, requested, hits, pingpong =
      line:match "^ (%S+)%s+|%s*(%d+)/%d+%s*|%s*(%d+)/%d+%s*|%s*(%d+)%s*|%s*(%d+)%s*|"
    local what, n = line:match "^(Total bytes %a+): +(%d+)$"
    if what then summary[what] = tonumber(n) end
    if name then
      local row = rows[name] or { 0, 0, 0, 0 }
      rows[name] = { row[1] + hits, row[2] + requested, row[3] + allocated, row[4] + pingpong }
    end
  end
  return rows, summary
end

-- Counts in perf script's text: bytes that are freed, those of second frees of memory that was
-- allocated once, how often that was.
local function freed()
  local bytes_of, once, again, times = {}, 0, 0, 0
  for line in files.lines("perf script -F trace -i " .. files.quote(path) .. " 2>/dev/null") do
    local ptr, bytes = line:match "ptr=(0x%x+)", line:match " bytes_alloc=(%d+)"
    if ptr and bytes then
      bytes_of[ptr] = { tonumber(bytes) }
    elseif ptr and bytes_of[ptr] then
      local of = bytes_of[ptr]
      if of.freed then
        again, times = again + of[1], times + 1
      else
        once, of.freed = once + of[1], true
      end
    end
  end
  return once, again, times
end

needs.describe(NEEDS, "perflua alloc, of a recording made now", function()
  it("has the allocations and bytes of each call site that perf kmem --caller has", function()
    local perf, got, pingpong, moved, n = of_perf "--caller", {}, 0, 0, 0
    for _, row in ipairs(json(path).rows) do
      n = n + row.allocs
      moved = moved + row.moved
      got[row.site:gsub("%+0x", "+")] = { row.allocs, row.requested, row.allocated }
    end
    for name, row in pairs(perf) do
      pingpong, perf[name] = pingpong + row[4], { row[1], row[2], row[3] }
    end
    assert.is_true(n > 5000)
    assert.are.same(perf, got)
    local _, _, times = freed()
    assert.is_true(moved <= pingpong and pingpong <= moved + times,
      ("%d %d %d"):format(moved, pingpong, times))
  end)

  -- perf counts two frees of an address, between which the allocation was not recorded, for one
  -- allocation.
  it("has the sums of perf kmem, of which each allocation is freed but once", function()
    local _, perf = of_perf "--caller"
    local got, once, again = json(path), freed()
    assert.are.same({ perf["Total bytes requested"], perf["Total bytes allocated"],
      perf["Total bytes freed"] },
      { got.requested, got.allocated, got.freed + again })
    assert.are.equal(once, got.freed)
    local sums = { frees = 0, left = 0, allocs = 0 }
    for _, row in ipairs(got.rows) do
      for name, sum in pairs(sums) do sums[name] = sum + row[name] end
    end
    assert.are.equal(sums.allocs, sums.frees + sums.left + got.unseen)
  end)

  it("is for each pointer the query that adds up perf kmem --alloc", function()
    local script = files.temporary [[
      local file = assert(perflua.open(arg[1]))
      print "ptr,hits,requested,allocated"
      for row in file:samples("kmem:*alloc*"):all_events():group_by("args.ptr"):count():sum("args.bytes_req")
        :sum("args.bytes_alloc"):sort("count"):rows() do
        print(("%s,%d,%d,%d"):format(perflua.hex(row["args.ptr"]), row.count, row["args.bytes_req"],
          row["args.bytes_alloc"]))
      end
    ]]
    local got, perf = {}, of_perf "--alloc"
    for name, row in pairs(perf) do perf[name] = { row[1], row[2], row[3] } end
    for line in run.perflua({ script, path }).out:gmatch "[^\n]+" do
      local ptr, hits, requested, allocated = line:match "^(0x%x+),(%d+),(%d+),(%d+)$"
      if ptr then got[ptr] = { tonumber(hits), tonumber(requested), tonumber(allocated) } end
    end
    assert.is_true(next(perf) ~= nil)
    assert.are.same(perf, got)
  end)

  it("adds the sites of a function up, and names caches", function()
    local by_function, sums, of_cache = {}, {}, 0
    for _, row in ipairs(json(path).rows) do
      local name = row.site:match "^(.*)%+0x" or row.site
      sums[name] = (sums[name] or 0) + row.allocs
    end
    for _, row in ipairs(json(path, "--by", "function").rows) do
      by_function[row["function"]] = row.allocs
    end
    assert.are.same(sums, by_function)
    for row in tool_rows(run.perflua({ "alloc", "--csv", "--by", "cache", path }).out) do
      if row.cache == "dentry" then of_cache = row.allocs end
    end
    local _, n = files.output("perf script -F trace -i " .. files.quote(path) .. " 2>/dev/null")
      :gsub(
      " name=dentry bytes_req", "")
    assert.are.equal(n, of_cache)
  end)
end)

-- A recording of { event, cpu, ptr, requested, allocated, site }, or { "lost" }.
local function built(list)
  local t = tracing.new()
  local site, ptr = { "unsigned long", "call_site" }, { "const void *", "ptr" }
  local bytes = { site, ptr, { "size_t", "bytes_req" }, { "size_t", "bytes_alloc" } }
  local made, names = {}, { "kmalloc_node", "kmem_cache_alloc", "kfree", "kmem_cache_free" }
  for i, name in ipairs(names) do
    made[name] = t:event("kmem", name, { fields = i <= 2 and bytes or { site, ptr } })
    names[name] = i
  end
  local b, own = t:recording()
  for i, one in ipairs(list) do
    local name, cpu, address, requested, allocated, from = table.unpack(one)
    if name == "lost" then
      b:record("lost", { id = 101, lost = 2 }, { time = 10 * i, id = 101 })
    else
      local raw = one.raw or t:raw(made[name],
        { ptr = address, bytes_req = requested, bytes_alloc = allocated,
        call_site = from or 0x1000 })
      b:sample(own[names[name]], { time = 10 * i, pid = 7, tid = 7, cpu = cpu, period = 1,
        raw = raw })
    end
  end
  return b:write()
end

describe("perflua alloc", function()
  it("tells what was wasted, freed on another CPU, and is left", function()
    local got = run.perflua { "alloc", built {
      { "kmalloc_node", 0, 0x100, 60, 64 }, { "kmem_cache_alloc", 0, 0x200, 30, 64 },
      { "kfree", 1, 0x100 },
      { "kmem_cache_alloc", 0, 0x300, 96, 96, 0x2000 }, { "kmem_cache_free", 0, 0x300 },
    } }
    assert.are.equal([[
# 186 bytes were requested
# 224 bytes were allocated
# 160 bytes of these were freed
allocs  requested  allocated   waste  frees  moved  left  left_bytes  site
     2         90        128  29.69%      1      1     1          64  0x1000
     1         96         96   0.00%      1      0     0           0  0x2000
]], got.out)
  end)

  it("counts what it cannot tell: an end that was not recorded, frees of older memory, "
    .. "losses", function()
    local got = json(built {
      { "kmalloc_node", 0, 0x100, 64, 64 }, { "kmalloc_node", 0, 0x100, 64, 64, 0x2000 },
      { "kfree", 0, 0x100 },
      { "kfree", 0, 0x100 }, { "kfree", 0, 0 }, { "kfree", 0, 16 },
      { "kmalloc_node", 0, 0, 4096, 4096 }, { "lost" },
      { "kmalloc_node", 0, 0x200, 1, 1, raw = "\0\0\0\0\0\0\0\0" },
    })
    assert.are.same({ unseen = 1, unknown = 2, failed = 1, lost = 2, unreadable = 1,
      freed = 64 },
      { unseen = got.unseen, unknown = got.unknown, failed = got.failed,
        lost = got.lost_records,
        unreadable = got.unreadable, freed = got.freed })
    local rows = {}
    for _, row in ipairs(got.rows) do
      rows[row.site] = { row.allocs, row.frees, row.left, row.left_bytes }
    end
    assert.are.same({ ["0x1000"] = { 1, 0, 0, 0 }, ["0x2000"] = { 1, 1, 0, 0 } }, rows)
  end)

  it("says what it needs, and what is wrong with its options", function()
    local got = run.perflua { "alloc", run.demo }
    assert.are.equal(1, got.status)
    assert.matches("record it with: perf kmem record -- COMMAND", got.err, 1, true)
    got = run.perflua { "alloc", "--by", "page", built {} }
    assert.are.equal(2, got.status)
    assert.matches("--by: site, function, cache, comm expected, got 'page'", got.err, 1, true)
  end)
end)
