local builder = require "spec.support.builder"
local run = require "spec.cli.run"
local small = require "spec.support.small_pipe"

local function tool(words, input, how)
  return run.shell_with((how or 'cat "$1" |') .. ' "$perflua" ' .. words, input)
end

-- Removes what a stream does not know of itself.
local function but_size_and_path(text)
  return (text:gsub('"path":"[^"]*",', ""):gsub('"size":%d+,', ""):gsub("# file size[^\n]*\n",
    ""))
end

describe("a tool", function()
  for _, words in ipairs { "stat", "stat --json", "dump", "dump --json" } do
    it("says of standard input what it says of the file: " .. words, function()
      local path = small():write()
      local of_file, of_stream = tool(words .. ' "$1"', path, ""), tool(words .. " -", path)
      assert.are.same({ 0, "" }, { of_stream.status, of_stream.err })
      assert.are.equal(but_size_and_path(of_file.out), but_size_and_path(of_stream.out))
      assert.is_true(#of_file.out > 100)
    end)

    it("says of a seekable file on standard input what it says of the file: "
      .. words, function()
      local of_file, of_stream = tool(words .. ' "$1"', run.demo, ""),
        tool(words .. " -", run.demo)
      assert.are.same({ 0, "" }, { of_stream.status, of_stream.err })
      assert.are.equal(but_size_and_path(of_file.out), but_size_and_path(of_stream.out))
    end)
  end

  it("says of standard input what it says of the file, but for its size and date: header",
    function()
    local path = small():write()
    local of_file, of_stream = tool('header "$1"', path, ""), tool("header -", path)
    assert.are.same({ 0, "" }, { of_stream.status, of_stream.err })
    local of_file_without_date = of_file.out:gsub("# captured on[^\n]*\n", "")
    assert.are.equal(but_size_and_path(of_file_without_date), but_size_and_path(of_stream.out))
    assert.matches("# hostname : here", of_stream.out, 1, true)
    assert.are.equal(0, tool("header --json -", path).status)
  end)

  it("says for a stream that it needs two passes: ", function()
    local got = tool("fields -", small():write())
    assert.are.same({ 1, "" }, { got.status, got.out })
    assert.matches("^perflua: %-: a stream can be read only once, [^\n]*\n$", got.err)
    assert.are.equal(0, tool("fields -", run.demo).status)
  end)

  it("fails on standard input that has no recording", function()
    for _, words in ipairs { "stat -", "dump -", "header -", "fields -" } do
      local got = run.shell('"$perflua" ' .. words .. " </dev/null")
      assert.are.equal(1, got.status)
      assert.matches("^perflua: %-: offset 0: found an empty file", got.err)
    end
  end)

  it("warns of a stream that was cut, and says what there is", function()
    local b = small()
    local got = run.shell_with(('head -c %d "$1" | "$perflua" stat -'):format(#b:bytes() - 1),
      b:write())
    assert.are.equal(0, got.status)
    assert.matches("^perflua: %-: offset %d+: ", got.err)
    assert.matches("sample +1 ", got.out)
  end)
end)

describe("a script of handlers", function()
  it("is run over a recording on standard input", function()
    local script = run.script [[
      return { sample = { "ip", function(ip) print(ip) end }, finish = function() print "end" end }]]
    local got = run.shell_with('cat "$1" | "$perflua" "$2" -', small():write(), script)
    assert.are.same({ status = 0, out = "4096\n8192\nend\n", err = "" }, got)
  end)

  it("is run over an empty recording on standard input", function()
    local b = builder.new { container = "pipe" }
    local got = run.shell_with('cat "$1" | "$perflua" "$2" -', b:write(),
      run.script "return { finish = function(file) print(file.mode, #file.events) end }")
    assert.are.same({ status = 0, out = "pipe\t0\n", err = "" }, got)
  end)
end)
