-- Checks of what a recording consists of: is it whole, is there in it what one needs.

local common = require "perflua.doctor.common"
local fmt = require "perflua.text.fmt"
local words = require "perflua.doctor.words"

local count, percent, share = words.count, words.percent, words.share

local LARGE = 1 << 30 -- bytes: compressing is worth while

local function check_unfinished(report)
  if report.unfinished then
    return {
      level = "damage",
      text = "perf record did not finish the file: it has no header features, and the last "
        .. "records may be missing",
      advice = "stop perf record with ^C, SIGINT or SIGTERM, not with SIGKILL, and let it "
        .. "finish writing",
    }
  end
end

local function damage_line(report, item)
  local path = item.path ~= report.path and item.path .. ": " or ""
  return ("%soffset %s: %s"):format(path, fmt.unsigned(item.offset), item.reason)
end

local function check_damage(report)
  local lines, compressed = {}, false
  for i, item in ipairs(report.damage) do
    lines[i] = damage_line(report, item)
    compressed = compressed or item.reason:find "^compressed record" ~= nil
  end
  if #lines == 0 or report.unfinished and #lines == 1 then -- that it is not finished is said
    return not report.complete and not report.unfinished
      and { level = "damage", text = "a part of the file is missing" } or nil
  end
  local advice = not report.unfinished
    and "check that it was copied completely; what is not damaged is read anyway" or nil
  if compressed then
    advice = "compressed records are read up to the damage only; with --switch-output, record "
      .. "without -z"
  end
  return { level = "damage", text = "damaged in " .. count(#lines, "place"),
    details = common.first(lines),
    advice = advice }
end

local function has_type(report, name)
  for _, row in ipairs(report.records.by_type) do
    if row.type == name then
      return true
    end
  end
  return false
end

-- By auxtrace_type: what traced.
local tracers = {
  "Intel PT", "Intel BTS", "CoreSight ETM", "Arm SPE", "s390 CPU-measurement sampling",
  "HiSilicon PTT", "VPA DTL",
}

-- Says that AUX data are not read.
local function find_aux(report, where)
  if not has_type(report, "auxtrace") then return nil end
  local tracer = tracers[report.aux.auxtrace_type]
  return {
    level = "note",
    text = ("%s AUX data%s, which perflua does not decode"):format(where,
      tracer and (" (%s)"):format(tracer) or ""),
    advice = "decode it with perf inject --itrace=i100us -i FILE -o NEW, and read NEW",
  }
end

local function check_aux_only(report)
  return report.samples == 0 and find_aux(report, "there are no samples, only") or nil
end

local function check_aux_beside(report)
  return report.samples > 0 and find_aux(report, "besides samples there are") or nil
end

local function check_no_samples(report)
  local counts = has_type(report, "stat") or has_type(report, "auxtrace")
    or has_type(report, "schedstat_cpu")
  if report.sample_records == 0 and not counts then
    return {
      level = "problem", text = "there are no samples",
      advice = not report.unfinished
        and "check that it ran long enough, that the event occurs, and that this user may "
          .. "count it (kernel.perf_event_paranoid)" or nil,
    }
  end
end

local function check_unknown_events(report)
  local n = report.samples_of_unknown_event
  local part = share(n, report.sample_records)
  if n > 0 then
    return {
      level = common.level(part, 0.1),
      text = ("%s (%s) of an event that the recording does not describe"):format(
        count(n, "sample"),
        percent(part)),
    }
  end
end

-- simpleperf's own types, with nothing in them that others need
local SIMPLEPERF, SIMPLEPERF_END = 32768, 32832

local function check_unknown_types(report)
  local lines, total = {}, 0
  for _, row in ipairs(report.unknown_types) do
    if row.type_id < SIMPLEPERF or row.type_id >= SIMPLEPERF_END then
      table.insert(lines, ("type %d: %s"):format(row.type_id, count(row.records, "record")))
      total = total + row.records
    end
  end
  if total > 0 then
    return {
      level = "note", details = common.first(lines),
      text = count(total, "record") .. " of unknown types",
    }
  end
end

local function check_untimed_samples(report)
  local n = common.sum(report, "untimed")
  if n > 0 then
    return {
      level = "note", text = count(n, "sample")
        .. " without a time: not sorted, and in no time range",
      advice = "perf record -T",
    }
  end
end

local function check_odd_samples(report)
  local n = common.sum(report, "odd")
  if n > 0 then
    return {
      level = "note",
      text = count(n, "sample")
        .. " whose fields do not fill the record's size: missing fields are nil",
      advice = "perf inject -s writes such samples",
    }
  end
end

-- Checks for records without times, which simpleperf and perf before Linux 2.6.38 write.
local function check_untimed_records(report)
  local n = report.records_without_time
  if n > 0 and report.sample_records > common.sum(report, "untimed") then
    return {
      level = "note",
      text = count(n, "record")
        .. " of mappings, names and threads without a time (no sample_id_all): symbols and "
        .. "names may be wrong where they changed",
    }
  end
end

local function check_maps_cut(report)
  local n = report.maps.cut
  if n > 0 then
    return {
      level = "problem",
      text = ("the mappings of %s were not read completely: symbols will be missing"):format(
        count(n, "process", "processes")),
      advice = "give perf more time to read them: perf record --proc-map-timeout 5000 (ms)",
    }
  end
end

-- Counts the records of a merged recording whose time is not the recorded one.
local function check_restated(report)
  local n = report.restated
  if n > 0 then
    return {
      level = "note",
      text = ("%s of threads and mappings that perf found when it began a part of this merged "
        .. "recording: they have the time at which that part begins"):format(
          count(n, "record")),
    }
  end
end

-- Checks for processes outside the PID namespace in which perf ran: they all have pid 0.
local function check_pid_namespace(report)
  local n = common.sum(report, "of_pid_zero")
  if n > 0 then
    return {
      level = "problem",
      text = ("%s of user code (%s) have pid 0, as perf ran in a container, which does not "
        .. "show the pids of processes outside: their binaries and functions are not known")
        :format(count(n, "sample"), words.percent(words.share(n, report.sample_records))),
      advice = "perf record on the host, or in a container with the host's pids "
        .. "(docker run --pid=host)",
    }
  end
end

local function check_missing(report)
  local first = report.missing[1]
  if first then
    local lines = {}
    for i, item in ipairs(report.missing) do
      lines[i] = item.why
    end
    return {
      level = "note", text = #lines == 1 and lines[1]
        or "the header lacks features that are needed",
      details = #lines > 1 and lines or nil, advice = first.advice,
    }
  end
end

-- perf record turns the inheritance of a group off whose counters are read with each sample.
local function check_inherit(report)
  local event = common.any(report, function(e)
    return e.reads_group and e.enable_on_exec and not e.inherit
  end)
  local forks = 0
  for _, row in ipairs(report.records.by_type) do
    forks = row.type == "fork" and row.records or forks
  end
  if event and forks > 0 then
    return { level = "problem",
      text = "perf turned inheritance off for a group with :S: "
        .. fmt.phrase(forks, "{thread or process that was started has|threads and processes "
          .. "that were started have} no samples"),
      advice = "record with -a, or without :S; from Linux and perf 6.13 on :S inherits, too" }
  end
end

local function check_owner(report)
  if report.foreign_owner then
    return { level = "note",
      text = ("the file belongs to user %d, neither to you nor to root"):format(
        report.foreign_owner) }
  end
end

local function check_size(report)
  local c = report.container
  if (c.size or 0) >= LARGE and not c.compressed then
    return { level = "note", text = words.bytes(c.size) .. ", not compressed",
      advice = "perf record -z" }
  end
end

return {
  { "unfinished", check_unfinished },
  { "damage", check_damage },
  { "aux_only", check_aux_only }, { "aux_beside", check_aux_beside },
  { "no_samples", check_no_samples },
  { "unknown_events", check_unknown_events },
  { "unknown_types", check_unknown_types },
  { "odd_samples", check_odd_samples },
  { "untimed_samples", check_untimed_samples },
  { "untimed_records", check_untimed_records },
  { "maps_cut", check_maps_cut },
  { "restated", check_restated },
  { "pid_namespace", check_pid_namespace },
  { "inherit", check_inherit },
  { "owner", check_owner },
  { "missing", check_missing },
  { "large", check_size },
}
