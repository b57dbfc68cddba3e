-- The options of call chains that a report of a file has: what core.set_chain_options() takes.

local perf_text = require "perflua.report.perf_text"

local chain_options = {}

local CALL_STACK <const> = 1 << 11 -- PERF_SAMPLE_BRANCH_CALL_STACK

-- Returns whether an event has call stacks of branches: perf record --call-graph lbr.
local function has_call_stacks(file)
  for _, event in ipairs(file.events) do
    if event.branch_sample_type & CALL_STACK ~= 0 then return true end
  end
  return false
end

-- Returns how many branches the processor keeps; 0: it is not known.
local function lbr_depth(file)
  local caps = file.features.cpu_pmu_caps or {}
  local depth = math.tointeger(tonumber(caps.branches)) or 0
  return depth > 0 and depth < 1 << 16 and depth or 0
end

---@param file perflua.File
---@param settings table of report/asked.lua, with chains
---@return table? options
---@return string? message why they are not for this file
function chain_options.of(file, settings)
  local query, asked = settings.query, settings.chains
  local options = { parent = asked.parent, root = asked.root, from_caller = asked.from_caller,
    branches = asked.branches }
  if query.is_stitched then
    if not has_call_stacks(file) then
      return nil, "report: --stitch-lbr: no event has call stacks of branches; perf record "
        .. "--call-graph lbr records them"
    end
    options.lbr_depth = lbr_depth(file)
  end
  if asked.is_exact then
    options.lbr_leaf = perf_text.has(file, "lbr_leaf")
    options.max_frames = query.max_stack
    options.inlined = query.without_inlined and "none"
      or perf_text.has(file, "inlined_always") and "all" or "unwound"
  end
  return options
end

return chain_options
