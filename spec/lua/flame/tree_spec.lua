local flame = require "perflua.flame"
local folded = require "perflua.flame.folded"

local function list(text) return folded.read(text:gmatch "[^\n]+").list end

-- The frames as lines "depth name total from start".
local function drawn(text, options)
  options = options or {}
  options.min_share = options.min_share or 0
  local t, lines = flame.tree(list(text), options), {}
  for i, name in ipairs(t.name) do
    lines[i] = ("%d %s %d from %d"):format(t.depth[i], t.names[name], t.total[i], t.start[i])
  end
  return lines, t
end

local text = "sh;main;b;c 1\nsh;main;a 4\nsh;main 2\ncc;main 3\n"

describe("the frames of a flame graph", function()
  it("merge the common parts of stacks, with siblings by name", function()
    assert.are.same({
      "0 all 10 from 0",
      "1 cc 3 from 0", "2 main 3 from 0",
      "1 sh 7 from 3", "2 main 7 from 3", "3 a 4 from 3", "3 b 1 from 7", "4 c 1 from 7",
    }, (drawn(text)))
  end)

  it("begin with the callees in reverse", function()
    assert.are.same({
      "0 all 5 from 0", "1 g 5 from 0", "2 f 2 from 0", "3 sh 2 from 0", "2 main 3 from 2",
      "3 sh 3 from 2",
    }, (drawn("sh;main;g 3\nsh;f;g 2\n", { reverse = true })))
  end)

  it("are left out with what they call when they are too small, and what they hold is "
    .. "told", function()
    local lines, t = drawn(text, { min_share = 20 })
    assert.are.same({
      "0 all 10 from 0", "1 cc 3 from 0", "2 main 3 from 0", "1 sh 7 from 3", "2 main 7 from 3",
      "3 a 4 from 3",
    }, lines)
    assert.are.same({ 1, 1 }, { t.small, t.small_total })
    local graph = flame.graph(t, { min_share = 20 })
    assert.are.equal("frames below 20 % are left out; they hold 10 %", graph.note)
    assert.are.equal("", flame.graph(flame.tree(list(text), { min_share = 0 }), {}).note)
  end)

  it("are cut off, and that is said, if stacks are endless", function()
    local deep = ("f;"):rep(5000) .. "g 1"
    local lines = drawn(deep)
    assert.are.equal(1025, #lines)
    assert.are.equal("1 stack is cut off", flame.graph(flame.tree(list(deep)), {}).note)
  end)

  it("lie within their callers and beside each other for a thousand stacks", function()
    local lines, seed = {}, 7
    for i = 1, 1000 do
      local names = {}
      for d = 1, 3 + i % 9 do
        seed = (seed * 1103515245 + 12345) % 2147483648
        names[d] = "f" .. seed % 5
      end
      lines[i] = table.concat(names, ";") .. " " .. seed % 100
    end
    local _, t = drawn(table.concat(lines, "\n"))
    local stop, open = {}, {}
    for i, depth in ipairs(t.depth) do
      local start, above = t.start[i], open[depth - 1]
      assert.is_true(start >= (stop[depth] or 0))
      if above then
        assert.is_true(start >= t.start[above])
        assert.is_true(start + t.total[i] <= t.start[above] + t.total[above])
      end
      stop[depth], open[depth] = start + t.total[i], i
    end
    assert.is_true(#t.name > 1000)
  end)

  -- Adds up stacks by the text of each of their beginnings, from the root on.
  local function add_up(entries, reverse, max_depth)
    local totals, own = { [""] = 0 }, {}
    for _, entry in ipairs(entries) do
      local names, path = {}, ""
      for name in entry.stack:gmatch "[^;]+" do
        table.insert(names, reverse and 1 or #names + 1, name)
      end
      totals[""] = totals[""] + entry.value
      for i = 1, math.min(#names, max_depth) do
        path = path .. ";" .. names[i]
        totals[path] = (totals[path] or 0) + entry.value
      end
      own[path] = (own[path] or 0) + entry.value
    end
    return totals, own
  end

  it("weigh what a loop over the stacks adds up, also fractions", function()
    local names, lines, seed = { "a", "A", "a ", "operator new", "[a]", "é" }, {}, 11
    local function random(n)
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed // 65536 % n + 1
    end
    for i = 1, 400 do
      local stack = {}
      for d = 1, random(12) do stack[d] = names[random(#names)] end
      local weight = random(50) .. (i % 9 == 0 and ".25" or "")
      lines[i] = table.concat(stack, ";") .. " " .. weight
    end
    local entries = list(table.concat(lines, "\n"))
    for _, reverse in ipairs { false, true } do
      for _, max_depth in ipairs { 3, 1024 } do
        local totals, own = add_up(entries, reverse, max_depth)
        local t = flame.tree(entries,
          { reverse = reverse, max_depth = max_depth, min_share = 0 })
        local path, n, ends = { [0] = "" }, 0, {}
        for i, depth in ipairs(t.depth) do
          if depth > 0 then path[depth] = path[depth - 1] .. ";" .. t.names[t.name[i]] end
          assert.equal(totals[path[depth]], t.total[i])
          assert.equal(own[path[depth]] or 0, t.own[i])
          ends[path[depth]], n = true, n + 1
        end
        for one in pairs(totals) do assert.is_true(ends[one]) end
        assert.equal(#t.name, n)
      end
    end
  end)

  it("are bounded where a function calls itself a hundred thousand times, and count it once",
    function()
      local deep = ("f;"):rep(100000)
      local _, t = drawn(deep .. "g 1\n" .. deep .. "h 2\n" .. deep .. " 4\nf;f 8")
      assert.same({ 1025, 15, 15, 3 }, { #t.name, t.total[1], t.total[2], t.deep })
      assert.equal(7, t.own[1025])
      _, t = drawn(deep .. "g 1", { max_depth = 200000 })
      assert.same({ 100002, 0, 1 }, { #t.name, t.deep, t.total[100002] })
    end)

  it("are refused where they are too many to be drawn", function()
    local lines = {}
    for i = 1, 20 do lines[i] = ("main;f%d;%s 1"):format(i, ("g;"):rep(4)) end
    local chains = table.concat(lines, "\n") -- of the root, main, and 20 times 5 callees
    assert.equal(102, #drawn(chains, { max_nodes = 102 }))
    assert.error_matches(function() drawn(chains, { max_nodes = 101 }) end,
      "the tree of call stacks is too large: .*; choose fewer samples, or cut deep stacks$")
    assert.equal(22, #drawn(chains, { max_nodes = 101, max_depth = 2 }))
  end)

  it("are told apart by case and blanks, but not by control characters, which are not shown",
    function()
      assert.same({ "0 all 127 from 0", "1 Main 1 from 0", "2 a 1 from 0", "1 main 126 from 1",
        "2  a 8 from 1", "2 ?a 96 from 9", "2 A 4 from 105", "2 a 2 from 109",
        "2 a  16 from 111",
      }, (drawn("Main;a 1\nmain;a 2\nmain;A 4\nmain; a 8\nmain;a ; 16\nmain;\1a 32\n"
        .. "main;\27a 64")))
    end)
end)
