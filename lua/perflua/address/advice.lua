-- Advice for the step at which the search for an address's name ends: what is missing, and what
-- to do.

local advice = {}

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
function advice.symbols(binary)
  if binary.guest and binary.kind ~= "file" then
    return "add the vmlinux of the guest's kernel to the build-id cache: it is looked up by "
      .. "build-id"
  end
  return symbols[binary.kind]
end

---@param binary table
---@return string? # why there are no lines
function advice.lines(binary)
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
function advice.unmapped(report, stay)
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
function advice.no_process()
  return "no process had it mapped during the recording: it is data, a mapping whose record "
    .. "was lost (see perflua doctor), or a wrong caller in a call chain; --pid shows the "
    .. "mappings around it"
end

return advice
