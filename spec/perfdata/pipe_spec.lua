local builder = require "spec.support.builder"
local everything = require "spec.support.everything"
local perflua = require "perflua"
local reading = require "spec.support.reading"
local small = require "spec.support.small_pipe"

---Returns what dump prints of each record but its offset: every field it has.
local function lines(file, options)
  local list = {}
  for r in file:records(options):each() do
    list[#list + 1] = tostring(r):gsub("^0x%x+ ", "")
      .. (" event=%s"):format(r.event and r.event.name)
  end
  return list
end

local function types(file, options)
  local list = {}
  for r in file:records(options):each() do
    list[#list + 1] = r.type
  end
  return list
end

reading.either_order(describe, function(endian)
  describe("in pipe mode", function()
    local function both(b)
      local as_file = reading.open(b)
      b.container = "pipe"
      local as_pipe = reading.open(b)
      return as_file, as_pipe
    end

    it("says what it is", function()
      local b = small { endian = endian }
      local path = b:write()
      local file = assert(perflua.open(path))
      assert.are.equal("pipe", file.mode)
      assert.are.equal(2, file.version)
      assert.are.equal(endian, file.byte_order)
      assert.are.equal(#b:bytes(), file.size)
      assert.are.equal(path, file.path)
      assert.is_true(file.complete)
      assert.are.equal(0, #file.damage)
    end)

    it("has the records and fields that it has in a seekable file", function()
      local as_file, as_pipe = both(everything.builder(endian))
      local expected = lines(as_file)
      assert.is_true(#expected > 30)
      assert.are.same(expected, lines(as_pipe))
    end)

    it("has the features that it has in a seekable file", function()
      local as_file, as_pipe = both(everything.builder(endian))
      local n = 0
      for name, value in pairs(as_file.features) do
        -- build-ids come in records of their own, a feature that only says yes does not come
        if name ~= "build_id" and value ~= true then
          assert.is_not_nil(as_pipe.features[name], name)
          n = n + 1
        end
      end
      assert.is_true(n > 25)
      for _, name in ipairs { "hostname", "cmdline", "nrcpus", "cpu_topology", "pmu_caps",
          "e_machine", 200 } do
        assert.are.same(as_file.features[name], as_pipe.features[name])
      end
    end)

    it("has the events that it has in a seekable file", function()
      local as_file, as_pipe = both(everything.builder(endian))
      assert.are.equal(2, #as_pipe.events)
      for i, event in ipairs(as_file.events) do
        local other = as_pipe.events[i]
        for _, field in ipairs {
          "name", "index", "ids", "type", "config", "sample_type", "read_format",
          "sample_fields", "sample_id_all",
          "branch_sample_type", "sample_regs_user", "sample_stack_user",
        } do
          assert.are.same(event[field], other[field], field)
        end
      end
    end)

    it("shows the records it is held together with only to who asks", function()
      local file = reading.open(small { endian = endian })
      local own = { "comm", "sample", "sample" }
      local head = {
        "header_attr", "header_attr", "header_feature", "header_feature", "header_feature",
      }
      assert.are.same(own, types(file))
      assert.are.same(table.move(own, 1, #own, #head + 1, table.move(head, 1, #head, 1, {})),
        types(file, { container = true }))
      assert.are.same({ "header_attr", "header_attr" }, types(file, { type = "header_attr" }))
      local n = 0
      file:run { header_feature = function() n = n + 1 end }
      assert.are.equal(3, n)
    end)

    it("describes itself in these records", function()
      local file = reading.open(small { endian = endian })
      local attr = file:records("header_attr"):collect()[2]
      assert.are.equal(21, attr.ids[1])
      local features = file:records("header_feature"):collect()
      assert.are.equal("hostname", features[1].feature)
      assert.are.equal("event_desc", features[2].feature)
      assert.are.equal(16, features[3].size) -- the end mark
    end)

    it("tells its events by their ids", function()
      local names = {}
      for _, r in ipairs(reading.open(small { endian = endian }):records():collect()) do
        names[#names + 1] = r.event.name
      end
      assert.are.same({ "one", "two", "one" }, names)
    end)

    it("has its records at the places they were written to, however odd their sizes", function()
      local b = small { endian = endian }
      b:feature(200, "odd")
      b:record("header_feature", { feature = 201, data = "x" })
      b:record("comm", { pid = 6, tid = 6, comm = "odd" }, { time = 4, identifier = 11 })
      local offsets = b:offsets()
      local file = reading.open(b)
      local records = file:records({ container = true }):collect()
      assert.is_true(offsets[1] % 8 ~= 0)
      for i = 1, #offsets do
        assert.are.equal(offsets[i], records[#records - #offsets + i].offset)
      end
      assert.are.equal("odd", records[#records].comm)
      assert.are.equal("odd", file.features[200])
      assert.are.equal("x", file.features[201]) -- it came after the records had begun
    end)

    it("takes the end of its features for no feature", function()
      local b = small { endian = endian }
      local file = reading.open(b)
      for name in pairs(file.features) do
        assert.is_true(name == "hostname" or name == "event_desc", tostring(name))
      end
      assert.are.equal("here", file.features.hostname)
    end)

    it("has the tracing data that follows its record", function()
      local b = builder.new { endian = endian, container = "pipe" }
      b:event { type = 2, config = 7, name = "a:b" }
      local function text(s) return b.w:u64(#s) .. s end
      local blob = "\x17\x08\x44tracing0.6\0" .. (endian == "big" and "\1" or "\0") .. "\8"
        .. b.w:u32(4096)
        .. "header_page\0" .. text("page") .. "header_event\0" .. text(("event"):rep(20000))
        .. b.w:u32(0) .. b.w:u32(0) .. b.w:u32(0) .. b.w:u32(0) .. text("7 sh\n")
      b:feature("tracing_data", blob)
      b:record("comm", { comm = "after" })
      local file = reading.open(b)
      assert.are.equal(4096, file.features.tracing_data.page_size)
      local record = file:records("tracing_data"):first()
      assert.are.equal(blob, record:data():sub(1, #blob))
      assert.are.equal("after", file:records():first().comm)
    end)

    it("steps over the payload of AUX area data", function()
      local b = small { endian = endian }
      b:record("auxtrace", { data = ("trace!!!"):rep(10000), idx = 1 })
      b:record("comm", { comm = "after" }, { time = 9 })
      local records = reading.open(b):records():collect()
      assert.are.equal("auxtrace", records[4].type)
      assert.are.equal(("trace!!!"):rep(10000), records[4]:data())
      assert.are.equal("after", records[5].comm)
    end)

    it("is of the first version", function()
      local b = small { endian = endian, version = 1 }
      local file = reading.open(b)
      assert.are.equal("pipe", file.mode)
      assert.are.equal(1, file.version)
      assert.are.equal(endian, file.byte_order)
      assert.are.same({ "one", "two" }, { file.events[1].name, file.events[2].name })
      assert.are.equal("sh", file:records():first().comm)
    end)

    describe("names its events", function()
      local function named(fill)
        local b = builder.new { endian = endian, container = "pipe", event_desc = false }
        b:event { type = 1, config = 9, ids = { 11, 12 } }
        b:event { type = 2, config = 77, ids = { 21 } }
        fill(b)
        b:record("comm", { comm = "sh" })
        local file = reading.open(b)
        return { file.events[1].name, file.events[2].name }
      end

      it("uses its EVENT_DESC", function()
        assert.are.same({ "x", "y" }, named(function(b)
          b.event_desc = nil
          b.events[1].name, b.events[2].name = "x", "y"
        end))
      end)

      it("uses event updates, by any of their ids", function()
        assert.are.same({ "x", "y" }, named(function(b)
          b:record("event_update", { id = 21, name = "y" })
          b:record("event_update", { id = 12, name = "x" })
        end))
      end)

      it("uses old recorders' event types, by the config of a tracepoint", function()
        assert.are.same({ "dummy", "sched:sched_switch" }, named(function(b)
          b.event_types = { { id = 0, name = "not this" },
            { id = 77, name = "sched:sched_switch" } }
        end))
      end)

      it("uses their attrs where nothing else does, and updates of other kinds or ids "
        .. "change nothing", function()
        assert.are.equal("dummy", named(function(b)
          b:record("event_update", { id = 99, name = "y" })
          b:record("event_update", { id = 11, unit = "ms" })
          b:record("event_update", { id = 11, scale = 0.5 })
          b:record("event_update", { id = 11, cpus = { 1, 2 } })
        end)[1])
      end)
    end)

    it("reads attrs of any age", function()
      for _, size in ipairs { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 256 } do
        local file = reading.open(small { endian = endian, attr_size = size })
        assert.are.same({ 11, 12 }, { file.events[1].ids[1], file.events[1].ids[2] },
          "attrs of " .. size)
        assert.are.equal(1, #file.events[2].ids)
        assert.are.equal("one", file:records():first().event.name)
      end
    end)
  end)
end)
