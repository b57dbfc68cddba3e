-- compare.lua BEFORE AFTER DIFF < NAMES: compares the outputs in the directories BEFORE and
-- AFTER, of the recordings that the input names. Lists the first differences, writes all to
-- DIFF, and exits with 1 if there are some. ORDER=any accepts those that have the same rows in
-- another order.

local differences = require "spec.compare.differences"
local files = require "spec.support.files"

local LISTED = 20

local before_dir, after_dir, diff_path = table.unpack(arg)
local diff <close> = assert(io.open(diff_path, "wb"))
local jobs, differing, only_order, listed = 0, 0, 0, 0

local function report(name, difference)
  differing = differing + 1
  local verdict = ""
  if difference.only_order then
    only_order = only_order + 1
    verdict = ": the same rows in another order"
  end
  local text = ("%s: %s%s\n  line %d\n  - %s\n  + %s\n"):format(name, difference.job,
    verdict, difference.line, difference.before, difference.after)
  diff:write(text, "--- before\n", difference.outputs[1], "\n+++ after\n",
    difference.outputs[2], "\n\n")
  if listed < LISTED then
    listed = listed + 1
    io.write(text)
  end
end

for name in io.lines() do
  local count, list = differences.find(files.read(("%s/%s"):format(before_dir, name)),
    files.read(("%s/%s"):format(after_dir, name)))
  jobs = jobs + count
  for _, difference in ipairs(list) do report(name, difference) end
end
if differing > listed then
  print(("… and %d more, see %s"):format(differing - listed, diff_path))
end
print(("%d outputs compared: %d are equal, %d have the same rows in another order, %d differ")
  :format(jobs, jobs - differing, only_order, differing - only_order))
local accepted = os.getenv "ORDER" == "any" and only_order or 0
os.exit(differing <= accepted and jobs > 0, true)
