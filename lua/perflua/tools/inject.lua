-- perflua inject IN -o OUT: a recording with what files of this machine tell of it.

local amounts = require "perflua.doctor.words"
local fmt = require "perflua.text.fmt"
local names = require "perflua.toolkit.names"
local perflua = require "perflua"
local symbols = require "perflua.toolkit.symbols"
local writing = require "perflua.toolkit.writing"

local USAGE <const> = 2

local tool = {
  description = "write a recording with build-ids, names of generated code, or merged switches",
  usage = "inject [-b] [-B] [-j] [-s] [OPTION]… IN -o OUT",
  reads = "records", takes = "symbols", paged = false,
  options = writing.with_options {
    ["build-ids"] = "add the build-ids of the binaries of samples and their call chains",
    ["buildid-all"] = "add the build-ids of all binaries that were mapped",
    ["mmap2-buildids"] = "put build-ids into the records of mappings, and leave out those of "
      .. "binaries that no sample needs; a stream, which is read once, keeps all",
    ["mmap2-buildid-all"] = "put build-ids into the records of all mappings",
    ["known-build-ids"] = { "LIST", "build-ids of binaries, in place of those that are "
      .. "recorded or found: pairs of a build-id and a path, with commas between them, or "
      .. "file://FILE with a pair a line, as perf buildid-list writes them" },
    jit = "make functions of jitdumps mappings of ELF files, which are written beside the "
      .. "jitdump: jitted-PID-N.so",
    ["sched-stat"] = "merge sched_stat_* with the sched_switch before: where and how long "
      .. "threads slept",
  },
  letters = { b = "build-ids", B = "mmap2-buildids", j = "jit", s = "sched-stat" },
  refuses = {
    itrace = "traces of instructions are not decoded: perf inject --itrace",
    strip = "it belongs to --itrace of perf inject",
    ["vm-time-correlation"] = "it changes traces of Intel PT: perf inject "
      .. "--vm-time-correlation",
    ["guest-data"] = "perflua reads the recordings of host and guest side by side: perflua "
      .. "report HOST GUEST",
    guestmount = "files of guests are not read: perf inject --guestmount",
    ["convert-callchain"] = "perflua convert --unwind",
    ["unwind-style"] = "perflua convert --unwind has one way",
    ["ignore-vmlinux"] = "a kernel's file is only used if its build-id is the recorded one, or "
      .. "if --vmlinux names it",
    aslr = "perflua scrub --addresses makes addresses relative to their binaries",
    verbose = "what has no build-id is said, and perflua doctor lists all binaries",
    v = "what has no build-id is said, and perflua doctor lists all binaries",
  },
  help = [[
OUT has all records of IN. With -b its header has the build-ids of the binaries of samples, as perf
record writes them at its end, so that names are found where other builds are installed; in pipe
mode, records have them. With -B the records of mappings do.

A build-id is the recorded one, else that of the file here, if nothing speaks against its being the one
that was mapped: host, kernel release, device and inode are the recorded ones. perf inject takes
whatever is at the path, as --any-binary does. What has no build-id is said.

-j is for programs that know no jitdumps, such as perf report; perflua reads them as they are. With
-b, OUT has the build-ids of all files that -j writes; with -B, their mappings have them. -s writes
each sample of a sched:sched_stat_* as the last sched:sched_switch of its thread, with the time and
the period of the statistic, and leaves out the other samples of both. Both options write in the
order of time.

  $ perflua inject -b perf.data -o named.data
  $ perf record -k mono -o js.data -- node --perf-prof app.js
  $ perflua inject -j js.data -o js.jit.data && perf report -i js.jit.data
  $ perf record -o - -- COMMAND | perflua inject -b - -o - | perf report -i -]],
}

