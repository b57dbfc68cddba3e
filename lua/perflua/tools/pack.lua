-- perflua pack IN -o OUT: a recording that has its names on any machine.

local archive = require "perflua.toolkit.archive"
local core = require "perflua.core"
local amounts = require "perflua.doctor.words"
local fmt = require "perflua.text.fmt"
local names = require "perflua.toolkit.names"
local output = require "perflua.table.output"
local write = require "perflua.write"
local writing = require "perflua.toolkit.writing"

local tool = {
  description = "write a recording with its functions, lines and stacks, for other machines",
  usage = "pack [options] IN -o OUT",
  reads = "records", takes = "symbols", paged = false,
  options = {
    o = writing.options.o, force = writing.options.force,
    source = "also the code and source text of hot functions, for perflua annotate",
    ["min-share"] = { "PERCENT", "with --source: of functions with this share of an event or "
      .. "more; default: 0.5" },
    archive = "instead, a tar archive of the binaries with samples, for perf itself",
  },
  help = [[
OUT is IN with a bundle: the functions, source lines and inlined functions of the addresses that
occur, and what unwinds its copied stacks. On any machine, perflua then shows the names that it shows
here, where it does not find the binary itself; perflua doctor says so. Other programs ignore the
bundle. It is a header feature of files: what perflua convert writes to a pipe lacks it.

With --source it also has the text of source lines and the code of hot functions, which perflua
annotate then shows; look at them before you send it.

With --archive OUT is what perf archive makes, without compression: the binaries with samples, their
debug files, and the kernel's symbols, as perf's build-id cache has them. A file is in it if its
build-id is the recorded one. Where tar extracts it below ~/.debug, perf and perflua find them.

  $ perflua pack perf.data -o packed.data
  $ perflua pack --source --min-share 1 perf.data -o packed.data
  $ perflua pack --archive perf.data -o perf.data.tar
  $ mkdir -p ~/.debug && tar xf perf.data.tar -C ~/.debug    # on the other machine]],
}

local DEFAULT_SHARE <const> = 0.5

function tool.prepare(args, out, host)
  local settings, message = writing.prepare(args, out, host)
  if not settings then return nil, message end
  if args.archive and (args.source or args["min-share"]) then
    return nil, "--archive has whole binaries: --source and --min-share are for the bundle"
  end
  local share = args["min-share"] and tonumber(args["min-share"])
  if args["min-share"] and not (share and share >= 0 and share <= 100) then
    return nil, ("--min-share: a percentage expected, got '%s'"):format(args["min-share"])
  end
  return settings
end

-- Says what is in an archive, and what is not.
local function describe_archive(name, summary, others, shown)
  local function count(n) return amounts.count(n, "binary", "binaries") end
  shown:write(("%s: %s, %s\n"):format(name, count(summary.binaries), amounts.bytes(
    summary.bytes)))
  if summary.missing[1] then
    shown:write(("  %s left out, as no file here has the build-id: %s\n"):format(
      count(#summary.missing), fmt.escape(fmt.names(summary.missing, 4))))
  end
  if others > 0 then
    shown:write(("  %s left out, as no build-id was recorded\n"):format(count(others)))
  end
end

-- Writes the archive to standard output or a file.
local function write_archive(file, args, out)
  local path, to_stdout = fmt.paths(file.path), args.o == "-"
  local rows, others = archive.binaries(file)
  if not rows[1] then
    return nil, path .. ": no binary with samples has a recorded build-id: record without -B "
      .. "and -N, or with --buildid-mmap"
  end
  local ok, message, code = true, nil, nil
  if not to_stdout then ok, message, code = write.check_target(file, args.o, args.force) end
  if not ok then
    return nil, code == "EEXIST" and message .. "; --force replaces it" or message
  end
  local summary
  ok, message = output.with_file(to_stdout and out or args.o, function(to)
    local written, why, kind = archive.write(rows, to)
    summary = written
    return written and true, why, kind
  end)
  if not ok then return nil, message end
  describe_archive(to_stdout and "perflua: pack" or args.o, summary, others,
    to_stdout and io.stderr or out)
  return 0
end

---@param file perflua.File
---@param args table
---@param out file*
---@param settings table
---@return integer? status
---@return string? message
function tool.run(file, args, out, settings)
  if not file.size then
    return nil, ("%s: a stream is read once; save it to a file first"):format(
      fmt.paths(file.path))
  elseif args.archive then
    return write_archive(file, args, out)
  elseif settings.pipe then
    return nil, "pack: a pipe has no room for the names: -o FILE"
  end
  core.collect(file)
  names.ask(file)
  -- what was packed before stays
  if args.source or args["min-share"] or core.has_source(file) then
    names.ask_source(file, tonumber(args["min-share"]) or DEFAULT_SHARE)
  end
  local bundle, found = core.pack(file)
  if not bundle then return nil, ("%s: %s"):format(fmt.paths(file.path), found) end
  return writing.run("pack", file:records { container = true }, args, out, settings, false,
    function(shown) shown:write("  ", names.describe(found, #bundle), "\n") end, bundle)
end

return tool
