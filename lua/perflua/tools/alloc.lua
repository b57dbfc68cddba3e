-- perflua alloc FILE: the kernel's memory, by who asked for it.

local core = require "perflua.core"
local described = require "perflua.toolkit.described"
local perflua = require "perflua"
local regrouped = require("perflua.table").regrouped
local result_table = require "perflua.table.result_table"
local samples_with_losses = require "perflua.file.samples_with_losses"

local known = { "site", "function", "cache", "comm" }

local columns = { { "allocs", "unsigned" }, { "requested", "unsigned" },
  { "allocated", "unsigned" }, { "waste", "percent" }, { "frees", "unsigned" },
  { "moved", "unsigned" }, { "left", "unsigned" }, { "left_bytes", "unsigned" },
  { "site", "string" }, { "function", "string" }, { "cache", "string" }, { "comm", "string" } }

local tool = {
  description =
    "memory that the kernel allocated, wasted and did not free; by caller, cache, command",
  usage = "alloc [options] FILE",
  reads = "samples",
  needs = { events = { { any = { "kmem:kmalloc*", "kmem:kmem_cache_alloc*" } } },
    fields = { "args.ptr", "args.bytes_req", "args.bytes_alloc", "args.call_site" } },
  record = "perf kmem record -- COMMAND",
  options = result_table.with_options(columns, {
    by = { "WHAT",
      "group by site (default: the allocating address), function, cache, comm, or several",
      values = known },
  }),
  help = [[
waste is the share of the allocated bytes that was not requested. moved counts allocations that were
freed on another CPU. left counts allocations that were not freed before the end of the recording; one
whose address was allocated again must have been freed.

  allocs  requested  allocated   waste  frees  moved  left  left_bytes  site
   36252  148488192  148488192   0.00%  36252      3     0           0  getname_flags.part.0+0x24
    1239    1387680    1397592   0.71%      2      1  1237     1395336  ext4_alloc_inode+0x1f
    9946     608992     721888  15.64%   9946      0     0           0  ext4_htree_store_dirent+0x34]],
}

local kinds = {
  ["kmem:kmalloc"] = "alloc", ["kmem:kmem_cache_alloc"] = "alloc", ["kmem:kfree"] = "free",
  ["kmem:kmalloc_node"] = "alloc", ["kmem:kmem_cache_alloc_node"] = "alloc", -- before Linux 6.1
  ["kmem:kmem_cache_free"] = "free",
}

-- far more bytes than the kernel gives at once: what says so is not an allocation
local POSSIBLE <const> =
  "not (args.bytes_req >= 0x100000000 or args.bytes_alloc >= 0x100000000)"

-- The ends of an allocation: it was freed; its address was allocated again, so it was freed,
-- but that was not recorded; it is left.
local FREED <const> = "stop ~= nil and close.args.bytes_alloc == nil"
local UNSEEN <const> = "stop ~= nil and close.args.bytes_alloc ~= nil"

