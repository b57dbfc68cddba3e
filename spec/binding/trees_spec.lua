-- Descriptions of queries that no query would make: a script can reach the core.
local core = require "perflua.core"
local perflua = require "perflua"
local two_events = require "spec.support.two_events"

local file <const> = perflua.open(two_events.write())

local ops = {
  "const", "field", "and", "or", "not", "present", "==", "<", "<=", ">", ">=", "event",
  "in", "find", "starts",
  "under", "+", "-", "*", "/", "//", "%", "^", "&", "|", "~", "<<",
  ">>", "neg", "bnot",
  "bucket", "count", "call",
}
local kinds = {
  "any", "signed", "unsigned", "address", "natural", "bits", "float", "string", "bytes",
  "boolean", "event", "view",
  "nil",
}
local measures = {
  "count", "sum", "avg", "min", "max", "quantile", "hist", "distinct", "first", "last", "share",
  "ratio",
}
local roots = {
  "ip", "pid", "comm", "callchain", "event", "stack", "frames", "period", "time", "symbol",
  "data_src", "read", "args",
  "type", "cpumode", "srcline", "map", "branch_stack",
}

local function group(filter, more)
  local description = { keys = {}, measures = { { measure = "count" } }, filter = filter }
  for name, value in pairs(more or {}) do description[name] = value end
  local shape = { keys = {}, measures = {} }
  for i in ipairs(type(description.keys) == "table" and description.keys or {}) do
    shape.keys[i] = { kind = "any" }
  end
  for i, one in ipairs(description.measures or {}) do
    shape.measures[i] = { measure = one.measure, kind = "any" }
  end
  description.shape = shape
  return pcall(core.group, file, description)
end

local pid = { op = "field", kind = "signed", ref = { path = { "pid" } } }
local one = { op = "const", kind = "natural", value = 1 }
local text = { op = "const", kind = "string", value = "x" }

