-- perflua.diff of recordings whose functions have no names on a side: rows that cannot be
-- compared, addresses of one binary, and functions that may have been renamed.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local perflua = require "perflua"
local run = require "spec.cli.run"

local START <const> = 0x400000

local tree, open

-- Compiles a program of these functions. Returns { path, build_id, and where each function is
-- in the file }.
local function compile(name, functions)
  local code = {}
  for i, one in ipairs(functions) do
    code[i] = ("__attribute__((noinline)) int %s(volatile int *n) { return *n += %d; }\n")
      :format(one, i)
  end
  local made = tree:program(name, "-O0", table.concat(code))
  made.path = tree.path .. "/" .. name
  return made
end

-- A recording of a program, one sample each millisecond. parts: of the samples by function or
-- address.
local function record(seed, made, parts, options)
  options = options or {}
  local b, process = builder.new(), options.pid or binaries.PID
  local event = b:event { name = "cpu-clock", type = 1, config = 0,
    sample_type = { "ip", "tid", "time", "period", options.chains and "callchain" } }
  local id = { pid = process, tid = process, time = 1 }
  b:record("comm", { pid = process, tid = process, comm = "prog" }, id)
  b:record("mmap2", { pid = made.kernel and -1 or process, tid = made.kernel and 0 or process,
    addr = made.start or START, len = 0x100000, pgoff = made.kernel and made.start or 0,
    prot = 5, flags = 2, filename = made.path, build_id = made.build_id,
    misc = made.kernel and 1 or 2 }, id)
  local names = {}
  for name in pairs(parts) do names[#names + 1] = name end
  table.sort(names)
  math.randomseed(seed)
  for ms = 1, 1000 * (options.seconds or 4) do
    local left = math.random()
    for _, name in ipairs(names) do
      left = left - parts[name]
      if left < 0 then
        local ip = (made.start or START) + (made[name] or name)
        b:sample(event, { ip = ip, pid = process, tid = process, time = ms * 1000000,
          period = 1000000, misc = made.kernel and 1 or 2, callchain = { -512, ip } })
        break
      end
    end
  end
  return b:write()
end

local function by_function(path, ...)
  open[#open + 1] = assert(perflua.open(path))
  local keys = { ... }
  if not keys[1] then keys = { "comm", "dso", "symbol" } end
  return open[#open]:samples():group_by(table.unpack(keys)):sum("period")
end

local function verdicts_of(t)
  local list = {}
  for row in t:rows() do list[row.symbol or "-"] = row.verdict end
  return list
end

describe("perflua.diff", function()
  local parts = { alpha = 0.5, beta = 0.3, gamma = 0.1 }
  local functions = { "alpha", "beta", "gamma" }

  before_each(function() tree, open = binaries.tree(), {} end)
  after_each(function()
    for _, file in ipairs(open) do file:close() end
    tree = nil
  end)

  describe("of a program that was rebuilt in place", function()
    local old, new, again

    before_each(function()
      local made = compile("prog", functions)
      old = record(1, made, parts)
      made = compile("prog", { "zero", table.unpack(functions) })
      new, again = record(2, made, parts), record(3, made, { alpha = 0.5, beta = 0.39,
        gamma = 0.1 })
    end)

    it("does not take functions without a name for gone, nor those with one for new", function()
      for _, pair in ipairs { { old, new }, { new, old } } do
        local t = perflua.diff(by_function(pair[1]), by_function(pair[2]))
        assert.same({ ["-"] = "no symbols", alpha = "no symbols", beta = "no symbols",
          gamma = "no symbols" }, verdicts_of(t))
        assert.is_nil(t[1].low)
        assert.is_true(t[1].delta ~= 0)
        assert.matches("\n# no symbols: one side lacks the names of these functions",
          tostring(t))
      end
    end)

    it("says first how much of each side has no function", function()
      local text = tostring(perflua.diff(by_function(old), by_function(new)))
      assert.matches("^# samples of event 'cpu%-clock' without a function: 100 %% before, "
        .. "none after\n", text)
      text = tostring(perflua.diff(by_function(old, "comm"), by_function(new, "comm")))
      assert.not_matches("without a function", text)
    end)

    it("compares the program as a whole without its functions", function()
      local t = perflua.diff(by_function(old, "dso"), by_function(new, "dso"))
      assert.same({ 1, "noise" }, { #t, t[1].verdict })
    end)

    it("compares functions of other binaries, and those of which both sides have names",
      function()
        assert.same({ alpha = "noise", beta = "slower", gamma = "noise" },
          verdicts_of(perflua.diff(by_function(new), by_function(again))))
      end)

    it("does not tell from runs of which one lacks the names", function()
      local t = perflua.diff({ by_function(old), by_function(new), by_function(new) },
        { by_function(again), by_function(again), by_function(again) })
      assert.same({ ["-"] = "no symbols", alpha = "no symbols", beta = "no symbols",
        gamma = "no symbols" }, verdicts_of(t))
    end)

    it("knows what saved tables lack", function()
      local t = perflua.diff(by_function(old):table(), by_function(new):table())
      assert.equal("no symbols", verdicts_of(t).alpha)
    end)
  end)

  it("does not take stacks for gone whose functions have no name", function()
    local chains = { chains = true }
    local made = compile("prog", functions)
    local old = record(1, made, parts, chains)
    made = compile("prog", { "zero", table.unpack(functions) })
    local new = record(2, made, parts, chains)
    for row in perflua.diff(by_function(old, "stack"), by_function(new, "stack")):rows() do
      assert.equal("no symbols", row.verdict, row.stack)
    end
    local got = run.perflua { "diff", "--flame", "-", old, new }
    assert.equal(0, got.status, got.err)
    assert.same({ "noise", "no symbols" },
      { got.out:match '"verdicts":%[%s*"([^"]*)","([^"]*)"%s*%]' })
  end)

  it("matches call stacks by their functions, wherever these are, and renamed ones", function()
    local chains = { chains = true }
    local old = record(1, compile("prog", { "alpha", "beta" }), { alpha = 0.5, beta = 0.3 },
      chains)
    local new = record(2, compile("other", { "zero", "alpha", "gamma" }), { alpha = 0.5,
      gamma = 0.3 }, chains)
    local function compare(match)
      local rows = {}
      for row in perflua.diff(by_function(old, "callchain"), by_function(new, "callchain"),
        { match = match }):rows() do
        rows[row.callchain[1].symbol] = { row.before > 0, row.after > 0 }
      end
      return rows
    end
    assert.same({ alpha = { true, true }, beta = { true, false }, gamma = { false, true } },
      compare())
    assert.same({ alpha = { true, true }, gamma = { true, true } },
      compare { beta = "gamma" })
  end)

  it("says that a function is new which is larger than all that had no name", function()
    local made = compile("prog", functions)
    local old = record(1, made, { alpha = 0.05 })
    made = compile("prog", { "zero", table.unpack(functions) })
    local rows = verdicts_of(perflua.diff(by_function(old), by_function(record(2, made,
      { alpha = 0.05, beta = 0.6 }))))
    assert.same({ "no symbols", "no symbols", "new" }, { rows["-"], rows.alpha, rows.beta })
  end)

  it("compares the addresses of one build-id that have no function on both sides", function()
    local made = compile("prog", functions)
    os.remove(made.path)
    local t = perflua.diff(by_function(record(1, made, parts)), by_function(record(2, made,
      { alpha = 0.5, beta = 0.39 }, { pid = 4242424 })))
    local function address(name) return ("0x%x"):format(made[name]) end
    assert.same({ [address "alpha"] = "noise", [address "beta"] = "slower",
      [address "gamma"] = "gone" }, verdicts_of(t))
    assert.matches("100 %% before, 100 %% after\n", tostring(t))
  end)

  it("compares addresses of a kernel that was loaded elsewhere", function()
    local function kernel(seed, start, beta)
      return record(seed, { path = "[kernel.kallsyms]_text", kernel = true, start = start,
        build_id = ("5a"):rep(20) }, { [0x1100] = 0.5, [0x1200] = beta })
    end
    local t = perflua.diff(by_function(kernel(1, -0x7f000000, 0.3)),
      by_function(kernel(2, -0x7e000000, 0.4)))
    local rows = {}
    for row in t:rows() do rows[row.symbol] = row.verdict end
    assert.same({ ["0xffffffff82001100"] = "noise", ["0xffffffff82001200"] = "slower" }, rows)
  end)

  it("keeps two binaries of one name apart by their build-ids", function()
    local first = { path = "/nowhere/prog", build_id = ("11"):rep(20), alpha = 0x100 }
    local second = { path = "/nowhere/prog", build_id = ("22"):rep(20), alpha = 0x100 }
    local t = perflua.diff(by_function(record(1, first, { alpha = 0.5 })),
      by_function(record(2, second, { alpha = 0.5 })))
    assert.same({ ["-"] = "noise" }, verdicts_of(t))
  end)

  it("has a row for each of two binaries of one name with an address in common", function()
    local function record_both(seed, of_second)
      math.randomseed(seed)
      local b = builder.new()
      local event = b:event { name = "cpu-clock", type = 1, config = 0,
        sample_type = { "ip", "tid", "time", "period" } }
      for i, digits in ipairs { "11", "22" } do
        local id = { pid = binaries.PID + i, tid = binaries.PID + i, time = 1 }
        b:record("comm", { pid = id.pid, tid = id.pid, comm = "prog" }, id)
        b:record("mmap2", { pid = id.pid, tid = id.pid, addr = START, len = 0x1000, pgoff = 0,
          prot = 5, flags = 2, filename = "/nowhere" .. i .. "/prog",
          build_id = digits:rep(20), misc = 2 }, id)
      end
      for ms = 1, 4000 do
        local id = binaries.PID + (math.random() < of_second and 2 or 1)
        b:sample(event, { ip = START + 0x10, pid = id, tid = id, time = ms * 1000000,
          period = 1000000, misc = 2 })
      end
      return b:write()
    end
    local t = perflua.diff(by_function(record_both(1, 0.2)), by_function(record_both(2, 0.4)))
    local sides, name = { 0, 0 }, "0x10"
    for row in t:rows() do
      sides = { sides[1] + row.before, sides[2] + row.after }
    end
    assert.same({ 4000000000, 4000000000 }, sides)
    local verdicts, other = verdicts_of(t), nil
    assert.equal(2, #t)
    for symbol in pairs(verdicts) do other = symbol ~= name and symbol or other end
    assert.truthy(other:find(name .. " (" .. ("22"):rep(20) .. ":10)", 1, true)
      or other:find(name .. " (" .. ("11"):rep(20) .. ":10)", 1, true), other)
    assert.is_true(verdicts[name] ~= "noise" and verdicts[other] ~= "noise")
  end)

  it("gives a binary the names that it has in the other recording", function()
    local made = compile("prog", functions)
    local moved = { path = "/nowhere/prog", build_id = made.build_id, alpha = made.alpha,
      beta = made.beta, gamma = made.gamma }
    local old = record(1, moved, parts)
    local new = record(2, made, { alpha = 0.5, beta = 0.39 })
    assert.same({ alpha = "noise", beta = "slower", gamma = "gone" },
      verdicts_of(perflua.diff(by_function(old), by_function(new))))
  end)

  it("hints at --match where a function is new and one of its size is gone", function()
    local made = compile("prog", { "alpha", "beta", "gamma", "delta" })
    local old = record(1, made, parts)
    local new = record(2, made, { alpha = 0.5, delta = 0.31, gamma = 0.1 })
    local hint = "# beta is gone, and delta of nearly the same size is new: if it was renamed, "
      .. "compare them by --match 'beta=delta'"
    local t = perflua.diff(by_function(old), by_function(new))
    assert.equal("new", verdicts_of(t).delta)
    assert.equal(hint, tostring(t):match "([^\n]*)$")
    local halved = record(3, made, { alpha = 0.5, delta = 0.15, gamma = 0.1 })
    assert.not_matches("%-%-match", tostring(perflua.diff(by_function(old),
      by_function(halved))))
  end)

  it("has no share that changes by more than all", function()
    local made = compile("prog", functions)
    local old, new = record(1, made, { alpha = 1 }, { seconds = 0.04 }),
      record(2, made, { beta = 1 }, { seconds = 0.04 })
    for row in perflua.diff(by_function(old), by_function(new), { per = "share" }):rows() do
      assert.is_true(row.low >= -100 and row.high <= 100)
    end
  end)
end)
