// Recordings for tests in the browser, which spec/support builds.
"use strict";
const { execFileSync } = require("node:child_process");

// The path of a recording of a few switches of three threads, and a wake-up; of others, as switches.lua writes them.
function switches(others) {
  return execFileSync("lua5.4", ["-e", `
    package.path = "./?.lua;" .. package.path
    local MS = 1000000
    print(require("spec.support.switches").recording({ ${others || `
      { 100 * MS, 0, "switch", 0, 0, 7 }, { 110 * MS, 0, "waking", 8, 7 }, { 120 * MS, 1, "switch", 0, 0, 8 },
      { 150 * MS, 0, "switch", 7, 0, 9 }, { 160 * MS, 0, "switch", 9, 1, 7 }, { 190 * MS, 1, "switch", 8, 1, 0 },
      { 200 * MS, 0, "switch", 7, 1, 0 },`}
    }, { [7] = "a<script>", [8] = "b", [9] = "c" }))
    os.exit(true, false)`], { encoding: "utf8" }).trim();
}

module.exports = { switches };
