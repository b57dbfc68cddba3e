-- The names of samples are those that perf script prints, for all kept recordings that the
-- installed perf can read.
local corpus = require "spec.support.corpus"
local names = require "spec.support.names"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"

warn "@off"

local compared = 0

local function it_needs_perf(...) needs.it("perf", ...) end

-- Whether perf names a sample when its deferred call chain comes, which may be after an exec.
local function named_late(file)
  local late = false
  for _, event in ipairs(file.events) do late = late or event.defer_callchain end
  return late and oracle.does.deferred_late
end

corpus.each_file(it_needs_perf, "names are perf's", function(recording)
  local file <close> = perflua.open(recording.path)
  -- without threads or times there is nothing to compare
  if file and not named_late(file) and pcall(function()
    file:samples():select("time", "tid", "comm")
  end) then
    local theirs, ours, ended = names.of_perf(recording.path), names.of_file(file)
    local n = names.agree(theirs, ours, ended)
    assert.is_true(n > 0 or #theirs == 0 or #ours == 0, "no sample at the same time")
    compared = compared + n
  end
end)

needs.it("corpus", "names in kept recordings were compared", function()
  assert.is_true(compared > 100000, compared)
end)
