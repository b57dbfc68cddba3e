-- Shows what is known of an address as lines, one step below the other.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"

-- Advice for the step at which the search for an address's name ends: what is missing, and what
-- to do.

local KERNEL = "use --kallsyms with a copy of /proc/kallsyms made by root, or --vmlinux"
local FILES =
  "install its debug symbols, use --debuginfod, or copy the binaries here (perflua pack "
    .. "--archive, or --symfs with a copy)"

-- By kind of a binary: how it gets symbols.
local symbols = {
  file = FILES, module = FILES .. "; or " .. KERNEL, kernel = KERNEL,
  vdso = "run perf buildid-cache -a '[vdso]' on the recorded machine, or read the recording "
    .. "there",
  jit = "have the program write /tmp/perf-PID.map (node --perf-basic-prof, java with "
    .. "perf-map-agent, python -X perf) or a jitdump, and keep that file",
  memory = "this memory is not mapped from a file: such an address is usually a wrong caller "
    .. "in a call chain",
}

---@param binary table # of file:binaries()
---@return string? # what gives it symbols
local function symbols_advice(binary)
  if binary.guest and binary.kind ~= "file" then
    return "add the vmlinux of the guest's kernel to the build-id cache: it is looked up by "
      .. "build-id"
  end
  return symbols[binary.kind]
end

---@param binary table
---@return string? # why there are no lines
local function lines_advice(binary)
  if binary.kind == "jit" or binary.kind == "bpf" or binary.kind == "memory" then
    return "code that is not mapped from a file has no source lines"
  elseif not binary.symbol_file then
    return nil
  elseif not binary.debug_file and (binary.kind == "kernel" or binary.kind == "module") then
    return "no vmlinux or module with debug information was found: install the kernel's debug "
      .. "symbols, or use --vmlinux or --debuginfod"
  elseif not binary.debug_file then
    return "no file with debug information was found: install its debug symbols, use "
      .. "--debuginfod, or compile with -g"
  end
  return "the debug information has no line for this address"
end

---@param report table
---@param stay table # of which nothing was mapped
---@return string
local function unmapped_advice(report, stay)
  if report.guest then
    return ("guest %d has no mapping there: merge the guest's own recording with perf inject "
      .. "--guest-data; --guest takes the pid of the guest's process on the host"):format(
        report.guest)
  elseif report.kind == "kernel" then
    return "no mapping of the kernel covers it: record as root, or with "
      .. "kernel.kptr_restrict=0, so that perf records where the kernel is"
  elseif stay.unknown_process then
    return ("the recording has no process %d: --pid takes the id of a process, not of a "
      .. "thread; perf report --sort pid lists them"):format(report.pid)
  end
  return "no record maps it: it is data, code whose record perf lost (see perflua doctor), or "
    .. "a wrong caller in a call chain"
end

---@return string
local function no_process_advice()
  return "no process had it mapped during the recording: it is data, a mapping whose record "
    .. "was lost (see perflua doctor), or a wrong caller in a call chain; --pid shows the "
    .. "mappings around it"
end

local SHOWN = 20 -- processes
local UNNAMED = "(no name recorded)"

local hex, seconds = core.hex, core.seconds

local function format_access(prot)
  if not prot then return "" end
  local text = ""
  for i, letter in ipairs { "r", "w", "x" } do
    text = text .. (prot & 1 << (i - 1) ~= 0 and letter or "-")
  end
  return " " .. text
end

local function format_span(report, stay)
  if not report.timed then return "the whole recording" end
  local from = stay.from and stay.record and stay.record.time and "from " .. seconds(stay.from)
  if not from and stay.from and not stay.map then from = "from " .. seconds(stay.from) end
  local to = stay.to and "to " .. seconds(stay.to)
  if from or to then return (from or "from the beginning") .. " " .. (to or "to the end") end
  return "the whole recording"
end

local function map_lines(add, report, stay)
  local map, record = stay.map, stay.record
  add("map", "%s-%s%s, offset %s of %s", hex(map.start), hex(map.start + map.len),
    format_access(map.prot), hex(map.pgoff),
    map.filename)
  if not record then
    add(nil, "the record that made it is not known: the kernel's symbols continue past its "
      .. "mapping")
  elseif record.time then
    add(nil, "made by the %s record at offset %d, at %s", record.type, record.offset,
      seconds(record.time))
  else
    add(nil, "made by the %s record at offset %d, which perf wrote for a mapping that existed "
      .. "before",
      record.type,
      record.offset)
  end
  if stay.inherited_from then
    add(nil, "inherited from process %d by a fork", stay.inherited_from)
  end
  add("holds", "%s", format_span(report, stay))
end

local places = {
  file = "offset %s in the file", vdso = "offset %s in the vdso",
  module = "offset %s in the module",
}

local function address_line(add, stay)
  local place = (places[stay.binary.kind] or "%s, as the processor saw it"):format(
    hex(stay.address))
  local elf = stay.elf_address and (", %s for nm and addr2line"):format(hex(stay.elf_address))
    or ""
  add("address", "%s%s", place, elf)
end

local function source_lines(add, binary)
  if binary.symbols > 0 then
    add("symbols", "%d of %s%s", binary.symbols, binary.symbol_file or binary.found,
      binary.symbol_file and binary.found and (" (%s)"):format(binary.found) or "")
    if binary.proof then
      add(nil, "where the recording was packed, %s proved them", binary.proof)
    end
  else
    add("symbols", "none: %s", binary.reason or "not looked for")
  end
  for _, tried in ipairs(binary.tried) do
    add(nil, "%s: %s%s", tried.path, tried.verdict,
      tried.where and (" (%s)"):format(tried.where) or "")
  end
  if binary.symbols == 0 and symbols_advice(binary) then
    add(nil, "-> %s", symbols_advice(binary))
  end
