local files = require "spec.support.files"
local run = require "spec.cli.run"

describe("require in perflua", function()
  it("finds library and core inside the binary, with no other file around", function()
    local got = run.shell [[
      case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
      cd / && unset LUA_PATH LUA_CPATH
      "$perflua" -e 'for _, name in ipairs { "perflua", "perflua.core", "perflua.query", "perflua.tools.stat" } do
        local module, from = require(name)
        print(name, type(module), from)
      end']]
    assert.are.equal("", got.err)
    assert.are.equal("perflua\ttable\t:preload:\nperflua.core\ttable\t:preload:\n"
      .. "perflua.query\ttable\t:preload:\nperflua.tools.stat\ttable\t:preload:\n",
      (got.out:gsub("\tnil", "\t:preload:")))
  end)

  it("prefers the library of the binary to one in LUA_PATH", function()
    local got = run.shell [[
      dir=$(mktemp -d) && mkdir $dir/perflua && echo 'error "foreign"' | tee $dir/perflua.lua >$dir/perflua/query.lua
      LUA_PATH="$dir/?.lua" "$perflua" -e 'print(type(require "perflua.query"))']]
    assert.are.same({ status = 0, out = "table\n", err = "" }, got)
  end)

  it("loads nothing else by a name below perflua", function()
    local got = run.shell [[
      case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
      unset LUA_PATH LUA_CPATH; dir=$(mktemp -d) && cd $dir && mkdir -p perflua/tools perflua/text
      for name in perflua perflua/x perflua/core perflua/text/fmt perflua/tools/x perflua/tools/stat
      do echo 'io.open("made", "w") return {}' >$name.lua; : >$name.so; done
      "$perflua" -e 'for _, name in ipairs { "perflua", "perflua.x", "perflua/x", "perflua.text.fmt",
          "perflua.tools.x" } do
        local ok, value = pcall(require, name)
        print(ok, ok and next(value) ~= nil or value:match "[^\n]*")
      end' 2>&1
      "$perflua" -l perflua.x -e 'print "on"' 2>&1 | head -1
      "$perflua" x; "$perflua" help x; "$perflua" list | grep -w x
      "$perflua" completion --words 2 -- x --; "$perflua" completion --line -- "perflua x --" ""
      LUA_PATH="$dir/?.lua" "$perflua" x
      ls; cd / && rm -r $dir]]
    local none = "false\tmodule 'perflua%sx' not found:\n"
    assert.are.same({ status = 0,
      out = "true\ttrue\n" .. none:format "." .. none:format "/" .. "true\ttrue\n"
        .. none:format ".tools." .. "perflua: module 'perflua.x' not found:\n"
        .. "--help\n\nhelp\nperflua\nperflua.lua\nperflua.so\n",
      err = "perflua: 'x' is neither a tool nor a script file; perflua help lists the tools\n"
        .. "perflua: help: no tool, topic or method 'x'\n"
        .. "perflua: 'x' is neither a tool nor a script file; perflua help lists the tools\n" },
      got)
  end)

  it("finds Lua modules as lua does", function()
    local got = run.shell [[
      dir=$(mktemp -d) && echo 'return { name = ... }' >$dir/other.lua
      LUA_PATH="$dir/?.lua" "$perflua" -e 'print(require "other".name)']]
    assert.are.same({ status = 0, out = "other\n", err = "" }, got)
    got = run.shell [[
      case $perflua in /*) ;; *) perflua="$PWD/$perflua" ;; esac
      unset LUA_PATH; dir=$(mktemp -d) && cd $dir && echo 'return { name = ... }' >perflua_x.lua
      mkdir sub && mv perflua_x.lua sub && echo 'return { require "sub.perflua_x".name }' >my.lua
      echo 'print(require("my")[1])' >main.lua; "$perflua" main.lua
      cd / && rm -r $dir]]
    assert.are.same({ status = 0, out = "sub.perflua_x\n", err = "" }, got)
  end)

  it("loads C modules, which find Lua's functions in the binary", function()
    local source = files.temporary [[
      #include <lua.h>
      #include <lauxlib.h>
      static int hello(lua_State *L)
      {
        lua_pushfstring(L, "hello %s", luaL_checkstring(L, 1));
        return 1;
      }
      int luaopen_tiny(lua_State *L)
      {
        static const luaL_Reg functions[] = { { "hello", hello }, { NULL, NULL } };
        luaL_newlib(L, functions);
        return 1;
      }]]
    local got = run.shell(([[
      dir=$(mktemp -d) && cp %s $dir/tiny.c &&
      cc -shared -fPIC $(pkg-config --cflags lua5.4) -o $dir/tiny.so $dir/tiny.c &&
      LUA_CPATH="$dir/?.so" "$perflua" -e 'print(require "tiny".hello "you")']]):format(source))
    assert.are.same({ status = 0, out = "hello you\n", err = "" }, got)
  end)
end)

describe("the module", function()
  it("is the same for plain lua5.4", function()
    local script = run.script "print(#require 'perflua'.open(arg[1]).events)"
    local lua = os.getenv "PERFLUA_LUA"
      or "LUA_PATH='./lua/?.lua;./lua/?/init.lua;;' LUA_CPATH='./build/lib/?.so;;' lua5.4"
    local got = run.shell(("%s %s %s"):format(lua, script, run.demo))
    assert.are.same({ status = 0, out = "3\n", err = "" }, got)
  end)
end)
