-- perflua completion: the shells' completion, run by the shells themselves.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

local function absolute(path)
  return path:find "^/" and path or files.output("pwd"):gsub("\n", "/") .. path
end

local demo, calls = absolute(run.demo), absolute(files.fixture "calls.perf.data")
local script = run.script([[return function() end, { description = "", options = {
  { "kind", "choice", choices = { "long", "lean", "short" } }, { "only", "event" } } }]])

local function tool_names()
  local names = {}
  for name in run.perflua({ "help" }).out:match "\ntools:\n(.-)\n\n"
      :gmatch "%f[^\n%z]  (%l[%w-]*) " do
    names[#names + 1] = name
  end
  table.sort(names)
  return names
end

-- A command line up to the cursor, the rest of it, and what the word at the cursor may become.
local cases = {
  { "repo", "", { "report" } },
  { "", "", tool_names() },
  { "--ver", "", { "--version" } },
  { "help sym", "", { "symbol", "symbols" } },
  { "report --csv", "", { "--csv", "--csv-safe" } },
  { "report --event page-f", " " .. demo, { "page-faults" } },
  { "report -s comm,perio", " " .. demo, { "comm,period" } },
  { "report --event raw_syscalls:sys_", " " .. calls,
    { "raw_syscalls:sys_enter", "raw_syscalls:sys_exit" } },
  { "report " .. calls .. " --where args.i", "", { "args.id" } },
  { "-p comm,exact", " " .. demo, { "comm,exact_ip" } },
  { "fold --by ti", "", { "tid" } },
  { "export --to p", "", { "perfetto", "pprof" } },
  { "report --sort com", "", { "comm", "comm_nodigit" } },
  { "report --fields comm,overhead_g", "", { "comm,overhead_guest_sys",
    "comm,overhead_guest_us" } },
  { "export --to csv --fields period,cpum", "", { "period,cpumode" } },
  { "syscalls --sort m", "", { "max_us", "min_us" } },
  { "faults --by object,s", "", { "object,stack" } },
  { "dump --type comm,mm", "", { "comm,mmap", "comm,mmap2" } },
  { "diff --per s", "", { "second", "share" } },
  { "help gr", "", { "group_by", "groups" } },
  { "help top", "", { "top", "topics" } },
  { "help query:group", "", { "query:group_by" } },
  { "record sys", "", { "syscalls" } },
  { "completion z", "", { "zsh" } },
  { script .. " --k", "", { "--kind" } },
  { script .. " --kind l", "", { "lean", "long" } },
  { script .. " --only cpu-", " " .. demo, { "cpu-clock" } },
  { "stat /no/such/", "", {} },
}

-- Runs the cases by a program of a shell, which finds the line before the cursor as $1, the
-- rest as $2, and the script as ../script; `expect` changes what is expected.
local function check_shell(shell, only_at_end, program, expect)
  for _, case in ipairs(cases) do
    if case[2] == "" or not only_at_end then
      local got = run.shell_with([[
        case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
        dir=$(mktemp -d) && mkdir "$dir/empty" && ln -s "$perflua" "$dir/perflua" &&
        export PATH="$dir:$PATH" XDG_DATA_HOME="$dir/data" HOME="$dir/empty" &&
        perflua completion ]] .. shell .. [[ >"$dir/script" && cd "$dir/empty" &&
        ]] .. shell .. " " .. program .. [[ "$1" "$2"; cd / && rm -r "$dir"]],
        "perflua " .. case[1], case[2])
      local list, wanted = {}, {}
      for word in got.out:gmatch "[^\n]+" do list[#list + 1] = word end
      for i, word in ipairs(case[3]) do wanted[i] = expect and expect(word) or word end
      table.sort(list)
      assert.are.same({ wanted, "" }, { list, got.err }, case[1])
    end
  end
end

describe("perflua completion", function()
  needs.it("bash", "completes tools, options, events and fields in bash", function()
    -- bash replaces what follows the last colon
    check_shell("bash", false, [[-c 'source ../script; COMP_LINE=$1$2 COMP_POINT=${#1}
      current=${1##*[ :]}; _perflua perflua "$current" x
      printf "%s\n" "${COMPREPLY[@]}"' bash]],
      function(word) return word:match "[^:]*$" end)
  end)

  needs.it("zsh", "completes tools, options, events and fields in zsh", function()
    check_shell("zsh", false, [[-f -c 'compdef() { }; _files() { }
      compadd() { shift; print -l -- "$@" }; source ../script
      words=("${(@s: :)1}"); CURRENT=${#words}; PREFIX=${words[CURRENT]}
      words+=(${=2}); _perflua' zsh]])
  end)

  needs.it("fish", "completes tools, options, events and fields in fish", function()
    check_shell("fish", true, [[--no-config -c 'source ../script; complete -C $argv[1]']])
  end)

  it("says what may follow in a line of bash, and which quote is open", function()
    local function follows(text, after)
      return run.perflua({ "completion", "--line", "--", "perflua " .. text, after }).out
    end
    assert.are.equal("\nt\n", follows("repor", ""))
    assert.are.equal("'\niod\n", follows("-p 'comm, per", "' " .. demo))
    assert.are.equal('"\ne-faults\n', follows('report --event "pag', "\" '" .. demo .. "'"))
    for _, line in ipairs { "repor\\", "'repor\\", "$repor", '"`repor', "re por", "" } do
      assert.is_nil(follows(line, ""):find "\nt\n", line)
    end
  end)

  it("names the columns of a tool's table, and all of them are taken", function()
    for tool, path in pairs { syscalls = calls, faults = demo } do
      local offered = {}
      for name in run.perflua({ "completion", "--words", "3", "--", tool, "--sort", "" }).out
          :gmatch "[^\n]+" do
        offered[name] = true
      end
      local shown = run.perflua({ tool, "--csv", path }).out:match "^[^\n]+"
      for name in shown:gmatch "[^,]+" do
        assert.is_true(offered[name], name)
        assert.are.equal(0, run.perflua({ tool, "--sort", name, path }).status, name)
      end
    end
  end)

  it("offers no name that an open quote of bash would not hold", function()
    local b = builder.new()
    for _, name in ipairs { "x", "x'a", 'x"b', "x$c", "x`d", "x\\e", "x!f", "x g" } do
      b:event { name = name, ids = { #b.events + 1 } }
    end
    b:sample(b.events[1], { ip = 1, pid = 1, time = 1 })
    local path = b:write()
    for quote, wanted in pairs { ["'"] = '\n g\n!f\n"b\n$c\n\\e\n`d\n', ['"'] = "\n g\n'a\n",
        [""] = "\n g\n!f\n\"b\n$c\n'a\n\\e\n`d\n" } do
      assert.are.equal(quote .. "\n" .. wanted, run.perflua({ "completion", "--line", "--",
        "perflua report -e " .. quote .. "x", quote .. " " .. path }).out)
    end
  end)

  it("is for three shells", function()
    for _, words in ipairs { { "csh" }, {}, { "bash", "zsh" } } do
      local got = run.perflua { "completion", table.unpack(words) }
      assert.are.same({ status = 2, out = "",
        err = "perflua: completion: bash, zsh or fish expected\n" }, got)
    end
  end)

  it("leaves a recording alone that can be read only once", function()
    local got = run.shell_with([[mkfifo "$1.fifo" && timeout 300 "$perflua" completion \
      --words 3 -- report --event page "$1.fifo"; echo $?; rm "$1.fifo"]], files.temporary())
    assert.are.same({ status = 0, out = "0\n", err = "" }, got)
  end)
end)
