-- The cycles of blocks of instructions. A block ends with a branch and begins at the target of
-- the branch before it.
--
-- As in perf, blocks that end with the same branch are one, which begins where the longest of
-- them does, or with the function if no beginning is known.

local core = require "perflua.core"

local block_cycles = {}

local ANY <const> = 1 << 3 -- PERF_SAMPLE_BRANCH_ANY

--- An expression for where a function begins in its binary: with "from" for both %s the one
--- that a branch leaves, with "to" the one that it leads to.
block_cycles.START = "branch.address_%s - branch.symoff_%s"

-- The keys that branches are grouped by; the last one is named "start".
local KEYS <const> = { "branch.dso_from", "branch.symbol_from", "branch.symoff_from",
  "branch.symoff_block", block_cycles.START:format("from", "from") }
local WITH_LINES <const> = { "branch.srcline_block", "branch.srcline_from",
  table.unpack(KEYS) }

---@param dso string
---@param start integer
---@return string # tells functions apart
function block_cycles.name_function(dso, start) return ("%s\0%d"):format(dso, start) end

---@param query perflua.Query of samples
---@return integer # the bits of branch_sample_type that events have; 0: no branch stacks
function block_cycles.branch_types(query)
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
--- table> }> functions by block_cycles.name_function(); start: in the binary; blocks: by the
--- offset of their branch, { begin, at, n, cycles, own, n_own, first, last }. begin and at are
--- offsets in the function, begin is nil if it is not known; n and cycles are of all branches,
--- n_own and own of the longest blocks; first and last are source lines
---@return integer total of all cycles
function block_cycles.read(query, has_lines)
  local functions, total = {}, 0
  local knows_beginnings = block_cycles.branch_types(query) & ANY ~= 0
  query = query:where "branch_stack[1].cycles > 0":unnest "branch_stack"
    :where "branch.cycles > 0":all_events()
    :group_by(table.unpack(has_lines and WITH_LINES or KEYS)):as "start":count()
    :sum "branch.cycles":as "cycles"
  for row in query:table():rows() do
    total = total + row.cycles
    if row.start then
      local dso, at = row["branch.dso_from"], row["branch.symoff_from"]
      local name = block_cycles.name_function(dso, row.start)
      local func = functions[name]
        or { dso = dso, symbol = row["branch.symbol_from"], start = row.start, blocks = {} }
      functions[name] = func
      func.blocks[at] = func.blocks[at] or { at = at, n = 0, cycles = 0 }
      add_to_block(func.blocks[at], row, knows_beginnings and row["branch.symoff_block"] or nil)
    end
  end
  return functions, total
end

return block_cycles
