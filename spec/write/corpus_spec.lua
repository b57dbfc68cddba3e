-- The recordings of the corpus, written in each form: their copies have the same records.
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local rewritten = require "spec.support.rewritten"
local seen = require "spec.support.seen"

local SWEEP = os.getenv "SWEEP"
local SMALL <const> = SWEEP and math.maxinteger or 40000 -- bytes of one whose records are seen

local names = { "file", "pipe", "compressed", "compressed2", "compressed pipe" }

--- How many records of each type there are, and their bytes.
local function sums_of(file)
  local list = {}
  for row in file:records { order = "file" }:group_by("type_id"):count():sum("size")
    :table():rows() do
    -- names that a pipe's events get
    if row.type_id ~= 78 then
      list[#list + 1] = ("%d %d %d"):format(row.type_id, row.count, row.size)
    end
  end
  table.sort(list)
  return list
end

local function check(path, form, is_small)
  local file <close> = perflua.open(path)
  if not file then return false end
  local target = rewritten.path()
  local summary, message, code = file:records { container = true }:write(target, form)
  if code == "ENODATA" then
    assert.is_nil(file:records():first())
    return false
  elseif not summary then
    assert.matches("simpleperf, which has no pipe mode", message)
    return false
  end
  local copy <close> = assert(perflua.open(target))
  if summary.aux_records == 0 and #file.damage == 0 then
    assert.are.same(sums_of(file), sums_of(copy))
    if is_small then
      assert.is_nil(seen.difference(rewritten.both(file, copy, form)))
    end
  end
  if #copy.damage == 0 then
    local fresh <close> = assert(perflua.open(target)) -- a pass tells more of a pipe
    local again = rewritten.path()
    assert(fresh:records { container = true }:write(again, form))
    assert.is_true(files.read(target) == files.read(again), "written again otherwise")
    os.remove(again)
  end
  os.remove(target)
  return true
end

describe("a recording of the corpus", function()
  warn "@off"
  local n = 0
  for i, recording in ipairs(corpus.recordings()) do
    for k, name in ipairs(names) do
      if SWEEP or (i + k) % #names == 0 then
        it(("is whole in the form '%s': %s"):format(name, recording.name), function()
          local is_small = #files.read(recording.path) <= SMALL
          n = n + (check(recording.path, rewritten.forms[name], is_small) and 1 or 0)
        end)
      end
    end
  end

  needs.it("corpus", "is written, most of them", function()
    assert.is_true(n >= #corpus.recordings() * 3 // 4, n)
  end)
end)
