-- README.md and the pages of docs show the truth: their code runs, prints what they say, and
-- their links lead somewhere.
--
-- A ```lua block is a script; a ```text block right after it is what it prints. If its first
-- line is "-- NAME.lua", the ```console blocks of the page, commands and what they print, run
-- it by that name. Blocks that open no `file` find perf.data there. Everything runs in a
-- directory that has the recordings of `make demo`.
local demo = require "spec.support.demo"
local files = require "spec.support.files"
local run = require "spec.cli.run"
local user = require "spec.examples.user"

local PRELUDE = "local file = assert(perflua.open()) "

-- The fenced blocks of a page: { language, body, line }, and of a text block the script it
-- follows.
local function blocks_of(path)
  local blocks, block, last, number = {}, nil, nil, 0
  for line in io.lines(path) do
    number = number + 1
    local language = line:match("^```(%w*)$")
    if block and language == "" then
      block.body = table.concat(block, "\n") .. "\n"
      blocks[#blocks + 1] = block
      last, block = block.language == "lua" and block or nil, nil
    elseif language then
      block = { language = language, line = number, script = language == "text" and last
        or nil }
    elseif block then
      block[#block + 1] = line
    elseif line ~= "" then
      last = nil
    end
  end
  return blocks
end

local function script_of(block)
  if block.body:find("local file", 1, true) or block.name then
    return block.body
  end
  return PRELUDE .. block.body
end

-- Commands of a console block, with what each prints.
local function sessions(body)
  local list = {}
  for line in body:gmatch("([^\n]*)\n") do
    local command = line:match("^%$ (.*)$")
    if command then
      list[#list + 1] = { command = command, out = "" }
    else
      list[#list].out = list[#list].out .. line .. "\n"
    end
  end
  return list
end

local function check_block(block, scripts)
  if block.language == "text" and block.script then
    scripts["script.lua"] = files.temporary(script_of(block.script))
    assert.are.equal(block.body, user.run_beside_recording("perflua script.lua", scripts))
  elseif block.language == "console" then
    for _, session in ipairs(sessions(block.body)) do
      assert.are.equal(session.out, user.run_beside_recording(session.command, scripts))
    end
  end
end

-- Returns the anchors of headings, as GitHub names them.
local function anchors_of(path)
  local anchors = {}
  for line in io.lines(path) do
    local title = line:match("^#+ (.*)$")
    if title then
      anchors[title:lower():gsub("[^%w%s_-]", ""):gsub(" ", "-")] = true
    end
  end
  return anchors
end

local function check_links(path)
  local base = path:match("^(.*/)") or ""
  for target in files.read(path):gsub("\n```.-\n```", ""):gmatch("%]%(([^)%s]+)%)") do
    if not target:find("^%a+:") then
      local file, anchor = target:match("^([^#]*)#?(.*)$")
      local full = file == "" and path or base .. file
      assert.is_true(files.exists(full), ("%s: no such file: %s"):format(path, target))
      if anchor ~= "" then
        assert.is_true(anchors_of(full)[anchor] or false,
          ("%s: no such heading: %s"):format(path, target))
      end
    end
  end
end

local PAGES = { "README.md" }
for path in files.lines "ls docs/*.md docs/topics/*.md" do PAGES[#PAGES + 1] = path end

for _, path in ipairs(PAGES) do
  describe(path, function()
    local blocks, shown, scripts = blocks_of(path), {}, {}
    for _, block in ipairs(blocks) do
      block.name = block.language == "lua" and block.body:match("^%-%- ([%w_]+%.lua)\n")
      if block.name then
        scripts[block.name] = files.temporary(block.body)
      end
      if block.script then
        shown[block.script] = true
      end
    end

    for _, block in ipairs(blocks) do
      it("is true at line " .. block.line, function()
        check_block(block, scripts)
        assert.is_true(block.language ~= "lua" or block.name ~= nil or shown[block] or false,
          "nobody says what this prints")
      end)
    end
  end)
end

describe("make demo", function()
  local base = files.output "mktemp -d":match "%S+"
  local dir = base .. "/demo"
  -- as make does
  local status = run.shell_with([[env -i PATH=/usr/bin:/bin LUA_PATH="./?.lua" "$perflua" -e "$1"]],
    ("require('spec.support.demo').write('%s')"):format(dir))

  teardown(function() os.execute("rm -r " .. files.quote(base)) end)

  it("leaves the recordings that guide and cookbook name, and a megabyte at most", function()
    assert.equal("", status.err)
    local n = 0
    for _, page in ipairs { "docs/guide.md", "docs/cookbook.md" } do
      for _, block in ipairs(blocks_of(page)) do
        for name in block.body:gmatch "[%w/]+%.data%f[%W]" do
          n = n + 1
          assert.is_true(files.exists(dir .. "/" .. name), page .. " names " .. name)
        end
      end
    end
    assert.is_true(n > 30)
    local size = tonumber(files.output("du -sk " .. files.quote(dir)):match "%d+")
    assert.is_true(size <= 1000, size)
  end)

  it("leaves them to whoever runs it", function()
    for name in pairs(demo.recordings()) do
      assert.is_true(os.execute(("test -w %s/%s"):format(files.quote(dir), name)), name)
    end
  end)
end)

describe("the links of", function()
  for _, path in ipairs(table.move(PAGES, 1, #PAGES, 3, { "CHANGELOG.md", "src/README.md" })) do
    it(path .. " lead somewhere", function()
      check_links(path)
    end)
  end
end)
