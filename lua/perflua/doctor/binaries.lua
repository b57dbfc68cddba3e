-- Binaries whose functions have no names, as no file here is theirs; and those that were named without a proof.

local common = require "perflua.doctor.common"
local json = require "perflua.text.json"
local words = require "perflua.doctor.words"

local count, percent, share = words.count, words.percent, words.share

local binaries = {}

local whole = { order = "file", expand = false }

-- By the names of binaries the samples in them; and whether files without a build-id are among these.
local function hits(file)
  local counts, doubtful = {}, false
  local samples = file:samples(whole)
  if not samples.spec.scope:root "dso" then return counts, false end -- no sample has an ip
  for row in samples:group_by("dso", "map.build_id"):count():each() do
    local name = row.dso or ""
    counts[name] = (counts[name] or 0) + row.count
    doubtful = doubtful or (row["map.build_id"] == nil and name:sub(1, 1) == "/")
  end
  return counts, doubtful
end

-- Asks for the function of each frame: no function has that name, so none ends the search.
local function name_all(file) file:samples(whole):where("under('\\n')"):count() end

local function missing_of(missing, counts, samples)
  local list = json.array()
  for _, one in ipairs(missing) do
    local n = counts[one.filename] or 0
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

---Reads the samples once more, and call chains a second time. Of a stream nothing is known any more.
---@param file perflua.File
---@param samples integer
---@param chains boolean # some samples have call chains
---@return table[] missing # { filename, build_id, reason, tried, samples, samples_percent }, most samples first
---@return table[] unproven # { filename, path }: used though no build-id was recorded
function binaries.of(file, samples, chains)
  if not file.size or samples == 0 then return json.array(), json.array() end
  local counts, doubtful = hits(file)
  if doubtful or chains then name_all(file) end
  local missing, unproven = file:missing()
  table.sort(unproven, function(a, b) return a.filename < b.filename end)
  return missing_of(missing, counts, samples), json.array(unproven)
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

-- A file that was mapped may have been replaced since; a build-id says so.
local function unproven(report)
  local list, lines = report.unproven, {}
  if #list == 0 then return nil end
  for i, one in ipairs(list) do lines[i] = one.filename end
  return {
    level = "note",
    text = ("%s used without a recorded build-id: names are those of the files here"):format(
      count(#list, "binary was", "binaries were")),
    details = common.first(lines),
    advice = "to be sure, record the build-ids of all binaries: perf record --buildid-mmap",
  }
end

binaries.checks = { { "symbols", finding }, { "unproven", unproven } }

return binaries
