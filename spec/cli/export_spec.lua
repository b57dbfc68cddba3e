local builder = require "spec.support.builder"
local exported = require "spec.support.exported"
local files = require "spec.support.files"
local formats = require("perflua.export").formats
local profiles = require "spec.support.profiles"
local run = require "spec.cli.run"

describe("perflua export", function()
  it("has one event chosen of a stream by its user, where a format has room for one", function()
    local path = require "spec.support.two_events".write(function(b) b.container = "pipe" end)
    local got = run.shell_with([[cat "$1" | "$perflua" export --to folded -]], path)
    assert.are.same({ status = 2, out = "", err = "perflua: export: folded takes one "
      .. "event, and there are cycles:P, faults: --event chooses one\n" }, got)
    got = run.shell_with([[cat "$1" | "$perflua" export --to folded --event faults -]], path)
    assert.are.same({ 0, "" }, { got.status, got.err })
  end)

  it("writes to standard output or a file, and lists the formats", function()
    local path = exported.recording()
    local got = run.perflua { "export", "--to", "callgrind", "--no-lines", path }
    assert.same({ 187, 3 }, profiles.callgrind(got.out).summary)
    local out = files.temporary()
    assert.equal(0, run.perflua({ "export", "--to=pprof", path, "-o", out }).status)
    assert.equal(2, #profiles.pprof(out).types)
    assert.matches("speedscope +https", run.perflua({ "help", "export" }).out)
    got = run.perflua { "export", path }
    assert.equal(("perflua: export: --to names the format: %s or %s\n"):format(
      table.concat(formats, ", ", 1, #formats - 1), formats[#formats]), got.err)
    assert.equal(2, got.status)
  end)

  it("ends with status 2 if a format cannot represent the query", function()
    local path, out = exported.recording(), files.temporary()
    local view = "callchain is a view; a column takes one of its fields; stack is "
      .. "the whole chain as text"
    for words, message in pairs {
      ["--to pprof --timeline"] = "pprof cannot hold times",
      ["--to callgrind --max-size 5M"] = "--max-size makes times coarser, and callgrind cannot "
        .. "hold times",
      ["--to speedscope --max-size 5M"] = "--max-size makes times coarser: --timeline keeps "
        .. "the times",
      ["--to csv --fields callchain"] = view,
      ["--to jsonl --fields ip,callchain"] = view,
      ["--to sqlite --fields callchain"] = view,
      ["--to csv --max-size 1M"] = "--max-size makes times coarser, and csv keeps each: choose "
        .. "fewer samples with --time or --where",
    } do
      local args = { "export", "-o", out, path }
      for word in words:gmatch "%S+" do args[#args + 1] = word end
      local got = run.perflua(args)
      assert.same({ 2, "perflua: export: " .. message .. "\n" }, { got.status, got.err })
      assert.equal("", files.read(out))
    end
  end)

  it("ends with status 1 if a recording lacks what a format needs", function()
    local b = builder.new()
    local event = b:event { name = "cycles", ids = { 1 }, sample_type = { "ip", "tid" } }
    b:sample(event, { ip = 1, pid = 7, tid = 7 })
    local path = b:write()
    for _, format in ipairs { "firefox", "perfetto", "chrome" } do
      local got = run.perflua { "export", "--to", format, path }
      assert.equal(1, got.status)
      assert.matches("times", got.err)
    end
  end)

  it("folds the samples of the first event, and says so", function()
    local got = run.perflua { "export", "--to", "folded", exported.recording() }
    assert.matches("^sh;%[kernel.kallsyms%] 30\n", got.out:match "sh;.*")
    assert.equal("perflua: export: using samples of cpu-clock; --event selects another: "
      .. "page-faults\n", got.err)
  end)
end)
