-- perflua check SPEC.lua REC…: whether recordings have what a performance spec expects.

local check = require "perflua.check"
local fmt = require "perflua.text.fmt"
local output = require "perflua.check.output"
local recording = require "perflua.recording"
local strip_position = require("perflua.errors").strip_position
local write_output = require("perflua.table.output").to

local tool = {
  description = "check recordings against performance specs, as in a CI",
  usage = "check [options] SPEC.lua REC… [--baseline REC…]",
  reads = "sides", operands = { 1, math.huge }, sides = "--baseline",
  options = {
    baseline = { "REC…", "the recordings that changes refer to: all words after this one" },
    tap = "write the results as TAP", junit = "write the results as JUnit XML",
    record = "print how the recordings are made; none is read",
    o = { "FILE", "write the results to FILE; default: standard output" },
  },
  help = [[
Several recordings are runs of the same work. The exit status is 0 if all expectations hold, 1 if one
fails, and 4 if none fails but one is undecided: that needs more runs, or longer ones.

  expect(share "malloc"):below "5 %"
  expect(children "parse"):below "30 %"
  expect(p99 "syscall read"):below "2 ms"
  expect(change "parse"):not_slower()
  expect(change "parse"):faster():or_gone()
  expect(lost()):below "1 %"

perflua help performance-specs describes them all.]],
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

function tool.prepare(args)
  if args.tap and args.junit then return nil, "--tap and --junit exclude each other" end
  if recording.is_at(args[1]) then
    return nil, ("%s is a recording, and the spec comes first"):format(args[1])
  end
  local spec, message = check.read(args[1])
  if not spec then return nil, fmt.escape(message), USAGE end
  return spec
end

-- Returns the recordings after the spec, and those of the baseline.
function tool.opens(args, spec)
  if args.record then return {} end
  local n = args.before or #args
  local paths = table.move(args, 2, n, 1, {})
  if #paths == 0 then return nil, "no recording is named" end
  local baseline = table.move(args, n + 1, #args, 1, {})
  if not baseline[1] and check.needs_baseline(spec) then
    return nil, ("%s is about changes, and no recording to compare with is named: "
      .. "--baseline REC…"):format(args[1])
  end
  return { paths, baseline }
end

local function run_checks(side, args, out, spec, baseline)
  local saved = side.saved or baseline.saved
  if saved then return nil, saved .. ": a recording expected, not a table" end
  return write_results(check.run(spec, side.files, baseline.files), args, args[1], out)
end

---@param side table? the recordings
---@param args table
---@param out file*
---@param spec table what tool.prepare gave
---@param baseline table?
---@return integer | nil status
---@return string | nil message
function tool.run(side, args, out, spec, baseline)
  if args.record then
    local recipe = require "perflua.check.recipe"
    out:write(table.concat(recipe.lines(spec, args[1]), "\n"), "\n")
    return 0
  end
  local ok, status, message = pcall(run_checks, side, args, out, spec, baseline)
  if ok then return status, message end
  return nil, fmt.escape(strip_position(status))
end

return tool
