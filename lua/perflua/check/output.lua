-- Results of performance specs as text, TAP (testanything.org) and JUnit XML.

local fmt = require "perflua.text.fmt"

local output = {}

local OK <const>, FAILED <const> = "ok", "failed"

local function count_verdicts(list)
  local counts = { ok = 0, failed = 0, ["cannot tell"] = 0 }
  for _, one in ipairs(list) do counts[one.verdict] = counts[one.verdict] + 1 end
  return counts
end

---@param list table[] of check.run
---@param write fun(text: string)
function output.text(list, write)
  for _, one in ipairs(list) do
    write(("%-11s  %s: %s\n"):format(one.verdict == FAILED and "FAILED" or one.verdict,
      fmt.escape(one.text), fmt.escape(one.found)))
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
function output.tap(list, write)
  write(("TAP version 13\n1..%d\n"):format(#list))
  for i, one in ipairs(list) do
    local skipped = one.verdict ~= OK and one.verdict ~= FAILED
    write(("%s %d - %s%s\n"):format(one.verdict == FAILED and "not ok" or "ok", i,
      escape_tap(one.text), skipped and " # SKIP cannot tell" or ""))
    write(("  ---\n  found: %q\n  ...\n"):format(fmt.escape(one.found)))
  end
  for _, note in ipairs(list.notes) do write(("# %s\n"):format(fmt.escape(note))) end
end

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function escape_xml(text) return (fmt.escape(text):gsub('[&<>"]', entities)) end

---An expectation that cannot be told is an error in JUnit: the test has no result.
---@param list table[]
---@param write fun(text: string)
---@param name string of the spec
function output.junit(list, write, name)
  local counts = count_verdicts(list)
  write '<?xml version="1.0" encoding="UTF-8"?>\n'
  write(('<testsuite name="%s" tests="%d" failures="%d" errors="%d">\n'):format(
    escape_xml(name), #list, counts.failed, counts["cannot tell"]))
  for _, one in ipairs(list) do
    write(('  <testcase classname="%s" name="%s" time="%.3f">\n'):format(escape_xml(name),
      escape_xml(one.text), one.seconds))
    local found = escape_xml(one.found)
    if one.verdict == FAILED then
      write(('    <failure message="%s" type="%s"/>\n'):format(found, one.op))
    elseif one.verdict ~= OK then
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

---@param list table[]
---@return integer # 1 if an expectation failed, 4 if one cannot be told, else 0
function output.status(list)
  local counts = count_verdicts(list)
  return counts.failed > 0 and 1 or counts["cannot tell"] > 0 and 4 or 0
end

return output
