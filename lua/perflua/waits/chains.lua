-- Chains of wakers: the thread that woke a thread, the thread that had woken that one before
-- its last run, and so on, up to an interrupt.

local chains = {}

-- Runs of each thread that are remembered. A wake is known when the woken thread runs: by then
-- its waker may have slept and run again.
local MOST_RUNS <const> = 64

-- Returns the chain of the last run of a waker before a time; nil: none is known.
local function chain_before(runs, time)
  for n = runs.n, math.max(1, runs.n - MOST_RUNS + 1), -1 do
    local i = n % MOST_RUNS + 1
    if runs[i] <= time then return runs[MOST_RUNS + i] end
  end
end

local function add_run(runs, time, chain)
  runs.n = runs.n + 1
  local i = runs.n % MOST_RUNS + 1
  runs[i], runs[MOST_RUNS + i] = time, chain
end

-- Returns a function that puts a name before a chain, and keeps `depth` names: there are many
-- wakes, and few chains. Equal chains are one table.
local function joiner(depth)
  local chain_of, joined = {}, {}
  return function(name, before)
    local by_chain = joined[name] or {}
    joined[name] = by_chain
    local chain = by_chain[before or false]
    if not chain then
      chain = { name, table.unpack(before or {}, 1, depth - 1) }
      local key = table.concat(chain, "\0")
      chain = chain_of[key] or chain
      chain_of[key], by_chain[before or false] = chain, chain
    end
    return chain
  end
end

---@param depth integer the length of a chain
---@param losses integer[] times of losses, ascending, which end what was known
---@return fun(tid: integer, stop: integer, waker: string, waker_tid: integer?, time: integer):
--- string[] # returns the chain of a wake: of thread tid, which ran at `stop`, by the waker at
--- `time`; without waker_tid nobody woke the waker. Wakes are told in the order of stop
function chains.reader(depth, losses)
  local runs_of, next_loss, join = {}, 1, joiner(depth)
  return function(tid, stop, waker, waker_tid, time)
    while losses[next_loss] and losses[next_loss] <= stop do
      runs_of, next_loss = {}, next_loss + 1
    end
    local before = runs_of[waker_tid]
    local chain = join(waker, before and chain_before(before, time))
    local runs = runs_of[tid]
    if not runs then
      runs = { n = 0 }
      runs_of[tid] = runs
    end
    add_run(runs, stop, chain)
    return chain
  end
end

return chains
