-- Scripts of the working directory are described, not run: by perflua list, help and Tab.
local files = require "spec.support.files"
local run = require "spec.cli.run"

-- Scripts that do harm when they are run, or when they are only looked at.
local scripts = {
  writes = [[
    io.open("made", "w")
    return { meta = { description = "writes" } }]],
  library = [[
    require("perflua.table.output").to("made", function(write) write "x" end)
    return { meta = { description = "library" } }]],
  module = [[
    local perflua = require "perflua"
    perflua.open("perf.data"):samples():group_by("comm"):count():table():save("made")
    return { meta = { description = "module" } }]],
  loops = [[
    while true do end
    return { meta = { description = "loops" } }]],
  catches = [[
    while true do pcall(function() while true do end end) end
    return { meta = { description = "catches" } }]],
  methods = [[
    getmetatable("").__index.format = function() return "poisoned" end
    string.rep = nil
    table.concat = nil
    return { meta = { description = "methods" } }]],
  memory = [[
    local x = ("x"):rep(1 << 40)
    return { meta = { description = "memory" } }]],
  called = '-- a call in meta\nreturn { meta = { description = ("x"):rep(1 << 40) } }',
  indexed = "-- a function of a string\n"
    .. 'return { meta = { description = "x", record = ("x")["rep"]("x", 1 << 40) } }',
  ran = "-- a function in meta\nreturn function() end, { description = 'ran',\n"
    .. "needs = (function() while true do end end)() }",
  hidden = "-- a call after the comment's end\n"
    .. 'return { meta = { description = "hidden", -- \r record = os.exit(7)\n } }',
  nested = "return { meta = { description = " .. ("{"):rep(500000),
  blank = 'return { meta = { description = "blank", needs = "a' .. (" "):rep(500000)
    .. 'b" } }',
  brackets = 'return { meta = { description = "brackets' .. ("[="):rep(200000) .. '" } }',
  open = "return { meta = { description = '" .. ("["):rep(500000),
  escapes = "-- comment\27[2J\nreturn { meta = { description = '\27[2J', options = { { 'x', "
    .. "'string', help = '\27[2J', value = '\27[2J' } } } }",
  odd = "return { meta = { description = {}, options = { { 'x', 'string', help = {} } } } }",
}

-- Runs words of the shell in a directory with these scripts, files that would wait for ever if
-- they were read, and a recording. What they took must be less than the limits of a time and,
-- in KB, of memory.
local function beside_hostile(words)
  local dir = files.output "mktemp -d":match "%S+"
  for name, text in pairs(scripts) do files.write(("%s/%s.lua"):format(dir, name), text) end
  return run.shell_with([[
    case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
    cp "$2" "$1/perf.data"; cd "$1"; mkfifo fifo.lua; ln -s /dev/zero zero.lua
    ln -s /proc/kmsg kmsg.lua; truncate -s 20G sparse.lua; mkdir directory.lua
    unset PERFLUA_PATH LUA_PATH; HOME=/no/home; export HOME; unset XDG_DATA_HOME
    limited() { timeout 100 "$perflua" "$@"; }
    ]] .. words .. [[

    ls -A | grep -vE '\.lua$|^perf.data$'; cd /; rm -r "$1"]], dir, run.demo)
end

