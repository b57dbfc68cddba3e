-- make install, into a directory where Lua does not look.
local api = require "perflua.api"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

local san = run.binary:find "/san/" and "SAN=1" or ""
-- with what must come before it, sanitizers for example
local lua = os.getenv "PERFLUA_LUA" or "lua5.4"

needs.describe("make,this architecture", "make install", function()
  local dir, said

  setup(function()
    dir = files.output "mktemp -d":match "%S+"
    said = files.output(("env -u MAKEFLAGS -u MAKELEVEL make %s install PREFIX=%s 2>&1")
      :format(san, dir))
  end)

  teardown(function() os.execute("rm -r " .. files.quote(dir)) end)

  it("says in two lines how other programs find the module", function()
    local lines = said:match "\n(export LUA_PATH=[^\n]*\nexport LUA_CPATH=[^\n]*)\n"
    assert.is_truthy(lines, said)
    local got = run.shell_with(lines .. "\n" .. [[
      cd / && ]] .. lua .. [[ -e 'local f = assert(require "perflua".open(arg[1]))
      print(f:samples():count(), package.searchpath("perflua", package.path))' /dev/null "$1"]],
      (run.demo:find "^/" and "" or files.output "pwd":gsub("\n", "/")) .. run.demo)
    assert.are.same({ status = 0, err = "", out = ("672\t%s/share/lua/5.4/perflua/init.lua\n")
      :format(dir) }, got)
    local silent = files.output(("env -u MAKEFLAGS -u MAKELEVEL make %s install PREFIX=/usr "
      .. "DESTDIR=%s/package 2>&1"):format(san, dir))
    assert.is_nil(silent:find("LUA_PATH", 1, true))
  end)

  it("installs annotations of the whole API for editors", function()
    local text = files.read(dir .. "/share/lua/5.4/perflua/meta.lua")
    assert(load(text, "=meta.lua", "t", {}))
    local functions = {}
    for name in text:gmatch "\nfunction ([%w_.]+[.:][%w_]+)%(" do functions[name] = true end
    for _, class in ipairs(api.classes()) do
      local prefix = class.name .. (class.kind == "module" and "." or ":")
      for _, row in ipairs(class.kind ~= "globals" and class.methods or {}) do
        assert.is_true(functions[prefix .. row[1]], prefix .. row[1])
      end
    end
  end)

  it("installs the program, a page for each tool, and completions", function()
    for name in run.perflua({ "help" }).out:match "\ntools:\n(.-)\n\n"
        :gmatch "%f[^\n%z]  (%l[%w-]*) " do
      local page = files.read(("%s/share/man/man1/perflua-%s.1"):format(dir, name))
      local help = run.perflua({ "help", name }).out
      page = page:gsub("\\%-", "-"):gsub("\\%(aq", "'"):gsub("\\%(ga", "`"):gsub("\\&", "")
        :gsub("\\e", "\\")
      for option, text in help:gmatch "\n  (%-[^\n]-)   *([^\n]*)" do
        assert.is_truthy(page:find(option .. "\n        " .. text, 1, true), name .. option)
      end
      assert.is_truthy(page:find(help:match "usage: ([^\n]*)", 1, true), name)
    end
    assert.are.equal(run.perflua({ "--version" }).out,
      files.output(dir .. "/bin/perflua --version"))
    for shell, path in pairs { bash = "bash-completion/completions/perflua",
        zsh = "zsh/site-functions/_perflua",
        fish = "fish/vendor_completions.d/perflua.fish" } do
      assert.are.equal(run.perflua({ "completion", shell }).out,
        files.read(dir .. "/share/" .. path))
    end
  end)

  needs.it("mandoc", "installs pages that mandoc has nothing to say about", function()
    assert.are.equal("", files.output(("mandoc -Tlint -Wwarning %s/share/man/man1/*.1 2>&1")
      :format(dir)))
  end)
end)
