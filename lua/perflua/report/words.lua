-- Options of perf report, of 6.1 to 7.3, that this one takes and does nothing about, and those
-- that it refuses: what to use in their place.

local words = {}

local AS_IN_PERF <const> = "accepted as in perf: "

local accepted = {
  force = AS_IN_PERF .. "a recording of any user is read",
  ["show-info"] = AS_IN_PERF .. "--header has all that it knows",
  inline = AS_IN_PERF .. "call chains have inlined functions where perf has them",
  demangle = AS_IN_PERF .. "names are demangled",
  ["skip-empty"] = AS_IN_PERF .. "events without samples have no section, and no column",
}

local ANNOTATION <const> = "perflua does not disassemble: perf annotate does; --sort srcline "
  .. "shows source lines"
local SCREEN <const> = "report prints text, through a pager on a terminal"
local OWN_LINES <const> = "perflua reads lines without a program"
local TRACES <const> = "perflua does not decode instruction traces: perf inject --itrace "
  .. "makes samples of them"

words.refused = {
  objdump = ANNOTATION, ["disassembler-style"] = ANNOTATION, M = ANNOTATION,
  source = ANNOTATION, ["asm-raw"] = ANNOTATION, prefix = ANNOTATION,
  ["prefix-strip"] = ANNOTATION, ["percent-type"] = ANNOTATION,
  addr2line = OWN_LINES, ["addr2line-style"] = OWN_LINES,
  ["unwind-style"] = "perflua unwinds stacks by itself, without libraries",
  tui = SCREEN, gtk = SCREEN, samples = SCREEN, pretty = "--threads prints counters in columns",
  ["show-ref-call-graph"] = "--call-graph draws the call chains that an event has",
  ["disable-order"] = "perflua dump prints records in the order of the file",
  ["demangle-kernel"] = "--no-demangle shows names as they are in binaries",
  ["ignore-vmlinux"] = "--kallsyms FILE names functions of the kernel",
  modules = "symbols of modules are read where their files are", m = "symbols of modules are "
    .. "read where their files are",
  itrace = TRACES,
}

---@param options table<string, any> of a tool
---@return table<string, any> # with those that are accepted
function words.add_accepted(options)
  for name, option in pairs(accepted) do options[name] = option end
  return options
end

return words
