-- The recordings of calibrate.lua: which there are, and how they are made.

local core = require "perflua.core"

local record = {}

local FREQUENCY <const>, LOOPS <const> = 1000, 2

--- Functions of work.c that are changed, one at a time.
record.CHANGES = {
  { name = "slow", at = 2, ["function"] = "write_out", share = 15, percent = 20,
    verdicts = { slower = true }, text = "slower by 20 %" },
  { name = "more", at = 4, ["function"] = "sort", share = 7, percent = 50,
    verdicts = { slower = true }, text = "slower by 50 %" },
  -- it is still called
  { name = "gone", at = 5, ["function"] = "copy", share = 6, percent = -100,
    verdicts = { gone = true, faster = true }, text = "gone" },
}

--- Names of recordings that are compared.
record.COMPARED = { "equal" }
for i, change in ipairs(record.CHANGES) do record.COMPARED[i + 1] = change.name end

local Settings = {}
Settings.__index = Settings

---@param words string[] of the command line
---@return table
function record.settings(words)
  return setmetatable({ work = words[1], dir = words[2], seconds = tonumber(words[3] or 2.7),
    runs = tonumber(words[4] or 30) }, Settings)
end

function Settings:path(load, name, i)
  return ("%s/%s/%s%d.data"):format(self.dir, load, name, i)
end

--- Returns how many recordings of that name there are.
function Settings:number_of(name)
  return (name == "equal" or name == "fit") and self.runs or self.runs // 2
end

function Settings:conditions()
  return { seconds = self.seconds, frequency = FREQUENCY, processors = core.processors(),
    loops = LOOPS }
end

local function execute(format, ...)
  local command = format:format(...)
  assert(os.execute(command), command)
end

-- Returns the rounds that take so many seconds here, by a short run.
local function rounds_for(self)
  if self.rounds then return self.rounds end
  local clock <close> = assert(io.popen(([[bash -c "TIMEFORMAT='%%U %%S'; time '%s' 20000" 2>&1]])
    :format(self.work)))
  local user, system = clock:read("n", "n")
  self.rounds = math.floor(20000 * self.seconds / assert(user and user + system))
  return self.rounds
end

local function record_run(self, load, name, i, words)
  local path = self:path(load, name, i)
  local there <close> = io.open(path)
  if there then return end
  execute("perf record -q -e cpu-clock -F %d -o '%s.new' '%s' %d %s && mv '%s.new' '%s'",
    FREQUENCY, path, self.work, rounds_for(self), words, path, path)
end

-- Calls fn while so many busy loops run.
local function run_beside(n, fn)
  local loops = {}
  for i = 1, n do
    local shell <close> = assert(io.popen "while :; do :; done >/dev/null 2>&1 & echo $!")
    loops[i] = assert(shell:read "n")
  end
  local ok, message = pcall(fn)
  for _, pid in ipairs(loops) do execute("kill %d", pid) end
  if not ok then error(message, 0) end
end

--- Makes the recordings that are missing, the kinds in turns, so that what changes with time is
--- in all of them.
function Settings:record(load)
  execute("mkdir -p '%s/%s'", self.dir, load)
  run_beside(load == "loaded" and LOOPS or 0, function()
    for i = 1, self.runs do
      record_run(self, load, "fit", i, "")
      record_run(self, load, "equal", i, "")
      for _, change in ipairs(i % 2 == 0 and record.CHANGES or {}) do
        record_run(self, load, change.name, i // 2, ("%d %d"):format(change.at, change.percent))
      end
    end
  end)
end

return record