describe("scripts of the working directory", function()
  it("are listed without being run", function()
    local got = beside_hostile [[
      limited list | sed -n '/^scripts/,$p' | grep -v '^  *\./'; limited list | head -2]]
    assert.are.equal("", got.err)
    local lines = {}
    for line in got.out:gmatch "[^\n]+" do lines[#lines + 1] = line:sub(1, 60) end
    local titles = {}
    for _, line in ipairs(lines) do
      local name, title = line:match "^  (%l+) *(.*)$"
      if name then titles[name] = title end
    end
    for _, name in ipairs { "writes", "library", "module", "loops", "catches", "methods",
        "memory" } do
      assert.are.equal(name, titles[name])
    end
    assert.are.equal("a call in meta", titles.called)
    assert.are.equal("a function of a string", titles.indexed)
    assert.are.equal("a function in meta", titles.ran)
    assert.are.equal("a call after the comment's end", titles.hidden)
    assert.are.equal("\\x1b[2J", titles.escapes)
    assert.are.equal("blank", titles.blank)
    for _, name in ipairs { "nested", "open", "sparse", "kmsg" } do
      assert.are.equal("", titles[name], name)
    end
    for _, name in ipairs { "fifo", "zero", "directory" } do assert.is_nil(titles[name]) end
    assert.is_nil(got.out:find "poisoned")
    assert.matches("\ntools:\n  alloc ", got.out)
    assert.matches("^scripts:", got.out)
  end)

  it("are explained without being run", function()
    local got = beside_hostile [[
      for name in writes library module loops catches methods memory; do
        limited help $name.lua; limited help $name
      done 2>&1 | uniq | head -c 2000]]
    local wanted = {}
    for _, name in ipairs { "writes", "library", "module", "loops", "catches", "methods",
        "memory" } do
      for _, path in ipairs { name .. ".lua", "./" .. name .. ".lua" } do
        wanted[#wanted + 1] = ("%s: %s\nusage: perflua %s [perf.data…]\n"):format(path, name,
          path)
      end
    end
    assert.are.same({ out = table.concat(wanted), err = "", status = 0 }, got)
  end)

  it("are explained by their comments if their meta cannot be read", function()
    local got = beside_hostile [[
      for name in called indexed ran hidden nested open fifo zero escapes odd; do
        limited help $name.lua; echo "status $?"
      done 2>&1]]
    local function refused(name, line, message)
      return ("perflua: %s.lua:%d: %s; perflua %s.lua --help runs the script, and shows it\n"
        .. "status 1\n"):format(name, line, message, name)
    end
    local function no_constant(word)
      return ("meta is not made of constants only: '%s'"):format(word)
    end
    assert.are.equal("a call in meta\n" .. refused("called", 2, no_constant "(")
      .. "a function of a string\n" .. refused("indexed", 2, no_constant "(")
      .. "a function in meta\n" .. refused("ran", 3, no_constant "(")
      .. "a call after the comment's end\n" .. refused("hidden", 2, no_constant "os")
      .. refused("nested", 1, "more than 100 tables in one another")
      .. refused("open", 1, "unfinished string")
      .. "perflua: fifo.lua: a file with a script expected\nstatus 1\n"
      .. "perflua: zero.lua: a file with a script expected\nstatus 1\n"
      .. "escapes.lua: \\x1b[2J\nusage: perflua escapes.lua [options] [perf.data…]\n\n"
      .. "  -x \\x1b[2J  \\x1b[2J\nstatus 0\n"
      .. "perflua: help: option 'x': help is a string, got a table\nstatus 1\n", got.out)
  end)

  -- only root may open it
  it("are refused if they are the kernel's log", function()
    local got = beside_hostile 'limited help kmsg.lua 2>&1; echo "status $?"'
    assert.matches("^perflua: kmsg%.lua: [^\n]*\nstatus 1\n$", got.out)
  end)

  it("are completed without being run", function()
    local words = {}
    for name in pairs(scripts) do
      words[#words + 1] = ("limited completion --words 2 -- %s.lua -- >>all; "):format(name)
        .. ("limited completion --words 2 -- %s -- >>all; "):format(name)
        .. ("limited completion --line -- 'perflua %s --' '' >>all"):format(name)
    end
    for _, name in ipairs { "fifo", "zero", "kmsg", "sparse", "directory" } do
      words[#words + 1] = ("limited completion --words 2 -- %s.lua -- >>all"):format(name)
    end
    words[#words + 1] = "sort all | uniq -c; rm all; limited completion --words 1 -- l"
    local got = beside_hostile(table.concat(words, "\n"))
    assert.are.same({ "", 0 }, { got.err, got.status })
    assert.matches("\nlibrary\nlist\nlocks\nloops\n$", got.out)
    assert.is_nil(got.out:find "made")
  end)

  it("are named with the reason if record cannot read what they need", function()
    local got = beside_hostile "limited record -o new ran -- true"
    assert.are.equal("perflua: record: ran does not say how to record for it: ./ran.lua:3: "
      .. "meta is not made of constants only: '('\n", got.err)
  end)
end)
