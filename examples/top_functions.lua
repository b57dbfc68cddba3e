-- The N hottest functions of each command, as CSV (default: 3).
--
-- needs: perf record …
--
-- usage: perflua examples/top_functions.lua [perf.data [N [SYMFS]]]
--
-- $ perflua examples/top_functions.lua spec/fixtures/words/perf.data 2 spec/fixtures/words
-- comm,symbol,period,share_period
-- tree,compare,220661980,30.178326474622768
-- tree,find_in_tree,190571710,26.06310013717421
-- list,compare,102306918,13.991769547325102
-- list,find_in_list,43129387,5.8984910836762685
-- table,compare,32096288,4.38957475994513
-- table,hash,30090270,4.11522633744856

local file <close> = assert(perflua.open(arg[1], { symfs = arg[3] }))
local n = math.tointeger(tonumber(arg[2] or 3)) or error "N is a number of functions"

assert(file:samples()
  :group_by("comm", "symbol"):sum("period"):share("period")
  :top(n, "period", { per = "comm" })
  :csv())
