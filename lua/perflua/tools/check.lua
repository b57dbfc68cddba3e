-- perflua check SPEC.lua REC…: whether recordings have what a performance spec expects.

local check = require "perflua.check"
local fmt = require "perflua.text.fmt"
local output = require "perflua.check.output"
local recording = require "perflua.recording"
local samples = require "perflua.toolkit.samples"
local sides = require "perflua.toolkit.sides"
local strip_position = require("perflua.errors").strip_position
local symbols = require "perflua.toolkit.symbols"
local write_output = require("perflua.table.output").to

local tool = {
  description = "check what performance specs expect of recordings, for a CI",
  usage = "check [options] SPEC.lua REC… [--baseline REC…]",
  recordings = false, operands = { 1, math.huge }, sides = "--baseline",
  options = samples.with_options(symbols.with_options {
    baseline = { "REC…", "the recordings that changes refer to: all behind this word" },
    tap = "write the results as TAP", junit = "write the results as JUnit XML",
    record = "print how the recordings are made; none is read",
    o = { "FILE", "write the results to FILE; default: standard output" },
  }),
  help = [[
Several recordings are runs of the same work. The exit status is 0 if all expectations hold, 1 if one
fails, 4 if none fails and one cannot be told: more runs, or longer ones, are needed then.

  expect(share "malloc"):below "5 %"
  expect(children "parse"):below "30 %"
  expect(p99 "syscall read"):below "2 ms"
  expect(change "parse"):not_slower()
  expect(change "parse"):faster():or_gone()
  expect(lost()):below "1 %"

perflua help performance-specs has all words.]],
}

local USAGE = 2

local function write_results(list, args, path, out)
  local form = args.tap and "tap" or args.junit and "junit" or "text"
  local ok, message = write_output(args.o ~= "-" and args.o or out, function(write)
    output[form](list, write, path)
  end)
  if not ok then return nil, message end
  return output.status(list)
end

-- Opens recordings; saved tables cannot be checked.
local function open_files(paths, args)
  local opened, message, status = sides.open("check", paths, args)
  if not opened then return nil, message, status end
  for i, path in ipairs(paths) do
    if not opened.files[i] then return nil, path .. ": a recording expected, not a table" end
  end
  return opened.files
end

local function run_checks(said, args, paths, out)
  local n = args.before or #args
  local recordings = table.move(args, 2, n, 1, {})
  if #recordings == 0 then return USAGE, "check: no recording is named" end
  local baseline_paths = table.move(args, n + 1, #args, 1, {})
  if not baseline_paths[1] and check.needs_baseline(said) then
    return USAGE, ("check: %s is about changes, and no recording to compare with is named: "
      .. "--baseline REC…"):format(paths)
  end
  local files, baseline, message, status
  files, message, status = open_files(recordings, args)
  if files then baseline, message, status = open_files(baseline_paths, args) end
  if not baseline then return status, message end
  return write_results(check.run(said, files, baseline), args, paths, out)
end

---@param args table
---@param out file*
---@return integer | nil status
---@return string | nil message
function tool.run(args, out)
  if args.tap and args.junit then
    return USAGE, "check: --tap and --junit exclude each other"
  end
  if recording.is_at(args[1]) then
    return USAGE, ("check: %s is a recording, and the spec comes first"):format(args[1])
  end
  local said, message = check.read(args[1])
  if not said then return USAGE, fmt.escape(message) end
  if args.record then
    local recipe = require "perflua.check.recipe"
    out:write(table.concat(recipe.lines(said, args[1]), "\n"), "\n")
    return 0
  end
  local ok, status
  ok, status, message = pcall(run_checks, said, args, args[1], out)
  if ok then return status, message end
  return nil, fmt.escape(strip_position(status))
end

return tool
