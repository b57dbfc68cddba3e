local flame = require "perflua.flame"
local folded = require "perflua.flame.folded"
local tree = require "perflua.flame.tree"

local function list(text) return folded.read(text:gmatch "[^\n]+").list end

-- The frames as lines "depth name total from start".
local function drawn(text, least, reverse)
  local t = tree.build(list(text), reverse)
  local frames = tree.frames(t, least or 0)
  local lines = {}
  for i, frame in ipairs(frames) do
    lines[i] = ("%d %s %d from %d"):format(frame.depth, t.names[t.name[frame.node]],
      t.total[frame.node], frame.start)
  end
  return lines, t.left
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
    }, (drawn("sh;main;g 3\nsh;f;g 2\n", 0, true)))
  end)

  it("are left out with what they call when they are too small, and what they hold is "
    .. "told", function()
    local lines, left = drawn(text, 2)
    assert.are.same({
      "0 all 10 from 0", "1 cc 3 from 0", "2 main 3 from 0", "1 sh 7 from 3", "2 main 7 from 3",
      "3 a 4 from 3",
    }, lines)
    assert.are.same({ frames = 1, total = 1 }, left)
    local graph = flame.graph(flame.tree(list(text)), { min_share = 20 })
    assert.are.equal("frames below 20 % are left out; they hold 10 %", graph.note)
    assert.are.equal("", flame.graph(flame.tree(list(text)), { min_share = 0 }).note)
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
    local t = tree.build(list(table.concat(lines, "\n")))
    local frames, stop, open = tree.frames(t, 0), {}, {}
    for _, frame in ipairs(frames) do
      local total, above = t.total[frame.node], open[frame.depth - 1]
      assert.is_true(frame.start >= (stop[frame.depth] or 0))
      if above then
        assert.is_true(frame.start >= above.start)
        assert.is_true(frame.start + total <= above.start + t.total[above.node])
      end
      stop[frame.depth], open[frame.depth] = frame.start + total, frame
    end
    assert.is_true(#frames > 1000)
  end)
end)
