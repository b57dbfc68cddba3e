-- Binaries whose functions have no names, as no file here is theirs; and those that were named
-- without a proof.

local common = require "perflua.doctor.common"
local json = require "perflua.text.json"
local words = require "perflua.doctor.words"

local count, percent, share = words.count, words.percent, words.share

local binaries = {}

local whole = { order = "file", expand = false }

-- Asks for the function of each frame: no function has that name, so none ends the search.
local function name_all_frames(file) file:samples(whole):where("under('\\n')"):count() end

-- Returns the binaries that samples hit, most samples first. Two of one name and build-id count
-- as one, as their samples cannot be told apart.
local function list_hit(all)
  local list, seen = {}, {}
  for _, one in ipairs(all) do
    local key = one.name .. "\n" .. (one.build_id or "")
    if one.samples > 0 and not seen[key] then
      seen[key] = true
      table.insert(list, one)
    end
  end
  table.sort(list, function(a, b)
    if a.samples ~= b.samples then
      return a.samples > b.samples
    end
    return a.name < b.name
  end)
  return list
end

local function list_missing(list, samples)
  local missing = json.array()
  for _, one in ipairs(list) do
    if one.loaded and one.symbols == 0 and one.kind ~= "memory" then
      local tried = json.array()
      for i, file in ipairs(one.tried) do
        tried[i] = ("%s: %s"):format(file.path, file.verdict)
      end
      table.insert(missing, { filename = one.name, build_id = one.build_id, reason = one.reason,
        tried = tried,
        samples = one.samples, samples_percent = share(one.samples, samples) })
    end
  end
  return missing
end

local function list_sources(list, samples)
  local sources = json.array()
  for i, one in ipairs(list) do
    sources[i] = { name = one.name, build_id = one.build_id, kind = one.kind,
      samples = one.samples,
      samples_percent = share(one.samples, samples), symbols = one.symbols,
      symbol_file = one.symbol_file,
      found = one.found, reason = one.reason }
  end
  return sources
end

-- Returns the binaries that were used without a recorded build-id, by samples or by call
-- chains.
local function list_unproven(all)
  local list = json.array()
  for _, one in ipairs(all) do
    if one.unproven then table.insert(list, { filename = one.name, path = one.symbol_file }) end
  end
  table.sort(list, function(a, b) return a.filename < b.filename end)
  return list
end

---Reads the samples once more, and call chains a second time. Of a stream nothing is known any
---more.
---@param file perflua.File
---@param samples integer
---@param chains boolean # some samples have call chains
---@return table[] missing # { filename, build_id, reason, tried, samples, samples_percent },
--- most samples first
---@return table[] unproven # { filename, path }: used though no build-id was recorded
---@return table[] sources # { name, build_id, kind, samples, samples_percent, symbols,
--- symbol_file, found, reason }
function binaries.of(file, samples, chains)
  if not file.size or samples == 0 then return json.array(), json.array(), json.array() end
  if chains then name_all_frames(file) end
  local all = file:binaries()
  local list = list_hit(all)
  return list_missing(list, samples), list_unproven(all), list_sources(list, samples)
end

-- Describes where the symbols of a binary come from: "61.2 % of the samples in /usr/bin/words:
-- 27 symbols of /usr/bin/words (recorded path)".
---@param one table # of report.sources
---@return string
function binaries.source(one)
  local from = not one.symbols and "not looked for" or one.symbols == 0 and "no symbols: "
    .. (one.reason or "")
    or ("%s of %s"):format(count(one.symbols, "symbol"), one.symbol_file or one.found
      or "the recording")
  local found = one.symbol_file and one.found and (" (%s)"):format(one.found) or ""
  return ("%s of the samples in %s: %s%s"):format(percent(one.samples_percent), one.name, from,
    found)
end

local function is_kernel(one)
  return one.filename:find("^%[kernel") or one.filename:find("^%[guest%.kernel")
    or one.filename:find("vmlinux")
end

-- Returns what to do, which depends on the kinds of binaries.
local function write_advice(list)
  local kernel, others = false, false
  for _, one in ipairs(list) do
    kernel, others = kernel or is_kernel(one), others or not is_kernel(one)
  end
  local parts = {}
  if others then
    parts[1] =
      "install their debug symbols, or copy the binaries here (perf archive, or --symfs with "
        .. "a copy)"
  end
  if kernel then
    table.insert(parts,
      "for the kernel, use --kallsyms with a copy of /proc/kallsyms made by root, or --vmlinux")
  end
  return table.concat(parts, "; ")
end

local function describe_binary(one)
  local id = one.build_id and (" (build-id %s)"):format(one.build_id) or ""
  local looked = one.tried[1] and ("; tried first: %s"):format(one.tried[1]) or ""
  return ("%s%s: %s, %s%s"):format(one.filename, id, percent(one.samples_percent), one.reason,
    looked)
end

local function check_symbols(report)
  local list, lines, samples = report.binaries, {}, 0
  if #list == 0 then
    return nil
  end
  for i, one in ipairs(list) do
    lines[i], samples = describe_binary(one), samples + one.samples
  end
  return {
    level = "note",
    text = ("%s without symbols here, with %s of the samples"):format(
      count(#list, "binary", "binaries"),
      percent(share(samples, report.samples))),
    details = common.first(lines),
    advice = write_advice(list),
  }
end

-- Checks for binaries without a build-id: the mapped file may have been replaced since.
local function check_unproven(report)
  local list, lines = report.unproven, {}
  if #list == 0 then return nil end
  for i, one in ipairs(list) do lines[i] = one.filename end
  return {
    level = "note",
    text = ("%s used without a recorded build-id: symbols come from the files on this machine")
      :format(
      count(#list, "binary was", "binaries were")),
    details = common.first(lines),
    advice = "record the build-ids of all binaries: perf record --buildid-mmap",
  }
end

binaries.checks = { { "symbols", check_symbols }, { "unproven", check_unproven } }

return binaries
