-- Checks of what went wrong between the event and the file: lost, throttled, late, not at all.

local common = require "perflua.doctor.common"
local fmt = require "perflua.text.fmt"
local perflua = require "perflua"
local words = require "perflua.doctor.words"

local count, duration, percent, share = words.count, words.duration, words.percent, words.share

-- Returns how to record fewer samples.
local function advise_slower(report)
  local event = common.any(report, function(e)
    return e.records > 0 and (e.sample_freq or 0) > 0
  end)
  if event then
    return ("a lower frequency (-F; it was %s)"):format(fmt.unsigned(event.sample_freq))
  end
  local tracepoint = common.any(report, function(e) return e.records > 0 and e.tracepoint end)
  return tracepoint and "fewer events (a --filter of the tracepoint)" or "a longer period (-c)"
end

local function lost_of(event)
  if event.lost_samples ~= 0 then
    return ("%s, %s of it"):format(count(event.lost_samples, "sample"),
      percent(event.lost_percent))
  end
end

local function check_losses(report)
  local l, parts = report.lost, {}
  if l.records ~= 0 then
    table.insert(parts, ("%s lost (%s of all)"):format(count(l.records, "record"),
      percent(l.records_percent)))
  end
  if l.samples ~= 0 then
    table.insert(parts, ("%s lost (%s of them)"):format(count(l.samples, "sample"),
      percent(l.samples_percent)))
  end
  if #parts > 0 then
    return {
      level = common.level(math.max(l.records_percent or 0, l.samples_percent or 0), 0.1),
      text = table.concat(parts, "; "), details = common.by_event(report, lost_of),
      advice = ("larger buffers (perf record -m 16M%s), or %s"):format(
        common.was(report, "-m", "--mmap-pages"),
        advise_slower(report)),
    }
  end
end

local function throttled_of(cpu)
  if cpu.throttles > 0 then
    return ("%s, for %s"):format(count(cpu.throttles, "time"), duration(cpu.throttled_time))
  end
end

-- Returns the cpus that were throttled longest.
local function throttled_cpus(report)
  local cpus = table.move(report.throttling.cpus, 1, #report.throttling.cpus, 1, {})
  table.sort(cpus, function(a, b) return a.throttled_time > b.throttled_time end)
  local lines = {}
  for i, cpu in ipairs(cpus) do
    lines[i] = ("cpu %d: %s"):format(cpu.cpu, throttled_of(cpu))
  end
  return common.first(lines)
end

local function check_throttling(report)
  local t = report.throttling
  if t.count == 0 then
    return nil
  end
  local details = common.by_event(report, throttled_of) or {}
  table.move(throttled_cpus(report), 1, #t.cpus, #details + 1, details)
  local whole = report.first_time and report.last_time - report.first_time or 0
  return {
    level = common.level(share(t.time, whole), 1), details = details,
    text = ("throttled %s: events took no samples for %s in total"):format(
      count(t.count, "time"),
      duration(t.time)),
    advice = advise_slower(report) .. ", or raise kernel.perf_event_max_sample_rate",
  }
end

local REALTIME = 0

local function check_backsteps(report)
  local o = report.order
  if o.backsteps > 0 then
    return {
      level = "problem",
      text = ("the clock went back %s, by up to %s, first to %s"):format(
        count(o.backsteps, "time"),
        duration(o.backstep_worst), perflua.seconds(o.backstep_first)),
      advice = (o.clockid or REALTIME) == REALTIME and "perf record -k CLOCK_MONOTONIC" or nil,
    }
  end
end

-- Returns what else to do about late records. perflua itself sorts what it can read again.
local function advise_late(report)
  local o, c = report.order, report.container
  local advice = {}
  if not c.stream and not c.compressed then
    table.insert(advice, "perflua sorts them")
  end
  if o.backsteps == 0 and not o.clockid then
    table.insert(advice, "if the cpus' clocks differ: perf record -k CLOCK_MONOTONIC")
  end
  return advice[1] and table.concat(advice, "; ")
end

local function check_late_records(report)
  local o = report.order
  if o.late > 0 and not o.newest_first then -- of those perf expects nothing else
    return {
      level = common.level(o.late_percent, 0.1),
      text = ("%s (%s) came too late for perf to sort: by up to %s, the first at %s"):format(
        count(o.late, "record"), percent(o.late_percent), duration(o.worst),
        perflua.seconds(o.first_late)),
      advice = advise_late(report),
    }
  end
end

local function newest_first(report)
  if report.order.newest_first then
    return {
      level = "note",
      text = "recorded with --overwrite: each buffer has its newest records first, and its "
        .. "oldest were overwritten",
    }
  end
end

local function gap_line(gap)
  local lost_then = gap.lost ~= 0 and ("; %s lost then"):format(count(gap.lost, "record")) or ""
  return ("%s for %s%s"):format(perflua.seconds(gap.from), duration(gap.to - gap.from),
    lost_then)
end

local function check_gaps(report)
  local g, lines = report.gaps, {}
  if g.count == 0 then
    return nil
  end
  for i, gap in ipairs(g.longest) do
    lines[i] = gap_line(gap)
  end
  return {
    level = "note", details = common.first(lines, g.count),
    text = ("%s of %s or more without a sample, %s in total; samples are usually %s apart")
      :format(
      count(g.count, "gap"),
      duration(g.least), duration(g.total), duration(g.interval)),
    advice = "if the system was not idle, record --switch-events to see which threads waited",
  }
end

local aux_flags = {
  { "truncated", "truncated %s: the AUX buffer was full" },
  { "partial", "with gaps %s" },
  { "collided", "collided %s" },
}

local function check_aux(report)
  local lines = {}
  for _, flag in ipairs(aux_flags) do
    local n = report.aux[flag[1]]
    if n > 0 then
      table.insert(lines, flag[2]:format(count(n, "time")))
    end
  end
  if #lines > 0 then
    return {
      level = "problem", text = "AUX data is incomplete", details = lines,
      advice = "use a larger AUX buffer (perf record -m ,64M), or trace less (filters, "
        .. "--snapshot)",
    }
  end
end

return {
  { "lost", check_losses },
  { "throttled", check_throttling },
  { "clock", check_backsteps },
  { "late", check_late_records },
  { "aux", check_aux },
  { "overwrite", newest_first },
  { "gaps", check_gaps },
}
