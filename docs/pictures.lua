-- Draws the pictures of README.md: docs/flame.svg and docs/table.svg, from a recording that
-- comes with perflua.
--
-- usage: make pictures

local recording = "spec/fixtures/words/perf.data"
local options = { symfs = "spec/fixtures/words" }

local stacks = require "perflua.flame.stacks"
local flame = require "perflua.flame"
local output = require "perflua.table.output"

local function draw_flame(file, path)
  local sets = assert(stacks.collect(file:samples(), { by = "comm", kinds = true }))
  local graph = flame.graph(sets[1].list, { title = "words: three ways to count words",
    about = ("%d samples of cpu-clock"):format(sets[1].samples), unit = "ns", width = 960,
    min_share = 0.5 })
  assert(output.to(path, function(write) flame.write(write, graph) end))
end

local ESCAPES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }

-- Draws lines of text as a terminal shows them.
local function draw_text(text, path)
  local lines, width = {}, 0
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    lines[#lines + 1] = ('<text x="16" y="%d" xml:space="preserve">%s</text>\n'):format(
      28 + 19 * #lines, (line:gsub("[&<>]", ESCAPES)))
    width = math.max(width, utf8.len(line))
  end
  local w, h = 32 + math.ceil(width * 8.5), 38 + 19 * (#lines - 1)
  local out <close> = assert(io.open(path, "w"))
  out:write(('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d">\n'):format(w, h),
    '<rect width="100%" height="100%" rx="8" fill="#1c1e24"/>\n',
    '<g font-family="ui-monospace, Menlo, Consolas, monospace" ',
    'font-size="14" fill="#dfe1e7">\n',
    table.concat(lines), "</g>\n</svg>\n")
end

local file <close> = assert(perflua.open(recording, options))
draw_flame(file, "docs/flame.svg")

local query = [[
file:samples():group_by("comm", "symbol")
    :count():sum("period"):share("period"):as("share"):top(8)]]
local run = assert(load("local file = ... return " .. query))
draw_text("> " .. query .. "\n\n" .. tostring(run(file)), "docs/table.svg")
