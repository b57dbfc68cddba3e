-- Recordings made on the spot, and what perf makes of them: the same to a script.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local perflua = require "perflua"
local run = require "spec.cli.run"
local seen = require "spec.support.seen"

local workload = "sh -c 'for i in 1 2 3; do seq 3000 | sort -R | wc -c; done'"
local events = "-a -F 900 -e cpu-clock -e context-switches"

-- Without symbols: those of processes that another container runs beside are not known by their
-- build-ids.
local OPTIONS = { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }

local function lines(path)
  local file <close> = assert(perflua.open(path, OPTIONS))
  local list = seen.each(file:records())
  assert.is_true(file.complete)
  return list
end

---Returns the same lines from a recording that this command pipes to a script. What follows are
---its words from $2 on.
local function streamed(command, ...)
  local got = run.shell_with(command .. ' | "$perflua" "$1" -', run.script [[
    local seen = require "spec.support.seen"
    local options = { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }
    for r in perflua.open("-", options):records() do print(seen.of(r)) end]], ...)
  assert.are.equal("", got.err)
  local list = {}
  for line in got.out:gmatch "[^\n]+" do
    list[#list + 1] = line
  end
  return list
end

-- Fields that a symbol or code gives. Only a file has the vdso's build-id, without which its
-- functions have no names, and nothing proves that its code is this machine's.
local NAMES = { "annotated_stack", "disasm", "frames", "insn", "insnlen", "stack", "symbol",
  "symbol_size", "symoff", "unresolved" }

-- Drops what only a file knows: a stream learns the time of its first sample when that is
-- delivered, so records before it have no `elapsed` there; in a file theirs is negative.
local function of_any_form(list)
  local others = {}
  for i, line in ipairs(list) do
    line = line:gsub("elapsed=%-%d+ ", "")
    if line:find('dso="[vdso]"', 1, true) then
      for _, name in ipairs(NAMES) do
        name = "%f[%w_]" .. name
        line = line:gsub(name .. '=%b""', ""):gsub(name .. "=%d+", "")
      end
      line = line:gsub("[ {}]+", " ")
    end
    others[i] = line
  end
  return others
end

local function same_lines(expected, found)
  expected, found = of_any_form(expected), of_any_form(found)
  for i = 1, math.max(#expected, #found) do
    if expected[i] ~= found[i] then
      return assert.are.equal(("%d of %d: %s"):format(i, #expected, expected[i]),
        ("%d of %d: %s"):format(i, #found, found[i]))
    end
  end
end

for how, option in pairs { ["a recording made now"] = "",
    ["a compressed recording made now"] = "-z " } do
  needs.describe("cpus", how, function()
    local path, expected

    setup(function()
      path = assert(oracle.record(option .. events, workload))
      expected = lines(path)
    end)

    local function injected(options)
      local out = files.temporary()
      local text, ok = files.output(("perf inject %s -i %s -o - 2>&1 >%s"):format(options, path,
        out))
      assert.is_true(ok, text)
      return out
    end

    it("holds what the others are compared with", function()
      assert.is_true(#expected > 100)
    end)

    it("is the same in pipe mode", function()
      local pipe = injected ""
      assert.are.equal("pipe", assert(perflua.open(pipe)).mode)
      same_lines(expected, lines(pipe))
    end)

    it("is the same as it comes out of perf inject", function()
      same_lines(expected, streamed('perf inject -i "$2" -o - 2>/dev/null', path))
    end)

    it("is the same on standard input", function()
      same_lines(expected, streamed('cat "$2"', path))
    end)

    it("is the same as a file that perf inject wrote", function()
      local out = files.temporary()
      assert.is_true(
        select(2, files.output(("perf inject -i %s -o %s 2>&1"):format(path, out))))
      same_lines(expected, lines(out))
    end)

    it("is the same given as one of several", function()
      local file <close> = assert(perflua.open({ path }, OPTIONS))
      local n = 0
      for r in file:records():each() do
        n = n + 1
        assert.are.equal(1, r.source)
        same_lines({ expected[n] }, { seen.of(r) })
      end
      assert.are.equal(#expected, n)
    end)
  end)

  needs.describe("cpus", how .. " to a pipe", function()
    it("is the same while it is made and afterwards", function()
      local path = files.temporary()
      local found =
        streamed(
          ('perf record -q -N -m 64 --no-bpf-event %s%s -o - -- %s 2>/dev/null | tee "$2"')
        :format(option, events, workload), path)
      assert.is_true(#found > 100)
      same_lines(lines(path), found)
    end)
  end)
end
