local perflua = require "perflua"
local files = require "spec.support.files"
local run = require "spec.cli.run"
local two_events = require "spec.support.two_events"

describe("require \"perflua\"", function()
  it("makes no globals", function()
    local script = ("package.path, package.cpath = %q, %q\n"):format(package.path, package.cpath) .. [[
      local known = {}
      for name in pairs(_G) do known[name] = true end
      require "perflua"
      for name in pairs(_G) do
        if not known[name] then print(name) end
      end
      print "done"]]
    local lua = os.getenv "PERFLUA_LUA" or "lua5.4"
    local printed = {}
    for line in files.lines(lua .. " -e " .. files.quote(script)) do
      printed[#printed + 1] = line
    end
    assert.same({ "done" }, printed)
  end)

  it("has the version of the build", function()
    assert.equal(files.read("Makefile"):match("VERSION := (%S+)"), perflua.version)
  end)

  it("spells addresses and times", function()
    assert.equal("0xffffffff81000000", perflua.hex(0xffffffff81000000))
    assert.equal("8590.143543", perflua.seconds(8590143543210))
  end)
end)

describe("perflua.open", function()
  it("returns nil, a message and a code when the world failed", function()
    local file, message, code = perflua.open("/nonexistent/perf.data")
    assert.is_nil(file)
    assert.matches("/nonexistent/perf.data", message)
    assert.equal("ENOENT", code)
  end)

  it("raises when the caller erred", function()
    assert.error_matches(function() perflua.open(5) end, "a path or an array of paths expected")
    assert.error_matches(function() perflua.open {} end, "the list of paths is empty")
    assert.error_matches(function()
      perflua.open { "a", 5 }
    end, "open: path 2: a string expected, got a number")
    assert.error_matches(function()
      perflua.open("x", { window = 5 })
    end, "window: a number of bytes expected")
    assert.error_matches(function()
      perflua.open("x", { strct = true })
    end, "'strct'; the closest is 'strict'")
    assert.error_matches(function() perflua.open("x", 5) end, "a table of options")
  end)

  it("says which of several recordings cannot be opened", function()
    local file, message, code = perflua.open { "spec/fixtures/demo.perf.data",
      "/nonexistent/b" }
    assert.is_nil(file)
    assert.matches("^/nonexistent/b: cannot open", message)
    assert.equal("ENOENT", code)
  end)

  it("raises for options that are not paths, at the script's line", function()
    for _, name in ipairs { "symfs", "kallsyms", "vmlinux", "buildid_dir" } do
      local _, message = pcall(function() print(perflua.open(run.demo, { [name] = 5 })) end)
      assert.matches(
        ("^spec/lua/init_spec.lua:%%d+: open: %s: a path expected, got a number$"):format(
          name), message)
    end
  end)

  it("raises for damage when strict, at the script's line", function()
    local path = two_events.write()
    local bytes = files.read(path)
    -- no data size: it was never finished
    files.write(path, bytes:sub(1, 48) .. ("\0"):rep(8) .. bytes:sub(57))
    local ok, message = pcall(function()
      local file = perflua.open(path, { strict = true })
      file:close()
    end)
    assert.is_false(ok)
    assert.matches("^spec/lua/init_spec.lua:%d+: " .. path .. ": offset %d+: ", message)
  end)
end)

describe("a File's methods", function()
  local file

  before_each(function() file = assert(perflua.open(run.demo)) end)
  after_each(function() file:close() end)

  it("say what a dot for a colon should be", function()
    for _, method in ipairs { "records", "samples", "run" } do
      for _, value in ipairs { "x", {}, 5 } do
        local _, message = pcall(function() print(file[method](value)) end)
        assert.matches(
          ("^spec/lua/init_spec.lua:%%d+: %s: a File expected, got a %s; use file:%s")
            :format(method,
          type(value), method), message)
      end
    end
  end)

  it("check their object, as those of Queries and Tables do", function()
    local query = file:samples()
    local grouped = query:group_by("pid"):count():sort()
    for _, fn in ipairs { function() print(query.where("x")) end,
        function() print(query.count()) end,
      function() print(grouped.csv("x")) end, function() print(grouped.rows()) end } do
      local _, message = pcall(fn)
      assert.matches(
        "^spec/lua/init_spec.lua:%d+: %l+: a %u%l+ expected, got a %l+; use %l+:%l+%(…%)$",
        message)
    end
  end)

  it("raise at the script's line when the file is closed", function()
    local q = file:samples()
    local filtered, grouped = q:where("pid > 1"), q:group_by("pid")
    file:close()
    for name, fn in pairs {
      loop = function() for _ in q do error("a record") end end,
      filtered = function() for _ in filtered do error("a record") end end,
      each = function() filtered:each(print) end,
      count = function() print(q:count()) end,
      grouped = function() print(grouped:count():sort()) end,
      between = function() print(q:between("1s")) end,
      samples = function() print(file:samples()) end,
      records = function() print(file:records("comm")) end,
      run = function() file:run { sample = print } end,
    } do
      local ok, message = pcall(fn)
      assert.is_false(ok)
      assert.matches("^spec/lua/init_spec.lua:%d+: .*closed", message, name)
    end
  end)
end)
