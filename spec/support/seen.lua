-- A recording as a script sees it, in lines of text: for comparing recordings that should look
-- alike.
local seen = {}

-- Where a record lies is another matter in each container.
local places = { offset = true, chunk_offset = true, source = true }

-- Mappings that a table of the container tells, as far as it has one.
local told = { build_id = true }

local function is_event(value)
  local meta = getmetatable(value)
  return type(meta) == "table" and meta.__name == "perflua.event"
end

local text_of

local function text_of_members(value, depth)
  local list = {}
  for key, member in pairs(value) do
    if not (depth == 0 and places[key] or depth == 1 and told[key]) then
      list[#list + 1] = tostring(key) .. "=" .. text_of(member, depth + 1)
    end
  end
  table.sort(list)
  return "{" .. table.concat(list, " ") .. "}"
end

--- A value as text: records, views and tables by all they hold, an Event inside of these by its
--- name.
function text_of(value, depth)
  local kind = type(value)
  if kind == "string" then
    return (("%q"):format(value):gsub("\n", "n")) -- on one line
  elseif kind ~= "userdata" and kind ~= "table" then
    return tostring(value)
  elseif depth > 0 and is_event(value) then
    return value.name
  end
  return text_of_members(value, depth)
end

--- A record, an Event, or any other value.
function seen.of(value)
  return text_of(value, 0)
end

--- The first place where two arrays differ, as text; nil if they are the same.
function seen.difference(expected, found)
  for i = 1, math.max(#expected, #found) do
    local one, other = expected[i], found[i]
    if one ~= other and seen.of(one) ~= seen.of(other) then
      return ("%d expected, %d found; at %d expected %s, found %s")
        :format(#expected, #found, i, seen.of(one), seen.of(other))
    end
  end
end

--- Each record of a Query.
function seen.each(query)
  local list = {}
  for r in query:each() do
    list[#list + 1] = seen.of(r)
  end
  return list
end

return seen
