-- Memory that runs out while a Table is made, changed, written or read: an error, no half
-- result, and nothing is left behind. ALL=1 tries each of the first 2000 allocations of each
-- verb.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"
local two_events = require "spec.support.two_events"

-- Prints a line for each verb: how many allocations were made to fail, and what was wrong.
local SCRIPT = [[
local core = require "perflua.core"
local perflua = require "perflua"
local all, saved, slack = arg[2] == "1", arg[3], tonumber(arg[4])
math.randomseed(tonumber(os.getenv "SEED") or 34)

local function failing(n) return select(3, os.remove("failing:" .. n)) end

local path = arg[1]
local base = assert(perflua.open(path))
local function query()
  return base:samples():group_by("pid", "event"):count():sum("period"):avg("period")
    :quantile("period", { 0.5, 0.9 }):hist("period"):distinct("tid"):min("comm"):share("period")
end
warn "@off" -- they say which writes failed
local t = query():table()
assert(t:save(saved))

local function text_of(fn)
  local parts = {}
  assert(fn { write = function(_, text) parts[#parts + 1] = text return true end })
  return table.concat(parts)
end

local verbs = {
  group = function() return query():table() end,
  text = function() return t:sort("period") end,
  top = function() return t:top(1, "avg_period") end,
  having = function() return t:having "count > 1 and find(lower(min_comm), 'a')" end,
  column = function() return t:column("x", "period // count + #min_comm"):running("count") end,
  pivot = function() return t:pivot("event") end,
  per = function() return t:top(1, "count", { per = "pid" }) end,
  merge = function() return t:merge(t) end,
  load = function() return (assert(perflua.load(saved))) end,
  save = function()
    local name = saved .. ".again"
    assert(t:save(name))
    local f <close> = assert(io.open(name, "rb"))
    return f:read "a"
  end,
  csv = function() return text_of(function(out) return t:csv(out) end) end,
  json = function() return text_of(function(out) return t:json(out) end) end,
  raise = function()
    local function fail() error("no room", 0) end
    local _, first = pcall(core.result_save, t.data.result, fail, "")
    local _, second = pcall(t.csv, t, { write = fail })
    for _, message in ipairs { first, second } do
      if message ~= "no room" then error(message, 0) end
    end
    return first
  end,
}
local names = {}
for name in pairs(verbs) do names[#names + 1] = name end
table.sort(names)

local function live()
  collectgarbage()
  collectgarbage()
  return failing "live"
end

for _, name in ipairs(names) do
  local function verb() return tostring(verbs[name]()) end
  local expected = verb()
  verb()
  failing(0)
  verb()
  local n, wrong, tried, failed = failing(0), {}, 0, 0
  local before = live()
  local function try(i)
    failing(i)
    local ok, got = pcall(verb)
    failing(0)
    tried = tried + 1
    if not ok then failed = failed + 1 end
    if ok and got ~= expected then wrong[#wrong + 1] = i .. ": another result" end
    if not ok and not tostring(got):find "memory" then
      wrong[#wrong + 1] = i .. ": " .. tostring(got):match "[^\n]*"
    end
  end
  if all then
    for i = 1, math.min(n, 2000) do try(i) end
  else
    for _ = 1, 17 do try(math.random(n)) end
  end
  if verb() ~= expected then wrong[#wrong + 1] = "not the same afterwards" end
  local after = live()
  -- the interpreter's heap takes new blocks of malloc's when Lua collects out of turn
  if after > before + 8 + slack * tried // 4 then
    wrong[#wrong + 1] = ("%d blocks more than before"):format(after - before)
  end
  print(("%s %d %d %s"):format(name, tried, failed,
    table.concat(wrong, "; ", 1, math.min(#wrong, 5))))
end
os.exit(0) -- not that of a script whose writes failed]]

local programs = {
  ["the interpreter"] = { files.quote(run.binary), slack = 1 },
  ["plain Lua"] = { os.getenv "PERFLUA_LUA" or "lua5.4", slack = 0 },
}

describe("memory that runs out while a table is made or used", function()
  for how, program in pairs(programs) do
    needs.it("no sanitizer", "is an error, and leaves nothing behind, in " .. how, function()
      local library, saved = files.temporary() .. ".so", files.temporary()
      local compile = "gcc -shared -fPIC -O1 -o %s spec/support/failing.c"
      assert.is_true(os.execute(compile:format(library)))
      local command = ("LD_PRELOAD=%s %s $2 $1 %d %s %d"):format(library, program[1],
        os.getenv "ALL" and 1 or 0, saved, program.slack)
      local got = run.shell_with(command, two_events.write(), run.script(SCRIPT))
      os.remove(library)
      assert.same({ 0, "" }, { got.status, got.err })
      local verbs, failed = 0, 0
      for name, tried, n, wrong in got.out:gmatch "(%l+) (%d+) (%d+) ([^\n]*)\n" do
        assert.equal("", wrong, name)
        verbs, failed = verbs + 1, failed + tonumber(n)
        -- plain Lua allocates more by itself, and collects and tries again without memory
        assert.is_true(program.slack == 0 or tonumber(n) > 0, name .. ": none of " .. tried)
      end
      assert.equal(13, verbs)
      assert.is_true(failed > 10, failed)
    end)
  end
end)
