-- Where a step of the way from an address to its name ends: what is missing, and what to do.

local advice = {}

local KERNEL = "--kallsyms and a copy of /proc/kallsyms made by root, or --vmlinux"
local FILES =
  "install its debug symbols, --debuginfod, or take the binaries along: perf archive, or "
    .. "--symfs and a copy"

-- By kind of a binary: how it gets symbols.
local symbols = {
  file = FILES, module = FILES .. "; or " .. KERNEL, kernel = KERNEL,
  vdso = "perf buildid-cache -a '[vdso]' where it was recorded; or read it on the machine and "
    .. "kernel that it is of",
  jit = "have the program write /tmp/perf-PID.map (node --perf-basic-prof, java with "
    .. "perf-map-agent, python -X perf) "
    .. "or a jitdump, and keep it",
  memory = "this memory has no code of a file: an address here is mostly a wrong caller in a "
    .. "call chain",
}

---@param binary table # of file:binaries()
---@return string? # what gives it symbols
function advice.symbols(binary)
  if binary.guest and binary.kind ~= "file" then
    return "symbols of a guest's kernel are those of a vmlinux with its build-id, in the "
      .. "build-id cache"
  end
  return symbols[binary.kind]
end

---@param binary table
---@return string? # why there are no lines
function advice.lines(binary)
  if binary.kind == "jit" or binary.kind == "bpf" or binary.kind == "memory" then
    return "code without a file has no lines here"
  elseif not binary.symbol_file then
    return nil
  elseif not binary.debug_file and (binary.kind == "kernel" or binary.kind == "module") then
    return "no vmlinux or module with debug information was found: install the kernel's debug "
      .. "symbols, --vmlinux, or "
      .. "--debuginfod"
  elseif not binary.debug_file then
    return "no file with its debug information was found: install its debug symbols, "
      .. "--debuginfod, or compile with -g"
  end
  return "the debug information has no line for this address"
end

---@param report table
---@param stay table # of which nothing was mapped
---@return string
function advice.unmapped(report, stay)
  if report.guest then
    return ("guest %d has no map there: perf inject --guest-data merges the maps of the "
      .. "guest's own recording; "
      .. "--guest is the pid of its process on the host"):format(report.guest)
  elseif report.kind == "kernel" then
    return "no map of the kernel covers it: as root, or with kernel.kptr_restrict=0, perf "
      .. "records where the kernel is"
  elseif stay.unknown_process then
    return ("nothing is recorded of a process %d: --pid is the id of a process, not of a "
      .. "thread, and perf report "
      .. "--sort pid lists them"):format(report.pid)
  end
  return "no record maps it: memory that is no code, code of which perf lost the record "
    .. "(perflua doctor), or a wrong "
    .. "caller in a call chain"
end

---@return string
function advice.no_process()
  return "no process had it mapped at a time that is recorded: an address of data, of a map "
    .. "whose record was lost "
    .. "(perflua doctor), or a wrong caller in a call chain; --pid shows what is around it"
end

return advice
