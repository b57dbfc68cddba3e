-- Options that tools take for perflua.open: where symbols are looked for, and whose text is
-- printed.

local core = require "perflua.core"

local symbols = {}

symbols.options = {
  symfs = { "DIR", "look up binaries below DIR, a copy of the recorded machine" },
  kallsyms = { "FILE", "a copy of /proc/kallsyms of the recorded kernel" },
  vmlinux = { "FILE", "the recorded kernel" },
  ["buildid-dir"] = { "DIR", "the build-id cache; default: ~/.debug" },
  debuginfod = "ask the servers in DEBUGINFOD_URLS",
  ["any-binary"] = "use the files on this machine even without a recorded build-id",
  ["no-demangle"] = "do not demangle names of C++ and Rust",
}

local newest, oldest = core.perf_version()

--- The option of tools that print what perf prints.
symbols.as = { "VERSION", ("print like this version of perf: %s to %s; default: recorded, the "
  .. "one that made the recording"):format(oldest, newest) }

--- The option that tells which version that is.
symbols.verbose = "say on standard error which version of perf it prints like"

---@param args table what tools.parse gave
---@return string? message what is wrong with --as or --symfs
function symbols.wrong(args)
  local known, message = core.perf_version(args.as)
  if not known then return "--as: " .. message end
  if args.symfs and args.symfs:find ",flat$" then -- as perf has it
    return "--symfs: files are found by their whole path below the directory; --buildid-dir "
      .. "finds them by their build-id"
  end
end

---@param args table what tools.parse gave
---@param tool table? one that may print what perf prints
---@return table # options of perflua.open
function symbols.of(args, tool)
  return {
    as = args.as or tool and tool.options and tool.options.as and "recorded" or nil,
    symfs = args.symfs and args.symfs:match "^(.*),hierarchy$" or args.symfs,
    kallsyms = args.kallsyms, vmlinux = args.vmlinux,
    buildid_dir = args["buildid-dir"],
    debuginfod = args.debuginfod, demangle = not args["no-demangle"],
    any_binary = args["any-binary"], full_source_path = args["full-source-path"],
  }
end

return symbols
