-- Context switches over time, in steps of MS milliseconds (25).
--
-- needs: perf record -e context-switches …
--
-- usage: perflua examples/context_switches.lua [perf.data [MS]]
--
-- $ perflua examples/context_switches.lua spec/fixtures/demo.perf.data
--    ms  switches
--     0       113  #########################################################
--    25        33  #################
--    50       117  ###########################################################
--    75       112  #########################################################
--   100        16  #########
--   125        26  ##############
--   150         1  #
--   175         0
--   200         0
--   225         0
--   250         0
--   275         0
--   300         0
--   325        15  ########
--   350        73  #####################################

local file <close> = assert(perflua.open(arg[1]))
local ms = tonumber(arg[2]) or 25
local start, step = file.first_time, math.max(1, math.floor(ms * 1000000))

-- A sample stands for `period` switches.
local switches, last = {}, 0
for time, period in file:samples("context-switches"):select("time", "period") do
  local i = (time - start) // step
  switches[i] = (switches[i] or 0) + period
  last = math.max(last, i)
end

print("   ms  switches")
for i = 0, last do
  local n = switches[i] or 0
  print(("%5g  %8d%s"):format(i * ms, n, n > 0 and "  " .. ("#"):rep(n // 2 + 1) or ""))
end
