-- perflua stubs: annotations for the Lua language server.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local run = require "spec.cli.run"

describe("perflua stubs", function()
  it("writes the events, and the fields of tracepoints", function()
    local got = run.perflua { "stubs", files.fixture "calls.perf.data" }
    assert.are.same({ 0, "" }, { got.status, got.err })
    for _, text in ipairs { "---@meta\n",
        "\n---@alias recorded.Event '\"raw_syscalls:sys_enter\"'|'\"raw_syscalls:sys_exit\"'\n",
        "\n---@class recorded.args.raw_syscalls_sys_enter_1\n",
        "\n---@field id integer # long\n---@field args integer[] # unsigned long[6]\n",
        "\n---@class recorded.sample.raw_syscalls_sys_exit_2: perflua.Record.sample\n"
          .. "---@field args recorded.args.raw_syscalls_sys_exit_2\n",
        "\n---@class perflua.Handlers\n---@field [\"raw_syscalls:sys_enter\"]? (fun(record: "
          .. "recorded.sample.raw_syscalls_sys_enter_1): any)|any[]\n" } do
      assert.is_truthy(got.out:find(text, 1, true), text .. "\n" .. got.out)
    end
  end)

  it("writes Lua whatever events are called", function()
    local b = builder.new()
    for _, name in ipairs { "a\nos.exit(7)", "'\"\\", "one", "one" } do
      b:event { name = name, sample_type = { "tid" } }
    end
    b:sample(b.events[1], { pid = 1, tid = 1 })
    local got = run.perflua { "stubs", b:write() }
    assert.are.equal(0, got.status)
    for line in got.out:gmatch "[^\n]+" do assert.matches("^%-%-", line) end
    assert.are.equal(1, select(2, got.out:gsub("%[\"one\"%]%? ", "")))
  end)
end)
