-- Events that a report shows together: the groups in which they were recorded, or all of them.

local core = require "perflua.core"
local has_difference = require("perflua.recording").has_difference
local spec_of = core.query_spec

local groups = {}

-- Returns the events of a group that are asked for, without those that are left out.
local function keep(list, asked, is_left_out)
  local kept = {}
  for _, event in ipairs(list) do
    if asked[event.index] and not is_left_out(event) then kept[#kept + 1] = event end
  end
  return kept
end

---@param query perflua.Query
---@param how { all: boolean?, skips: (fun(event: table): boolean)? }? nil: each is alone.
--- all: events that were not recorded in groups are one; skips: events that no group has
---@return table[]? # { leader, slot } by number of the event, as core.report() takes it
---@return integer # slots of the largest group
function groups.of(query, how)
  if not how then return nil, 1 end
  local events, asked, members = spec_of(query).file.events, {}, {}
  for _, event in ipairs(spec_of(query).scope:events()) do asked[event.index] = true end
  local function add(list)
    for slot, event in ipairs(list) do
      members[event.index] = { leader = list[1].index, slot = slot }
    end
    return #list
  end
  local most = 1
  local skips = how.skips or function() return false end
  local is_grouped = groups.are_recorded(spec_of(query).file)
  for i = 1, #events do
    members[i] = members[i] or { leader = i, slot = 1 }
    local event = events[i]
    if is_grouped and event.leader.index == i then
      most = math.max(most, add(keep(event.members, asked, skips)))
    end
  end
  if how.all and not is_grouped then
    local list = {}
    for i = 1, #events do list[i] = events[i] end
    most = add(keep(list, asked, skips))
  end
  return members, math.max(most, 1)
end

---@param file perflua.File
---@param health table of core.health()
---@return (fun(event: table): boolean)? # whether perf has no column of an event in a
--- group, since it has no samples; nil: it has all
function groups.skips(file, health)
  if not has_difference(file, "skips_empty") then return nil end
  return function(event) return health.events[event.index].samples == 0 end
end

---@param members table[] entries of events, of report.read
---@param file perflua.File
---@return string # as perf names them
function groups.name(members, file)
  local names = {}
  for i, member in ipairs(members) do names[i] = member.event end
  local list, leader = table.concat(names, ", "), file.events[members[1].index]
  if #leader.members == 1 then return list end
  return ("%s { %s }"):format(leader.group_name or "anon group", list)
end

local function add_counts(to, from)
  for _, name in ipairs { "samples", "period", "also", "unresolved" } do
    to[name] = from[name] and (to[name] or 0) + from[name] or to[name]
  end
end

---Sets the sums of a section.
---@param section table of report.read
function groups.add_up(section)
  section.samples, section.period, section.also, section.unresolved = 0, 0, nil, nil
  for _, member in ipairs(section.members) do
    add_counts(section, member)
    if member.whole then
      section.whole = section.whole or {}
      add_counts(section.whole, member.whole)
    end
  end
end

---@param file perflua.File
---@return boolean # whether events were recorded in groups
function groups.are_recorded(file)
  for i = 1, #file.events do
    if #file.events[i].members > 1 then return true end
  end
  return false
end

return groups
