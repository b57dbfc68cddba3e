-- Tracepoints' fields of real recordings, and of ones made now, are what perf decodes and
-- prints.
local corpus = require "spec.support.corpus"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local oracle_args = require "spec.support.oracle_args"
local perflua = require "perflua"
local trace_texts = require "spec.support.trace_texts"

local function open(path)
  warn "@off" -- of cut recordings
  return assert(perflua.open(path))
end

--- How the recorded machine wrote numbers.
local function machine_of(file)
  local arch = file.features.arch or "x86_64"
  local is_narrow = arch:match "^arm" or arch:match "^i.86"
  return { order = file.byte_order == "big" and ">" or "<", long = is_narrow and 4 or 8 }
end

--- That all of perf's samples were found, and are alike.
local function is_alike(result)
  assert.are.equal("", oracle_args.shown(result))
  assert.are.equal(0, result.unmatched)
  assert.are.equal(result.theirs, result.samples)
end

local total = { samples = 0, values = 0 }

local function add(result)
  total.samples, total.values = total.samples + result.samples, total.values + result.values
end

--- perf's own text of a recording that was kept; nil if it was not.
local function kept_of(recording)
  for _, path in ipairs(recording.expected.script or {}) do
    if files.read(path) ~= "" then
      return path
    end
  end
end

local function has_tracing(recording)
  return files.read(recording.path):find("\x17\x08\x44tracing0.", 1, true) ~= nil
end

needs.describe("corpus", "the fields of a real recording's tracepoints", function()
  for _, recording in ipairs(corpus.recordings()) do
    local kept = kept_of(recording)
    if kept and has_tracing(recording) then
      it("are what its own perf printed: " .. recording.name, function()
        local file <close> = open(recording.path)
        local result = trace_texts.compare(file, trace_texts.kept(kept), 1000,
          8 * machine_of(file).long)
        if result.theirs > 0 then -- perf could read it
          is_alike(result)
          add(result)
        end
      end)
    end
  end

  for _, name in ipairs { "recorded/s390x/tp.data", "recorded/s390x/sched.data",
      "recorded/armhf/sched.data",
    "recorded/i386/pipe-tp.data", "recorded/arm64/trace.data", "recorded/arm64/kprobe.data" } do
    needs.it("perf with Python", "are what perf's decoder has: " .. name, function()
      local file <close> = open(corpus.root .. "/" .. name)
      local result = oracle_args.compare(file, corpus.root .. "/" .. name, machine_of(file))
      is_alike(result)
      assert.is_true(result.samples > 0)
      add(result)
    end)
  end

  for _, name in ipairs {
    "Grishberg__simpleperf-parser/src/test/resources/simpleperf_raw_trace.trace",
    "GrapheneOS__platform_system_extras/simpleperf/testdata/"
      .. "perf_with_trace_offcpu.data@6d0c5e0a",
    "GrapheneOS__platform_system_extras/simpleperf/testdata/perf_with_tracepoint_event.data",
  } do
    it("are there when simpleperf recorded it, and agree with the samples: " .. name, function()
      local file <close> = open(corpus.root .. "/collected/" .. name)
      local n = 0
      for s in file:samples() do
        if s.event.name == "sched:sched_switch" then
          assert.are.equal(s.tid, s.args.prev_pid)
          n = n + 1
        end
      end
      assert.is_true(n > 10)
    end)
  end

  it("were compared in many samples", function()
    assert.is_true(total.samples > 20000, tostring(total.samples))
    assert.is_true(total.values > 50000, tostring(total.values))
  end)
end)

needs.describe("tracepoints,cpus", "the fields of tracepoints recorded now", function()
  local path

  setup(function()
    local events =
      "sched:*,irq:softirq*,block:block_rq_*,kmem:kmalloc,raw_syscalls:*,syscalls:*openat*,"
        .. "syscalls:*exec*"
    path = oracle.record("-a -e '" .. events .. "'",
      "sh -c 'seq 40 | sort -R | wc -c; ls -l /usr >/dev/null; echo 1 >/tmp/$$; rm /tmp/$$; "
        .. "sleep 0.01'")
  end)

  needs.it("perf with Python", "are what perf decodes", function()
    local file <close> = open(path)
    local result = oracle_args.compare(file, path, machine_of(file))
    is_alike(result)
    assert.is_true(result.values > 1000, tostring(result.values))
  end)

  it("are what perf prints", function()
    local file <close> = open(path)
    local result = trace_texts.compare(file, trace_texts.live(path), 1)
    is_alike(result)
    assert.is_true(result.values > 1000, tostring(result.values))
  end)
end)
