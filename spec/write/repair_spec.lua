-- perflua repair: what is whole in a recording that is not.
local files = require "spec.support.files"
local harmed = require "spec.support.harmed"
local containers = require "spec.support.containers"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local rewritten = require "spec.support.rewritten"
local run = require "spec.cli.run"
local seen = require "spec.support.seen"
local small_pipe = require "spec.support.small_pipe"

local SWEEP = os.getenv "SWEEP"
local STEP <const> = SWEEP and 1 or 131

--- Repairs a recording; checks that all its records are in the copy, which is whole.
local function check(path)
  warn "@off"
  local file <close> = perflua.open(path)
  if not file then return false end
  local all = rewritten.records(file)
  if #all == 0 then
    local _, _, code = file:records { container = true }:write(rewritten.path())
    assert.are.equal("ENODATA", code)
    return false
  end
  local copy <close>, summary = rewritten.open(file)
  local expected = {}
  for _, line in ipairs(all) do
    -- found in damaged compressed data; as a record of its own it shows others inside of it
    if line:find 'type="unknown"' then return true end
    -- those of AUX areas are left out if the data is not all there
    if summary.aux_records == 0 or not line:find 'type="auxtrace"' then
      expected[#expected + 1] = line
    end
  end
  assert.is_nil(seen.difference(expected, rewritten.records(copy)))
  assert.is_nil(copy.damage[1] and copy.damage[1].reason)
  assert.is_true(copy.complete)
  return true
end

describe("perflua repair", function()
  for _, container in ipairs(containers.list) do
    local name = container.name
    if container.seekable and not name:find "directory" and not name:find "pieces" then
      it("saves all whole records of a cut " .. name, function()
        local bytes = files.read(container.write(harmed.recording()))
        local n = 0
        for at = 200, #bytes, STEP do
          n = n + (check(files.temporary(bytes:sub(1, at))) and 1 or 0)
        end
        assert.is_true(n > 0)
      end)

      it("saves all whole records of a damaged " .. name, function()
        local bytes = files.read(container.write(harmed.recording(true)))
        for at = 600, #bytes, SWEEP and 97 or 9973 do
          check(files.temporary(bytes:sub(1, at) .. ("\xff"):rep(16) .. bytes:sub(at + 17)))
        end
      end)
    end
  end

  it("finishes a recording whose recorder was killed, and says what is lost", function()
    local bytes = files.read(run.demo)
    local unfinished = files.temporary(bytes:sub(1, 48) .. ("\0"):rep(8)
      .. bytes:sub(57, -5000))
    local path = rewritten.path()
    local got = run.perflua { "repair", unfinished, "-o", path }
    assert.are.equal(0, got.status)
    assert.are.equal("", got.err)
    assert.matches("\n  lost at offset 48, 8 bytes: data size: found 0, expected a size",
      got.out)
    local file <close> = assert(perflua.open(unfinished))
    local copy <close> = assert(perflua.open(path))
    assert.is_nil(seen.difference(rewritten.records(file), rewritten.records(copy)))
    assert.are.equal(copy:samples():min "time", copy.features.sample_time.first)
  end)

  it("writes nothing where no record is whole", function()
    local bytes, path = files.read(run.demo), rewritten.path()
    local at = string.unpack("<I8", bytes, 41)
    local pipe = small_pipe():bytes()
    for _, case in ipairs {
      { bytes:sub(1, at), "offset " .. at .. ": data: found the end of the file at " .. at },
      { bytes:sub(1, at + 20), "no record of .* is whole: offset " .. at .. ": data: found" },
      { bytes:sub(1, at - 1), "attrs: found %d+ bytes from %d+ on, expected them within" },
      { pipe:sub(1, 20), "offset 16: found 4 bytes after the last record" },
      { pipe:sub(1, 168), "the recording has no records" },
      { pipe:sub(1, 16), "the recording has no records" },
    } do
      local got = run.perflua { "repair", files.temporary(case[1]), "-o", path }
      assert.are.same({ 1, "" }, { got.status, got.out })
      assert.matches(case[2], got.err)
      assert.is_false(files.exists(path))
    end
  end)

  needs.it("perf", "makes recordings that perf opens without complaint", function()
    local bytes, path = files.read(run.demo), rewritten.path()
    for _, n in ipairs { 9000, 20001, 33333, #bytes - 100 } do
      local cut = files.temporary(bytes:sub(1, n))
      local got = run.shell_with([["$perflua" repair --force "$1" -o "$2" >/dev/null 2>&1 || exit
        perf script -F event -i "$2" 2>"$2.err" | wc -l >"$2.lines"
        grep -v "^No kallsyms or vmlinux" "$2.err" >&2
        true]], cut, path)
      assert.are.same({ status = 0, out = "", err = "" }, got)
      local copy <close> = assert(perflua.open(path))
      assert.are.equal(copy:samples():count(), tonumber(files.read(path .. ".lines")))
    end
  end)
end)
