-- The column "IPC [IPC Coverage]" that perf report adds to branches: the instructions per cycle
-- of a function, from the blocks whose cycles were recorded, and its coverage: the share of its
-- instructions that are in such blocks, or from perf 6.12 on that end one.

local core = require "perflua.core"
local has_difference = require("perflua.recording").has_difference

local ipc = {}

-- The cycles of blocks of instructions. A block ends with a branch and begins at the target of
-- the branch before it.
--
-- As in perf, blocks that end with the same branch are one, which begins where the longest of
-- them does, or with the function if no beginning is known.

local ANY <const> = 1 << 3 -- PERF_SAMPLE_BRANCH_ANY

--- An expression for where a function begins in its binary: with "from" for both %s the one
--- that a branch leaves, with "to" the one that it leads to.
ipc.START = "branch.address_%s - branch.symoff_%s"

-- The keys that branches are grouped by; the last one is named "start".
local KEYS <const> = { "branch.dso_from", "branch.symbol_from", "branch.symoff_from",
  "branch.symoff_block", ipc.START:format("from", "from") }
local WITH_LINES <const> = { "branch.srcline_block", "branch.srcline_from",
  table.unpack(KEYS) }

---@param dso string
---@param start integer
---@return string # tells functions apart
function ipc.name_function(dso, start) return ("%s\0%d"):format(dso, start) end

---@param query perflua.Query of samples
---@return integer # the bits of branch_sample_type that events have; 0: no branch stacks
function ipc.branch_types(query)
  local types = 0
  for _, event in ipairs(core.query_spec(query).scope:events()) do
    types = types | event.branch_sample_type
  end
  return types
end

-- Adds the branches of a row to the block that ends with them.
local function add_to_block(block, row, begin)
  block.n, block.cycles = block.n + row.count, block.cycles + row.cycles
  local is_longer = begin and (not block.begin or begin < block.begin)
  if is_longer or block.n == row.count then
    block.begin, block.first, block.own, block.n_own = begin, row["branch.srcline_block"], 0, 0
    block.last = row["branch.srcline_from"]
  end
  if begin == block.begin then
    block.own, block.n_own = block.own + row.cycles, block.n_own + row.count
  end
end

---@param query perflua.Query of samples
---@param has_lines boolean? whether blocks have source lines
---@return table<string, { dso: string, symbol: string, start: integer, blocks: table<integer,
--- table> }> functions by ipc.name_function(); start: in the binary; blocks: by the
--- offset of their branch, { begin, at, n, cycles, own, n_own, first, last }. begin and at are
--- offsets in the function, begin is nil if it is not known; n and cycles are of all branches,
--- n_own and own of the longest blocks; first and last are source lines
---@return integer total of all cycles
function ipc.read_blocks(query, has_lines)
  local functions, total = {}, 0
  local knows_beginnings = ipc.branch_types(query) & ANY ~= 0
  query = query:where "branch_stack[1].cycles > 0":unnest "branch_stack"
    :where "branch.cycles > 0":all_events()
    :group_by(table.unpack(has_lines and WITH_LINES or KEYS)):as "start":count()
    :sum "branch.cycles":as "cycles"
  for row in query:table():rows() do
    total = total + row.cycles
    if row.start then
      local dso, at = row["branch.dso_from"], row["branch.symoff_from"]
      local name = ipc.name_function(dso, row.start)
      local func = functions[name]
        or { dso = dso, symbol = row["branch.symbol_from"], start = row.start, blocks = {} }
      functions[name] = func
      func.blocks[at] = func.blocks[at] or { at = at, n = 0, cycles = 0 }
      add_to_block(func.blocks[at], row, knows_beginnings and row["branch.symoff_block"] or nil)
    end
  end
  return functions, total
end

local TEXT <const> = "%-5.2f [%5.1f%%]"

-- Returns the blocks of a function, those that end last first.
local function list_blocks(func)
  local list = {}
  for _, block in pairs(func.blocks) do list[#list + 1] = block end
  table.sort(list, function(a, b) return a.at > b.at end)
  return list
end

-- Returns the numbers of the first and the last instruction of a block; nil if it has none, or
-- if `is_exact` and it does not begin and end where instructions do.
local function find_instructions(code, block, is_exact)
  local first, last = block.begin and code:find(block.begin), code:find(block.at)
  if not first or not last then return nil end
  local begins = code:at(first) == block.begin
  if is_exact and not (begins and code:at(last) == block.at) then return nil end
  return first + (begins and 0 or 1), last
end

-- Adds the blocks of a function to the sums for its name.
local function add_function(sums, code, func, counts_ends)
  local lowest = #code + 1 -- the first covered instruction so far: blocks come from the end
  sums.total = sums.total + #code
  for _, block in ipairs(list_blocks(func)) do
    local first, last = find_instructions(code, block, counts_ends)
    local added = first and math.max(0, math.min(last + 1, lowest) - first) or 0
    if first and (counts_ends or added > 0) then
      sums.instructions = sums.instructions + (last - first + 1) * block.n_own
      sums.cycles = sums.cycles + block.own
      sums.covered = sums.covered + (counts_ends and 1 or added)
      lowest = math.min(lowest, first)
    end
  end
end

---Reads the blocks of all functions, in a pass of their own.
---@param query perflua.Query of samples
---@return userdata? # the texts of functions, for the column of a report (core.labels); nil: no
--- cycles were recorded, or code cannot be decoded
function ipc.labels(query)
  if not core.capstone then return nil end
  local functions, total = ipc.read_blocks(query)
  if total == 0 then return nil end
  local file, by_name, labels = core.query_spec(query).file, {}, {}
  local counts_ends = has_difference(file, "coverage_of_ends")
  for _, func in pairs(functions) do
    local code = core.function_code(file, func.dso, func.start)
    if code then
      local name = func.dso .. "\0" .. func.symbol
      local sums = by_name[name] or { symbol = func.symbol, dso = func.dso, instructions = 0,
        cycles = 0, covered = 0, total = 0 }
      by_name[name] = sums
      add_function(sums, code, func, counts_ends)
    end
  end
  for _, sums in pairs(by_name) do
    labels[#labels + 1] = sums.symbol
    labels[#labels + 1] = sums.dso
    labels[#labels + 1] = TEXT:format(sums.cycles > 0 and sums.instructions / sums.cycles or 0,
      100 * sums.covered / math.max(sums.total, 1))
  end
  return core.labels(labels, TEXT:format(0, 0))
end

return ipc
