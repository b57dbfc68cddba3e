-- A report as lines for the eye: the verdict, what was found, then the facts.

local binaries = require "perflua.doctor.binaries"
local common = require "perflua.doctor.common"
local display = require "perflua.text.display"
local fmt = require "perflua.text.fmt"
local perflua = require "perflua"
local words = require "perflua.doctor.words"

local count, duration = words.count, words.duration

local INDENT <const> = 13 -- of what follows the name of a fact

local formats = { "PERFFILE", "PERFILE2" }

local function show_container(report)
  local c = report.container
  local from = report.path == "-" and " on standard input" or c.stream and " (a stream)" or ""
  local parts = { c.mode .. from, formats[c.version], c.byte_order .. "-endian" }
  if c.size then
    table.insert(parts, words.bytes(c.size))
  end
  if c.compressed then
    table.insert(parts, "compressed"
      .. (c.compression_ratio and (" to 1/%d"):format(c.compression_ratio) or ""))
  end
  return table.concat(parts, ", ")
end

local function show_time(report)
  if not report.first_time then
    return report.samples > 0 and "samples have no time" or "-"
  end
  local every = report.gaps.interval ~= 0 and ", a sample every "
    .. duration(report.gaps.interval) or ""
  return ("%s to %s: %s%s"):format(perflua.seconds(report.first_time),
    perflua.seconds(report.last_time),
    duration(report.last_time - report.first_time), every)
end

local function show_events(report)
  return words.first(report.events, "event", function(e)
    if report.sample_records == 0 then return e.event end -- perf stat only counts
    local lie = e.records ~= e.samples and (" (%s)"):format(count(e.records, "record")) or ""
    return ("%s %d%s"):format(e.event, e.samples, lie)
  end)
end

local function show_records(report)
  return ("%d: %s"):format(report.records.total,
    words.first(report.records.by_type, "type", function(row)
    return ("%s %d"):format(row.type == "unknown" and "type " .. row.type_id or row.type,
      row.records)
  end))
end

local function show_losses(report)
  local l = report.lost
  local filtered = l.filtered ~= 0
    and ("; %s filtered out by BPF"):format(count(l.filtered, "sample")) or ""
  if l.records == 0 and l.samples == 0 then
    return "nothing" .. filtered
  end
  return ("%s, %s%s"):format(count(l.records, "record"), count(l.samples, "sample"), filtered)
end

local function show_throttling(report)
  local t = report.throttling
  return t.count == 0 and "never"
    or ("%s, for %s"):format(count(t.count, "time"), duration(t.time))
end

local function show_order(report)
  local o = report.order
  if not o.sorted_by_perf then
    return "file order: some records have no time"
  elseif o.newest_first then
    return "newest first in each buffer"
  end
  local rounds = o.rounds == 0 and "no rounds" or count(o.rounds, "round")
  return ("%s, %s too late for perf"):format(rounds, o.late == 0 and "nothing"
    or count(o.late, "record"))
end

local function show_gaps(report)
  local g = report.gaps
  if g.interval == 0 then
    return "-"
  end
  return g.count == 0 and ("none of %s or more"):format(duration(g.least))
    or ("%d, %s in all"):format(g.count, duration(g.total))
end

-- Shows by kind how many stacks there are, and how many of them are cut.
local function show_stacks(report)
  local function sum(name) return common.sum(report, name) end
  local longest, parts = 0, {}
  for _, e in ipairs(report.events) do
    longest = math.max(longest, e.chain_longest)
  end
  local chains, dumps, branches = sum "chains", sum "stacks", sum "branches"
  if chains > 0 then
    local deferred = sum "deferred" > 0
      and (", the user part of %d deferred"):format(sum "deferred") or ""
    table.insert(parts, ("%s (%d frames at most, %d cut%s)"):format(count(chains, "call chain"),
      longest,
      sum "chains_cut", deferred))
  end
  if dumps > 0 then
    table.insert(parts, ("%s (%d cut)"):format(count(dumps, "copied stack"), sum "stacks_full"))
  end
  if branches > 0 then
    table.insert(parts, count(branches, "branch stack"))
  end
  return #parts > 0 and table.concat(parts, ", ") or "none recorded"
end

-- Returns a line for each of the first binaries that samples hit.
local function show_sources(report, found)
  if not report.sources then return { "not looked for" } end
  local lines, shown = {}, binaries.SHOWN
  for i = 1, math.min(#found.sources, shown) do
    lines[i] = binaries.source(found.sources[i])
  end
  if found.n_sources > shown then
    lines[shown + 1] = ("and %s"):format(
      count(found.n_sources - shown, "more binary", "more binaries"))
  end
  return lines
end

local facts = {
  { "recording", show_container },
  { "time", show_time },
  { "events", show_events },
  { "records", show_records },
  { "lost", show_losses },
  { "throttled", show_throttling },
  { "order", show_order },
  { "gaps", show_gaps },
  { "stacks", show_stacks },
}

-- Returns the verdict in words, "damaged; 1 problem, 2 notes", and how bad it is.
local function show_verdict(report)
  local numbers, parts = { damage = 0, problem = 0, note = 0 }, {}
  for _, finding in ipairs(report.findings) do
    numbers[finding.level] = numbers[finding.level] + 1
  end
  for _, level in ipairs { "problem", "note" } do
    if numbers[level] > 0 then
      table.insert(parts, count(numbers[level], level))
    end
  end
  local some_of = table.concat(parts, ", ")
  if numbers.damage > 0 then
    return "damaged" .. (#parts > 0 and "; " .. some_of or ""), "damage"
  elseif numbers.problem > 0 then
    return some_of, "problem"
  end
  return "healthy" .. (#parts > 0 and "; " .. some_of or ""), "good"
end

---@param report table
---@param found table # of doctor.examine
---@return string[]
return function(report, found)
  local verdict, level = show_verdict(report)
  local lines, levels = { report.path .. ": " .. verdict }, {}
  for _, finding in ipairs(report.findings) do
    table.insert(lines, ("  %-9s  %s"):format(finding.level, finding.text))
    levels[#lines] = finding.level
    for _, detail in ipairs(finding.details or {}) do
      table.insert(lines, (" "):rep(INDENT) .. detail)
    end
    if finding.advice then
      table.insert(lines, (" "):rep(INDENT) .. "-> " .. finding.advice)
    end
  end
  for _, fact in ipairs(facts) do
    table.insert(lines, ("  %-9s  %s"):format(fact[1], fact[2](report)))
  end
  for i, line in ipairs(show_sources(report, found)) do
    table.insert(lines, ("  %-9s  %s"):format(i == 1 and "binaries" or "", line))
  end
  local shown = { fmt.escape(report.path .. ": ") .. display.styled(verdict, level) }
  for i = 2, #lines do
    local wrapped = display.wrap(fmt.escape(lines[i]), INDENT)
    wrapped[1] = display.mark(wrapped[1], levels[i])
    table.move(wrapped, 1, #wrapped, #shown + 1, shown)
  end
  return shown
end
