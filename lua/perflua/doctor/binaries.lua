-- Binaries whose functions have no names, as no file here is theirs; and those that were named
-- without a proof.

local common = require "perflua.doctor.common"
local each_binary = require("perflua.file.binaries").each
local interrupted = require "perflua.table.interrupted"
local json = require "perflua.text.json"
local words = require "perflua.doctor.words"

local count, percent, share = words.count, words.percent, words.share

local binaries = {}

---Rows of each list that people see.
binaries.SHOWN = 6

-- There may be as many binaries as processes, so a list keeps only its first `most` rows. It is
-- sorted while it is full, and by finish().
local function add(list, row)
  local n = #list
  list.n = list.n + 1
  if n >= list.most then
    if not list.before(row, list[n]) then return end
    n = n - 1 -- the last is replaced
  end
  list[n + 1] = row
  if n + 1 >= list.most then table.sort(list, list.before) end
end

local function finish(list, convert)
  table.sort(list, list.before)
  local array = json.array()
  for i, row in ipairs(list) do array[i] = convert(row) end
  return array
end

local function is_hit_before(a, b)
  if a.samples ~= b.samples then return a.samples > b.samples end
  if a.name ~= b.name then return a.name < b.name end
  return (a.build_id or "") < (b.build_id or "")
end

local function is_named_before(a, b)
  if a.name ~= b.name then return a.name < b.name end
  return a.symbol_file < b.symbol_file
end

local function is_missing(row)
  return row.loaded and row.symbols == 0 and row.kind ~= "memory"
end

local function is_kernel(name)
  return name:find "^%[kernel" or name:find "^%[guest%.kernel" or name:find "vmlinux"
end

local function describe_missing(row, samples)
  local tried = json.array()
  for i, file in ipairs(row.tried) do tried[i] = ("%s: %s"):format(file.path, file.verdict) end
  return { filename = row.name, build_id = row.build_id, reason = row.reason, tried = tried,
    samples = row.samples, samples_percent = share(row.samples, samples) }
end

local function describe_source(row, samples)
  return { name = row.name, build_id = row.build_id, kind = row.kind,
    samples = row.samples,
    samples_percent = share(row.samples, samples), symbols = row.symbols,
    symbol_file = row.symbol_file,
    found = row.found, proof = row.proof, reason = row.reason }
end

---@return table # what binaries.of returns if it does not look
function binaries.none()
  return { missing = json.array(), unproven = json.array(), sources = json.array(),
    n_missing = 0, n_unproven = 0, n_sources = 0, missing_samples = 0,
    misses_kernel = false, misses_others = false, is_cut = false }
end

---Reads the samples once more. Of a stream nothing is known any more. Two binaries of one name
---and build-id count as one.
---@param file perflua.File
---@param samples integer
---@param most integer? # rows of each list; default: all
---@return table # missing: { filename, build_id, reason, tried, samples, samples_percent };
--- unproven: { filename, path }, used though no build-id was recorded; sources: { name,
--- build_id, kind, samples, samples_percent, symbols, symbol_file, found, proof, reason };
--- n_missing, n_unproven, n_sources: how many there are; missing_samples: how many they have;
--- misses_kernel, misses_others: what is missing; is_cut: an interrupt left no time for all.
--- Most samples come first
function binaries.of(file, samples, most)
  local found = binaries.none()
  if not file.size or samples == 0 then return found end
  local function new(before) return { n = 0, most = most or math.huge, before = before } end
  local missing, unproven, sources = new(is_hit_before), new(is_named_before),
    new(is_hit_before)
  local function look(row, first)
    if row.unproven then add(unproven, row) end
    if row.samples == 0 or not first then return end
    add(sources, row)
    if not is_missing(row) then return end
    add(missing, row)
    found.missing_samples = found.missing_samples + row.samples
    local kernel = is_kernel(row.name)
    found.misses_kernel = found.misses_kernel or kernel
    found.misses_others = found.misses_others or not kernel
  end
  local read, message = pcall(each_binary, file, "reached", look)
  if not read and not interrupted.stops_pass(message) then error(message, 0) end
  found.is_cut = not read
  found.missing = finish(missing, function(row) return describe_missing(row, samples) end)
  found.unproven = finish(unproven,
    function(row) return { filename = row.name, path = row.symbol_file } end)
  found.sources = finish(sources, function(row) return describe_source(row, samples) end)
  found.n_missing, found.n_unproven, found.n_sources = missing.n, unproven.n, sources.n
  return found
end

-- Describes where the symbols of a binary come from: "61.2 % of the samples in /usr/bin/words:
-- 27 symbols of /usr/bin/words (recorded path)".
---@param binary table # of report.sources
---@return string
function binaries.source(binary)
  local from = not binary.symbols and "not looked for" or binary.symbols == 0 and "no symbols: "
    .. (binary.reason or "")
    or ("%s of %s"):format(count(binary.symbols, "symbol"), binary.symbol_file or binary.found
      or "the recording")
  local found = binary.symbol_file and binary.found and (" (%s)"):format(binary.found) or ""
  if binary.proof then
    found = (" (%s: there %s proved them)"):format(binary.found, binary.proof)
  end
  return ("%s of the samples in %s: %s%s"):format(percent(binary.samples_percent),
    binary.name, from, found)
end

-- Returns what to do, which depends on the kinds of binaries.
local function write_advice(found)
  local parts = {}
  if found.misses_others then
    parts[1] =
      "install their debug symbols, or copy the binaries here (perflua pack --archive, or "
        .. "--symfs with a copy)"
  end
  if found.misses_kernel then
    table.insert(parts,
      "for the kernel, use --kallsyms with a copy of /proc/kallsyms made by root, or --vmlinux")
  end
  return table.concat(parts, "; ")
end

local function describe_binary(binary)
  local id = binary.build_id and (" (build-id %s)"):format(binary.build_id) or ""
  local looked = binary.tried[1] and ("; tried first: %s"):format(binary.tried[1]) or ""
  return ("%s%s: %s, %s%s"):format(binary.filename, id, percent(binary.samples_percent),
    binary.reason, looked)
end

local function check_symbols(report, found)
  local lines = {}
  if found.n_missing == 0 then
    return nil
  end
  for i, binary in ipairs(found.missing) do lines[i] = describe_binary(binary) end
  return {
    level = "note",
    text = ("%s without symbols here, with %s of the samples"):format(
      count(found.n_missing, "binary", "binaries"),
      percent(share(found.missing_samples, report.samples))),
    details = common.first(lines, found.n_missing),
    advice = write_advice(found),
  }
end

-- Checks for binaries without a build-id: the mapped file may have been replaced since.
local function check_unproven(_, found)
  local lines = {}
  if found.n_unproven == 0 then return nil end
  for i, binary in ipairs(found.unproven) do lines[i] = binary.filename end
  return {
    level = "note",
    text = ("%s used without a recorded build-id: symbols come from the files on this machine")
      :format(
      count(found.n_unproven, "binary was", "binaries were")),
    details = common.first(lines, found.n_unproven),
    advice = "record the build-ids of all binaries: perf record --buildid-mmap",
  }
end

binaries.checks = { { "symbols", check_symbols }, { "unproven", check_unproven } }

return binaries
