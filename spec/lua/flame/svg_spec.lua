local files = require "spec.support.files"
local flame = require "perflua.flame"
local folded = require "perflua.flame.folded"
local needs = require "spec.support.needs"
local palette = require "perflua.flame.palette"
local page = require "perflua.flame.page"

local hostile = "</script><script>alert(1)</script> ]]> \"'& <!-- \\ \u{2028} "
  .. "\27[31m \u{ffff} \xff\xed\xa0\x80 \0 \u{9b}"

local function draw(list, options)
  local parts = {}
  options = options or {}
  options.title, options.about = options.title or "t", options.about or "a"
  options.unit = options.unit or "samples"
  local graph = flame.graph(flame.tree(list), options)
  flame.write(function(text) parts[#parts + 1] = text end, graph)
  return table.concat(parts)
end

local function read(text) return folded.read(text:gmatch "[^\n]+").list end

describe("the SVG of a flame graph", function()
  it("shows frames and their names without its script", function()
    local svg = draw(read "sh;main;a 1\nsh;main;b 3\n", { title = "Mine", about = "cycles" })
    assert.matches("<title>Mine</title>", svg, 1, true)
    assert.matches('<text class="about" id="about" x="16" y="47">cycles</text>', svg, 1, true)
    for _, name in ipairs { "all", "sh", "main", "a", "b" } do
      assert.matches((">%s</text>"):format(name), svg, 1, true)
    end
    -- a quarter and three quarters of 1200 - 2 * 16 pixels
    assert.matches(
      '<rect class="u%d" x="16" y="86" width="291.3" height="17" rx="2"/>\n<text[^>]*>a<', svg)
    assert.matches(
      '<rect class="u%d" x="308" y="86" width="875.3" height="17" rx="2"/>\n<text[^>]*>b<', svg)
  end)

  it("hangs from its callers when it is inverted", function()
    local text = "sh;main 1\n"
    assert.matches('y="86"[^\n]*\n<text[^>]*>main<', draw(read(text)))
    assert.matches('y="86"[^\n]*\n<text[^>]*>all<', draw(read(text), { inverted = true }))
  end)

  it("is the same for the same stacks", function()
    local text = "sh;main;a 1\nsh;main;b 3\n"
    assert.are.equal(draw(read(text)), draw(read(text)))
  end)

  it("is well-formed and lets no name out of its place", function()
    local list = { { stack = hostile:gsub(";", ":") .. ";b", value = 3, kinds = "nu" } }
    local svg = draw(list, { title = hostile, about = hostile, unit = hostile })
    assert.are.equal(1, select(2, svg:gsub("<script", "")))
    assert.are.equal(1, select(2, svg:gsub("]]>", "")))
    assert.is_nil(svg:find("[\0-\8\11-\31]"))
    assert.is_truthy(utf8.len(svg))
    if needs.missing "xmllint" then return pending(needs.missing "xmllint") end
    local path = files.temporary(svg)
    assert.are.equal("", (files.output("xmllint --noout " .. path .. " 2>&1")))
  end)

  it("explains colours that mean something", function()
    local list = read "sh;main;read_[k] 1\n"
    for color, expected in pairs { kind = true, warm = false } do
      local svg = draw(list, { colors = color })
      assert.are.equal(expected, svg:find(">kernel</text>", 1, true) ~= nil)
      assert.are.equal(expected, svg:find(">user</text>", 1, true) ~= nil)
      assert.is_nil(svg:find(">JIT</text>", 1, true))
    end
  end)

  it("takes nothing from elsewhere", function()
    local svg = draw(read "sh;main 1\n")
    for url in svg:gmatch "https?://[^\"' ]+" do
      assert.matches("^http://www.w3.org/[%w/]+$", url)
    end
    for _, word in ipairs { "href", "@import", "url(", "innerHTML", "eval(", "outerHTML",
        "document.write" } do
      assert.is_nil(svg:find(word, 1, true), word)
    end
  end)

  it("leaves out narrow frames and says their share", function()
    local lines = {}
    for i = 1, 20000 do lines[i] = ("sh;main;f%d;g%d 1"):format(i % 100, i) end
    local svg = draw(read(table.concat(lines, "\n")))
    assert.is_true(#svg < 60000, #svg .. " bytes")
    assert.matches("frames below 0.01 % are left out; they hold 100 %", svg, 1, true)
  end)
end)

describe("the colour of a frame", function()
  it("is of its kind, and the same for a name always", function()
    assert.are.equal(palette.shade "main", palette.shade "main")
    local seen = {}
    for i = 1, 200 do seen[palette.shade("f" .. i)] = true end
    for shade = 0, palette.SHADES - 1 do assert.is_true(seen[shade]) end
    local svg = draw(read "sh;main;read_[k] 1\nsh;main;~f_[j] 1\n")
    for kind, name in pairs { n = "sh", u = "main", k = "read", j = "~f" } do
      assert.matches(('<rect class="%s%d"[^\n]*\n<text[^>]*>%s<'):format(kind,
        palette.shade(name), name), svg)
    end
  end)

  -- Relative luminance and contrast as WCAG 2 has them.
  local function luminance(color)
    local sum, weights = 0, { 0.2126, 0.7152, 0.0722 }
    for i, weight in ipairs(weights) do
      local c = tonumber(color:sub(2 * i, 2 * i + 1), 16) / 255
      sum = sum + weight * (c <= 0.03928 and c / 12.92 or ((c + 0.055) / 1.055) ^ 2.4)
    end
    return sum
  end

  it("lets its name be read, in light and in dark", function()
    for mode, ink in pairs { light = "#1c1e24", dark = "#eef0f4" } do
      for name, scheme in pairs(palette.schemes) do
        for _, rule in ipairs(palette.css(scheme, mode)) do
          local a, b = luminance(rule:match "#%x+"), luminance(ink)
          local contrast = (math.max(a, b) + 0.05) / (math.min(a, b) + 0.05)
          assert.is_true(contrast >= 4.5, ("%s %s %s: %.1f"):format(name, mode, rule, contrast))
        end
      end
    end
  end)
end)

describe("text in XML", function()
  it("stays as it is or is escaped", function()
    assert.are.equal("std::vector&lt;int&gt; &amp; caf\u{e9}",
      page.escape "std::vector<int> & caf\u{e9}")
    assert.are.equal("a\u{fffd}b\u{fffd}c\u{fffd}", page.escape "a\0b\xffc\u{fffe}")
  end)

  it("is a literal of JavaScript in a script", function()
    assert.are.equal([["\u003c/script\u003e \u005d\u005d\u003e \u0026 \" \\ \u2028 \u0007"]],
      page.script_string "</script> ]]> & \" \\ \u{2028} \7")
  end)
end)