-- Adds the pairs of a text to `known`. Returns what is wrong with one.
local function add_pairs(known, text, between)
  for pair in text:gmatch("[^" .. between .. "]+") do
    local id, path = pair:match "^%s*(%S+)%s+(.-)%s*$"
    if not id or path == "" or #id > 40 or #id % 2 ~= 0 or id:find "%X" then
      if pair:find "%S" then
        return ("--known-build-ids: '%s' is not a build-id and a path"):format(pair)
      end
    else
      known[path] = id
    end
  end
end

-- Returns the build-ids that the user knows, by path; or nil and what is wrong.
local function read_known(text)
  local path, known = text:match "^file://(.*)$", {}
  local wrong
  if path then
    local file <close>, message = io.open(path, "rb")
    local all = file and file:read "a"
    if not all then
      return nil, "--known-build-ids: " .. (message or path .. ": cannot read it")
    end
    wrong = add_pairs(known, all, "\n")
  else
    wrong = add_pairs(known, text, ",")
  end
  if wrong then return nil, wrong end
  return known
end

function tool.prepare(args, out, host)
  local settings, message = writing.prepare(args, out, host)
  if not settings then return nil, message end
  local known
  if args["known-build-ids"] then
    known, message = read_known(args["known-build-ids"])
    if not known then return nil, message end
  end
  settings.inject = {
    build_ids = args["buildid-all"] and "all" or args["build-ids"] and "hit" or nil,
    mappings = args["mmap2-buildid-all"] and "all" or args["mmap2-buildids"] and "used" or nil,
    known = known, jit = args.jit, sched_stat = args["sched-stat"],
  }
  return settings
end

-- Says what was added, and what could not be.
local function describe(shown, injected, inject)
  if inject.jit then
    shown:write(("  %s of %s\n"):format(amounts.count(injected.functions, "function"),
      amounts.count(injected.jitdumps, "jitdump")))
  end
  for _, unread in ipairs(injected.unread) do
    shown:write(("  %s: %s\n"):format(fmt.escape(unread.filename), unread.reason))
  end
  if inject.sched_stat then
    shown:write(("  %s merged with their switch\n"):format(amounts.count(injected.merged,
      "sample")))
  end
  if inject.build_ids then
    shown:write(("  %s added\n"):format(amounts.count(injected.build_ids, "build-id")))
  end
  if inject.mappings then
    shown:write(("  %s with a build-id%s\n"):format(amounts.count(injected.mappings, "mapping"),
      injected.dropped > 0 and (", %d left out that no sample needs"):format(injected.dropped)
        or ""))
  end
  local by_reason, reasons = {}, {}
  for _, binary in ipairs(injected.unidentified) do
    local list = by_reason[binary.reason]
    if not list then
      list = {}
      by_reason[binary.reason], reasons[#reasons + 1] = list, binary.reason
    end
    list[#list + 1] = binary.filename
  end
  for _, reason in ipairs(reasons) do
    local list = by_reason[reason]
    shown:write(("  no build-id of %s: %s: %s\n"):format(
      amounts.count(#list, "binary", "binaries"), fmt.escape(fmt.names(list, 4)), reason))
  end
end

-- Returns the File to read: of a stream a copy, if its jitdumps are to be whole, which grow
-- beside it. Returns nil and what went wrong.
local function saved_of(file, args)
  if file.size or not args.jit then return file end
  local path = os.tmpname()
  local saved, message = file:records { container = true }:write(path, { force = true })
  if saved then saved, message = perflua.open(path, symbols.of(args)) end
  os.remove(path)
  return saved, message
end

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table
---@return integer? status
---@return string? message
function tool.run(file, args, out, settings)
  local inject = settings.inject
  if not next(inject) then
    return USAGE, "inject: an option that says what to inject is missing, such as -b; convert "
      .. "writes a recording as it is"
  end
  local saved <close>, message = saved_of(file, args)
  if not saved then return nil, message end
  file = saved
  if inject.mappings == "used" then
    if file.size then names.ask(file) else inject.mappings = "all" end
  end
  return writing.run("inject", file:records { container = true }, args, out, settings, false,
    function(shown, summary) describe(shown, summary.injected, inject) end)
end

return tool