end

local function describe_symbol(symbol, at)
  if math.ult(at, symbol.start) then
    return ("%s-0x%x"):format(symbol.symbol, symbol.start - at)
  end
  return ("%s+0x%x"):format(symbol.symbol, at - symbol.start)
end

local function symbol_lines(add, stay)
  local function format_range(symbol)
    return ("%s to %s"):format(hex(symbol.start), hex(symbol.stop))
  end
  if stay.covered then
    add("symbol", "%s, %s", describe_symbol(stay.covered, stay.address),
      format_range(stay.covered))
    if stay.binary.found == "perf map" then
      add(nil, "a perf map has no times: where code was replaced, it has the last name only")
    end
  elseif stay.binary.symbols > 0 then
    add("symbol", "none covers it")
    if stay.binary.found == "jitdump" then
      add(nil, "a name in a jitdump is valid from the time when its code was made")
    end
    for _, key in ipairs(stay.binary.kind == "jit" and {} or { "before", "after" }) do
      local symbol = stay[key]
      add(nil, "%s: %s", key, symbol and ("%s, %s"):format(
        describe_symbol(symbol, stay.address), format_range(symbol)) or "none")
    end
  end
end

local function line_lines(add, stay)
  local lines = stay.lines
  if not lines then
    local why = stay.binary.symbols > 0 and lines_advice(stay.binary)
    if why then add("line", "none: %s", why) end
    return
  end
  add("line", "%s%s", lines[1].srcline or "not known", lines[1].file
    and (", %s"):format(lines[1].file) or "")
  add(nil, "debug information of %s", stay.binary.debug_file or "a file that no longer exists")
  for i = 1, #lines - 1 do
    add(i == 1 and "inlined" or nil, "%s into %s at %s", lines[i].symbol or "[unknown]",
      lines[i + 1].symbol or "[unknown]", lines[i + 1].srcline or "an unknown line")
  end
end

local function unmapped_lines(add, report, stay, is_only)
  add("map", "none, %s", format_span(report, stay))
  if not is_only then return end
  for _, key in ipairs { "below", "above" } do
    local map = stay[key]
    if map then
      add(nil, "next %s: %s-%s%s, %s", key, hex(map.start), hex(map.start + map.len),
        format_access(map.prot), map.filename)
    end
  end
  add(nil, "-> %s", unmapped_advice(report, stay))
end

local function stay_lines(add, report, stay, is_only)
  if not stay.map then return unmapped_lines(add, report, stay, is_only) end
  local binary = stay.binary
  map_lines(add, report, stay)
  add("binary", "%s (%s%s), %s", binary.name, binary.guest and "guest, " or "", binary.kind,
    binary.build_id and "build-id " .. binary.build_id or "no build-id recorded")
  address_line(add, stay)
  source_lines(add, binary)
  symbol_lines(add, stay)
  line_lines(add, stay)
end

local function process_lines(add, report, process)
  for i, stay in ipairs(process.ranges) do
    if i > 1 then add("", "") end
    if not process.pid and report.pid then
      add("kernel", "has a mapping there")
    elseif process.pid then
      local name = report.guest and "" or stay.comm or UNNAMED
      add("process", "%d %s%s%s%s", process.pid, name,
        report.time and (" at %s"):format(seconds(report.time)) or "",
        stay.began and (", began at %s"):format(seconds(stay.began)) or "",
        stay.ended and (", ended at %s"):format(seconds(stay.ended)) or "")
    end
    stay_lines(add, report, stay, #process.ranges == 1)
  end
end

-- Lists several processes, with a line for each time range in which something was mapped.
local function list_lines(add, report)
  local n = #report.processes + (report.not_looked_at or 0)
  add("processes", "%d had it mapped; --pid PID shows one of them step by step", n)
  for i, process in ipairs(report.processes) do
    if i > SHOWN then
      add(nil, "and %d more", n - SHOWN)
      break
    end
    for _, stay in ipairs(process.ranges) do
      if stay.map then
        local who = process.pid and ("%d %s"):format(process.pid, stay.comm or UNNAMED)
          or "the kernel"
        local name = stay.covered and describe_symbol(stay.covered, stay.address) or "[unknown]"
        add(nil, "%s: %s of %s, %s", who, name, stay.binary.name, format_span(report, stay))
      end
    end
  end
end

local halves = { kernel = "the kernel", user = "a process", either = "the kernel or a process" }

---@param report table # of address.explain
---@return string[]
return function(report)
  local lines = {}
  local function add(label, format, ...)
    local text = ("%-9s  %s"):format(label or "", format:format(...))
    table.insert(lines, fmt.escape(fmt.trim_end(text)))
  end
  local guest = report.guest and (" of guest %d"):format(report.guest) or ""
  if not report.kind then return { ("%-9s  %s"):format("asked", hex(report.address)) } end
  add("asked", "%s, an address of %s%s", hex(report.address), halves[report.kind], guest)
  if #report.processes == 0 then
    add("processes", "none: %s", no_process_advice())
  elseif #report.processes == 1 or report.pid then
    for i, process in ipairs(report.processes) do
      if i > 1 then add("", "") end
      process_lines(add, report, process)
    end
  else
    list_lines(add, report)
  end
  return lines
end
