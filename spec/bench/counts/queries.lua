-- queries.lua NAME DIR: asks one of the recordings in DIR a query, or loops over it; prints the
-- answer.

local perflua = require "perflua"

local dir = arg[2]

local function open(name)
  return assert(perflua.open(("%s/%s.data"):format(dir, name),
    { symfs = "spec/fixtures/words", kallsyms = dir .. "/kallsyms.txt" }))
end

local queries = {}

function queries.loop_records()
  local n = 0
  for sample in open("clock"):samples() do n = n + sample.pid + sample.cpu + sample.period end
  print(n)
end

function queries.loop_select()
  local n = 0
  for pid, cpu, period in open("clock"):samples():select("pid", "cpu", "period") do
    n = n + pid + cpu + period
  end
  print(n)
end

function queries.loop_args()
  local n = 0
  for sample in open("calls"):samples() do n = n + sample.args.id end
  print(n)
end

function queries.handlers()
  local n = 0
  open("clock"):run {
    sample = function(sample) n = n + sample.period end,
    comm = function(record) n = n + #record.comm end,
  }
  print(n)
end

function queries.by_integer() return open("clock"):samples():group_by("pid"):count():sort() end

function queries.by_text() return open("clock"):samples():group_by("comm"):count():sort() end

function queries.by_symbol()
  return open("clock"):samples():group_by("comm", "dso", "symbol"):sum("period"):sort()
end

function queries.by_chain()
  return open("chains"):samples():group_by("callchain"):count():sort():top(10)
end

function queries.by_frame()
  return open("chains"):samples():unnest("callchain", { once = "frame.symbol" })
    :group_by("frame.symbol"):count():sort()
end

function queries.by_argument()
  return open("calls"):samples():all_events():group_by("args.id"):count():sort()
end

function queries.by_function()
  local function parity(sample) return sample.pid % 2 end
  return open("clock"):samples():group_by({ parity = parity }):count():sort()
end

function queries.by_time() return open("clock"):samples():group_by("time"):count():sort() end

function queries.filter()
  return open("clock"):samples():where("pid % 3 == 1 and find(comm, 'task1') or cpu == 2")
    :group_by("cpu"):count():sort()
end

function queries.measures()
  return open("clock"):samples():group_by("comm"):count():sum("period"):avg("period")
    :max("period"):quantile("period", 0.99):distinct("pid"):share("period"):sort()
end

function queries.spans()
  return open("calls"):samples()
    :pair({ open = "raw_syscalls:sys_enter", close = "raw_syscalls:sys_exit" })
    :group_by("open.args.id"):count():sum("duration"):sort()
end

function queries.csv()
  open("clock"):samples():group_by("time", "comm"):count():sort():csv "/dev/null"
end

function queries.json()
  open("clock"):samples():group_by("time", "comm"):count():sort():json "/dev/null"
end

function queries.save()
  local path = dir .. "/saved"
  open("clock"):samples():group_by("time", "comm"):sum("period"):sort():save(path)
  return perflua.load(path):top(10)
end

local result = queries[arg[1]]()
if result then print(result) end
