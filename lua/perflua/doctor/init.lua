-- The findings of `perflua doctor`: facts as one table of stable keys, and conclusions from
-- them.

local core = require "perflua.core"
local binaries = require "perflua.doctor.binaries"
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local types = require("perflua.recording").types
local words = require "perflua.doctor.words"

local checks = {
  require "perflua.doctor.container", require "perflua.doctor.buffers",
  require "perflua.doctor.stacks",
  binaries.checks,
}

local doctor = {}

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
local function find_missing(file, report)
  local list = {}
  for _, row in ipairs(wanted) do
    local feature, when, why, advice = table.unpack(row)
    if file.features[feature] == nil and not report.unfinished and when(file, report) then
      table.insert(list, { feature = feature, why = why, advice = advice })
    end
  end
  return list
end

local share = words.share

local function describe_container(file, health)
  local compressed = (health.types[81] or 0) + (health.types[83] or 0) > 0
  local feature = compressed and file.features.compressed
  return {
    mode = file.mode,
    stream = file.size == nil,
    version = file.version,
    byte_order = file.byte_order,
    size = file.size,
    compressed = compressed,
    -- 0 as it begins, which is a pipe's
    compression_ratio = feature and feature.ratio > 0 and feature.ratio or nil,
  }
end

-- Counts the records by type, most first.
local function count_records_by_type(health)
  local list, total = json.array(), 0
  for id, count in pairs(health.types) do
    table.insert(list, { type = types()[id].name, type_id = id, records = count })
    total = total + count
  end
  for _, unknown in ipairs(health.unknown_types) do
    table.insert(list, { type = "unknown", type_id = unknown.type_id,
      records = unknown.records })
    total = total + unknown.records
  end
  table.sort(list, function(a, b)
    if a.records ~= b.records then
      return a.records > b.records
    end
    return a.type_id < b.type_id
  end)
  return { total = total, by_type = list }
end

-- Reports the counts of an event beside the options that it was recorded with.
local function report_event(event, counts)
  local report = {
    event = event.name,
    lost_percent = words.lost_share(counts.lost_samples, counts.records),
    chains_cut_percent = share(counts.chains_cut, counts.chains),
    stacks_full_percent = share(counts.stacks_full, counts.stacks),
    chain_limit_recorded = event.sample_max_stack > 0,
    tracepoint = event.type == 2, -- PERF_TYPE_TRACEPOINT
    lbr_callstack = event.branch_sample_type & 1 << 11 ~= 0, -- PERF_SAMPLE_BRANCH_CALL_STACK
    -- PERF_SAMPLE_READ and PERF_FORMAT_GROUP
    reads_group = event.sample_type & 1 << 4 ~= 0 and event.read_format & 1 << 3 ~= 0,
    inherit = event.inherit,
    enable_on_exec = (event.leader or event).enable_on_exec,
    sample_stack_user = event.sample_stack_user,
    sample_freq = event.sample_freq,
    sample_period = event.sample_period,
  }
  for name, count in pairs(counts) do
    report[name] = count
  end
  return report
end

-- Drops the limits of call chains that the recording does not tell if any chain is longer: then
-- the recorded machine had another default.
local function doubt_limits(list)
  local doubt = false
  for _, event in ipairs(list) do
    doubt = doubt or not event.chain_limit_recorded and event.chain_longest > event.chain_limit
  end
  for _, event in ipairs(list) do
    if doubt and not event.chain_limit_recorded then
      event.chain_limit, event.chains_cut, event.chains_cut_percent = nil, nil, nil
    end
  end
end

local function report_events(file, health)
  local unknown = health.unknown_event
  local list, samples, sample_records = json.array(), unknown.samples, unknown.records
  for i, counts in ipairs(health.events) do
    list[i] = report_event(file.events[i], counts)
    samples, sample_records = samples + counts.samples, sample_records + counts.records
  end
  doubt_limits(list)
  return list, samples, sample_records
end

local function sum_throttling(list, health)
  local count, time = 0, 0
  table.insert(list, health.unknown_event)
  for _, event in ipairs(list) do
    count, time = count + event.throttles, time + event.throttled_time
  end
  table.remove(list)
  return { count = count, unthrottled = health.unthrottled, time = time,
    cpus = json.array(health.cpus) }
end

