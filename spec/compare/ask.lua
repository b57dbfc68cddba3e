-- ask.lua QUERIES.lua RECORDING SYMFS KALLSYMS: asks the recording the queries
-- that generate.lua wrote, and prints all there is to say about each answer: a table as text,
-- CSV and JSON, saved, loaded again and cell by cell, and the same of what verbs make of it;
-- values otherwise. Uses the public API only, for it runs with other versions of perflua.

local perflua = require "perflua"
local functions = require "spec.support.random_functions"

local SHOWN = 60 -- rows of a table that a verb made
local CHAINED = 3
local PIVOTED = 2000 -- rows at most of one that is turned: the time grows with their square

local function write(...) io.stdout:write(...) end

-- Prints the line that each job begins with; what is raised then is part of the answer.
local function job(name, fn, ...)
  write("\n\1", name, "\n")
  io.stdout:flush() -- warnings come after it
  local ok, result = pcall(fn, ...)
  if ok then return result end
  write("raised ", tostring(result), "\n")
end

local spelled

local function spelled_table(value)
  local names, parts = {}, {}
  for name in pairs(value) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for i, name in ipairs(names) do
    parts[i] = ("%s=%s"):format(tostring(name), spelled(value[name]))
  end
  return "{" .. table.concat(parts, " ") .. "}"
end

-- A value as text that says its type: integers, floats and strings of digits differ.
function spelled(value)
  local kind = math.type(value) or type(value)
  if kind == "float" then return ("%a"):format(value) end
  if kind == "string" then return ("%q"):format(value) end
  if kind == "table" then return spelled_table(value) end
  if kind == "userdata" then return "userdata " .. tostring(value) end
  return tostring(value)
end

local function write_rows(t)
  write(#t, " rows\n")
  for i = 1, #t do
    if i <= SHOWN or i > #t - SHOWN // 3 then write(spelled(t[i]), "\n") end
  end
end

-- Prints a table in all forms.
local function write_forms(name, t)
  job(name .. " text", function() write(tostring(t), "\n") end)
  job(name .. " csv", function() t:csv() end)
  job(name .. " csv safe", function() t:csv(io.stdout, { safe = true }) end)
  job(name .. " json", function() t:json() end)
  job(name .. " rows", function()
    for row in t:rows() do write(spelled(row), "\n") end
    write(spelled(t.counts), "\n")
  end)
  job(name .. " saved", function()
    if not t:save "saved" then return end
    local f <close> = assert(io.open("saved", "rb"))
    write(f:read "a")
    local loaded, message = perflua.load "saved"
    os.remove "saved"
    write(tostring(loaded), tostring(message), "\n")
    loaded:csv()
    write_rows(loaded:merge(loaded))
  end)
end

-- Prints a table that a verb made, its text if it is small; and the values of the column that
-- it is sorted by in one line, so that a wrong order is more than rows that changed places.
local function write_shown(t, sorted_by)
  if #t <= SHOWN then write(tostring(t), "\n") end
  write_rows(t)
  for i = 1, sorted_by and math.min(#t, SHOWN) or 0 do write(spelled(t[i][sorted_by]), " ") end
end

-- The verbs for the columns of a table with so many rows, as a script has them.
local function verbs_of(keys, measures, rows)
  local list = {}
  local function add(text, ...) list[#list + 1] = text:format(...) end
  local columns = table.move(measures, 1, #measures, #keys + 1, { table.unpack(keys) })
  for _, column in ipairs(columns) do
    add(":sort(%q)", column)
    add(":sort(%q, 'asc')", column)
    add(":top(3, %q)", column)
    add(":top(2, %q, { per = %q })", column, keys[#keys])
    add(":having(%q)", ("[%q] ~= nil"):format(column))
  end
  for i, measure in ipairs(measures) do
    local other = measures[i % #measures + 1]
    add(":having(%q)", ("[%q] * 2 > [%q] + 3"):format(measure, other))
    add(":column('c', %q):sort('c')", ("[%q] / [%q]"):format(measure, other))
    add(":column('d', %q)", ("([%q] // 3) %% 7 - 1"):format(measure))
    add(":running(%q)", measure)
    add(":unit(%q, %q)", ({ "duration", "bytes", "si" })[i % 3 + 1], measure)
  end
  for _, key in ipairs(rows <= PIVOTED and keys or {}) do
    add(":pivot(%q)", key)
    add(":pivot(%q, 2)", key)
  end
  add ":merge(t)"
  add ":merge(other)"
  return list
end

local function apply(verb, t, other)
  return assert(load("local t, other = ... return t" .. verb, "=verbs"))(t, other)
end

-- Prints what verbs make of a table; `other` is one with the same columns. The pairs of
-- verbs that follow one another are chosen by the number of the query.
local function write_verbs(name, query, t, other, n)
  local verbs = verbs_of(query.keys, query.measures, #t)
  for _, verb in ipairs(verbs) do
    local sorted_by = verb:match '^:sort%("(.-)"[,)]'
    job(name .. verb, function() write_shown(apply(verb, t, other), sorted_by) end)
  end
  for i = 1, CHAINED do
    local chain = ""
    for k = 1, 3 do chain = chain .. verbs[(n * 31 + i * 17 + k * k * 7) % #verbs + 1] end
    local made = job(name .. chain, apply, chain, t, other)
    if made then write_forms(name .. chain, made) end
  end
end

local function write_grouped(name, query, records, n)
  local function ask(of) return query[2](of, functions.READ, functions.NUMBER) end
  local t = job(name, function() return ask(records):table() end)
  if not t then return end
  write_forms(name, t)
  local half = job(name .. " of half", function()
    return ask(records:between("0%", "50%")):top(5)
  end)
  write_verbs(name, query, t, half or t, n)
  job(name .. ":top(4)", function() write_shown(ask(records):top(4)) end)
  job(name .. " each", function()
    local count = 0
    for row in ask(records):sort(query.keys[1], "asc"):rows() do
      count = count + 1
      if count <= SHOWN then write(spelled(row), "\n") end
    end
  end)
end

local function write_values(query, records)
  local got = query[2](records, functions.READ, functions.NUMBER)
  if type(got) ~= "userdata" and type(got) ~= "table" or not got.each then
    write(spelled(got), "\n")
    return
  end
  for a, b, c, d in got:each() do
    write(spelled(a), "\t", spelled(b), "\t", spelled(c), "\t", spelled(d), "\n")
  end
end

local queries = dofile(arg[1])
local file, message = perflua.open(arg[2], { symfs = arg[3], kallsyms = arg[4] })
if not file then
  print(message)
  return
end
for n, query in ipairs(queries) do
  local name = ("records%s"):format(query[1])
  if query.keys then
    write_grouped(name, query, file:samples(), n)
  else
    job(name, write_values, query, file:samples())
  end
end
