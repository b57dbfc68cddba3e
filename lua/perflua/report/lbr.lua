-- Call stacks that processors record as branches: perf record --call-graph lbr.

local lbr = {}

local CALL_STACK <const> = 1 << 11 -- PERF_SAMPLE_BRANCH_CALL_STACK

---@param file perflua.File
---@return boolean # whether an event has such stacks
function lbr.has_call_stacks(file)
  for _, event in ipairs(file.events) do
    if event.branch_sample_type & CALL_STACK ~= 0 then return true end
  end
  return false
end

---@param file perflua.File
---@return integer # branches that the processor keeps; 0: it is not known
function lbr.depth(file)
  local caps = file.features.cpu_pmu_caps or {}
  local depth = math.tointeger(tonumber(caps.branches)) or 0
  return depth > 0 and depth < 1 << 16 and depth or 0
end

return lbr
