-- A value as text that only its equals have: an integer is not the float that it equals.

local function exact(value)
  if math.type(value) == "float" then
    return value == value and ("%a"):format(value) or "nan"
  end
  if type(value) == "userdata" then return tostring(value.name or value.offset) end
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for key, part in pairs(value) do parts[#parts + 1] = tostring(key) .. "=" .. exact(part) end
  table.sort(parts)
  return "{" .. table.concat(parts, " ") .. "}"
end

return exact
