-- Rows that differ because only one side knows the names of functions: the binary of the other
-- one is gone, for example.

local fmt = require "perflua.text.fmt"

local unnamed = {}

local VERDICT <const> = "no symbols"
local LEAST <const> = 20 -- samples without a function: with fewer no verdict is possible anyway
local MUCH <const> = 0.1 -- part of a family's amount by which one side has more without a name

-- The amount of a part: samples if they are known.
local function weight_of(part, is_amount)
  local row = part.row
  return row and (row.samples or is_amount and part.value) or 0
end

-- Returns the side of which more has no function than of the other; nil: they are alike.
local function poorer_side(family)
  local a, b = family.before, family.after
  if a.all == 0 or b.all == 0 then return nil end
  local more = b.unnamed / b.all - a.unnamed / a.all
  if math.abs(more) <= MUCH then return nil end
  return more > 0 and "after" or "before"
end

local function is_in_each_run(one, row)
  for r in ipairs(one.runs) do
    if not row or row.states[r] == nil then return false end
  end
  return true
end

local function refuse_verdict(pair)
  pair.verdict, pair.is_unknown = VERDICT, true
end

-- Marks the rows of a family that are missing, by their name, on the poorer side only.
local function mark_family(family, sides)
  local poorer = poorer_side(family)
  if not poorer or (family.samples and family.samples < LEAST) then return end
  local hidden, richer = 0, poorer == "before" and "after" or "before"
  for _, pair in ipairs(family.without) do
    hidden = hidden + (pair[poorer].value or 0)
    -- one of several stacks that lack names may lack the same ones on both sides
    if #family.without == 1 or not is_in_each_run(sides[richer], pair[richer].row) then
      refuse_verdict(pair)
    end
  end
  for _, pair in ipairs(family.named) do
    -- a row that is far more than all that has no name was not hidden there
    local fits = not sides.is_amount or (pair[richer].value or 0) <= 2 * hidden
    if fits and not is_in_each_run(sides[poorer], pair[poorer].row) then
      refuse_verdict(pair)
    end
  end
end

local function new_family()
  return { before = { all = 0, unnamed = 0 }, after = { all = 0, unnamed = 0 }, named = {},
    without = {}, samples = 0 }
end

---Sets the verdict of pairs that cannot be compared because functions have a name on one side
---only.
---@param before table a side
---@param after table
---@param list table[] pairs
---@param place_of fun(pair: table): string?, boolean the family of a pair, whose functions
--- take the place of each other; and whether it has no name
function unnamed.mark(before, after, list, place_of)
  local families, is_amount = {}, before.basis.is_amount
  local sides = { before = before, after = after, is_amount = is_amount }
  for _, pair in ipairs(list) do
    local id, is_unnamed = place_of(pair)
    if id then
      local family = families[id] or new_family()
      families[id] = family
      table.insert(is_unnamed and family.without or family.named, pair)
      for _, which in ipairs { "before", "after" } do
        local sum, weight = family[which], weight_of(pair[which], is_amount)
        sum.all = sum.all + weight
        if is_unnamed then sum.unnamed = sum.unnamed + weight end
      end
      if is_unnamed then
        family.samples = family.samples and pair.samples and family.samples + pair.samples
      end
    end
  end
  for _, family in pairs(families) do mark_family(family, sides) end
end

-- Stacks have binaries in brackets where they have no function.
local function lacks_name(stack) return (";" .. stack .. ";"):find ";%[[^;]*%];" ~= nil end

---Returns the function that unnamed.mark() needs for rows by function or by stack.
---@param one table a side
---@return (fun(pair: table): string?, boolean)? # nil: rows are not by function
function unnamed.by_keys(one)
  local keys = one.runs[1].keys
  local place, n = one.symbol, #keys
  for i, key in ipairs(keys) do
    if key.text == "stack" then place = i end
  end
  if not place then return nil end
  return function(pair)
    local parts = { tostring(pair.event) }
    for i = 1, n do
      local text = i == place and "" or tostring(pair.keys[i])
      parts[i + 1] = #text .. ":" .. text
    end
    local name = pair.keys[place]
    return table.concat(parts, ","), name == nil or place ~= one.symbol and lacks_name(name)
  end
end

---Says what to do about rows that cannot be compared.
---@param list table[] pairs with verdicts
---@return string? # nil: there are none
function unnamed.advice(list)
  for _, pair in ipairs(list) do
    if pair.verdict == VERDICT then
      return "no symbols: one side lacks the names of these functions (see perflua doctor); "
        .. "without symbol among the keys, binaries are compared as a whole"
    end
  end
end

-- The family of a stack are those with the same callers.
local function stack_place(pair)
  local callers, name = pair.keys[1]:match "^(.*);([^;]*)$"
  if not callers then return nil, false end
  return tostring(pair.event) .. ";" .. callers, lacks_name(name)
end

---Sets the verdict of stacks that cannot be compared, and of all that they call.
---@param before table a side of stacks
---@param after table
---@param nodes table[] pairs of stacks and their beginnings
function unnamed.mark_stacks(before, after, nodes)
  unnamed.mark(before, after, nodes, stack_place)
  table.sort(nodes, function(a, b) return #a.keys[1] < #b.keys[1] end)
  local marked = {}
  for _, pair in ipairs(nodes) do
    local path = pair.keys[1]
    local of_event = marked[pair.event] or {}
    marked[pair.event] = of_event
    if of_event[path:match "^(.*);"] then refuse_verdict(pair) end
    if pair.verdict then of_event[path] = true end
  end
end

-- Returns the part of an event's samples, in words, that have no function; nil: not known.
local function describe_share(one, event)
  local all, without = 0, 0
  for _, row in pairs(one.rows[event]) do
    local samples = row.samples
    if not samples then return nil end
    all = all + samples
    if row.is_unnamed then without = without + samples end
  end
  if all == 0 then return nil end
  return without == 0 and "none" or ("%.3g %%"):format(100 * without / all)
end

---Says how much of each side has no function.
---@param before table a side
---@param after table
---@return string[] # a line for each event, escaped
function unnamed.notes(before, after)
  local list, events = {}, {}
  if not before.symbol then return list end
  for event in pairs(before.rows) do
    if after.rows[event] then events[#events + 1] = event end
  end
  table.sort(events, function(a, b) return tostring(a) < tostring(b) end)
  for _, event in ipairs(events) do
    local a, b = describe_share(before, event), describe_share(after, event)
    if a and b then
      list[#list + 1] = ("samples%s without a function: %s before, %s after"):format(
        event and (" of event '%s'"):format(fmt.escape(event)) or "", a, b)
    end
  end
  return list
end

return unnamed
