local builder = require "spec.support.builder"
local files = require "spec.support.files"
local run = require "spec.cli.run"
local small_pipe = require "spec.support.small_pipe"

-- A script that prints when it reads anything; %s: what it returns.
local function script(returned)
  return run.script(
    "local function ran() print 'ran' end\nlocal meta = { description = 'waits', "
    .. "needs = { events = { 'sched:*' }, fields = 'args.prev_state' }, record = 'perf record "
    .. "-e sched:x' }\n"
    .. "return " .. returned)
end

local lacking =
  "perflua: %s: this recording has no event 'sched:*'; record it with: perf record -e sched:x\n"

local forms = {
  handlers = "{ meta = meta, begin = ran, sample = ran }",
  ["a function"] = "function() ran() end, meta",
  ["a query"] =
    "assert(perflua.open(arg[1])):samples():where(ran):group_by('pid'):count(), meta",
}

describe("a script that needs what a recording lacks", function()
  for form, text in pairs(forms) do
    it("says so and how to record it, and reads nothing, status 1: " .. form, function()
      assert.same({ status = 1, out = "", err = lacking:format(run.demo) },
        run.perflua { script(text), run.demo })
    end)
  end

  it("explains itself to perflua help", function()
    for _, form in ipairs { "handlers", "a function" } do
      local path = script(forms[form])
      assert.same({ status = 0, err = "", out = path .. ": waits\nusage: perflua " .. path
        .. " [perf.data…]\n"
        .. "needs: event sched:*; field args.prev_state\nrecord: perf record -e sched:x\n" },
        run.perflua { "help", path })
    end
  end)

  it("says so of a pipe, when the events are known", function()
    local data = small_pipe():write()
    local got = run.shell_with([["$perflua" "$1" - <"$2"]], script(forms.handlers), data)
    assert.equal(lacking:format("-"), got.err)
    local meta =
      "{ meta = { needs = { 'one', 'two', 'ip' } }, sample = function(s) print(s.event.name) "
        .. "end }"
    got = run.shell_with([["$perflua" "$1" - <"$2"]], run.script("return " .. meta), data)
    assert.same({ status = 0, out = "two\none\n", err = "" }, got)
  end)

  it("is run over many recordings none the less", function()
    local with =
      run.script("return function(f) return f:samples():group_by('pid'):count() end, { needs "
        .. "= 'cpu-clock' }")
    local b = builder.new()
    b:event { name = "cycles", sample_type = { "ip", "tid" } }
    local other = b:write()
    local got = run.perflua { "map", with, other, run.demo }
    assert.equal(1, got.status)
    assert.matches(
      other .. ": this recording has no event 'cpu-clock'; record it with: perf record -e "
        .. "cpu-clock",
      got.err, 1, true)
    assert.equal(run.perflua({ with, run.demo }).out, got.out)
  end)

  it("may say wrongly what it needs: that is its error", function()
    local got = run.perflua { run.script "return { meta = { needs = { fields = 'pidd' } } }",
      run.demo }
    assert.equal(1, got.status)
    assert.matches("meta.needs: unknown field 'pidd'; the closest is 'pid'", got.err, 1, true)
  end)
end)

describe("a tool that needs something of a recording", function()
  -- Such a tool, found as those in the binary are.
  local use = files.temporary [[
    package.preload["perflua.tools.waits"] = function()
      return { description = "d", usage = "waits FILE", reads = "records",
        needs = { "sched:*", "callchain" }, record = "perf record -g",
        run = function(_, _, out) out:write "ran\n" end }
    end]]

  local function perflua(...)
    return run.perflua({ ... }, { env = "LUA_INIT=@" .. use })
  end

  it("says what is lacking and how to record it", function()
    assert.same({ status = 1, out = "", err = "perflua: " .. run.demo
      .. ": this recording has no event 'sched:*'; record it with: perf record -g\n" },
        perflua("waits", run.demo))
  end)

  it("shows it in its help", function()
    assert.equal(
      "perflua waits: d\nusage: perflua waits FILE\n\n"
      .. "FILE is a recording, or - for standard input; default: perf.data.\n\n"
      .. "needs: event sched:*; field callchain\n"
      .. "record: perf record -g\n\n"
      .. "  --color WHEN     colors: auto (default: on a terminal, unless NO_COLOR is set), "
      .. "always, never\n"
      .. "  --no-pager       print text longer than the screen without a pager\n"
      .. "  --timing[=json]  say on standard error where the time went: the passes, and the "
      .. "stages of each\n"
      .. "  --wide           print names in full where lines are longer than the terminal\n",
      perflua("help", "waits").out)
  end)
end)
