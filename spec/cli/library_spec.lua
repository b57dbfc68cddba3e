-- Scripts that are found by name, perflua list, perflua record.
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

-- A script that prints a word, with a description.
local function script(word)
  return ("return function(f) print(%q, f.path) end, { description = 'prints %s',\n"
    .. "  needs = 'cpu-clock' }\n"):format(word, word)
end

-- Runs words of the shell in a directory with script here.lua and the demo's recording as
-- perf.data. PERFLUA_PATH names two directories, both with both.lua, and there is a user's one.
local function beside_scripts(words)
  local dir = files.output "mktemp -d":match "%S+"
  local got = run.shell_with([[
    case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
    demo=$(realpath "$2"); cd "$1" && mkdir first second data data/perflua
    cp "$demo" perf.data; mv "$3" here.lua; cp "$4" first/both.lua; mv "$4" second/both.lua
    mv "$5" second/stat.lua; mv "$6" data/perflua/mine.lua
    export PERFLUA_PATH=first::second:/no/such XDG_DATA_HOME=$PWD/data
    ]] .. words .. '\nstatus=$?; cd / && rm -r "$1"; exit $status', dir, run.demo,
    files.temporary(script "here"), files.temporary(script "both"),
    files.temporary(script "stat"), files.temporary(script "mine"))
  return got
end

local function succeeds(out, words)
  assert.are.same({ status = 0, out = out, err = "" }, beside_scripts(words))
end

describe("a script's name", function()
  it("is looked up here, in PERFLUA_PATH and among the user's data", function()
    succeeds("here\tperf.data\nboth\tperf.data\nmine\tperf.data\n",
      '"$perflua" here && "$perflua" both perf.data && "$perflua" mine')
    succeeds("mine\tperf.data\n",
      'unset XDG_DATA_HOME; mkdir .local; mv data .local/share; HOME=$PWD "$perflua" mine')
  end)

  it("is not that of a tool, and with -E only looked up here", function()
    local got = beside_scripts '"$perflua" stat; "$perflua" -E here; "$perflua" -E mine'
    assert.are.equal(2, got.status)
    assert.matches("^type +records", got.out)
    assert.matches("\nhere\tperf.data\n$", got.out)
    assert.matches("^perflua: 'mine' is neither a tool nor a script file; perflua help lists",
      got.err)
  end)

  it("is suggested for a misspelt one", function()
    local got = beside_scripts '"$perflua" bohth'
    assert.same({ 2, "perflua: 'bohth' is neither a tool nor a script file; did you mean "
      .. "'both'? perflua help lists the tools\n" }, { got.status, got.err })
    got = beside_scripts '"$perflua" help bohth'
    assert.same({ 2, "perflua: help: no tool, topic or method 'bohth'; the closest is "
      .. "'both'\n" }, { got.status, got.err })
  end)

  it("is a script's path, too, and explained by perflua help", function()
    succeeds("second/both.lua: prints both\nusage: perflua second/both.lua [perf.data…]\n"
      .. "needs: event cpu-clock\nrecord: perf record -e cpu-clock -- COMMAND\n",
      'rm first/both.lua; "$perflua" help both')
  end)
end)

describe("perflua list", function()
  it("shows tools and scripts, their needs, and which are hidden", function()
    local got = beside_scripts [["$perflua" list | sed "s:$PWD/::"]]
    local tools, scripts = got.out:match "^tools:\n(.*)\nscripts:\n(.*)$"
    assert.matches("\n  sched +threads: [^\n]*\n +needs: event sched:sched_switch[^\n]*\n"
      .. " +record: perf sched record %-%- COMMAND\n", tools)
    local lines = "        needs: event cpu-clock\n"
      .. "        record: perf record -e cpu-clock -- COMMAND\n"
    assert.are.equal("  here  prints here\n" .. lines .. "        ./here.lua\n"
      .. "  both  prints both\n" .. lines .. "        first/both.lua\n"
      .. "  both  prints both\n" .. lines
      .. "        second/both.lua, hidden by first/both.lua\n"
      .. "  stat  prints stat\n" .. lines .. "        second/stat.lua, hidden by the tool\n"
      .. "  mine  prints mine\n" .. lines .. "        data/perflua/mine.lua\n",
      scripts)
    assert.are.equal("", got.err)
  end)

  it("describes scripts by their comments, too, and broken ones by their names", function()
    local got = beside_scripts [[
      printf -- '-- only a comment\nprint "ran"\n' >comment.lua; echo 'x = = 1' >broken.lua
      "$perflua" list | sed -n '/^scripts/,/here.lua/p']]
    assert.are.same({ status = 0, err = "",
      out = "scripts:\n  broken\n           ./broken.lua\n"
      .. "  comment  only a comment\n           ./comment.lua\n"
      .. "  here     prints here\n           needs: event cpu-clock\n"
      .. "           record: perf record -e cpu-clock -- COMMAND\n"
      .. "           ./here.lua\n" }, got)
  end)
end)

