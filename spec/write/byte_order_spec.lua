-- write() in the other byte order: held by what the specs' builder writes in it.
local args_recording = require "spec.support.args_recording"
local builder = require "spec.support.builder"
local corpus = require "spec.support.corpus"
local everything = require "spec.support.everything"
local features = require "spec.support.builder_features"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"
local seen = require "spec.support.seen"

local SWEEP = os.getenv "SWEEP"
local SMALL <const> = SWEEP and math.maxinteger or 40000 -- bytes

local other = { little = "big", big = "little" }
local aux = { aux = true, itrace_start = true, auxtrace_info = true, auxtrace = true }

--- The records of a File, without those of AUX areas and without what samples lose.
local function records_of(file)
  local list = {}
  for r in file:records { order = "file" } do
    if not aux[r.type] then
      local line = seen.of(r):gsub(' aux="[^"]*"', ""):gsub(' raw="[^"]*"', "")
      list[#list + 1] = line:gsub(" size=%d+", "")
    end
  end
  return list
end

--- Writes a recording in the other byte order and back. Returns the bytes, those of its copy in
--- its own order, and the summary of the first.
local function there_and_back(path, form)
  local file <close> = perflua.open(path)
  if not file then return nil end
  local order, turned, back, plain = file.byte_order, rewritten.path(), rewritten.path(),
    rewritten.path()
  local options = setmetatable({ byte_order = other[order] }, nil)
  for k, v in pairs(form or {}) do options[k] = v end
  if not file:records { container = true }:write(plain, form) then return nil end
  local again <close> = assert(perflua.open(path))
  local summary = assert(again:records { container = true }:write(turned, options))
  local copy <close> = assert(perflua.open(turned))
  assert.are.equal(other[order], copy.byte_order)
  options.byte_order = order
  assert(copy:records { container = true }:write(back, options))
  local bytes, expected = files.read(back), files.read(plain)
  for _, name in ipairs { turned, back, plain } do os.remove(name) end
  return bytes, expected, summary
end

local function is_whole(summary)
  return summary.unturned_records + summary.unturned_data + summary.aux_records == 0
    and not summary.unturned[1]
end

describe("write() in the other byte order", function()
  for endian, turned in pairs(other) do
    describe("of a " .. endian .. "-endian recording", function()
      it("has all records, events and features whose form is known", function()
        local file <close> = assert(perflua.open(everything.builder(endian):write()))
        local expected <close> = assert(perflua.open(everything.builder(turned):write()))
        for _, form in ipairs { {}, { pipe = true }, { compress = 1 } } do
          form.byte_order = turned
          local copy <close>, summary = rewritten.open(file, form)
          assert.are.equal(turned, copy.byte_order)
          assert.are.equal(0, #copy.damage)
          assert.are.same({ 4, 2 }, { summary.aux_records, summary.unturned_data })
          assert.are.equal("feature 200", summary.unturned[1] or summary.unfit[#summary.unfit])
          if not form.pipe then
            assert.is_nil(seen.difference(records_of(expected), records_of(copy)))
          end
          for name in pairs(everything.features) do
            local value = copy.features[name]
            if type(name) == "string" and value ~= nil and name ~= "compressed" then
              assert.are.equal(seen.of(expected.features[name]), seen.of(value), name)
            end
          end
        end
      end)

      it("has bits of attrs and branches where compilers of that order have them", function()
        local function recorded(order)
          local b = builder.new { endian = order }
          for i = 1, 3 do
            b:event { sample_type = { "ip", "time", "branch_stack", "identifier" }, ids = { i },
              precise_ip = i, exclude_user = i == 1, exclude_callchain_user = i == 2,
              build_id = i == 3, branch_sample_type = 1 << 17 }
            b:sample(b.events[i], { ip = i, time = i, identifier = i, branch_stack = {
              hw_idx = 3, { from = 1, to = 2, mispred = i == 1, abort = i == 2, cycles = 513,
                type = 9, spec = 2, new_type = 5, priv = 3 } } })
          end
          return b:write()
        end
        local file <close> = assert(perflua.open(recorded(endian)))
        local expected <close> = assert(perflua.open(recorded(turned)))
        local copy <close> = rewritten.open(file, { byte_order = turned })
        for i = 1, 3 do
          assert.are.equal(i, copy.events[i].precise_ip)
          assert.are.equal(seen.of(expected.events[i]), seen.of(copy.events[i]))
        end
        assert.is_nil(seen.difference(records_of(expected), records_of(copy)))
      end)

      it("has the raw data of tracepoints, as their format says", function()
        local options = { endian = endian }
        local file <close> = assert(perflua.open(args_recording.of(options):write()))
        options.endian = turned
        local expected <close> = assert(perflua.open(args_recording.of(options):write()))
        local copy <close>, summary = rewritten.open(file, { byte_order = turned })
        local function texts(recording)
          local list = {}
          for s in recording:samples { order = "file" } do
            if s.event.name:find "^sys:" and s.args and #s.raw > 100 then
              list[#list + 1] = seen.of(s.args)
            end
          end
          return list
        end
        assert.is_true(#texts(expected) >= 24)
        assert.is_nil(seen.difference(texts(expected), texts(copy)))
        assert.is_true(summary.unturned_data >= 24) -- of the event that is not a tracepoint
        assert.are.equal(expected:samples():count(), copy:samples():count())
      end)

      it("has the arrays of BPF programs", function()
        local function recorded(order)
          local b = builder.new { endian = order }
          b:event {}
          b:record("comm", { comm = "x" })
          local data = b.w:array("u32", { 1, 2 }) .. b.w:array("u64", { 1 << 40, 7 })
          b:feature("bpf_prog_info", { { arrays = 1 << 2 | 1 << 3, data = data,
            info = features.bpf_info(b.w, { id = 9, type = 1, name = "prog", nr_map_ids = 2,
              map_ids = 0, nr_jited_ksyms = 2, jited_ksyms = 8, tag = "0102030405060708",
              run_cnt = 1 << 33, verified_insns = 77 }) } })
          return b:write()
        end
        local file <close> = assert(perflua.open(recorded(endian)))
        local expected <close> = assert(perflua.open(recorded(turned)))
        local copy <close> = rewritten.open(file, { byte_order = turned })
        assert.are.equal(seen.of(expected.features.bpf_prog_info),
          seen.of(copy.features.bpf_prog_info))
        assert.are.equal(1 << 40, copy.features.bpf_prog_info[1].jited_ksyms[1])
      end)
    end)
  end

  it("is the same again in the first order", function()
    for _, form in ipairs { {}, { pipe = true }, { compress = 1 } } do
      for _, name in ipairs { "demo.perf.data", "switches.perf.data", "calls.perf.data" } do
        local bytes, expected, summary = there_and_back(files.fixture(name), form)
        assert.is_true(is_whole(summary), name)
        assert.is_true(bytes == expected, name)
      end
    end
  end)

  needs.it("corpus", "is the same again, of recordings of the corpus", function()
    warn "@off"
    local n = 0
    for _, recording in ipairs(corpus.recordings()) do
      if #files.read(recording.path) <= SMALL then
        local bytes, expected, summary = there_and_back(recording.path)
        if bytes and is_whole(summary) then
          assert.is_true(bytes == expected, recording.name)
          n = n + 1
        end
      end
    end
    assert.is_true(n > 40, n)
  end)

  it("is chosen by name", function()
    local file <close> = assert(perflua.open(run.demo))
    local copy <close> = rewritten.open(file, { byte_order = "native" })
    assert.are.equal(string.pack("=I2", 1) == "\1\0" and "little" or "big", copy.byte_order)
    assert.has_error(function()
      file:records():write(rewritten.path(), { byte_order = "middle" })
    end)
    local got = run.perflua { "convert", "--byte-order", "middle", "-o", "x", run.demo }
    assert.is_true(got.status ~= 0)
    assert.matches("'middle' is none of little, big and native", got.err)
  end)

  needs.it("perf", "is read by perf", function()
    local path = rewritten.path()
    local got = run.shell_with([[
      "$perflua" convert --byte-order big "$1" -o "$2" >/dev/null || exit
      for i in "$1" "$2"; do
        perf script --symfs=spec/fixtures/empty --kallsyms=/dev/null -f -i "$i" 2>/dev/null \
          >"$2.lines$((n += 1))"
      done
      test -s "$2.lines1" && cmp "$2.lines1" "$2.lines2"]], run.demo, path)
    assert.are.same({ status = 0, out = "", err = "" }, got)
  end)
end)