-- Returns the query, in which an allocation is a span until its address is freed, or allocated
-- again, and the keys by which it is grouped.
local function query_of(file, by)
  local events, samples = { alloc = {}, free = {} }, described.samples(file)
  for _, event in ipairs(file.events) do
    local list = events[kinds[event.name]]
    if list then list[#list + 1] = event.name end
  end
  local close = { { event = events.alloc, where = "args.ptr ~= 0 and " .. POSSIBLE } }
  if events.free[1] then
    table.insert(close, 1, { event = events.free, where = "args.ptr ~= 0" })
  end
  local keys = { "args.ptr == 0" }
  if by.site or by["function"] then keys[#keys + 1] = "args.call_site" end
  if by.cache then
    local name = samples:field("string", "args.name")
    keys[#keys + 1] = name
    keys[#keys + 1] = name and name .. " == nil and args.bytes_alloc" or "args.bytes_alloc"
  end
  if by.comm then keys[#keys + 1] = "comm" end
  local query = samples:pair { open = { event = events.alloc, where = POSSIBLE }, close = close,
    key = "args.ptr", unfinished = true, lost = "keep" }
    :group_by(table.unpack(keys))
    :sum("args.bytes_alloc"):as("allocated"):sum("args.bytes_req"):as("requested"):count()
    :sum(FREED .. " and 1 or 0"):as("frees")
    :sum(FREED .. " and args.bytes_alloc or 0"):as("freed")
    :sum("stop == nil and 1 or 0"):as("left")
    :sum("stop == nil and args.bytes_alloc or 0"):as("left_bytes")
    :sum(UNSEEN .. " and 1 or 0"):as("unseen")
  if samples:field("integer", "cpu") then
    query = query:sum(FREED .. " and cpu ~= close.cpu and 1 or 0"):as("moved")
  end
  return query, by.cache and keys[#keys - (by.comm and 1 or 0)]
end

function tool.queries(file, _, by) return { (query_of(file, by)) } end

local function site_of(file, address, by)
  local place = file:resolve(0, address)
  if not (place and place.symbol) then return perflua.hex(address) end
  return by.site and ("%s+0x%x"):format(place.symbol, place.symoff) or place.symbol
end

tool.prepare = result_table.prepare("site", known)

-- Returns the rows of a table by what is shown of its keys, and how many allocations failed.
local function rows_of(file, made, by, size)
  local rows, failed = {}, 0
  made = regrouped(made, { "site", "cache", "comm" }, function(row, put)
    local site = row["args.call_site"]
    if row["args.ptr == 0"] then
      failed = failed + row.count
    else
      put { site = site and site_of(file, site, by), comm = row.comm,
        cache = by.cache and (row["args.name"] or ("kmalloc-%d"):format(row[size])) or nil }
    end
  end)
  for row in made:rows() do
    row["function"], row.allocs, row.moved = row.site, row.count, row.moved or 0
    rows[#rows + 1] = row
  end
  return rows, failed
end

-- Adds the notes on all rows together, and on events that are in no row.
local function add_notes(list, rows, made, failed)
  local all = { requested = 0, allocated = 0, freed = 0, unseen = 0, allocs = 0 }
  for _, row in ipairs(rows) do
    for name, sum in pairs(all) do all[name] = sum + row[name] end
  end
  list:note("requested", all.requested, "{byte was|bytes were} requested")
  list:note("allocated", all.allocated, "{byte was|bytes were} allocated")
  list:note("freed", all.freed, "{byte of these was|bytes of these were} freed")
  list:note("failed", failed, "{allocation|allocations} failed and {is|are} not counted")
  list:note("unseen", all.unseen,
    "{allocation was|allocations were} freed without a record: the same address was allocated "
      .. "again")
  -- the first allocation of an address closes none
  list:note("unknown", made.counts.unopened - (all.allocs - all.unseen),
    "{free is|frees are} of memory that was allocated before the recording")
  list:note("kept", made.counts.kept,
    "{allocation was|allocations were} live when records were lost, and {is|are} followed to "
      .. "the next record of {its|their} address")
  list:note("unreadable", made.counts.unkeyed, "{sample lacks|samples lack} a required field")
end

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  local has_names = by.site or by["function"]
  -- losses of a stream are unknown: it can be read only once
  local counts = file.size and core.count(file, { names = has_names, order = true })
  if has_names then samples_with_losses.read_names(file) end
  local query, size = query_of(file, by)
  local made = query:table()
  local list = result_table.new(columns, "allocated", { site = not by.site,
    ["function"] = by.site or not by["function"], cache = not by.cache, comm = not by.comm })
  local rows, failed = rows_of(file, made, by, size)
  for _, row in ipairs(rows) do
    row.waste = row.allocated > 0 and 100 * (row.allocated - row.requested) / row.allocated
      or 0.0
    list:add(row)
  end
  add_notes(list, rows, made, failed)
  if counts then
    list:note_losses { lost = counts.lost_records, lost_samples = counts.lost_samples }
  end
  return list:write(args, out)
end

return tool
