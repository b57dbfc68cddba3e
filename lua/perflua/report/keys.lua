-- The fields that a report adds samples up by: { name, of, ref, other, at, chain }, `at` being
-- the place among a group's keys, and `ref` the Ref of one that is looked up already. chain: it
-- is the call chain, of that kind (Scope:stack).

local keys = {}

---Lists what stands beside fields, and gives these its number among the keys.
---@param fields table[]
---@return {name: string, kind: string}[]
function keys.beside(fields)
  local list = {}
  for _, field in ipairs(fields) do
    field.beside_at = {}
    for _, place in ipairs { "beside", "offset", "binary" } do
      local member = field.beside and field.beside[place]
      if member then
        list[#list + 1] = { name = member, kind = place == "offset" and "unsigned" or "string",
          hidden = true }
        field.beside_at[place] = #fields + #list
      end
    end
  end
  return list
end

-- Those of branches, and after them the members beside them.
local function keys_of_branches(prepared)
  local list = {}
  for i, field in ipairs(prepared.fields) do
    list[i] = { name = field.name, of = field.of, ref = field.ref, other = field.other, at = i }
  end
  for _, key in ipairs(keys.beside(prepared.fields)) do
    list[#list + 1] = { name = key.name, of = key.name, at = #list + 1 }
  end
  return list
end

---With callers: the call chain is the last.
---@param prepared table
---@return {name: string, of: string?, at: integer}[]
local function keys_of_callers(prepared)
  local list, place = {}, prepared.place
  for i, field in ipairs(prepared.fields) do
    if i ~= place.dso and i ~= place.symbol and i ~= place.frame_srcline then
      list[#list + 1] = { name = field.name, of = field.of, ref = field.ref, at = #list + 1 }
    end
  end
  list[#list + 1] = { name = "callchain", chain = prepared.chain, at = #list + 1 }
  return list
end

-- Those that are shown, and with the function the cpumode.
local function keys_of_samples(prepared)
  local list, symbol = {}, prepared.place.symbol
  for i, field in ipairs(prepared.fields) do
    list[i] = { name = field.name, of = field.of, ref = field.ref,
      other = i == symbol and "unresolved" or field.other, at = i }
  end
  for _, key in ipairs(keys.beside(prepared.fields)) do
    list[#list + 1] = { name = key.name, of = key.name, at = #list + 1 }
  end
  -- the first: it has the fewest values
  if symbol then table.insert(list, 1, { name = "cpumode", at = #list + 1 }) end
  if prepared.graph then
    list[#list + 1] = { name = "callchain", chain = prepared.chain, at = #list + 1 }
  end
  return list
end

---@param prepared table
---@return {name: string, of: string?, other: string?, at: integer}[]
function keys.of(prepared)
  if prepared.branches then return keys_of_branches(prepared) end
  return (prepared.children and keys_of_callers or keys_of_samples)(prepared)
end

--- Lists what rows are told apart by, as it is shown; functions of the kernel may have names
--- that others have.
---@param prepared table
---@return {name: string, kind: string}[]
function keys.shown(prepared)
  local list = table.move(prepared.fields, 1, #prepared.fields, 1, {})
  local beside = keys.beside(prepared.fields)
  table.move(beside, 1, #beside, #list + 1, list)
  if prepared.place.symbol then list[#list + 1] = { name = "cpumode", kind = "string" } end
  return list
end

return keys
