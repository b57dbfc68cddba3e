-- Trees of calls of Tables, compared with loops over samples and with perf report -g.
local builder = require "spec.support.builder"
local files = require "spec.support.files"
local mapped = require "spec.support.mapped"
local needs = require "spec.support.needs"
local perflua = require "perflua"

local KERNEL, USER = -128, -512
local WORDS = "spec/fixtures/words/perf.data"

local function open_words()
  return assert(perflua.open(WORDS, { symfs = "spec/fixtures/words" }))
end

local names = {
  symbol = function(frame) return frame.symbol or "[" .. frame.dso:match "[^/]+$" .. "]" end,
  srcline = function(frame)
    return frame.srcline or frame.symbol or "[" .. frame.dso:match "[^/]+$" .. "]"
  end,
  address = function(frame)
    return frame.symbol and ("%s+0x%x"):format(frame.symbol, frame.symoff)
      or ("[%s] 0x%x"):format(frame.dso:match "[^/]+$", frame.address)
  end,
  dso = function(frame) return frame.dso end,
}

-- Adds up samples by the names of the beginnings of their stacks: { total, self, count }.
local function add_up(file, by, order)
  local nodes = { [""] = { 0, 0, 0 } }
  for s in file:samples():each() do
    local stack, paths, path = {}, { "" }, ""
    for i = #s.callchain, 1, -1 do
      local name = names[by](s.callchain[i])
      if by ~= "dso" or stack[#stack] ~= name then stack[#stack + 1] = name end
    end
    for i = 1, #stack do
      path = path .. ";" .. stack[order == "caller" and i or #stack + 1 - i]
      paths[#paths + 1] = path
    end
    for _, one in ipairs(paths) do
      local node = nodes[one] or { 0, 0, 0 }
      nodes[one] = node
      node[1], node[3] = node[1] + s.period, node[3] + 1
    end
    nodes[path][2] = nodes[path][2] + s.period
  end
  return nodes
end

local function of_tree(root)
  local nodes, path = {}, {}
  root:walk(function(node, depth)
    path[depth] = depth == 0 and "" or path[depth - 1] .. ";" .. node.name
    assert.is_nil(nodes[path[depth]])
    nodes[path[depth]] = { node.total, node.self, node.count }
  end)
  return nodes
end

describe("a tree of calls", function()
  it("has what a loop over the samples adds up, by all that frames may be", function()
    local file <close> = open_words()
    local by_stack = file:samples():group_by("callchain", "comm"):sum("period"):count():table()
    for by in pairs(names) do
      for _, order in ipairs { "caller", "callee" } do
        assert.same(add_up(file, by, order), of_tree(by_stack:tree { by = by, order = order }))
      end
    end
  end)

  needs.it("perf", "is what perf report -g prints", function()
    local file <close> = open_words()
    local by_stack = file:samples():group_by("callchain"):sum("period"):top(1)
    for _, order in ipairs { "caller", "callee" } do
      local text = files.output(("perf report -i %s --symfs spec/fixtures/words --no-children "
        .. "--stdio -s dso -g graph,0.5,%s 2>/dev/null"):format(WORDS, order))
      local lines = {}
      for line in text:match "\n +100%.00%%[^\n]*\n(.-)\n\n":gmatch "[^\n]+" do
        lines[#lines + 1] = line:sub(13)
      end
      assert.equal(table.concat(lines, "\n"), tostring(by_stack:tree { order = order }))
    end
  end)

  it("has children by weight, names them, and knows who is above", function()
    local file <close> = open_words()
    local root = file:samples():group_by("callchain"):count():table():tree()
    local total = 0
    assert.is_nil(root.frame)
    assert.is_nil(root.name)
    assert.is_nil(root.parent)
    root:walk(function(node)
      local sum, last = node.self, math.huge
      for i, child in ipairs(node) do
        assert.equal(node, child.parent)
        assert.is_true(child.total <= last)
        assert.is_true(child == node[i])
        assert.equal(child.symbol, child.frame.symbol)
        assert.equal(child.srcline, child.frame.srcline)
        assert.equal("user", child.kind)
        sum, last = sum + child.total, child.total
      end
      assert.equal(node.total, sum)
      assert.is_nil(node[0])
      assert.is_nil(node[#node + 1])
      total = total + node.self
    end)
    assert.equal(root.total, total)
    local main = root:find "main"
    assert.equal("_start", main.parent.symbol)
    assert.equal("/usr/local/bin/words", main.dso)
    assert.equal(root[1], main.parent)
    assert.is_nil(main:find "main")
    assert.is_nil(root:find "nothing")
    -- the outermost of those that call themselves holds all of the others
    local inner = main:find "find_in_tree"
    assert.equal("count_with_tree", inner.parent.symbol)
    assert.is_true(inner:find "find_in_tree".total < inner.total)
    assert.error_matches(function() return main.totl end, "a node has no field 'totl'.*'total'")
  end)

  -- A recording of two events with deep recursion, code of the kernel and nothing mapped.
  local function write(n_deep)
    local b = builder.new()
    local events = {}
    for i, name in ipairs { "cycles", "faults" } do
      events[i] = b:event { name = name, ids = { i },
        sample_type = { "ip", "tid", "time", "id", "period", "callchain" } }
    end
    mapped.add(b, { "- kernel ffffffff81000000-ffffffff81001000@ffffffff81000000 "
      .. "[kernel.kallsyms]_text", "- map 7 1000-9000 /bin/a b" })
    local function sample(event, period, chain)
      b:sample(events[event], { ip = chain[2], pid = 7, tid = 7, time = 10, id = event,
        callchain = chain, period = period, misc = 2 })
    end
    local deep = { USER }
    for i = 1, n_deep do deep[i + 1] = 0x1000 + i % 3 end
    sample(1, 5, deep)
    sample(1, 7, { KERNEL, 0xffffffff81000010, USER, 0x2000 })
    sample(2, 11, { USER, 0x2000, 0xa0000 })
    return b:write()
  end

  local function open(path)
    return assert(perflua.open(path, { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" }))
  end

  it("is of one event, which is named where there are several", function()
    local file <close> = open(write(127))
    local by_stack = file:samples():group_by("callchain"):sum("period"):count():table()
    assert.error_matches(function() by_stack:tree() end,
      "events are not added up: event names one of cycles, faults")
    assert.error_matches(function() by_stack:tree { event = "cycls" } end,
      "no event 'cycls'; there are cycles, faults")
    local cycles = by_stack:tree { event = "cycles" }
    local faults = by_stack:tree { event = "faults" }
    assert.same({ 12, 2, 11, 1 }, { cycles.total, cycles.count, faults.total, faults.count })
    assert.equal("kernel", cycles:find "[kernel.kallsyms]".kind)
    assert.equal("[unknown]", faults[1].name)
    local all = file:samples():all_events():group_by("callchain"):count():table():tree()
    assert.same({ 3, 3 }, { all.total, all.count })
  end)

  it("is as deep as the stacks are, and its text is bounded", function()
    local file <close> = open(write(1000))
    local root = file:samples("cycles"):group_by("callchain"):sum("period"):table():tree()
    local deepest = 0
    root:walk(function(_, depth) deepest = math.max(deepest, depth) end)
    assert.equal(1000, deepest)
    assert.is_true(#tostring(root) < 100000)
    assert.same({ 12, nil }, { root[1].total, root[1].count })
  end)

  it("stays when the file is closed, with the source lines that were asked for", function()
    local file = open_words()
    local by_stack = file:samples():group_by("callchain"):count():table()
    local before = of_tree(by_stack:tree())
    local lines = of_tree(by_stack:tree { by = "srcline" })
    local root = by_stack:tree()
    file:close()
    assert.same(before, of_tree(root))
    assert.same(before, of_tree(by_stack:tree()))
    assert.same(lines, of_tree(by_stack:tree { by = "srcline" }))
    assert.is_not_nil(next(lines))
  end)

  it("is that of the same table saved, loaded and merged", function()
    local file <close> = open_words()
    local by_stack = file:samples():group_by("callchain"):count():table()
    local path = files.temporary()
    assert(by_stack:save(path))
    local loaded = assert(perflua.load(path))
    assert.same(of_tree(by_stack:tree()), of_tree(loaded:tree()))
    local both = loaded:merge(by_stack):tree()
    assert.equal(2 * by_stack:tree():find "main".total, both:find "main".total)
    assert.is_nil(loaded:tree { by = "srcline" }:find "main".srcline)
  end)

  it("needs stacks, and a measure that adds up", function()
    local file <close> = open_words()
    local function tree(query, options)
      return function() return query:table():tree(options) end
    end
    assert.error_matches(tree(file:samples():group_by("comm"):count()), "no key is a call")
    local by_stack = file:samples():group_by("callchain")
    assert.error_matches(tree(by_stack:max("period")), "no measure adds up")
    assert.error_matches(tree(by_stack:count(), { by = "line" }),
      "by: no 'line'; there are symbol, srcline, address, dso")
    assert.error_matches(tree(by_stack:count(), { order = "calls" }), "order: no 'calls'")
    assert.error_matches(tree(by_stack:count(), { oder = "caller" }), "unknown option 'oder'")
    assert.equal(729, tree(by_stack:count())().total)
    local none = tree(file:samples():where "pid == 1":group_by("callchain"):count())()
    assert.same({ 0, 0, "" }, { none.total, #none, tostring(none) })
  end)
end)
