-- compare.lua BEFORE AFTER DIFF < NAMES: compares the outputs in the directories BEFORE and
-- AFTER, of the recordings that the input names. Lists the first differences, writes all to
-- DIFF, and exits with 1 if there are some. ORDER=any accepts those that have the same rows in
-- another order.

local differences = require "spec.compare.differences"
local files = require "spec.support.files"

local LISTED, OF_ONE = 20, 3 -- differences that are listed, and those of one recording

local before_dir, after_dir, diff_path = table.unpack(arg)
local diff <close> = assert(io.open(diff_path, "wb"))
local jobs = 0
local counts = { [true] = 0, [false] = 0 } -- by whether the rows are the same
local lists = { [true] = {}, [false] = {} }

local function add(name, difference, n)
  local only_order = difference.only_order == true
  local text = ("%s: %s%s\n  line %d\n  - %s\n  + %s\n"):format(name, difference.job,
    only_order and ": the same rows in another order" or "", difference.line,
    difference.before, difference.after)
  diff:write(text, "--- before\n", difference.outputs[1], "\n+++ after\n",
    difference.outputs[2], "\n\n")
  counts[only_order] = counts[only_order] + 1
  if n <= OF_ONE then table.insert(lists[only_order], text) end
end

for name in io.lines() do
  local count, list = differences.find(files.read(("%s/%s"):format(before_dir, name)),
    files.read(("%s/%s"):format(after_dir, name)))
  jobs = jobs + count
  local seen = { [true] = 0, [false] = 0 }
  for _, difference in ipairs(list) do
    local only_order = difference.only_order == true
    seen[only_order] = seen[only_order] + 1
    add(name, difference, seen[only_order])
  end
end
local listed = table.move(lists[true], 1, #lists[true], #lists[false] + 1, lists[false])
io.write(table.concat(listed, "", 1, math.min(LISTED, #listed)))
local differing = counts[true] + counts[false]
if differing > LISTED or #listed < differing then
  print(("… and %d more, all of them in %s"):format(differing - math.min(LISTED, #listed),
    diff_path))
end
print(("%d outputs compared: %d are equal, %d have the same rows in another order, %d differ")
  :format(jobs, jobs - differing, counts[true], counts[false]))
os.exit(jobs > 0 and counts[false] == 0 and (counts[true] == 0 or os.getenv "ORDER" == "any"),
  true)
