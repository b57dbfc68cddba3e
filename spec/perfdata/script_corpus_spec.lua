-- Lines that perf's script printed for real recordings, in every container: the same samples,
-- names and order.
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"

-- Where perf's lines are not its samples.
local others = {
  ["defer.data"] = "a sample waits for its deferred call chain",
  ["group.data"] = "a sample is a line for each event of its group",
}

---Returns what a line says of its sample; nil for other lines, such as those of a call chain.
local function of_line(line)
  local before, seconds, micros,
    event = line:match "^%s*(%S.-)%s+(%d+)%.(%d%d%d%d%d%d):%s+%d*%s*(%S+):"
  local comm, tid = (before or ""):gsub("%s+%[%d+%]$", ""):match "^(.-)%s+(%-?%d+)$"
  return comm and {
    comm = comm, tid = math.tointeger(tid), event = event, time = math.tointeger(seconds)
      * 1000000 + tonumber(micros),
  }
end

--- perf's samples. What came too late for its round it prints late: it is put in its place.
local function printed(path)
  local list = {}
  for line in files.lines("gzip -dcf " .. files.quote(path)) do
    local sample = of_line(line)
    if sample then
      sample.place = #list
      list[#list + 1] = sample
    end
  end
  table.sort(list, function(a, b)
    return a.time < b.time or a.time == b.time and a.place < b.place
  end)
  return list
end

local function read(path)
  local list = {}
  local file <close> = assert(perflua.open(path))
  for s in file:samples() do
    list[#list + 1] = s.time and { comm = s.comm, tid = s.tid, event = s.event.name,
      time = s.time // 1000 }
  end
  return list
end

local function shown(sample)
  return sample and ("%s %d %d %s"):format(sample.comm, sample.tid, sample.time, sample.event)
end

--- perf's script of each recording that was kept: { path, script }.
local function scripts()
  local list = {}
  local found = ("ls %s/recorded/*/expected/*.script.txt* 2>/dev/null"):format(
    files.quote(corpus.root))
  for script in files.lines(found) do
    local folder, name = script:match "^(.*)/expected/(.*)%.script%.txt"
    if not others[name] then list[#list + 1] = { folder .. "/" .. name, script } end
  end
  return list
end

needs.describe("corpus", "a real recording", function()
  local compared = 0

  for _, one in ipairs(corpus.root and scripts() or {}) do
    local path, script = one[1], one[2]
    it("has the samples that perf script prints, in the order of time: "
      .. path:match "[^/]+/[^/]+$", function()
      local theirs = printed(script)
      if #theirs == 0 then return end -- perf could not read it, or prints another format
      local ours = read(path)
      for i = 1, math.max(#theirs, #ours) do
        -- perf 7 forgets a thread that has ended
        if theirs[i] and theirs[i].comm == ":" .. theirs[i].tid then
          theirs[i].comm = ours[i].comm
        end
        local expected, got = shown(theirs[i]), shown(ours[i])
        if expected ~= got then assert.are.same({ i, expected }, { i, got }) end
      end
      compared = compared + 1
    end)
  end

  it("was compared in many cases", function()
    assert.is_true(compared > 100, tostring(compared))
  end)
end)
