-- Counters of processes: sums of the values that samples carry (perf record -e '{a,b}:S'), or
-- of what threads counted until they ended (perf record --stat).

local counts = {}

local Counts = {}
Counts.__index = Counts

---@param draw fun(pid: integer, name: string, count: integer, time: integer) pid is 0 if no
--- process is known
function counts.new(draw)
  return setmetatable({ draw = draw, has_values = {}, sums = {} }, Counts)
end

function Counts:add(name, pid, count, time)
  pid = pid and pid > 0 and pid or 0
  local sums = self.sums[name] or {}
  self.sums[name] = sums
  sums[pid] = (sums[pid] or 0) + count
  self.draw(pid, name, sums[pid], time)
end

---@param event perflua.Event
---@return boolean # whether its samples carry values of counters
function counts.has_values(event)
  for _, name in ipairs(event.sample_fields) do
    if name == "read" then return true end
  end
  return false
end

---Adds a sample: there is one for each value that moved, whose period says by how much.
---@param s table fields of a sample
function Counts:add_sample(s)
  local event = s.event
  if not event or not s.period then return end
  local is_counted = self.has_values[event.index]
  if is_counted == nil then
    is_counted = counts.has_values(event)
    self.has_values[event.index] = is_counted
  end
  if is_counted then self:add(event.name, s.pid, s.period, s.time) end
end

---Adds what threads of a whole recording counted until they ended.
---@param spec table of a query; if it leaves samples out, nothing is added
function Counts:add_ended(spec)
  local is_recorded = false
  for _, event in ipairs(spec.scope:events()) do
    is_recorded = is_recorded or event.inherit_stat
  end
  if not is_recorded or spec.filters[1] or spec.from or spec.to or spec.events
    or spec.file.mode == "pipe" then return end
  for r in spec.file:records("read"):each() do
    local values = r.read
    if values and values.value then values = { { event = r.event, value = values.value } } end
    for i = 1, values and r.time and #values or 0 do
      local event = values[i].event
      if event then
        self:add(event.name .. ", of threads that ended", r.pid, values[i].value, r.time)
      end
    end
  end
end

return counts
