-- Shows by function the time that was spent below one function and not below another one.
--
-- needs: perf record -g …
--
-- usage: perflua examples/under.lua perf.data FUNCTION [NOT-BELOW [SYMFS]]
--
-- $ perflua examples/under.lua spec/fixtures/words/perf.data run compare spec/fixtures/words
-- symbol         period  share_period  running_share_period
-- find_in_tree    191ms        51.21%                51.21%
-- random_below   48.1ms        12.94%                64.15%
-- find_in_list   43.1ms        11.59%                75.74%
-- hash           30.1ms         8.09%                83.83%
-- find_in_table  28.1ms         7.55%                91.37%

local path, above, other, symfs = table.unpack(arg, 1, 4)
if not above then
  error("usage: perflua examples/under.lua perf.data FUNCTION [NOT-BELOW [SYMFS]]", 0)
end
local file <close> = assert(perflua.open(path, { symfs = symfs }))

local filter = ("under('%s')"):format(above)
if other then filter = filter .. (" and not under('%s')"):format(other) end
print(file:samples():where(filter)
  :group_by("symbol"):sum("period"):unit("duration"):share("period"):running("share_period")
  :top(5))
