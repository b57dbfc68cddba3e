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

function questions.filter(file)
  return file:samples():where("cpu == 1 and period > 0 and comm ~= 'swapper'"):count()
end

local file <close> = assert(perflua.open(arg[2], { threads = tonumber(arg[3]) }))
print(questions[arg[1]](file))
