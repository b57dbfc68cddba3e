-- Symbols from debuginfod servers: of a directory, so that nothing is fetched from a network.
local binaries = require "spec.support.binaries"
local files = require "spec.support.files"
local needs = require "spec.support.needs"

needs.describe("libdebuginfod", "a debuginfod server", function()
  local function found(option)
    local tree = binaries.tree()
    tree:sh "mkdir app"
    local program = tree:program "app/prog"
    tree:sh(([[
      mkdir -p server/buildid/%s
      mv app/prog server/buildid/%s/executable
      objcopy --only-keep-debug server/buildid/%s/executable server/buildid/%s/debuginfo]])
      :gsub("%%s", program.build_id))
    local path = binaries.recorded(
      { { filename = tree.path .. "/app/prog", build_id = program.build_id } },
      { 0x400000 + program.first })
    tree:write("ask.lua", [[
      local file = assert(perflua.open(arg[1], { debuginfod = arg[2] == "true" }))
      for s in file:samples() do print(s.symbol) end]])
    tree:sh((
      "DEBUGINFOD_URLS=file://%s/server DEBUGINFOD_CACHE_PATH=%s/cache %s ask.lua %s %s "
        .. ">symbols")
      :format(tree.path, tree.path, os.getenv "PERFLUA", path, option))
    return files.read(tree.path .. "/symbols"),
      select(2, files.output("test -d " .. tree.path .. "/cache"))
  end

  it("is asked with the option debuginfod", function()
    assert.same({ "first\n", true }, { found "true" })
  end)

  it("is not asked without, whatever the environment says", function()
    assert.same({ "nil\n", false }, { found "false" })
  end)
end)
