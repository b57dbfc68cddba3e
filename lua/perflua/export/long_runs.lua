-- Runs of threads as trace events where there is no room for all: those that last long enough,
-- each written when it ends, and the number of running threads only at their ends.

---@param trace table of perflua.export.trace_events
---@param cpus integer the process whose threads are the processors
---@return table # what perflua.waits.runs calls
return function(trace, cpus)
  local begun = {} -- by processor, of its run: the wake-up before it, how many threads ran then

  local function draw(tid, cpu, start, stop)
    local pid, comm = trace:process_of(tid, start)
    local from, to = trace:stamp(start), trace:stamp(stop)
    trace:name_cpu(cpu)
    for _, phase in ipairs { "B", "E" } do
      local stamp = phase == "B" and from or to
      trace:slice(phase, cpus, cpu, trace.run_name(comm, tid), stamp)
      trace:slice(phase, pid, tid, ('"cpu %d"'):format(cpu), stamp)
    end
    trace:counter(cpus, "running threads", "threads", begun[cpu].n_running, from)
    trace:counter(cpus, "running threads", "threads", trace.n_running, to)
    if begun[cpu].wake then trace:arrow(begun[cpu].wake, pid, tid, from) end
  end

  return {
    start = function(tid, cpu)
      trace.n_running = trace.n_running + 1
      begun[cpu] = { wake = trace.woken[tid], n_running = trace.n_running }
      trace.woken[tid] = nil
    end,
    stop = function(tid, cpu, start, stop)
      trace.n_running = trace.n_running - 1
      trace:draw_long(stop - start, draw, tid, cpu, start, stop)
    end,
    drop = function() trace.n_running = trace.n_running - 1 end,
    unknown = function(cpu, start, stop)
      trace:draw_long(stop - start, trace.draw_unknown, trace, cpu, start, stop)
    end,
  }
end