local function report_losses(health, samples)
  return {
    records = health.lost_records,
    records_percent = words.lost_share(health.lost_records, health.kernel),
    samples = health.lost_samples,
    samples_percent = words.lost_share(health.lost_samples, samples),
    filtered = health.filtered,
  }
end

local function describe_order(file, health)
  local clock = file.events[1]
  return {
    sorted_by_perf = health.ordered,
    rounds = health.types[68] or 0,
    late = health.order.late,
    late_percent = share(health.order.late, health.kernel),
    worst = health.order.worst,
    first_late = health.order.late > 0 and health.order.first or nil,
    newest_first = health.backward,
    backsteps = health.backsteps.count,
    backstep_worst = health.backsteps.worst,
    backstep_first = health.backsteps.count > 0 and health.backsteps.first or nil,
    clockid = clock and clock.use_clockid and clock.clockid or nil,
  }
end

local function describe_gaps(health)
  local gaps = health.gaps
  return { interval = gaps.interval, least = gaps.least, count = gaps.count, total = gaps.total,
    longest = json.array(gaps.longest) }
end

-- Reports the losses of AUX data and, if the file can be read again, its kind.
local function describe_aux(file, health)
  local info = file.size and health.types[70]
    and file:records({ type = "auxtrace_info", order = "file" }):first()
  return { truncated = health.aux_truncated, partial = health.aux_partial,
    collided = health.aux_collided,
    auxtrace_type = info and info.auxtrace_type or nil }
end

local levels = { "damage", "problem", "note" }
local verdicts = { damage = "damaged", problem = "problems", note = "notes" }

-- Runs the checks. Returns their findings, the worst first, and the verdict.
local function run_checks(report, found)
  local by_level, list = { damage = {}, problem = {}, note = {} }, json.array()
  for _, group in ipairs(checks) do
    for _, check in ipairs(group) do
      local finding = check[2](report, found)
      if finding then
        finding.code = check[1]
        table.insert(by_level[finding.level], finding)
      end
    end
  end
  for _, level in ipairs(levels) do
    table.move(by_level[level], 1, #by_level[level], #list + 1, list)
  end
  return list, list[1] and verdicts[list[1].level] or "healthy"
end

---Reads the whole recording.
---@param file perflua.File
---@param options { brief: boolean?, no_symbols: boolean?, finds_names: boolean? }? brief: the
--- lists of binaries have only the rows that people see; no_symbols: there are no such lists;
--- finds_names: the pass collects what the names of threads and maps are made of, even then
---@return table report
---@return table found # of doctor/binaries.lua: how many binaries there are
function doctor.examine(file, options)
  local brief, no_symbols = options and options.brief, options and options.no_symbols
  local health = core.health(file, not no_symbols or options.finds_names)
  local by_event, samples, sample_records = report_events(file, health)
  local report = {
    path = file.path,
    container = describe_container(file, health),
    complete = file.complete,
    unfinished = health.unfinished,
    foreign_owner = core.foreign_owner(file),
    damage = json.array(file.damage),
    first_time = health.first_time,
    last_time = health.last_time,
    samples = samples, -- as they are delivered
    sample_records = sample_records, -- as they lie in the recording
    samples_of_unknown_event = health.unknown_event.samples,
    events = by_event,
    records = count_records_by_type(health),
    unknown_types = json.array(health.unknown_types),
    lost = report_losses(health, sample_records),
    throttling = sum_throttling(by_event, health),
    order = describe_order(file, health),
    gaps = describe_gaps(health),
    records_without_time = health.untimed,
    aux = describe_aux(file, health),
    restated = health.restated,
    maps = { cut = health.maps_cut, with_build_ids = health.maps_with_ids },
    command = json.array(file.features.cmdline),
  }
  report.missing = json.array(find_missing(file, report))
  local found = binaries.none()
  local is_cut = interrupted.now() -- then there is no time to read names
  if not is_cut and not no_symbols then
    found = binaries.of(file, sample_records, brief and binaries.SHOWN or nil)
    is_cut = found.is_cut
  end
  report.interrupted = interrupted.value(interrupted.part() or is_cut or nil)
  if not no_symbols then
    report.binaries, report.unproven, report.sources = found.missing, found.unproven,
      found.sources
  end
  report.findings, report.verdict = run_checks(report, found)
  report.damaged = not report.complete or #report.damage > 0
  return report, found
end

return doctor