describe("a description for the core", function()
  it("raises if it is invalid", function()
    local endless = { op = "not", kind = "boolean" }
    endless.left = endless
    local wide, deep = one, one
    for _ = 1, 40 do wide = { op = "+", kind = "signed", left = wide, right = wide } end
    for _ = 1, 300 do deep = { op = "neg", kind = "signed", left = deep } end
    for why, tree in pairs {
      ["no such op"] = { op = "calls", kind = "any" },
      ["a call needs a function"] = { op = "call", kind = "any" },
      ["no such kind"] = { op = "not", kind = "odd", left = one },
      ["a part is missing"] = { op = "+", kind = "signed", left = one },
      ["no such field"] = { op = "field", kind = "any", ref = { path = { "bytes" } } },
      ["a field has no Ref"] = { op = "field", kind = "any", ref = "pid" },
      ["a call needs a function "] = { op = "field", kind = "any", ref = { by_call = "so" } },
      ["a call needs a function  "] = { op = "count", kind = "any",
        left = { op = "field", kind = "any", ref = { by_call = "so" } } },
      ["a field has too many parts"] = { op = "field", kind = "any",
        ref = { path = { "read", 1, 2, 3, 4, 5, 6, 7, 8, 9 } } },
      ["a step is a name or a position"] = { op = "field", kind = "any",
        ref = { path = { "read", 1.5 } } },
      ["no such chain"] = { op = "field", kind = "stack",
        ref = { path = { "stack" }, chain = "odd" } },
      ["a name has a NUL"] = { op = "field", kind = "any",
        ref = { path = { "read", "a\0b" } } },
      ["a value is not a number, string or boolean"] = { op = "const", kind = "any",
        value = {} },
      ["a set is a table"] = { op = "in", kind = "boolean", left = pid },
      ["events are a table"] = { op = "event", kind = "boolean", left = pid },
      ["no event of that number"] = { op = "event", kind = "boolean", left = pid,
        set = { [3] = true } },
      ["event takes a field"] = { op = "event", kind = "boolean", left = one, set = {} },
      ["under%(%) takes a name"] = { op = "under", kind = "boolean", right = one },
      ["a bucket's size"] = { op = "bucket", kind = "signed", left = pid, right = text },
      ["count takes a field or a text"] = { op = "count", kind = "signed", left = one },
      ["a part is missing "] = "a text", ["nested deeper than 256 levels"] = endless,
      ["too large"] = wide,
      ["nested deeper than 256 levels "] = deep,
    } do
      local ok, message = group(tree)
      assert.is_false(ok)
      assert.matches(why:gsub(" +$", ""), message)
    end
  end)

  it("may be nested as deep as the message says", function()
    local tree = pid
    for _ = 1, 254 do tree = { op = "neg", kind = "signed", left = tree } end
    tree = { op = "present", kind = "boolean", left = tree } -- with the field, 256 levels
    assert.is_true(group(tree))
    local ok, message = group { op = "not", kind = "boolean", left = tree }
    assert.is_false(ok)
    assert.matches("nested deeper than 256 levels", message)
  end)

  it("raises if its keys or measures are invalid", function()
    for why, more in pairs {
      ["no keys"] = { keys = 1 }, ["no measures"] = { measures = false },
      ["a key is a table"] = { keys = { 1 } },
      ["a key has no value"] = { keys = { {} } },
      ["no such position"] = { keys = { { value = pid, at = 4097 } } },
      ["no measure 'mean'"] = { measures = { { measure = "mean", value = pid } } },
      ["only a profile keeps times"] = { measures = { { measure = "times", value = pid } } },
      ["no measure of records"] = { measures = { { measure = "compared", value = pid } } },
      ["a measure needs a field"] = { measures = { { measure = "sum" } } },
      ["a ratio needs two events"] =
        { measures = { { measure = "ratio", value = pid, events = { {} } } } },
      ["no record type"] = { types = { [-1] = true } },
      ["no event of that number"] = { events = { [0] = true } },
      ["threads is an integer"] = { threads = 0 },
    } do
      local ok, message = group(nil, more)
      assert.is_false(ok)
      assert.matches(why, message)
    end
  end)

  it("calls no function for a column of a result", function()
    local ref = { by_call = "so", get = print, length = print }
    local field = { op = "field", kind = "any", ref = ref }
    for _, tree in ipairs { field, { op = "count", kind = "unsigned", left = field },
      { op = "call", kind = "any", fn = print } } do
      local result = core.result { keys = {}, measures = { { measure = "count" } } }
      local ok, message = pcall(core.result_view, result, { columns = { { tree = tree } } })
      assert.is_false(ok)
      assert.matches("that is not for columns", message)
    end
  end)

  it("is evaluated or refused whatever its shape", function()
    local seed = 1
    local function random(n)
      seed = (seed * 6364136223846793005 + 1442695040888963407)
      return (seed >> 33) % n + 1
    end
    local function value()
      local values = { 0, -1, 1, 1 << 63, 0.5, 0 / 0, 1 / 0, -1 / 0, "", "sh", ("x"):rep(50),
        true, false }
      return values[random(#values)]
    end
    local function field()
      local path = { roots[random(#roots)] }
      for i = 2, random(4) do
        path[i] = ({ 1, 2, 1 << 40, "ip", "symbol", "config", "inlined", "value" })[random(8)]
      end
      local ref = { path = path, get = value, length = value }
      if random(4) == 1 then ref.by_event = { value(), value() } end
      if random(8) == 1 then ref.types = { [random(20)] = true } end
      if random(16) == 1 then ref.by_call = "so" end
      if random(8) == 1 then ref.as_value = "so" end
      ref.chain = ({ "names", "annotated", "values", "mapped", "callers",
        "functions" })[random(36)]
      return ref
    end
    local function tree(depth)
      local op = depth == 0 and ops[random(2)] or ops[random(#ops)]
      local node = { op = op, kind = kinds[random(#kinds)], negated = random(2) == 1 }
      if op == "field" then node.ref, node.tested = field(), random(4) == 1 end
      if op == "const" then node.value = value() end
      if op == "in" then
        node.set = {}
        for _ = 1, 3 do
          local key = value()
          if key == key then node.set[key] = true end
        end
      end
      if op == "event" then node.set = { random(2) == 1, random(2) == 1 } end
      if depth > 0 then node.left, node.right = tree(depth - 1), tree(depth - 1) end
      if op == "bucket" then
        node.right = { op = "const", kind = "natural", value = random(1 << 20) }
      end
      if op == "under" then node.right = text end
      if op == "call" then
        node.fn, node.is = value, ({ "key", "condition" })[random(3)]
        if random(2) == 1 then node.args = { node.left, node.right } end
      end
      if op == "event" or op == "count" then
        node.left = { op = "field", kind = node.kind, ref = field(), tested = true }
      end
      return node
    end
    local answered = 0
    for _ = 1, 3000 do
      local keys, columns = {}, {}
      for i = 1, random(3) - 1 do keys[i] = { value = tree(random(3) - 1), at = i } end
      for i = 1, random(3) do
        columns[i] = { measure = measures[random(#measures)], value = tree(random(3) - 1),
          events = { { true }, {} } }
        if random(4) == 1 then columns[i].weight = tree(1) end
      end
      local filter = random(2) == 1 and tree(random(4) - 1) or nil
      local order = ({ "time", "file", "any" })[random(3)]
      local ok, groups = group(filter,
        { keys = keys, measures = columns, order = order, threads = random(2) })
      if ok and groups then answered = answered + 1 end
      local values = { tree(2), tree(1) }
      pcall(function()
        for _ in core.cursor(file, { filter = filter, values = values, order = order }) do
          answered = answered + 0
        end
      end)
    end
    assert.is_true(answered > 1000)
  end)
end)
