-- Recordings and scripts for the specs of map and reduce.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local run = require "spec.cli.run"

local many = {}

--- A recording of n samples of two commands, by an event of this name (cycles).
function many.recording(seed, n, name)
  local b = builder.new()
  local event = b:event { name = name or "cycles",
    sample_type = { "ip", "tid", "time", "period", "id" }, ids = { 1 } }
  for pid = 7, 8 do
    b:record("comm", { pid = pid, tid = pid, comm = "c" .. pid }, { time = 1 })
  end
  for i = 1, n or 9 do
    b:sample(event, { ip = 4096, pid = 7 + i % 2, tid = 7 + i % 2, time = 10 * i,
      period = i * seed, id = 1 })
  end
  return b:write()
end

function many.recordings(n)
  local paths = {}
  for i = 1, n do paths[i] = many.recording(i) end
  return paths
end

many.QUERY = [[
local file = assert(perflua.open(arg[1]))
return file:samples():group_by("comm"):sum("period"):count():share("period"):quantile("period", 0.9)
  :first("time"):top(1)
]]

many.FUNCTION = [[
return function(file)
  return file:samples():group_by("comm"):sum("period"):count():share("period"):quantile("period", 0.9):top(1)
end
]]

--- perflua map with options, over recordings; script: its text.
function many.map(script, options, paths)
  return many.run("map", options, files.temporary(script), paths)
end

--- Runs a tool: its words, some of which may be nil, then paths.
function many.run(tool, options, script, paths)
  local words = { tool }
  for _, word in ipairs(options) do words[#words + 1] = word end
  words[#words + 1] = script
  return run.perflua(table.move(paths, 1, #paths, #words + 1, words))
end

--- The partial result of each recording, in files.
function many.partials(script, paths)
  local list = {}
  for i, path in ipairs(paths) do
    local got = many.map(script, { "--partial" }, { path })
    assert(got.status == 0, got.err)
    list[i] = files.temporary(got.out)
  end
  return list
end

return many
