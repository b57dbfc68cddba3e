-- write() of directories, as perf record --threads makes them.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"
local seen = require "spec.support.seen"

local function names_in(path)
  local list = {}
  for name in files.lines("ls -A " .. files.quote(path)) do list[#list + 1] = name end
  return list
end

--- The records of a File in the order of time, without where they lie.
local function records_of(file)
  local list = rewritten.records(file, "time")
  table.sort(list)
  return list
end

--- Three samples on two processors, and a comm without a time.
local function on_processors(parts)
  local b = builder.new()
  local event = b:event { sample_type = parts or { "ip", "tid", "time", "cpu" },
    sample_id_all = true }
  b:record("comm", { pid = 7, tid = 7, comm = "first" },
    { pid = 0, tid = 0, time = 0, cpu = 0 })
  for i, cpu in ipairs { 3, 9, 3 } do
    b:sample(event, { ip = i, pid = 7, tid = 100 + cpu, time = i, cpu = cpu })
  end
  return b:write()
end

describe("a directory that write() wrote", function()
  it("has a file of records for each processor, and the others beside the header", function()
    local file <close> = assert(perflua.open(on_processors()))
    local path = rewritten.path()
    local summary = assert(file:records():write(path, { directory = true }))
    assert.are.same({ "data", "data.3", "data.9" }, names_in(path))
    assert.are.equal(3, summary.samples)
    assert.are.equal(2 * (8 + 8 + 8 + 8 + 8), #files.read(path .. "/data.3"))
    local copy <close> = assert(perflua.open(path))
    assert.are.equal("directory", copy.mode)
    assert.are.equal(1, copy.features.dir_format)
    assert.is_nil(seen.difference(records_of(file), records_of(copy)))
    local size = 0
    for _, name in ipairs(names_in(path)) do size = size + #files.read(path .. "/" .. name) end
    assert.are.equal(size, summary.bytes)
  end)

  it("has one for each thread where processors were not recorded", function()
    local file <close> = assert(perflua.open(on_processors { "ip", "tid", "time" }))
    local path = rewritten.path()
    assert(file:records():write(path .. "/"))
    assert.are.same({ "data", "data.103", "data.109" }, names_in(path))
  end)

  for name, form in pairs { plain = {}, compressed = { compress = 1 }, sorted = { sort = true },
      turned = { byte_order = "big" } } do
    it("becomes a file again, and has its records: " .. name, function()
      local file <close> = assert(perflua.open(run.demo))
      local path = rewritten.path()
      form.directory = true
      assert(file:records { container = true }:write(path, form))
      local directory <close> = assert(perflua.open(path))
      local copy <close> = rewritten.open(directory, { byte_order = "little" })
      assert.are.equal(0, #directory.damage)
      assert.are.equal("file", copy.mode)
      assert.is_nil(seen.difference(records_of(file), records_of(copy)))
      assert.is_nil(copy.features.dir_format)
    end)
  end

  it("replaces a directory with a recording if forced, and nothing else", function()
    local file <close> = assert(perflua.open(run.demo))
    local all = file:records { container = true }
    local path = files.directory { data = "old", ["data.77"] = "older" }
    warn "@off"
    local ok, message, code = all:write(path, { directory = true })
    assert.are.same({ nil, "EEXIST" }, { ok, code })
    assert.matches("exists", message)
    assert(all:write(path, { directory = true, force = true }))
    for _, name in ipairs(names_in(path)) do assert.are_not.equal("data.77", name) end
    files.write(path .. "/mine", "kept")
    ok, message, code = all:write(path, { directory = true, force = true })
    assert.are.same({ nil, "ENOTEMPTY" }, { ok, code })
    assert.matches("not empty", message)
    assert.are.equal("kept", files.read(path .. "/mine"))
    local read <close> = assert(perflua.open(path))
    ok, message, code = read:records():write(path, { directory = true, force = true })
    assert.are.same({ nil, "EBUSY" }, { ok, code })
    assert.matches("this is the recording that is read", message)
  end)

  it("is not there after a failure, or without samples", function()
    local file <close> = assert(perflua.open(run.demo))
    local parent = files.directory {}
    warn "@off"
    local ok, _, code = file:samples():where("comm == 'nobody'"):write(parent .. "/x/")
    assert.are.same({ nil, "ENODATA" }, { ok, code })
    assert.are.same({}, names_in(parent))
    ok, _, code = file:samples():write(parent .. "/no/x/")
    assert.are.same({ nil, "ENOENT" }, { ok, code })
    assert.has_error(function() file:samples():write(parent .. "/x/", { pipe = true }) end)
  end)

  it("leaves nothing behind where a signal ends the program", function()
    local path = rewritten.path()
    local got = run.shell_with([[
      demo=$(realpath "$1")
      perflua=$(realpath "$perflua")
      mkdir "$2" && cd "$2" || exit
      timeout 60 "$perflua" -e 'local n = 0
        file:samples():where(function()
          n = n + 1
          while n == 100 do
            pcall(function() io.popen("ls -A . .x.* >seen; kill -TERM $PPID"):close() end)
          end
          return true
        end):write("x/")' "$demo"
      echo $?
      grep -c "^data\\.[0-9]" seen
      ls -A]], run.demo, path)
    assert.matches("^143\n%d+\nseen\n$", got.out)
    assert.not_matches("\n0\n", got.out)
  end)

  needs.it("perf", "is read by perf as the file", function()
    local path = rewritten.path()
    local got = run.shell_with([[
      "$perflua" convert --compress "$1" -o "$2/" >/dev/null || exit
      for i in "$1" "$2"; do
        perf script --symfs=spec/fixtures/empty --kallsyms=/dev/null -f -i "$i" 2>/dev/null \
          >"$2.lines$((n += 1))"
      done
      test -s "$2.lines1" && cmp "$2.lines1" "$2.lines2"]], run.demo, path)
    assert.are.same({ status = 0, out = "", err = "" }, got)
  end)
end)
