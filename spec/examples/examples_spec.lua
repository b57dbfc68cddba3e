-- Every example prints what the comment at its top says.
local files = require "spec.support.files"
local user = require "spec.examples.user"

-- Removes what mktemp makes for an example.
local SCRATCH = "TMPDIR=$(mktemp -d); export TMPDIR; trap 'rm -rf \"$TMPDIR\"' EXIT\n"

-- The command after "-- $ " and the lines of the comment below it.
local function promise(path)
  local command, expected = nil, {}
  for line in io.lines(path) do
    local text = line:match("^%-%-$") and "" or line:match("^%-%- (.*)$")
    if not text then
      break
    elseif command then
      table.insert(expected, text)
    else
      command = text:match("^%$ (.*)$")
    end
  end
  return command, table.concat(expected, "\n") .. "\n"
end

describe("examples/", function()
  local count = 0
  for path in files.lines("ls examples/*.lua") do
    count = count + 1
    it(path:match("[^/]+$") .. " prints what it says", function()
      local command, expected = promise(path)
      assert.is_truthy(command, path .. " does not say how it is run")
      assert.is_truthy(command:find(path, 1, true), "the command runs something else: "
        .. command)
      assert.are.equal(expected, user.run(SCRATCH .. command))
    end)
  end

  it("has as many as the documentation promises", function()
    assert.are.equal(15, count)
  end)

  it("explain themselves to perflua help", function()
    for path in files.lines("ls examples/*.lua") do
      local text = user.run("perflua help " .. path)
      assert.is_truthy(text:find("usage: %g+ " .. path:gsub("%p", "%%%0")), text)
    end
  end)
end)
