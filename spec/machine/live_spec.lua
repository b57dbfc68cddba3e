-- The names of samples are those that perf script prints, for recordings made on the spot.
local files = require "spec.support.files"
local names = require "spec.support.names"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local run = require "spec.cli.run"

-- Short processes, subshells without exec, threads of one that names them, names that are taken
-- again.
local work = [[
  for i in 1 2 3 4 5 6 7 8; do
    (echo $i | cat; true) | sort | wc -l
    ( ( (printf renamed >/proc/self/comm; seq 300 | sort -R | tail -1) ) )
    sh -c 'exec sleep 0.001'
  done
  seq 3000 | sort --parallel=4 -S 1M -R | md5sum]]

local scheduling =
  "-e sched:sched_switch -e sched:sched_process_fork -e sched:sched_process_exec "
  .. "-e sched:sched_process_exit -F 3000 -e cpu-clock "

local recordings = {
  { "of what the scheduler does", "-a " .. scheduling },
  { "of one command", "-F 5000 -e cpu-clock" },
  { "of one command, sampled at each page fault", "-c 1 -e page-faults" },
  { "compressed", "-a -z " .. scheduling },
  { "whose own records are at the end", "-a --tail-synthesize " .. scheduling },
  { "of rounds as short as can be", "-a -m 1 " .. scheduling },
  { "without inherited events", "-i -F 5000 -e cpu-clock" },
}

describe("names in a recording made now", function()
  for _, recording in ipairs(recordings) do
    needs.it(recording[2]:find "^%-a" and "tracepoints,cpus" or "kernel",
      recording[1] .. " are perf's", function()
      local path, tail = names.record(recording[2], work), recording[2]:find("--tail", 1, true)
        ~= nil
      local theirs = names.of_perf(path)
      assert.is_true(#theirs > 10, #theirs .. " samples")
      local file <close> = assert(perflua.open(path))
      -- what is named only at the end perf does not know before
      for _, order in ipairs { "time", "file" } do
        local ours, ended = names.of_file(file, order)
        names.same(theirs, ours, ended, tail and names.untimed(file))
      end
    end)
  end

  for _, option in ipairs { "", "-z " } do
    needs.it("kernel", ("without times %sare perf's"):format(option), function()
      local path = names.record(option .. "--no-timestamp -F 3000 -e cpu-clock", work)
      local file <close> = assert(perflua.open(path))
      for _, event in ipairs(file.events) do
        assert.is_false(table.concat(event.sample_fields, " "):find "%f[%a]time%f[%A]" ~= nil)
      end
      local theirs, ours = names.of_perf(path, true), names.of_script(path)
      assert.is_true(#theirs > 10, #theirs .. " samples")
      assert.are.same(theirs, ours)
    end)

    needs.it("tracepoints,cpus", ("by a thread for each cpu %sare perf's"):format(
      option), function()
      local dir = files.output "mktemp -d":match "%S+"
      local text, ok = files.output("perf record -q -N -m 64 --no-bpf-event -a --threads=cpu "
        .. option .. scheduling
        .. "-o " .. dir .. "/d -- sh -c " .. files.quote(work) .. " 2>&1 >/dev/null")
      local theirs, file = ok and names.of_perf(dir .. "/d"), ok and perflua.open(dir .. "/d")
      local ours, ended
      if file then ours, ended = names.of_file(file) end
      os.execute("rm -r " .. dir)
      assert.is_true(ok, text)
      assert.is_true(#theirs > 100, #theirs .. " samples")
      names.same(theirs, ours, ended)
    end)

    needs.it("tracepoints,cpus", ("through a pipe %sare perf's"):format(option), function()
      local path = files.temporary()
      local got = run.shell_with("perf record -q -N -m 64 --no-bpf-event -a " .. option
        .. scheduling
        .. "-o - -- sh -c " .. files.quote(work) .. [[ 2>/dev/null | tee "$1" | "$perflua" "$2" -]], path, run.script [[
          for time, tid, comm in perflua.open("-"):samples():select("time", "tid", "comm") do
            print(time .. " " .. tid .. " " .. comm)
          end]])
      local ours = {}
      for line in got.out:gmatch "%d+ %-?%d+ [^\n]*" do
        ours[#ours + 1] = line
      end
      local theirs = names.of_perf(path)
      assert.is_true(#theirs > 100, #theirs .. " samples")
      local file <close> = assert(perflua.open(path))
      local whole, ended = names.of_file(file)
      names.same(theirs, whole, ended)
      names.same(theirs, ours, ended)
    end)
  end

  needs.it("cgroup paths", "are perf's for control groups", function()
    local path = names.record("-a --all-cgroups -F 3000 -e cpu-clock", work)
    local command = "perf report --stdio -q -t, -F sample,cgroup -i " .. path .. " 2>/dev/null"
    local theirs, ours = {}, {}
    for line in files.lines(command) do
      local n, cgroup = line:match "^%s*(%d+)%s*,(/.-)%s*$"
      theirs[cgroup or ""] = tonumber(n)
    end
    local file <close> = assert(perflua.open(path))
    for row in file:samples():group_by("cgroup_path"):count():each() do
      ours[row.cgroup_path] = row.count
    end
    assert.is_not_nil(next(ours))
    assert.are.same(theirs, ours)
  end)
end)
