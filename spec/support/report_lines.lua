-- The lines of perf report --stdio and of perflua report, to compare: all but those that begin
-- with #, empty ones, and blanks at the ends of lines.
local files = require "spec.support.files"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"

local report_lines = {}

--- Options by which neither resolves with files of this machine.
report_lines.unresolved = "--symfs spec/fixtures/empty --kallsyms /dev/null"

local function lines_of(text)
  local list = {}
  for line in text:gmatch "[^\n]+" do
    line = line:gsub("%s+$", "")
    if line ~= "" and not line:find "^#" then list[#list + 1] = line end
  end
  return list
end

---@param options string words of a shell
function report_lines.of_perf(path, options)
  return lines_of((files.output(("perf report --stdio -f -i %s %s 2>/dev/null"):format(
    files.quote(path), options))))
end

function report_lines.of_ours(path, options)
  local got = run.shell(("\"$perflua\" report --as %s %s %s"):format(oracle.version,
    files.quote(path), options))
  assert(got.err == "" and got.status == 0, got.err)
  return lines_of(got.out)
end

--- Lines in the order of bytes, with one blank between words: for rows that are equal in what
--- they are sorted by.
function report_lines.sorted(list)
  for i, line in ipairs(list) do list[i] = line:gsub("%s+", " ") end
  table.sort(list)
  return list
end

return report_lines
