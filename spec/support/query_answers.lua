-- Answers of queries, in a form that can be compared with another way to ask it.
local exact = require "spec.support.exact"
local interpret = require("spec.support.model").interpret

local query_answers = {}

local measured = {
  count = true, sum = true, avg = true, min = true, max = true, quantile = true, hist = true,
  distinct = true,
}

local function rows_of(result, keys)
  local rows = {}
  for row in result:rows() do
    local key, names, values = {}, {}, {}
    for i, name in ipairs(keys) do key[i] = exact(row[name]) end
    for name in pairs(row) do names[#names + 1] = name end
    table.sort(names)
    for i, name in ipairs(names) do values[i] = { name = name, value = row[name] } end
    rows[#rows + 1] = { key = table.concat(key, " | "), values = values }
  end
  table.sort(rows, function(a, b) return a.key < b.key end)
  return rows
end

-- The values that a loop gives, row by row; an object stands for what it is called.
local function selected(query)
  local rows = {}
  query:each(function(...)
    local values = table.pack(...)
    local row = { key = "", values = {} }
    for i = 1, values.n do row.values[i] = { name = tostring(i), value = values[i] } end
    rows[#rows + 1] = row
  end)
  return rows
end

-- The columns of a group_by's keys.
local function keys_of(step)
  local keys = { "event" }
  for i = 2, #step do keys[i] = type(step[i]) == "table" and next(step[i]) or step[i] end
  return keys
end

local function built(query, steps)
  for _, step in ipairs(steps) do query = query[step[1]](query, table.unpack(step, 2)) end
  return query
end

local function asked(query, steps)
  local keys
  local begun = query
  for _, step in ipairs(steps) do
    if step[1] == "group_by" then keys = keys_of(step) end
    local arguments = table.move(step, 2, #step, 1, {})
    if step[1] == "within" or step[1] == "intersection" then
      arguments[1] = built(begun, step[2])
    end
    local got = query[step[1]](query, table.unpack(arguments))
    if measured[step[1]] and not keys then
      return { { key = "", values = { { name = step[1], value = got } } } }
    end
    query = got
  end
  return keys and rows_of(query:sort(), keys) or selected(query)
end

---@param query perflua.Query to begin with
---@param steps table[] from queries.steps
---@param interpreted boolean? record by record, in Lua
---@return table answer { rows } or { message }
function query_answers.of(query, steps, interpreted)
  local begun = query:where "true"
  interpret(begun, interpreted)
  local ok, result = pcall(asked, begun, steps)
  if ok then return { rows = result } end
  return { message = tostring(result):gsub("^[^:]+:%d+: ", "") }
end

local function row_differs(a, b)
  if a.key ~= b.key then return ("the groups %s and %s"):format(a.key, b.key) end
  if #a.values ~= #b.values then return a.key .. ": there is more in one" end
  for i, one in ipairs(a.values) do
    local other = b.values[i]
    if one.name ~= other.name or exact(one.value) ~= exact(other.value) then
      return ("%s: %s = %s and %s = %s"):format(a.key, one.name, exact(one.value), other.name,
        exact(other.value))
    end
  end
end

-- Errors that values of some records raise. Where there are two, either may be met first.
local of_values = {
  "^a sum exceeds 2%^63", "^a weight is an integer", "^weights add up to more",
  "^the averaged values add up",
}

local function is_of_values(message)
  for _, pattern in ipairs(of_values) do
    if message and message:find(pattern) then return true end
  end
  return false
end

---@param a table answer
---@param b table another
---@return string? # how they differ
function query_answers.difference(a, b)
  if is_of_values(a.message) and is_of_values(b.message) then return nil end
  if a.message or b.message then
    return a.message ~= b.message and ("%s and %s"):format(a.message or "rows", b.message
      or "rows") or nil
  end
  for i = 1, math.max(#a.rows, #b.rows) do
    if not a.rows[i] or not b.rows[i] then
      return ("%d rows and %d"):format(#a.rows, #b.rows)
    end
    local how = row_differs(a.rows[i], b.rows[i])
    if how then return how end
  end
end

return query_answers
