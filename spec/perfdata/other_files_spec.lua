-- Files that are not recordings are called by their names.
local files = require "spec.support.files"
local perflua = require "perflua"

local function refused(bytes)
  local path = files.temporary(bytes)
  local file, message, code = perflua.open(path)
  assert.is_nil(file)
  return (message:gsub(path, "PATH", 2)), code
end

describe("a file that is not a recording", function()
  local tail = ("\0\1\2"):rep(10)
  local compressed = {
    { "\x1f\x8b\8", "a gzip file", "zcat" }, { "\x28\xb5\x2f\xfd", "a zstd file", "zstdcat" },
    { "\xfd7zXZ\0", "an xz file", "xzcat" }, { "BZh9", "a bzip2 file", "bzcat" },
  }
  for _, one in ipairs(compressed) do
    it("is called " .. one[2], function()
      assert.are.same({
        ("PATH: offset 0: found %s, expected a perf.data file; try: %s PATH | perflua … -")
          :format(one[2], one[3]),
        "FORMAT",
      }, { refused(one[1] .. tail) })
    end)
  end

  it("is called an ELF file, text or empty", function()
    assert.are.equal("PATH: offset 0: found an ELF file, expected a perf.data file",
      (refused("\x7fELF" .. tail)))
    assert.are.equal("PATH: offset 0: found text, expected a perf.data file",
      (refused "hello\n"))
    assert.are.equal("PATH: offset 0: found text, expected a perf.data file",
      (refused(("line\r\n"):rep(100))))
    assert.are.equal(
      "PATH: offset 0: found an empty file (0 bytes), expected a perf.data header",
      (refused ""))
  end)

  it("is none, if nothing is known of its first bytes", function()
    assert.are.equal(
      "PATH: offset 0: not a perf.data file: found the bytes 00 01 02 00 01 02 00 01, expected "
      .. '"PERFILE2"', (refused(tail)))
    assert.are.equal(
      "PATH: offset 0: not a perf.data file: found 7 bytes, expected a header of at least 16",
      (refused "PERFILE"))
    assert.are.equal(
      "PATH: offset 0: not a perf.data file: found 3 bytes, expected a header of at least 16",
      (refused "\0\1\2"))
  end)

  it("may be a directory without the file data", function()
    local path = files.directory {}
    local _, message, code = perflua.open(path)
    assert.are.equal(
      path .. ': found a directory without the file "data", expected one that perf record '
        .. '--threads '
      .. "wrote", message)
    assert.are.equal("ENOENT", code)
  end)
end)
