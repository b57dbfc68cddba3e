-- interval by the clock on the wall.
local perflua = require "perflua"
local files = require "spec.support.files"
local run = require "spec.cli.run"
local small_pipe = require "spec.support.small_pipe"
local two_events = require "spec.support.two_events"

describe("interval by the clock on the wall", function()
  -- Runs a script over a stream that has three records and then stalls until the script writes
  -- the file `seen`.
  local function run_over_stall(text)
    local seen = files.temporary()
    os.remove(seen)
    local script = run.script([[
      local function let_go() assert(io.open(arg[2], "w")):close() end
    ]] .. text)
    return run.shell_with([[
      { cat "$1"; timeout 300 sh -c "until [ -e $3 ]; do sleep 0.02; done"; } |
        "$perflua" "$2" - "$3"]],
      small_pipe():write(), script, seen)
  end

  it("is called while a stream stalls, with the time of day", function()
    local before = os.time()
    local got = run_over_stall [[
      local n, times = 0, {}
      local file <close> = assert(perflua.open(arg[1]))
      file:run {
        interval_ms = 10, interval_clock = "wall",
        interval = function(time)
          n = n + 1
          times[n] = time
          if n == 3 then let_go() end
        end,
        finish = function()
          print(n >= 3, times[1] // 1000000000, times[1] < times[2] and times[2] < times[3])
        end,
      }]]
    local many, first, rising = got.out:match "^(%a+)\t(%d+)\t(%a+)\n$"
    assert.same({ "true", "true" }, { many, rising }, got.out)
    assert.is_true(tonumber(first) >= before and tonumber(first) <= os.time(), first)
  end)

  it("ends a stream that stalls when it returns perflua.stop", function()
    local got = run_over_stall [[
      local file <close> = assert(perflua.open(arg[1]))
      file:run {
        interval_ms = 1, interval_clock = "wall",
        interval = function() return perflua.stop end,
        finish = function()
          print "finish"
          let_go()
        end,
      }]]
    assert.same({ 0, "finish\n" }, { got.status, got.out })
  end)

  it("raises its errors while a stream stalls", function()
    local got = run_over_stall [[
      local file <close> = assert(perflua.open(arg[1]))
      print(pcall(file.run, file, {
        interval_ms = 1, interval_clock = "wall",
        interval = function()
          let_go()
          error("mine", 0)
        end,
      }))]]
    assert.same({ 0, "false\tmine\n" }, { got.status, got.out })
  end)

  it("may close the file that stalls", function()
    local got = run_over_stall [[
      local file = assert(perflua.open(arg[1]))
      file:run {
        interval_ms = 1, interval_clock = "wall",
        interval = function()
          file:close()
          let_go()
        end,
      }
      print "ended"]]
    assert.same({ 0, "ended\n" }, { got.status, got.out })
  end)

  it("is called between the records of a file", function()
    local file <close> = assert(perflua.open(two_events.write()))
    local n, records = 0, 0
    file:run {
      interval_ms = 1, interval_clock = "wall",
      interval = function() n = n + 1 end,
      other = function()
        records = records + 1
        local till = os.clock() + 0.004
        while os.clock() < till do end
      end,
    }
    assert.is_true(records > 3 and n >= records - 1 and n <= records)
  end)

  it("raises for another clock", function()
    local file <close> = assert(perflua.open(two_events.write()))
    assert.error_matches(function()
      file:run { interval_ms = 1, interval_clock = "wal", interval = print }
    end, "interval_clock must be 'recorded' or 'wall', not 'wal'")
    assert.error_matches(function()
      file:run { interval_ms = 1, interval_clock = 5, interval = print }
    end, "'interval_clock': a string expected, got a number")
  end)
end)
