-- Binaries that samples hit and whose symbols were not found on this machine: functions there have no names.

local common = require "perflua.doctor.common"
local json = require "perflua.text.json"
local words = require "perflua.doctor.words"

local count, percent, share = words.count, words.percent, words.share

local binaries = {}

-- By the names of the binaries the samples in them.
local function hits(file, missing)
  local counts = {}
  for _, one in ipairs(missing) do
    counts[one.filename] = 0
  end
  local samples = file:samples { order = "file", expand = false }
  if not samples.spec.scope:root "dso" then
    return counts -- no sample has an ip
  end
  for dso in samples:select("dso") do
    local n = counts[dso]
    if n then
      counts[dso] = n + 1
    end
  end
  return counts
end

---Reads the samples once more, if there is a binary without symbols. Of a stream nothing is known any more.
---@param file perflua.File
---@param samples integer
---@return table[] # { filename, build_id, reason, tried, samples, samples_percent }, most samples first
function binaries.of(file, samples)
  local list = json.array()
  local missing = file.size and samples > 0 and file:missing() or {}
  local counts = #missing > 0 and hits(file, missing)
  for _, one in ipairs(missing) do
    local n = counts[one.filename]
    if n > 0 then
      counts[one.filename] = 0 -- of two that have the same name the samples are not told apart
      table.insert(list, { filename = one.filename, build_id = one.build_id, reason = one.reason,
        tried = json.array(one.tried), samples = n, samples_percent = share(n, samples) })
    end
  end
  table.sort(list, function(a, b)
    if a.samples ~= b.samples then
      return a.samples > b.samples
    end
    return a.filename < b.filename
  end)
  return list
end

local function is_kernel(one)
  return one.filename:find("^%[kernel") or one.filename:find("^%[guest%.kernel") or one.filename:find("vmlinux")
end

-- What can be done depends on which they are.
local function advice(list)
  local kernel, others = false, false
  for _, one in ipairs(list) do
    kernel, others = kernel or is_kernel(one), others or not is_kernel(one)
  end
  local parts = {}
  if others then
    parts[1] = "install their debug symbols, or take the binaries along: perf archive, or --symfs and a copy of them"
  end
  if kernel then
    table.insert(parts, "the kernel's: --kallsyms and a copy of /proc/kallsyms made by root, or --vmlinux")
  end
  return table.concat(parts, "; ")
end

local function line(one)
  local id = one.build_id and (" (build-id %s)"):format(one.build_id) or ""
  local looked = one.tried[1] and ("; looked for first: %s"):format(one.tried[1]) or ""
  return ("%s%s: %s, %s%s"):format(one.filename, id, percent(one.samples_percent), one.reason, looked)
end

local function finding(report)
  local list, lines, samples = report.binaries, {}, 0
  if #list == 0 then
    return nil
  end
  for i, one in ipairs(list) do
    lines[i], samples = line(one), samples + one.samples
  end
  return {
    level = "note",
    text = ("%s without symbols here, with %s of the samples"):format(count(#list, "binary", "binaries"),
      percent(share(samples, report.samples))),
    details = common.first(lines),
    advice = advice(list),
  }
end

binaries.checks = { { "symbols", finding } }

return binaries
