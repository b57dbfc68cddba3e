-- Paths of control groups, by the ids that samples have.
local builder = require "spec.support.builder"
local containers = require "spec.support.containers"
local perflua = require "perflua"

--- A builder with an event that records control groups.
local function with_cgroups(options)
  local b = builder.new(options)
  b:event { name = "cycles", sample_type = { "ip", "tid", "time", "cgroup" }, ids = { 7 } }
  return b
end

local function sample(b, time, cgroup)
  b:sample(b.events[1], { ip = 4096, pid = 7, time = time, cgroup = cgroup })
end

local function paths_of(file)
  return file:samples({ order = "file" }):select("cgroup_path"):collect()
end

--- One that begins with a group and gets another later.
local function typical(options)
  local b = with_cgroups(options)
  b:record("cgroup", { cgroup_id = 1, path = "/" })
  sample(b, 10, 1)
  b:record("cgroup", { cgroup_id = 1 << 40 | 5, path = "/system.slice/a b.service" },
    { time = 20 })
  sample(b, 30, 1 << 40 | 5)
  sample(b, 40, 5)
  return b
end

local expected = { "/", "/system.slice/a b.service", false }

describe("the path of a sample's control group", function()
  it("is what a CGROUP record calls its id", function()
    for _, options in ipairs { {}, { endian = "big" }, { container = "pipe" } } do
      local path = typical(options):write()
      local file <close> = assert(perflua.open(path))
      assert.are.same(expected, paths_of(file))
      if options.container == "pipe" then
        local stream <close> = assert(perflua.open(containers.stream(path)))
        assert.are.same(expected, paths_of(stream))
      end
    end
  end)

  it("is known also before the record that tells it", function()
    local b = with_cgroups()
    sample(b, 10, 3)
    b:record("cgroup", { cgroup_id = 3, path = "/late" }, { time = 20 })
    local file <close> = assert(perflua.open(b:write()))
    assert.are.same({ "/late" }, paths_of(file))
  end)

  it("is the first that its id was given", function()
    local b = with_cgroups()
    b:record("cgroup", { cgroup_id = 3, path = "/one" }, { time = 20 })
    b:record("cgroup", { cgroup_id = 3, path = "/other" }, { time = 30 })
    sample(b, 40, 3)
    local file <close> = assert(perflua.open(b:write()))
    assert.are.same({ "/one" }, paths_of(file))
  end)

  it("may be empty or as long as paths are", function()
    local b = with_cgroups()
    local long = ("/a long name"):rep(340)
    b:record("cgroup", { cgroup_id = -1, path = long })
    b:record("cgroup", { cgroup_id = 0, path = "" })
    sample(b, 10, -1)
    sample(b, 20, 0)
    local file <close> = assert(perflua.open(b:write()))
    assert.are.same({ long, "" }, paths_of(file))
  end)

  it("is none where samples do not tell their group", function()
    local b = builder.new()
    b:event { name = "cycles", sample_type = { "ip", "tid", "time" }, ids = { 7 } }
    b:record("cgroup", { cgroup_id = 0, path = "/" })
    b:sample(b.events[1], { pid = 7, time = 10 })
    local file <close> = assert(perflua.open(b:write()))
    assert.is_nil(file:samples():first().cgroup_path)
  end)

  it("is that of each recording of one machine, or else of another one of it", function()
    local function written(paths, ...)
      local b = with_cgroups()
      for id, path in pairs(paths) do b:record("cgroup", { cgroup_id = id, path = path }) end
      for _, time in ipairs { ... } do sample(b, time, time % 10) end
      return b:write()
    end
    local file <close> = assert(perflua.open { written({ [3] = "/one" }, 13, 14),
      written({ [3] = "/other", [4] = "/below" }, 23, 24) })
    assert.are.same({ "/one", "/below", "/other", "/below" }, paths_of(file))
  end)

  it("is that of each recording where clocks differ", function()
    warn "@off"
    local paths = {}
    for i, name in ipairs { "/one", "/other" } do
      local b = with_cgroups()
      b:feature("hostname", "host " .. i)
      b:record("cgroup", { cgroup_id = 3, path = name })
      b:record("cgroup", { cgroup_id = 3 | i << 40, path = name .. "/below" })
      sample(b, 10, 3)
      sample(b, 20, 3 | 1 << 40)
      paths[i] = b:write()
    end
    local file <close> = assert(perflua.open(paths))
    assert.are.same({ "/one", "/one/below", "/other", false }, paths_of(file))
  end)

  it("can be filtered by, grouped by, listed and copied", function()
    local file = assert(perflua.open(typical():write()))
    assert.are.equal(1, file:samples():where("cgroup_path == '/'"):count())
    assert.are.equal(1, file:samples():where("cgroup_path == nil"):count())
    local counts = {}
    for row in file:samples():group_by("cgroup_path"):count():each() do
      counts[row.cgroup_path or "none"] = row.count
    end
    assert.are.same({ ["/"] = 1, ["/system.slice/a b.service"] = 1, none = 1 }, counts)
    local first, listed = file:samples():first():copy(), {}
    for name, value in pairs(first) do
      listed[name] = value
    end
    file:close()
    assert.are.same({ "/", "/" }, { listed.cgroup_path, first.cgroup_path })
  end)
end)
