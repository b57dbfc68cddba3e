-- perflua check SPEC.lua REC…: whether recordings have what a performance spec expects.

local check = require "perflua.check"
local recording = require "perflua.recording"
local strip_position = require("perflua.errors").strip_position
local write_output = require("perflua.table.output").to

local fmt = require "perflua.text.fmt"
local split = require "perflua.text.split"
local words = require "perflua.check.words"

local function add_event(list, name)
  for _, event in ipairs(list) do
    if event == name then return end
  end
  list[#list + 1] = name
end

local function add_spans(events, call)
  if type(call) == "string" then
    add_event(events, "raw_syscalls:sys_enter")
    add_event(events, "raw_syscalls:sys_exit")
    return
  end
  for _, side in ipairs { call.open, call.close } do
    local event = type(side) == "table" and (side.event or side[1]) or side
    if type(event) == "string" then add_event(events, event) end
  end
end

-- Quotes the words of a text, each for itself, so that a shell evaluates nothing of them.
local function quote_words(text)
  local list = split.command((text:gsub("%s+$", "")))
  for i, word in ipairs(list) do list[i] = fmt.shell_word(word) end
  return table.concat(list, " ")
end

-- Returns the words after -- of perf record: a command, or a shell that runs what needs one.
local function quote_command(text)
  if text:find "[;|&<>()$`*?%[#~\\!{}]" or text:find "^%s*[%a_][%w_]*=" then
    return "sh -c " .. fmt.shell_word(text)
  end
  return quote_words(text)
end

-- Returns the options of perf record that the quantities of a spec need.
local function options_of(spec)
  local events, has_chains, is_sampled = {}, false, false
  for _, condition in ipairs(spec.conditions) do
    local quantity = condition.quantity
    if quantity.kind == "quantile" then add_spans(events, quantity.of) end
    if quantity.is_sampled then
      is_sampled = true
      if type(quantity.event) == "string" then add_event(events, quantity.event) end
    end
    has_chains = has_chains or quantity.kind == "children"
  end
  local options = { has_chains and "-g" or nil }
  if is_sampled and #events > 0 then table.insert(events, 1, "cycles") end
  for _, event in ipairs(events) do
    options[#options + 1] = "-e"
    options[#options + 1] = fmt.shell_word(event)
  end
  options[#options + 1] = spec.options and quote_words(spec.options)
  return table.concat(options, " ")
end

local function add_runs(lines, name, spec, options)
  local paths = {}
  for i = 1, spec.runs or words.RUNS do
    paths[i] = ("%s%d.data"):format(name, i)
    lines[#lines + 1] = ("perf record %s-o %s -- %s"):format(options ~= "" and options .. " "
      or "", paths[i], spec.workload and quote_command(spec.workload) or "COMMAND")
  end
  return table.concat(paths, " ")
end

---Returns the commands that make the recordings of a performance spec: --record.
---@param spec table of words.run
---@param path string of the spec
---@return string[] # lines of a shell script
local function recipe_lines(spec, path)
  local options, lines = options_of(spec), {}
  local baseline
  if words.needs_baseline(spec) then
    lines[1] = "# with the version to compare with, built and run as the other one is:"
    baseline = add_runs(lines, "baseline", spec, options)
    lines[#lines + 1] = "# with the version that is checked:"
  end
  local runs = add_runs(lines, "run", spec, options)
  lines[#lines + 1] = ("perflua check %s %s%s"):format(fmt.shell_word(path), runs,
    baseline and " --baseline " .. baseline or "")
  return lines
end

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

-- Results as text, TAP (testanything.org) and JUnit XML.
local forms = {}

local OK <const>, FAILED <const> = "ok", "failed"

local function count_verdicts(list)
  local counts = { ok = 0, failed = 0, ["cannot tell"] = 0 }
  for _, result in ipairs(list) do
    counts[result.verdict] = counts[result.verdict] + 1
  end
  return counts
end

---@param list table[] of check.run
---@param write fun(text: string)
function forms.text(list, write)
  for _, result in ipairs(list) do
    write(("%-11s  %s: %s\n"):format(result.verdict == FAILED and "FAILED" or result.verdict,
      fmt.escape(result.text), fmt.escape(result.found)))
  end
  for _, note in ipairs(list.notes) do write(("# %s\n"):format(fmt.escape(note))) end
  local counts = count_verdicts(list)
  write(("# %s: %d ok, %d failed, %d cannot be told\n"):format(fmt.phrase(#list,
    "{expectation|expectations}"), counts.ok, counts.failed, counts["cannot tell"]))
end

-- A # would begin a directive.
local function escape_tap(text) return (fmt.escape(text):gsub("[#\\]", "\\%0")) end

---TAP has no third result: an expectation that cannot be told is skipped.
---@param list table[]
---@param write fun(text: string)
function forms.tap(list, write)
  write(("TAP version 13\n1..%d\n"):format(#list))
  for i, result in ipairs(list) do
    local skipped = result.verdict ~= OK and result.verdict ~= FAILED
    write(("%s %d - %s%s\n"):format(result.verdict == FAILED and "not ok" or "ok", i,
      escape_tap(result.text), skipped and " # SKIP cannot tell" or ""))
    write(("  ---\n  found: %q\n  ...\n"):format(fmt.escape(result.found)))
  end
  for _, note in ipairs(list.notes) do write(("# %s\n"):format(fmt.escape(note))) end
end

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function escape_xml(text) return (fmt.escape(text):gsub('[&<>"]', entities)) end

---An expectation that cannot be told is an error in JUnit: the test has no result.
---@param list table[]
---@param write fun(text: string)
---@param name string of the spec
function forms.junit(list, write, name)
  local counts = count_verdicts(list)
  write '<?xml version="1.0" encoding="UTF-8"?>\n'
  write(('<testsuite name="%s" tests="%d" failures="%d" errors="%d">\n'):format(
    escape_xml(name), #list, counts.failed, counts["cannot tell"]))
  for _, result in ipairs(list) do
    write(('  <testcase classname="%s" name="%s" time="%.3f">\n'):format(escape_xml(name),
      escape_xml(result.text), result.seconds))
    local found = escape_xml(result.found)
    if result.verdict == FAILED then
      write(('    <failure message="%s" type="%s"/>\n'):format(found, result.op))
    elseif result.verdict ~= OK then
      write(('    <error type="cannot tell" message="%s"/>\n'):format(found))
    else
      write(("    <system-out>%s</system-out>\n"):format(found))
    end
    write "  </testcase>\n"
  end
  if list.notes[1] then
    local notes = escape_xml(table.concat(list.notes, "; "))
    write(("  <system-out>%s</system-out>\n"):format(notes))
  end
  write "</testsuite>\n"
end

local function write_results(list, args, path, out)
  local form = args.tap and "tap" or args.junit and "junit" or "text"
  local ok, message = write_output(args.o ~= "-" and args.o or out, function(write)
    forms[form](list, write, path)
  end)
  if not ok then return nil, message end
  local counts = count_verdicts(list)
  return counts.failed > 0 and 1 or counts["cannot tell"] > 0 and 4 or 0
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
    out:write(table.concat(recipe_lines(spec, args[1]), "\n"), "\n")
    return 0
  end
  local ok, status, message = pcall(run_checks, side, args, out, spec, baseline)
  if ok then return status, message end
  return nil, fmt.escape(strip_position(status))
end

return tool
