-- Divides the count of one event by that of another, by function, thread or any other key: the
-- events instructions and cycles give the instructions per cycle.
--
-- needs: perf record -e '{cycles,instructions}:S' …
--
-- usage: perflua examples/ratio.lua perf.data OVER UNDER [KEY]     (KEY: default is "symbol")
--
-- $ perflua examples/ratio.lua spec/fixtures/demo.perf.data page-faults context-switches comm
-- comm  ratio  count
-- sh    91.92     40
-- sort   3.14     40
-- awk    2.13     29
-- head   0.00     77

local path, over, under, key = table.unpack(arg, 1, 4)
if not under then error("usage: perflua examples/ratio.lua perf.data OVER UNDER [KEY]", 0) end
local file <close> = assert(perflua.open(path))
local a, b = file.events[over], file.events[under]
if not (a and b) then error(path .. ": no event " .. (a and under or over), 0) end

print(file:samples { event = { a, b } }
  :group_by(key or "symbol"):ratio(a, b):as("ratio"):count()
  :having("ratio ~= nil and count >= 20")
  :sort("ratio"))
