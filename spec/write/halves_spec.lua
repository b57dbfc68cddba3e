-- Recordings of the corpus, cut in two and merged again.
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local rewritten = require "spec.support.rewritten"
local seen = require "spec.support.seen"

local SWEEP = os.getenv "SWEEP"
local FEW <const> = 2000 -- samples of a recording that is not left to the sweep

local function samples(file) return file:samples { expand = false } end

--- Both halves of a recording, the middle to the second; nil if one would be empty.
local function halves_of(file)
  local has_time, times = pcall(samples(file).where, samples(file), "time ~= nil")
  if not file.size or not has_time or times:count() ~= samples(file):count() then return nil end
  local middle, first = times:quantile("time", 0.5), times:min "time"
  if not middle or middle == first then return nil end
  local paths = {}
  for i, range in ipairs { { nil, middle }, { middle, nil } } do
    paths[i] = rewritten.path()
    local ok, message, code = samples(file):between(range[1], range[2]):write(paths[i])
    if not ok then return nil, message, code end
  end
  -- record by record it is the same
  local other = rewritten.path()
  assert(samples(file):between(nil, middle):where "time > 0 or time == 0":write(other))
  assert.is_true(files.read(other) == files.read(paths[1]), "another half")
  os.remove(other)
  return paths
end

-- Checks that merge with a condition chooses the same samples of both halves as of the whole.
local function check_part(paths, file)
  local parts <close> = assert(perflua.open(paths))
  local condition = "time % 3 == 0 or tid % 2 == 0"
  if not pcall(samples(file).where, samples(file), condition)
    or samples(file):where(condition):count() == 0 then return end
  local target = rewritten.path()
  assert(samples(parts):where(condition):write(target))
  local part <close> = assert(perflua.open(target))
  assert.is_nil(seen.difference(rewritten.named(samples(file):where(condition)),
    rewritten.named(samples(part))))
  os.remove(target)
end

local function check(path)
  local file <close> = perflua.open(path)
  if not file or #file.damage > 0 or not SWEEP and samples(file):count() > FEW then
    return false
  end
  local paths = halves_of(file)
  if not paths then return false end
  local parts <close> = assert(perflua.open(paths))
  local target = rewritten.path()
  local summary, message = parts:records { container = true }:write(target)
  if not summary then
    assert.is_truthy(message:find "simpleperf" or message:find "perf stat", message)
    return false
  end
  local whole <close> = assert(perflua.open(target))
  assert.are.equal(0, #whole.damage)
  assert.are.equal(#file.events, #whole.events)
  assert.is_nil(seen.difference(rewritten.named(samples(file)),
    rewritten.named(samples(whole))))
  os.remove(target)
  check_part(paths, file)
  for _, one in ipairs(paths) do os.remove(one) end
  return true
end

describe("two halves of a recording of the corpus", function()
  warn "@off"
  local n = 0
  for i, recording in ipairs(corpus.recordings()) do
    if SWEEP or i % 3 == 0 then
      it("are the whole when they are merged: " .. recording.name, function()
        n = n + (check(recording.path) and 1 or 0)
      end)
    end
  end

  needs.it("corpus", "are merged, of most of them", function()
    assert.is_true(n >= #corpus.recordings() // (SWEEP and 3 or 10), n)
  end)
end)
