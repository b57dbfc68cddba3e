-- The recordings of the corpus, scrubbed: none of their strings is left, and their samples are
-- all there.
local corpus = require "spec.support.corpus"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local scrubbed = require "spec.support.scrubbed"

local SWEEP = os.getenv "SWEEP"
local EVERY <const> = SWEEP and 1 or 6 -- of so many recordings one is scrubbed

-- Returns the counts of samples by thread and binary, whatever the names.
local function counts_of(file)
  local counts, samples = {}, file:samples { expand = false }
  if samples:count() == 0 then return counts end
  for row in samples:group_by("pid", "comm", "dso"):count():table():rows() do
    counts[#counts + 1] = ("%s %d"):format(row.pid, row.count)
  end
  table.sort(counts)
  return counts
end

local function check(path)
  local first <close> = perflua.open(path)
  if not first then return false end
  local strings = scrubbed.strings(first)
  local file <close> = assert(perflua.open(path))
  local target, summary = scrubbed.write(file)
  assert.are.equal("", scrubbed.leaks(strings, target))
  local copy <close> = assert(perflua.open(target))
  assert.are.same({}, copy.damage)
  if #file.damage == 0 and summary.scrubbed.unreadable == 0 then
    assert.are.same(counts_of(first), counts_of(copy))
  end
  os.remove(target)
  return true
end

describe("a scrubbed recording of the corpus", function()
  warn "@off"
  local n, tried = 0, 0
  for i, recording in ipairs(corpus.recordings()) do
    if i % EVERY == 0 then
      it("has none of the strings of " .. recording.name, function()
        tried = tried + 1
        n = n + (check(recording.path) and 1 or 0)
      end)
    end
  end

  needs.it("corpus", "is written, most of them", function()
    assert.is_true(n >= tried * 3 // 4, n)
  end)
end)