describe("perflua record", function()
  needs.it("record", "records what a script needs and runs it", function()
    local got = beside_scripts [[
      sed -i 's/needs.*/record = "perf record -q -e page-faults:u -c 1 -- x" }/' here.lua
      "$perflua" record -o new.data here -- sh -c 'echo "a  $0"' "it's" && ls
      "$perflua" record --force here -- true && cmp perf.data.old "$demo"]]
    assert.are.equal(0, got.status)
    assert.matches("a  it's\nhere\tnew.data\n.*\nnew.data\n.*here\tperf.data\n$", got.out)
    assert.matches("# perf record -q -e page-faults:u -c 1 -o new.data -- sh -c "
      .. "'echo \"a  $0\"' 'it'\\''s'\n", got.err, 1, true)
    assert.matches("# new%.data: [%d.]+ kB, %d+ samples?, nothing lost\n# perflua new%.data\n"
      .. "# perflua here new%.data\n", got.err)
  end)

  needs.it("record", "samples a command without a name, and names what shows it", function()
    local got = beside_scripts [[
      "$perflua" record -o new.data -- sh -c 'head -c 50000000 /dev/zero | md5sum' &&
        "$perflua" stat new.data]]
    assert.matches("# perf record -g -o new.data -- sh -c ", got.err, 1, true)
    local samples = tonumber(got.err:match("# new%.data: [%d.]+ kB, (%d+) samples, nothing "
      .. "lost\n# perflua new%.data\n# perflua report new%.data\n$"))
    assert.are.equal(samples, tonumber(got.out:match "\nsample +(%d+)"))
  end)

  needs.it("record,terminal", "runs the script over what was recorded until ^C", function()
    local got = beside_scripts [[
      sed -i 's/needs.*/record = "perf record -q -e page-faults:u -c 1 -- x" }/' here.lua
      sed -i 's/print("here", f.path)/print(f:samples():count() > 0, f.complete)/' here.lua
      touch out
      { timeout 300 sh -c 'until grep -q ^ready out; do sleep 0.02; done'; printf '\3'; } |
        timeout 300 script -qec "exec $perflua record -o new.data here -- \
          sh -c 'echo ready; exec sleep 300'" /dev/null >out
      echo "status $?"; tr -d '\r' <out]]
    assert.matches("^status 0\n.*\nready\n.*true\ttrue\n$", got.out)
  end)

  it("keeps a recording that is there", function()
    local got = beside_scripts '"$perflua" record here -- true; cmp perf.data "$demo"'
    assert.are.same({ status = 0, out = "",
      err = "perflua: record: perf.data exists: --force replaces it, -o FILE names another "
        .. "one\n" }, got)
  end)

  for title, case in pairs {
    ["a command"] = { 2, "here", "a command is missing: perflua record here -- COMMAND" },
    ["a name"] = { 2, "", "an argument is missing\nusage: perflua record [--force] [-o FILE] "
      .. "[NAME] -- COMMAND…" },
    ["a command without a name"] = { 2, "-o x --",
      "a command is missing: perflua record [NAME] -- COMMAND" },
    ["a command as well"] = { 2, "true", "no tool and no script 'true'; perflua list shows "
      .. "them; a command is missing: perflua record [NAME] -- COMMAND" },
    ["a known name"] = { 2, "x -- y", "no tool and no script 'x'; perflua list shows them" },
    ["a declaration"] = { 2, "report -- y", "report does not say how to record for it" },
    ["a command of perf"] = { 1, "-o x odd -- y",
      "the command of odd does not begin with perf: rm -rf x" },
    ["a closed quote"] = { 1, "-o x open -- y",
      "the command of open has an open quote: perf record 'x" },
  } do
    it("asks for " .. title, function()
      local got = beside_scripts([[
        echo 'return {}, { description = "", record = "rm -rf x" }' >odd.lua
        echo 'return {}, { description = "", record = "perf record '\''x" }' >open.lua
        sed -i 's/{}, //; s/return/return { meta =/; s/$/ }/' odd.lua open.lua
        "$perflua" record ]] .. case[2])
      assert.are.same({ status = case[1], out = "",
        err = "perflua: record: " .. case[3] .. "\n" }, got)
    end)
  end
end)
