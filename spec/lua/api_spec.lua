-- The description of the API: what is made of it, and that it is compared with what there is.
local api = require "perflua.api"
local files = require "spec.support.files"
local perflua = require "perflua"
local run = require "spec.cli.run"

local function each_row(visit)
  for _, class in ipairs(api.classes()) do
    for _, part in ipairs { "fields", "methods", "index" } do
      for _, row in ipairs(class[part] or {}) do
        visit(class.name .. "." .. row[1], row, part)
      end
    end
  end
end

describe("the description of the API", function()
  it("has a sentence and a type for everything", function()
    each_row(function(name, row, part)
      local doc = part == "methods" and row[2] or row[3]
      assert.matches("^[%u\"`].*%.$", doc, 1, name)
      if part ~= "methods" then assert.is_string(row[2], name) end
      for _, param in ipairs(row.params or {}) do
        assert.is_string(param[2], name)
        assert.is_string(param[3], name)
      end
    end)
  end)

  it("names classes that there are", function()
    local known = { Record = true, Event = true, Features = true, ["View.map"] = true }
    for _, class in ipairs(api.classes()) do known[class.name] = true end
    local function check(name, type)
      for class in type:gmatch "%f[%w_\"]%u[%w_.]*" do
        assert.is_true(known[class], name .. ": " .. class)
      end
    end
    each_row(function(name, row, part)
      if part ~= "methods" then check(name, row[2]) end
      for _, param in ipairs(row.params or {}) do check(name, param[2]) end
      for _, value in ipairs(row.returns or {}) do check(name, value[1]) end
    end)
  end)
end)

describe("make lint", function()
  local function check(change)
    local got = run.perflua { "-e",
      "local api = require 'perflua.api' local core = require 'perflua.core' " .. change,
      ".ci/api.lua" }
    assert.are.equal("", got.err)
    return got.status, got.out
  end

  it("finds that the API is as it is described", function()
    assert.are.same({ 0, "" }, { check "" })
  end)

  for change, complaint in pairs {
    ["core.methods('file').extra = print"] =
      "File: 'extra' is not described in lua/perflua/api",
    ["require('perflua.query').methods.extra = print"] =
      "Query: 'extra' is not described in lua/perflua/api",
    ["require('perflua.table').methods.extra = print"] =
      "Table: 'extra' is not described in lua/perflua/api",
    ["perflua.extra = 1"] = "perflua: 'extra' is not described in lua/perflua/api",
    ["extra = 1"] = "globals: 'extra' is not described in lua/perflua/api",
    ["table.remove(api.class('OpenOptions').fields, 1)"] =
      "OpenOptions: 'jobs' is not described in lua/perflua/api",
    ["table.remove(api.class('Handlers').fields)"] =
      "Handlers: 'meta' is not described in lua/perflua/api",
    ["table.remove(api.class('Thread').fields, 1)"] =
      "Thread: 'pid' is not described in lua/perflua/api",
    ["table.remove(api.class('Damage').fields, 1)"] =
      "Damage: 'path' is not described in lua/perflua/api",
    ["table.remove(api.class('AnyRecord').methods)"] =
      "Record: 'copy' is not described in lua/perflua/api",
    ["table.insert(api.class('Query').methods, { 'extra' })"] =
      "Query: 'extra' is described, but perflua has none",
    ["table.insert(api.class('File').fields, { 'extra' })"] =
      "File: 'extra' is described, but perflua has none",
    ["table.insert(api.class('PairOptions').fields, { 'extra' })"] =
      "PairOptions: 'extra' is described, but perflua has none",
    ["table.insert(api.class('PairSide').fields, { 'extra' })"] =
      "PairSide: 'extra' is described, but: ",
    ["table.insert(api.class('Span').fields, { 'extra' })"] =
      "Span: 'extra' is described, but perflua has none",
  } do
    it(("finds: %s"):format(complaint), function()
      local status, out = check(change)
      assert.are.equal(1, status)
      assert.are.equal(complaint, out:sub(1, #complaint))
    end)
  end
end)

describe("a name that there is not", function()
  local file <const> = assert(perflua.open(files.fixture "demo.perf.data"))

  for name, call in pairs {
    ["a Query has no method 'gruop_by'; the closest is 'group_by'"] = function(q)
      return q.gruop_by
    end,
    ["a Query has no method 'meausre'"] = function(q) return q.meausre end,
    ["a Table has no method 'jsno'; the closest is 'json'"] = function(q)
      return q:group_by("pid"):count():top(1).jsno
    end,
    ["open: unknown option 'job'; the closest is 'jobs'"] = function()
      perflua.open("x", { job = 1 })
    end,
    -- not the old name
    ["open: unknown option 'thread'"] = function() perflua.open("x", { thread = 1 }) end,
    ["unknown option 'revse'; the closest is 'reuse'"] = function()
      file:records { revse = true }
    end,
    ["pair: unknown option 'cloze'; the closest is 'close'"] = function(q)
      q:pair { cloze = 1 }
    end,
    ["pair: open: unknown option 'evnt'; the closest is 'event'"] = function(q)
      q:pair { open = { evnt = 1 }, close = "x" }
    end,
  } do
    it(("raises: %s"):format(name), function()
      local ok, message = pcall(call, file:samples())
      assert.is_false(ok)
      assert.matches(": (.*)$", message)
      assert.are.equal(name, (message:gsub("^[^:]+:%d+: ", "")))
    end)
  end
end)
