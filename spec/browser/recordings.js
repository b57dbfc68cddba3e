// Recordings for tests in the browser, which spec/support builds.
"use strict";
const { execFileSync } = require("node:child_process");

// The path of a recording of a few switches of three threads, and a wake-up; of others, as switches.lua writes them.
function switches(others) {
  return execFileSync("lua5.4", ["-"], { encoding: "utf8", input: `
    package.path = "./?.lua;" .. package.path
    local MS = 1000000
    print(require("spec.support.switches").recording({ ${others || `
      { 100 * MS, 0, "switch", 0, 0, 7 }, { 110 * MS, 0, "waking", 8, 7 }, { 120 * MS, 1, "switch", 0, 0, 8 },
      { 150 * MS, 0, "switch", 7, 0, 9 }, { 160 * MS, 0, "switch", 9, 1, 7 }, { 190 * MS, 1, "switch", 8, 1, 0 },
      { 200 * MS, 0, "switch", 7, 1, 0 },`}
    }, { [7] = "a<script>", [8] = "b", [9] = "c" }))
    os.exit(true, false)` }).trim();
}

// The path of a recording whose function main calls one, two and three, which take so many seconds each.
function chains(seconds) {
  return execFileSync("lua5.4", ["-e", `
    package.path = "./?.lua;" .. package.path
    local made = require("spec.support.builder").new()
    local event = made:event { name = "cpu-clock", type = 1, config = 0,
      sample_type = { "ip", "tid", "time", "period", "callchain" } }
    made:record("comm", { pid = 1, tid = 1, comm = "sh" }, { pid = 1, tid = 1, time = 1 })
    for i, name in ipairs { "one", "two", "three", "main" } do
      made:record("ksymbol", { addr = 0x1000 * i, len = 0x1000, ksym_type = 1, name = name },
        { pid = 1, tid = 1, time = 1 })
    end
    local calls, time = {}, 0
    for n in ("${seconds}"):gmatch "%d+" do
      calls[#calls + 1] = { at = 0x1000 * (#calls + 1) + 1, left = 1000 * n, step = 1 / n, due = 0 }
    end
    repeat -- their samples are spread over the whole time
      table.sort(calls, function(a, b) return a.due < b.due end)
      local call = calls[1]
      call.due, call.left, time = call.due + call.step, call.left - 1, time + 1000000
      made:sample(event, { ip = call.at, pid = 1, tid = 1, time = time, period = 1000000, misc = 1,
        callchain = { -128, call.at, 0x4001 } })
      if call.left == 0 then table.remove(calls, 1) end
    until not calls[1]
    print(made:write())
    os.exit(true, false)`], { encoding: "utf8" }).trim();
}

module.exports = { chains, switches };
