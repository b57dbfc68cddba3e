-- The names of samples are those that perf script prints, for all kept recordings that the installed perf can read.
local corpus = require "spec.support.corpus"
local names = require "spec.support.names"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"

if not oracle.perf then
  pending "names in kept recordings are perf's (needs perf)"
  return
end

warn "@off"

local compared = 0

corpus.each_file(it, pending, "names are perf's", function(recording)
  local file <close> = perflua.open(recording.path)
  -- without threads or times there is nothing to compare
  if file and pcall(function() file:samples():select("time", "tid", "comm") end) then
    local theirs, ours = names.of_perf(recording.path), names.of_file(file)
    local n = names.agree(theirs, ours)
    assert.is_true(n > 0 or #theirs == 0 or #ours == 0, "no sample at the same time")
    compared = compared + n
  end
end)

corpus.it(it, "names in kept recordings were compared", function()
  assert.is_true(compared > 100000, compared)
end)
