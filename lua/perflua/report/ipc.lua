-- The column "IPC [IPC Coverage]" that perf report adds to branches: the instructions per cycle
-- of a function, from the blocks whose cycles were recorded, and its coverage: the share of its
-- instructions that are in such blocks, or from perf 6.12 on that end one.

local block_cycles = require "perflua.report.block_cycles"
local core = require "perflua.core"
local perf_text = require "perflua.report.perf_text"

local ipc = {}

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
  local functions, total = block_cycles.read(query)
  if total == 0 then return nil end
  local file, by_name, labels = core.query_spec(query).file, {}, {}
  local counts_ends = perf_text.has(file, "coverage_of_ends")
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
