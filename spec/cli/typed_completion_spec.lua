-- Completion in shells on a terminal: names that a shell would evaluate are names.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

-- Names of events that are completed from nothing.
local names = {
  "$(touch${IFS}made)", "`touch made`", "x;touch made", "x|touch made", "x&touch made&",
  "x>made", "x<(touch made)", "(touch made)", "$((1))", "$[1]", "$HOME", "${made:=1}", "#x",
  "a#b", "!!", "!touch", "^x^y", "{a,b}", "*", "?", "[a-z]*", "a b", " a", "a ", "a'b", 'a"b',
  "a\\b", "x\\", "\\$(touch made)", "$'a'", "=ls", "a=b:c@d", "%1", "@x",
  "x'$(touch made)", 'x"$(touch made)', "<x>", "μs", "cpu/event=0x1,umask=0x2/u",
  "sched:sched_switch",
}

-- A name, what is typed of it, and the word that is made; nil: the name.
local begun = {
  { "$(touch made)", "'$(to" }, { "xyz", '"x' }, { "a:b$(touch made)", "a:b" },
  { "$(touch made)", [[\$\(to]] }, { "a b;touch made", [[a\ b]] },
  { "a'b;touch made", [["a'b;]] }, { 'a"`touch made`', [['a"`to]] },
  { "~root", "", "" }, { "a\nb", "a", "a" }, { "a\x1bb", "a", "a" },
  { "a\xc2\x9bb", "a", "a" }, { "a\xffb", "a", "a" },
}

-- By shell: how it is started, and how it says that it is ready and writes the words it got.
local shells = {
  bash = { "bash --rcfile $base/start -i", [[
    PS1=
    ready() { echo "ready-$1"; }
    show() { printf '<%s>' "$@" >>"$base/words"; echo >>"$base/words"; }
    source "$base/completion"; ready 0]] },
  zsh = { "env ZDOTDIR=$base zsh -d -i", [[
    PS1=
    bindkey -e
    ready() { echo "ready-$1" }
    show() { printf '<%s>' "$@" >>"$base/words"; echo >>"$base/words" }
    autoload -U compinit; compinit -u -D
    source "$base/completion"; ready 0]] },
  fish = { "fish --no-config -C 'source $base/start'", [[
    function fish_prompt; end
    function ready; echo "ready-$argv[1]"; end
    function show; printf '<%s>' $argv >>"$base/words"; echo >>"$base/words"; end
    source "$base/completion"; ready 0]] },
}

-- Types lines into a shell on a terminal, in an empty directory: a Tab after each, "show" in
-- front of it. Returns what show wrote, and the files that are in the directory then.
local function type_lines(shell, base, lines)
  files.write(base .. "/start", shells[shell][2])
  files.write(base .. "/lines", table.concat(lines, "\n") .. "\n")
  return run.shell_with([[
    case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
    export base="$1" PATH="$1/bin:$PATH" HOME="$1/home" PERFLUA_PATH="$1/scripts" TERM=dumb
    unset XDG_DATA_HOME XDG_CONFIG_HOME
    cd "$base"; mkdir bin home empty scripts; ln -s "$perflua" bin/perflua; cp start .zshrc
    : >out; echo 'print(1)' >"scripts/zz;touch made.lua"; : >"scripts/-e os.exit(1).lua"
    echo 'io.open("made", "w") while true do end
      return { meta = { options = { { "minimum", "flag" } } } }' >scripts/endless.lua
    perflua completion ]] .. shell .. [[ >completion; cd empty
    await() { timeout 300 sh -c 'until grep -q "$1" "$base/out"; do sleep 0.01; done' sh "$1"; }
    { await ready-0
      i=0
      while IFS= read -r line; do
        i=$((i + 1)); printf 'ready %d\n' $i; await "ready-$i"
        printf '%s\t\001show \n' "$line"
      done <../lines
      printf 'exit\n'
    } | timeout 300 script -qec "]] .. shells[shell][1] .. [[" /dev/null >../out
    cat ../words; ls -A; cd /; rm -r "$base"]], base)
end

describe("completion on a terminal", function()
  for shell in pairs(shells) do
    needs.it("terminal," .. shell, "makes words of names in " .. shell, function()
      local base = files.output "mktemp -d":match "%S+"
      local lines = { "perflua zz", "perflua endle", "perflua endless --mi" }
      local wanted = { "<perflua><zz;touch made>", "<perflua><endless>",
        "<perflua><endless><--minimum>" }
      local function add(name, typed, word)
        local b = builder.new()
        b:sample(b:event { name = name }, { ip = 1, pid = 1, time = 1 })
        local path = ("../%d.data"):format(#lines)
        assert(os.execute(("mv %s %s/%d.data"):format(b:write(), base, #lines)))
        lines[#lines + 1] = ("perflua report %s -e %s"):format(path, typed)
        wanted[#wanted + 1] = ("<perflua><report><%s><-e>%s"):format(path,
          word == "" and "" or ("<%s>"):format(word))
      end
      for _, name in ipairs(names) do add(name, "", name) end
      for _, case in ipairs(begun) do add(case[1], case[2], case[3] or case[1]) end
      local got = type_lines(shell, base, lines)
      assert.are.equal(table.concat(wanted, "\n") .. "\n", got.out)
    end)
  end
end)
