-- How often each event was sampled, and how many events the samples stand for.
--
-- usage: perflua examples/count_by_event.lua [perf.data]
--
-- $ perflua examples/count_by_event.lua spec/fixtures/demo.perf.data
-- event             count     period
-- cpu-clock           457  380833181
-- context-switches    176        506
-- page-faults          39      16120

local file <close> = assert(perflua.open(arg[1]))

print(file:samples():group_by("event"):count():sum("period"):sort())
