-- queries.lua QUESTION FILE [THREADS]: a question about all samples of a recording, and its
-- answer.

local perflua = require "perflua"

local questions = {}

function questions.types(file) return file:records():group_by("type"):count():sort() end

function questions.comm(file)
  return file:samples():all_events():group_by("comm"):sum("period"):sort()
end

function questions.symbol(file)
  return file:samples():all_events():group_by("comm", "dso", "symbol"):sum("period"):top(20)
end

function questions.stack(file)
  return file:samples():all_events():group_by("comm", "stack"):sum("period"):top(20)
end

function questions.wide(file)
  return file:samples():group_by("comm", "dso", "ip"):sum("period"):sort()
end

-- A group for nearly each record: only how many there are, the first, or all in some form.
local function by_time(file) return file:samples():group_by("time"):count():table() end

function questions.times(file) return #by_time(file) end

function questions.times_top(file) return by_time(file):top(10) end

function questions.times_text(file) return by_time(file) end

function questions.times_csv(file) return by_time(file):csv() end

function questions.times_json(file) return by_time(file):json() end

function questions.filter(file)
  return file:samples():where("cpu == 1 and period > 0 and comm ~= 'swapper'"):count()
end

function questions.branch_addresses(file)
  return file:samples():unnest "branch_stack":group_by("branch.from", "branch.to"):count()
    :top(20)
end

function questions.branch_symbols(file)
  return file:samples():unnest "branch_stack"
    :group_by("branch.symbol_from", "branch.symbol_to"):count():top(20)
end

function questions.frames(file)
  return file:samples():unnest("callchain", { once = "frame.symbol" })
    :group_by("frame.symbol"):sum("period"):top(20)
end

local file <close> = assert(perflua.open(arg[2], { jobs = tonumber(arg[3]),
  any_binary = arg[4] == "any_binary" }))
print(questions[arg[1]](file))
