local needs = require "spec.support.needs"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"

needs.describe("tracepoints", "perflua fields", function()
  it("lists the fields of each tracepoint as args.NAME, with kind, example and type", function()
    local path =
      oracle.record("-c 1 -e sched:sched_switch -e sched:sched_process_exit -e page-faults",
        "sleep 0.01")
    local got = run.perflua { "fields", path }
    assert.same({ 0, "" }, { got.status, got.err })
    local function part(name)
      return got.out:match("\nsample of " .. name .. ": .-\n\n") or got.out:match "^.-\n\n"
    end
    local switch, exit, fault = part "sched:sched_switch", part "sched:sched_process_exit",
      part "page%-faults"
    assert.matches("\n  args.prev_comm +string +%S+ +char%[16%]\n", switch)
    assert.matches("\n  args.prev_state +signed +%d+ +long\n", switch)
    assert.matches("\n  args.common_pid +signed +%d+ +int\n", switch)
    assert.matches("\n  args.pid +signed +%d+ +pid_t\n", exit)
    assert.is_nil(exit:find("args.prev_pid", 1, true))
    assert.is_nil(fault:find("args.", 1, true))
  end)
end)
