-- Shows which commands used the processor between two markers that any thread may set: here
-- the starts of commands. For events that mark times, set `open` and `close` to their names,
-- such as "sdt:begin".
--
-- needs: perf record …
--
-- usage: perflua examples/between_markers.lua perf.data FROM-COMMAND TO-COMMAND
--
-- $ perflua examples/between_markers.lua spec/fixtures/demo.perf.data sort sleep
-- 1718.322761 to 1718.422379: 99.617 ms
-- comm    count  share_period  running_share_period
-- gzip       90        59.21%                59.21%
-- head       28        18.42%                77.63%
-- find       23        15.13%                92.76%
-- sort        6         3.95%                96.71%
-- sh          2         1.32%                98.03%
-- wc          2         1.32%                99.34%
-- md5sum      1         0.66%               100.00%
-- # 1 span; not counted: 1 not over when the recording ended

local path, from, to = table.unpack(arg, 1, 3)
if not to then
  error("usage: perflua examples/between_markers.lua perf.data FROM-COMMAND TO-COMMAND", 0)
end
local file <close> = assert(perflua.open(path))

local function start_of(command)
  return { type = "comm", where = { exec = true, comm = command } }
end

local spans = file:records():pair { open = start_of(from), close = start_of(to), key = false }
for span in spans:each() do
  print(("%s to %s: %.3f ms"):format(perflua.seconds(span.start), perflua.seconds(span.stop),
    span.duration / 1e6))
end
print(file:samples("cpu-clock"):within(spans, { key = false, closed = true })
  :group_by("comm"):count():share("period"):running("share_period"))
