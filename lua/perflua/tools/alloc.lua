-- perflua alloc FILE: the kernel's memory, by who asked for it.

local keyed = require "perflua.table.keyed"
local result_table = require "perflua.table.result_table"
local live = require "perflua.waits.live"
local perflua = require "perflua"
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
  needs = { events = { { any = { "kmem:kmalloc*", "kmem:kmem_cache_alloc*" } } } },
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

local function query_of(file, by)
  local kind_of = samples_with_losses.index_events(file, function(event)
    return kinds[event.name]
  end)
  local query = samples_with_losses.of_events(file, kind_of)
  local function integer_field(name)
    return samples_with_losses.pick_field(query, "integer", name)
  end
  local function text_field(is, name)
    return is and samples_with_losses.pick_field(query, "string", name) or "lost"
  end
  return kind_of, query:select("event.index", "lost", "type_id", "cpu",
    integer_field "args.ptr", integer_field "args.bytes_req",
    integer_field "args.bytes_alloc", integer_field "args.call_site",
    text_field(by.cache, "args.name"), text_field(by.comm, "comm")):each()
end

-- bytes at once, far more than the kernel gives: what says so is no allocation
local MOST <const> = 1 << 32

local counted = { "allocs", "requested", "allocated", "frees", "freed", "moved", "left",
  "left_bytes" }

-- Rows by call site, cache and command, what is live, what was lost, and samples that do not
-- say what is needed.
local function read_allocations(file, by)
  local rows, memory, lost, unreadable = keyed.new(counted), live.new(), {}, 0
  local by_site, by_cache = by.site or by["function"] or false, by.cache
  local kind_of, records = query_of(file, by)
  for index, n_lost, type_id, cpu, ptr, requested, allocated, site, cache, comm in records do
    if n_lost then
      lost[type_id] = (lost[type_id] or 0) + n_lost
    elseif ptr and kind_of[index] == "free" then
      memory:free(ptr, cpu)
    elseif ptr and site and requested and math.ult(requested, MOST) and allocated
        and math.ult(allocated, MOST) then
      if by_cache then cache = cache or ("kmalloc-%d"):format(allocated) end
      memory:alloc(rows:row(by_site and site, cache, comm), ptr, requested, allocated, cpu)
    else
      unreadable = unreadable + 1
    end
  end
  memory:finish()
  return rows, memory, lost, unreadable
end

-- Adds the sums of all rows as notes.
local function note_sums(list, rows)
  local all = rows:regrouped(function() return false, false, false end).rows[1]
  list:note("requested", all and all.requested or 0, "{byte was|bytes were} requested")
  list:note("allocated", all and all.allocated or 0, "{byte was|bytes were} allocated")
  list:note("freed", all and all.freed or 0, "{byte of these was|bytes of these were} freed")
end

local function site_of(file, address, by)
  if not address then return false end
  local place = file:resolve(0, address)
  if not (place and place.symbol) then return perflua.hex(address) end
  return by.site and ("%s+0x%x"):format(place.symbol, place.symoff) or place.symbol
end

tool.prepare = result_table.prepare("site", known)

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  if by.site or by["function"] then samples_with_losses.read_names(file) end
  local rows, memory, lost, unreadable = read_allocations(file, by)
  local list = result_table.new(columns, "allocated", { site = not by.site,
    ["function"] = by.site or not by["function"], cache = not by.cache, comm = not by.comm })
  rows = rows:regrouped(function(row) return site_of(file, row[1], by), row[2], row[3] end)
  for _, row in ipairs(rows.rows) do
    row.site, row["function"], row.cache, row.comm = row[1], row[1], row[2] or nil, row[3]
      or nil
    row.waste = row.allocated > 0 and 100 * (row.allocated - row.requested) / row.allocated
      or 0.0
    list:add(row)
  end
  note_sums(list, rows)
  memory:note(list)
  samples_with_losses.add_notes(list, lost, unreadable)
  return list:write(args, out)
end

return tool
