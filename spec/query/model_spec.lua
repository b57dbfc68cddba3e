-- Random queries over random recordings, with functions of Lua, spans, records inside of spans,
-- and items of both: the engine answers as the model does, which asks record by record in plain
-- Lua.
-- QUERY_SEED=n begins with that recording instead of 1, QUERIES=n asks so many of them.
local perflua = require "perflua"
local answers = require "spec.support.query_answers"
local queries = require "spec.support.queries"
local query_fields = require "spec.support.query_fields"
local random_recording = require "spec.support.random_recording"

local SEED = math.tointeger(tonumber(os.getenv "QUERY_SEED")) or 1
local QUERIES = math.tointeger(tonumber(os.getenv "QUERIES")) or 1500
local OF_ONE = 100 -- queries of one recording

-- Asks a recording its queries; how many had an answer, rows, and what each thing the queries
-- name was asked.
local function ask(seed, n, seen)
  local path, answered = random_recording.write(seed), 0
  local file <close> = assert(perflua.open(path, { symfs = "spec/fixtures/empty" }))
  local about = { fields = query_fields.of(file, file:samples()), events = {}, calls = true,
    spans = true, views = true }
  for i, event in ipairs(file.events) do about.events[i] = event.name end
  for i = 1, n do
    local steps = queries.steps(seed * 1000 + i, about)
    local model = answers.of(file:samples(), steps, true)
    local difference = answers.difference(model, answers.of(file:samples(), steps))
    if difference then
      error(("recording %d, query %d: the model and the engine differ:\n  %s\n  samples()%s\n"
        .. "  QUERY_SEED=%d"):format(
        seed, i, difference, queries.spelled(steps), seed), 0)
    end
    if model.rows then answered = answered + 1 end
    local of_spans = ""
    for _, step in ipairs(model.rows and #model.rows > 0 and steps or {}) do
      local name = step[1] .. of_spans
      seen[name] = (seen[name] or 0) + 1
      if step[1] == "pair" then of_spans = " of spans" end
    end
  end
  os.remove(path)
  return answered
end

describe("the engine", function()
  it("answers random queries as the model does", function()
    local answered, seen, asked = 0, {}, 0
    for seed = SEED, SEED + (QUERIES - 1) // OF_ONE do
      answered = answered + ask(seed, math.min(OF_ONE, QUERIES - asked), seen)
      asked = asked + OF_ONE
    end
    assert.is_true(answered > QUERIES // 2, ("%d of %d queries had an answer"):format(answered,
      QUERIES))
    for _, step in ipairs { "where", "group_by", "select", "pair", "within", "unnest",
      "union of spans", "intersection of spans",
      "where of spans", "unnest of spans", "within of spans" } do
      assert.is_true((seen[step] or 0) > QUERIES // 150, step
        .. (" was a step of too few queries with rows: %d"):format(seen[step] or 0))
    end
  end)
end)
