local folded = require "perflua.flame.folded"

local function read(text)
  return folded.read(text:gmatch "[^\n]*")
end

local function written(set)
  local parts = {}
  folded.write(function(text) parts[#parts + 1] = text end, set.list)
  return table.concat(parts)
end

describe("folded stacks", function()
  it("are read, added up and written in the order of their names", function()
    local set = read "sh;main;b 2\nsh;main;a 1\n\nsh;main;b 40\n"
    assert.are.equal("sh;main;a 1\nsh;main;b 42\n", written(set))
    assert.are.equal(43, set.total)
  end)

  it("may have names with blanks, and weights that are not integers", function()
    local set = read "Web Content;operator new(unsigned long) 3\na;b 2.5\n"
    assert.are.equal("Web Content;operator new(unsigned long) 3\na;b 2.5\n", written(set))
    assert.are.equal(5.5, set.total)
  end)

  it("tell how many lines were none", function()
    local set = read "a;b 1\n# a comment\nc;d\n 7\nc;d -1\n"
    assert.are.equal("a;b 1\n", written(set))
    assert.are.equal(4, set.skipped)
  end)

  it("keep the kinds of frames that others marked", function()
    local set = read "sh;main;sys_read_[k];read_page_[k] 3\nnode;~f x.js:1_[j];new_[i] 4\n"
    assert.are.same({ "node;~f x.js:1;new", "sh;main;sys_read;read_page" },
      { set.list[1].stack, set.list[2].stack })
    assert.are.same({ "nji", "nukk" }, { set.list[1].kinds, set.list[2].kinds })
    set = read "a;[preempted] 1\na;_[k;b 2\n"
    assert.are.same({ "a;[preempted]", "np" }, { set.list[1].stack, set.list[1].kinds })
    assert.are.equal("a;_[k;b", set.list[2].stack)
  end)

  it("need no letters for frames of which nothing is marked", function()
    local set = read "sh;main;f 3\n"
    assert.are.same({ "sh;main;f", "n" }, { set.list[1].stack, set.list[1].kinds })
  end)

  it("have nothing that could move a terminal's cursor", function()
    local set = read "a\27[2J;b\u{9b}31m;\xff\xfe;\u{e9} 1\n"
    assert.are.equal("a?[2J;b?31m;??;\u{e9} 1\n", written(set))
  end)
end)
