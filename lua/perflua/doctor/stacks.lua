-- Checks of call chains, copied stacks and branch stacks: whether they are deep enough.

local common = require "perflua.doctor.common"
local fmt = require "perflua.text.fmt"
local words = require "perflua.doctor.words"

local count, percent, share = words.count, words.percent, words.share

-- The sizes of a copy that perf record has by default and at most.
local DEFAULT_DUMP, MAX_DUMP = 8192, 65528

-- Returns a finding about `part` of `whole` of the events' samples, nil if `part` is 0.
local function describe_share(report, part, whole, about)
  local n, total = common.sum(report, part), common.sum(report, whole)
  if n == 0 then
    return nil
  end
  return {
    level = common.level(share(n, total), 1),
    text = about.text:format(percent(share(n, total))),
    details = common.by_event(report, function(event)
      return (event[part] or 0) > 0 and ("%s of %s"):format(
        percent(share(event[part], event[whole])),
        count(event[whole], "sample")) or nil
    end),
    advice = about.advice,
  }
end

local function check_chains(report)
  local event = common.any(report, function(e) return (e.chains_cut or 0) > 0 end)
  return event and describe_share(report, "chains_cut", "chains", {
    text = ("%%s of the call chains are cut at the limit of %s"):format(
      count(event.chain_limit, "frame")),
    advice = event.chain_limit_recorded
      and "use a larger max-stack for the event, up to kernel.perf_event_max_stack"
      or "sysctl kernel.perf_event_max_stack=512 while recording",
  })
end

-- Checks chains whose limit is not the default, and is not recorded.
local function check_long_chains(report)
  local event = common.any(report, function(e) return not e.chain_limit end)
  local part = event and share(event.chains_longest, event.chains)
  if part and part >= 1 then
    return {
      level = "note",
      text = ("%s of the call chains of %s have %d frames, and none has more: they are cut if "
        .. "that was kernel.perf_event_max_stack"):format(percent(part), event.event,
        event.chain_longest),
    }
  end
end

local function check_dumps(report)
  local event = common.any(report, function(e) return e.stacks_full > 0 end)
  if not event then
    return nil
  end
  local asked = event.sample_stack_user
  return describe_share(report, "stacks_full", "stacks", {
    text = ("%%s of the copied stacks are cut at %s: outer callers are missing")
      :format(count(event.stack_size, "byte")),
    advice = asked < MAX_DUMP
      and ("--call-graph dwarf,%d"):format(
        math.min(math.max(2 * asked, DEFAULT_DUMP), MAX_DUMP))
      or "use --call-graph fp or lbr: the copies cannot be larger",
  })
end

local function check_branches(report)
  local event = common.any(report, function(e)
    return e.lbr_callstack and e.branch_longest >= 8 and share(e.branches_longest, e.branches)
      >= 1
  end)
  if event then
    return {
      level = "note",
      text = ("%s of the LBR call stacks of %s are full at %d calls: outer callers are missing")
        :format(
        percent(share(event.branches_longest, event.branches)), event.event,
        event.branch_longest),
      advice = "use --call-graph fp or dwarf, which have no such limit",
    }
  end
end

local function check_deferred(report)
  local n, records = common.sum(report, "deferred"), 0
  for _, row in ipairs(report.records.by_type) do
    records = row.type == "callchain_deferred" and row.records or records
  end
  if n > 0 and records == 0 then
    return {
      level = "problem",
      text = ("%s lack the user part of their call chain: the deferred record never came")
        :format(
        fmt.unsigned(n) .. (n == 1 and " sample" or " samples")),
    }
  end
end

return {
  { "chains", check_chains },
  { "long_chains", check_long_chains },
  { "stacks", check_dumps },
  { "lbr", check_branches },
  { "deferred", check_deferred },
}
