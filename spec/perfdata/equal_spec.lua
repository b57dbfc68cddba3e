-- A recording is the same to a script in any container.
local busy = require "spec.support.busy"
local containers = require "spec.support.containers"
local in_order = require "spec.support.in_order"
local perflua = require "perflua"
local run = require "spec.cli.run"
local seen = require "spec.support.seen"

local FROM, TO = busy.FIRST + 15000, busy.FIRST + 32001

-- By whether it is for attrs of 64 bytes.
local recordings = { [false] = busy.recording(false), [true] = busy.recording(true) }

--- The records of a recording as they are to be delivered, from what it was written from.
local function model(recording)
  local stream = {}
  local function add(r)
    -- a sample's values; perf's own records have no time
    local id = containers.is_kernels(r) and r[3]
    stream[#stream + 1] = { time = id and id.time, type = r[1] }
  end
  for _, r in ipairs(recording.head) do
    add(r)
  end
  for _, round in ipairs(recording.rounds) do
    for cpu = 0, 2 do
      for _, r in ipairs(round[cpu]) do
        add(r)
      end
    end
  end
  return in_order.exactly { stream }
end

---Returns the values that handlers are called with.
local function handled(file)
  local list = {}
  local function named(name)
    return function(r) list[#list + 1] = name .. " " .. r.type .. " " .. tostring(r.time) end
  end
  file:run {
    comm = named "comm", faults = named "faults", sample = named "sample",
    other = named "other", fork = named "fork",
    ["cyc*"] = { "time", "cpu", "ip", function(time, cpu, ip)
      list[#list + 1] = ("%d %d %x"):format(time, cpu, ip)
    end },
  }
  return list
end

local function rows(query)
  local list = {}
  for row in query:each() do
    list[#list + 1] = seen.of(row)
  end
  table.sort(list)
  return list
end

--- Enough of each record to tell it from others; all of it is seen in the first question.
local function brief(query)
  local list = {}
  for r in query:each() do
    list[#list + 1] = ("%s %s %s %s"):format(r.type, r.time, r.cpu,
      r.event and r.event.name)
  end
  return list
end

local function selected(file)
  return file:records():select("type", "time", "pid", "tid", "cpu", "id", "comm"):collect()
end

-- Each passes over the recording once.
local questions = {
  { "records", function(file) return seen.each(file:records()) end },
  { "records in brief", function(file) return brief(file:records()) end },
  { "samples", function(file) return brief(file:samples()) end },
  { "samples of an event", function(file)
    return brief(file:samples "faults":where "period > 100")
  end },
  { "handlers' calls", handled },
  { "selected fields", selected },
  { "records between two times", function(file)
    return brief(file:records():between(FROM, TO))
  end },
  { "first record of a type", function(file)
    return { seen.of(file:records("mmap2"):first()) }
  end },
  { "count", function(file) return { file:records():count() } end },
  { "count of what a filter finds", function(file)
    return { file:samples():where "cpu ~= 1 and (tid == 8 or callchain[1].ip == ip)":count() }
  end },
  { "samples of threads by name", function(file)
    return brief(file:samples():where "comm ~= nil and comm ~= 'sh' and cpu < 2")
  end },
  { "count of samples by name", function(file)
    return { file:samples():where "comm == 'thread 3' or comm == 'thread 56'":count() }
  end },
  { "records that a function finds", function(file)
    return brief(file:records():where(function(r) return r.size % 24 == 0 end))
  end },
  { "groups", function(file)
    return rows(file:samples():group_by("comm", "tid", "cpu"):count():sum("period"):max("ip")
      :distinct("addr"))
  end },
  { "groups by a function, with their first and last", function(file)
    return rows(file:records():group_by { kind = function(r)
      return r.type .. r.cpumode
    end }:count()
      :first("time"):last("time"))
  end },
}

---Describes what no pass changes.
local function description(file)
  local list = {}
  for name in pairs(recordings[false].features) do
    list[#list + 1] = name .. "=" .. seen.of(file.features[name])
  end
  for _, event in ipairs(file.events) do
    list[#list + 1] = ("%s %d %s %s"):format(event.name, event.config, seen.of(event.ids),
      seen.of(event.sample_fields))
  end
  table.sort(list)
  return list
end

local expected = {}
for _, old in ipairs { false, true } do
  local path = containers.list[1].write(recordings[old])
  local file <close> = assert(perflua.open(path))
  expected[old] = { description = description(file) }
  for _, question in ipairs(questions) do
    expected[old][question[1]] = question[2](file)
  end
end

describe("the recording that is written in every container", function()
  it("has the records it was written from, in the order of time", function()
    for old, answers in pairs(expected) do
      local list = model(recordings[old])
      assert.is_true(#list > 300)
      assert.are.equal(#list, #answers["selected fields"])
      for i, r in ipairs(answers["selected fields"]) do
        local time = containers.is_kernels(r) and r[2]
        assert.are.same({ i, list[i].type, list[i].time or false }, { i, r[1], time })
      end
    end
  end)

  it("answers the questions that are asked below", function()
    for _, question in ipairs(questions) do
      assert.is_true(#expected[false][question[1]] > 0, question[1])
      assert.are_not.equal(0, expected[false][question[1]][1], question[1])
    end
  end)
end)

for _, container in ipairs(containers.list) do
  describe("the same recording as a " .. container.name, function()
    local path
    local answers = expected[container.old or false]

    setup(function()
      path = container.write(recordings[container.old or false])
    end)

    local function open()
      return assert(perflua.open(containers.through(container, path)))
    end

    for _, question in ipairs(questions) do
      it("has the same " .. question[1], function()
        local file <close> = open()
        assert.is_nil(seen.difference(answers[question[1]], question[2](file)))
        assert.is_true(file.complete)
        assert.are.equal(0, file.out_of_order)
        assert.are.same({}, file.damage)
      end)
    end

    it("has the same events and features", function()
      local file <close> = open()
      assert.are.same(answers.description, description(file))
    end)

    it("hides what is of the container, unless asked for it", function()
      local file <close> = open()
      local own, others = {}, {}
      for r in file:records({ container = true }):each() do
        if busy.container[r.type] then
          own[r.type] = (own[r.type] or 0) + 1
        else
          others[#others + 1] = ("%s %s %s %s"):format(r.type, r.time, r.cpu,
      r.event and r.event.name)
        end
      end
      assert.is_nil(seen.difference(answers["records in brief"], others))
      assert.are.equal(1, own.finished_init)
      if not container.name:find "directory" then
        assert.are.equal(#recordings[false].rounds, own.finished_round)
      end
    end)

    if container.seekable then
      it("has the same AUX area data, as often as it is asked for", function()
        local file <close> = open()
        for _ = 1, 2 do
          assert.are.equal("trace!!!", file:records("auxtrace"):first():data())
        end
      end)

      it("has the same records in each pass", function()
        local file <close> = open()
        for _ = 1, 2 do
          assert.is_nil(seen.difference(answers["selected fields"], selected(file)))
        end
      end)
    end
  end)
end

describe("the same recording through the interpreter", function()
  local script = run.script [[
    local seen = require "spec.support.seen"
    for r in perflua.open(arg[1]):records() do print(seen.of(r)) end]]
  local text = table.concat(expected[false].records, "\n") .. "\n"

  for _, container in ipairs(containers.list) do
    local name = container.name
    if not container.old and not name:find "pieces" and not name:find "stream"
        and not name:find "directory" then
      it("is the same from standard input: " .. name, function()
        local path = container.write(recordings[false])
        for _, how in ipairs { 'cat "$1" |', '<"$1"' } do
          local got = run.shell_with(how .. ' "$perflua" "$2" -', path, script)
          assert.are.equal("", got.err)
          assert.are.equal(text, got.out)
        end
      end)
    end
  end

  it("is the same when it comes in pieces of a few bytes", function()
    local list = {}
    for _, container in ipairs(containers.list) do
      list[container.name] = container
    end
    for _, name in ipairs { "stream, big-endian",
        "stream of compressed records, little-endian" } do
      local got =
        run.shell_with(
          [[dd if="$1" bs=13 status=none | dd bs=7 status=none | "$perflua" "$2" -]],
        list[name].write(recordings[false]), script)
      assert.are.equal(text, got.out, got.err)
    end
  end)
end)
