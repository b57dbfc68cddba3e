-- The recordings of $PERFLUA_CORPUS in the order of time: as a model sorts what lies in them.
local corpus = require "spec.support.corpus"
local in_order = require "spec.support.in_order"
local perflua = require "perflua"
local timed = require "spec.support.timed"

local TIME = 1 << 2 -- in sample_type

---Returns whether an event of the file records times.
local function has_times(file)
  for _, event in ipairs(file.events) do
    if event.sample_type & TIME ~= 0 then
      return true
    end
  end
  return false
end

describe("a real recording in the order of time", function()
  corpus.each_file(it, "has the records that lie in it", function(recording)
    warn "@off"
    local file <close> = perflua.open(recording.path)
    if not file then
      return -- corpus_spec says why not
    end
    local timely, stream = has_times(file), {}
    for type_id, time, offset, inside in file:records({ order = "file" })
      :select("type_id", "time", "offset", "chunk_offset"):each() do
      stream[#stream + 1] = {
        pid = ("%d+%s"):format(offset, inside), time = timely and type_id < 64 and time or nil,
      }
    end
    local found = {}
    for offset, inside in file:records():select("offset", "chunk_offset"):each() do
      found[#found + 1] = ("%d+%s"):format(offset, inside)
    end
    timed.same(timed.pids_of(in_order.exactly { stream }), found)
    assert.are.equal(0, file.out_of_order)
  end)
end)
