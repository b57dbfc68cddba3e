-- Header features that a recording lacks, where something cannot be told without them.

local function has_maps(_, report)
  local maps = 0
  for _, row in ipairs(report.records.by_type) do
    if row.type == "mmap" or row.type == "mmap2" then
      maps = maps + row.records
    elseif row.type == "build_id" then -- in pipe mode they come as records
      return false
    end
  end
  return maps > 0 and report.maps.with_build_ids == 0 and report.samples > 0
end

local function has_tracepoints(file)
  for _, event in ipairs(file.events) do
    if event.type == 2 then -- PERF_TYPE_TRACEPOINT
      return true
    end
  end
  return false
end

local REGISTERS = 1 << 12 | 1 << 18 -- PERF_SAMPLE_REGS_USER, PERF_SAMPLE_REGS_INTR

local function has_registers(file)
  for _, event in ipairs(file.events) do
    if event.sample_type & REGISTERS ~= 0 then
      return true
    end
  end
  return false
end

-- feature, when it matters, why, what to do
local wanted = {
  { "build_id", has_maps,
    "no build-ids: files on this machine are used only if they are provably the recorded "
      .. "ones",
    "perf record --buildid-mmap, or perf inject -b on the recorded machine" },
  { "tracing_data", has_tracepoints,
    "no tracepoint formats: the fields of tracepoints cannot be read" },
  { "arch", has_registers, "no architecture: registers have no names" },
}

---@param file perflua.File
---@param report table
---@return {feature: string, why: string, advice: string?}[]
return function(file, report)
  local list = {}
  for _, row in ipairs(wanted) do
    local feature, when, why, advice = table.unpack(row)
    if file.features[feature] == nil and not report.unfinished and when(file, report) then
      table.insert(list, { feature = feature, why = why, advice = advice })
    end
  end
  return list
end
