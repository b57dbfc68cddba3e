-- file:binaries(): every binary of a recording, and where its symbols come from.
local binaries = require "spec.support.binaries"
local builder = require "spec.support.builder"
local perflua = require "perflua"

local ID = ("5a"):rep(20)

-- The rows by name, and the names as they come.
local function listed(path, options, open_options)
  local file <close> = assert(perflua.open(path, open_options))
  local by_name, names = {}, {}
  for i, row in ipairs(file:binaries(options)) do
    by_name[row.name], names[i] = row, row.name
  end
  return by_name, names
end

-- A program below app/ of a tree after a shell script, recorded with a binary that no sample
-- hits.
local function made(script, build_id, builder_options)
  local tree = binaries.tree()
  tree:sh "mkdir app cache"
  local program = tree:program("app/prog", "-g -rdynamic")
  local id = program.build_id
  tree:sh(("id=%s head=%s tail=%s\n%s"):format(id, id:sub(1, 2), id:sub(3), script))
  local name = tree.path .. "/app/prog"
  local path = binaries.recorded({
    { filename = name, build_id = build_id or id },
    { filename = "/nowhere/unused", build_id = ID, addr = 0x800000 },
  }, { 0x400000 + program.first, 0x400000 + program.second }, { builder = builder_options })
  return { tree = tree, id = id, name = name, path = path,
    options = { buildid_dir = tree.path .. "/cache" } }
end

-- The verdict on a path, and where the path comes from.
local function verdict(row, path)
  for _, one in ipairs(row.tried) do
    if one.path == path then return one.verdict, one.where end
  end
end

describe("file:binaries()", function()
  it("names each binary with its file, where that was found, and its number of "
    .. "symbols", function()
    local m = made "true"
    local rows, names = listed(m.path, nil, m.options)
    assert.same({ m.name, "/nowhere/unused" }, names)
    local row = rows[m.name]
    assert.same({ m.id, "file", true, 2 }, { row.build_id, row.kind, row.loaded, row.samples })
    assert.same({ m.name, m.name, m.name },
      { row.symbol_file, row.mapped_file, row.debug_file })
    assert.equal("recorded path", row.found)
    assert.is_true(row.symbols >= 3)
    assert.same({ "has the symbols, and is what was mapped", "recorded path" },
      { verdict(row, m.name) })
    assert.matches("No such file", (verdict(row, "/usr/lib/debug" .. m.name .. ".debug")))
    assert.is_nil(row.reason)
  end)

  it("tells the file with the symbols from the one that was mapped", function()
    local m = made [[
      objcopy --only-keep-debug app/prog app/prog.dbg
      strip --strip-all app/prog && objcopy --add-gnu-debuglink=app/prog.dbg app/prog]]
    local row = listed(m.path, nil, m.options)[m.name]
    local debug = m.name .. ".dbg"
    assert.same({ debug, debug, m.name }, { row.symbol_file, row.debug_file, row.mapped_file })
    assert.equal("debug link", row.found)
    assert.same({ "has the symbols", "debug link" }, { verdict(row, debug) })
    assert.same({ "is what was mapped: its program headers are used", "recorded path" },
      { verdict(row, m.name) })
  end)

  it("says of a stripped file that it has no debug information, and few symbols", function()
    local m = made "strip --strip-all app/prog"
    local row = listed(m.path, nil, m.options)[m.name]
    assert.same({ m.name }, { row.symbol_file, row.debug_file })
    assert.matches("only the symbols of a stripped file", (verdict(row, m.name)))
  end)

  it("says of a file of another build that its build-id differs", function()
    local m = made("true", ID)
    local row = listed(m.path, nil, m.options)[m.name]
    assert.same({ true, 0, "no file with its build-id was found" },
      { row.loaded, row.symbols, row.reason })
    assert.equal("build-id differs: found " .. m.id .. ", recorded " .. ID,
      (verdict(row, m.name)))
    assert.is_nil(row.symbol_file)
  end)

  it("finds it in the build-id cache", function()
    local m = made [[
      mkdir -p cache/app/$id cache/.build-id/$head
      mv app/prog cache/app/$id/elf && ln -s ../../app/$id cache/.build-id/$head/$tail]]
    assert.equal("build-id cache", listed(m.path, nil, m.options)[m.name].found)
  end)

  it("leaves those alone that no sample hit, unless all are asked for", function()
    local m = made "true"
    local unused = listed(m.path, nil, m.options)["/nowhere/unused"]
    assert.same({ name = "/nowhere/unused", kind = "file", build_id = ID, loaded = false,
      samples = 0 }, unused)
    unused = listed(m.path, { load = "all" }, m.options)["/nowhere/unused"]
    assert.same({ true, "no file was found", 0 },
      { unused.loaded, unused.reason, unused.samples })
    local row = listed(m.path, { load = "none" }, m.options)[m.name]
    assert.same({ name = m.name, kind = "file", build_id = m.id, loaded = false }, row)
  end)

  it("names the records and files that the symbols of other code are of", function()
    local tree = binaries.tree()
    local b = binaries.of_here(builder.new())
    local event = b:event { name = "cycles", sample_type = { "ip", "tid", "time" } }
    local at = { pid = 7, tid = 7, time = 1 }
    b:record("mmap2", { pid = 7, tid = 7, addr = 0x1000, len = 0x1000, prot = 5, flags = 2,
      misc = 2,
      filename = "//anon" }, at)
    b:record("ksymbol", { addr = -0x1000, len = 0x100, ksym_type = 1, name = "bpf_prog_1" }, at)
    b:sample(event, { ip = 0x1010, pid = 7, tid = 7, time = 2, misc = 2 })
    b:sample(event, { ip = -0x1000, pid = 7, tid = 7, time = 2, misc = 1 })
    tree:write("tmp/perf-7.map", "1000 20 jitted\n")
    local rows = listed(b:write(), nil, { symfs = tree.path })
    local jit, bpf = rows["/tmp/perf-7.map"], rows.bpf_prog_1
    assert.same({ "jit", "perf map", tree.path .. "/tmp/perf-7.map", 1 },
      { jit.kind, jit.found, jit.symbol_file, jit.symbols })
    assert.same({ "bpf", "the KSYMBOL record", 1 }, { bpf.kind, bpf.found, bpf.symbols })
    assert.is_nil(bpf.symbol_file)
  end)

  it("looks for all of a stream, of which it cannot tell what samples hit", function()
    local m = made("true", nil, { container = "pipe" })
    os.execute(("mkfifo %s/fifo; cat %s > %s/fifo &"):format(m.tree.path, m.path, m.tree.path))
    local file <close> = assert(perflua.open(m.tree.path .. "/fifo", m.options))
    for _ in file:samples():each() do end
    local row = file:binaries()[1]
    assert.same({ true, m.name }, { row.loaded, row.symbol_file })
    assert.is_nil(row.samples)
  end)

  it("takes one option", function()
    local m = made "true"
    local file <close> = assert(perflua.open(m.path))
    assert.error_matches(function()
      file:binaries { laod = "all" }
    end, "unknown option 'laod'; the closest is 'load'")
    assert.error_matches(function()
      file:binaries { load = "some" }
    end, 'load: "hit", "all" or "none" expected, got some')
    file:close()
    assert.error_matches(function() file:binaries() end, "closed")
  end)
end)
