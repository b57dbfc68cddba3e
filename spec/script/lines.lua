-- Lines of perf script beside ours: they are the same but for what is known to differ.
local assert = require "luassert"
local core = require "perflua.core"
local files = require "spec.support.files"
local run = require "spec.cli.run"

local lines = {}

--- An array of the lines of a command.
local function collect(command)
  local list = {}
  for line in files.lines(command) do list[#list + 1] = line end
  return list
end

--- What perf itself prints; arguments are words of a shell.
function lines.of_perf(path, arguments)
  return collect(("perf script -f %s -i %s 2>/dev/null"):format(arguments, files.quote(path)))
end

--- What perf printed once.
function lines.kept(path)
  return collect("gzip -dcf " .. files.quote(path))
end

--- Ours, and what was said besides.
function lines.of_ours(path, arguments)
  local got = run.shell(("\"$perflua\" script %s %s"):format(arguments, files.quote(path)))
  local list = {}
  for line in got.out:gmatch "([^\n]*)\n" do list[#list + 1] = line end
  return list, got
end

-- Classes of known differences: what perf 6.1 prints and we do not. Each is nil, or the two lines when they are the
-- same in all else.
local known = {
  -- texts of tracepoints that perf 6.1 cannot format, or that we cannot, without libtraceevent
  function(theirs, ours)
    local failed = theirs:find("[FAILED TO PARSE]", 1, true)
    if not failed and not core.traceevent then failed = ours:match "[%w_]:[%w_]+: () [%w_]+=" end
    return failed and ours:sub(1, failed - 1) == theirs:sub(1, failed - 1)
  end,
  -- entries of .plt: perf 6.1 names few of them
  function(theirs, ours)
    local function unnamed(line) return (line:gsub("%S*[@.]plt%S*", "[unknown]")) end
    return ours:find "[@.]plt" and unnamed(ours) == unnamed(theirs)
  end,
  -- the function that others were inlined into, where DWARF and ELF name it differently, is no inlined one
  function(theirs, ours)
    local address, offset = theirs:gsub(" %(inlined%)$", ""):match "^(%s+%x+) %S+(%+0x%x+)$"
    return address and ours:sub(1, #address) == address and ours:find(offset .. " (", 1, true)
  end,
}

local function is_known(theirs, ours)
  for _, same in ipairs(known) do
    if same(theirs, ours) then return true end
  end
  return false
end

--- Asserts that they are the same; at most `share` of them (0.05) differ as is known. A tracepoint's text
--- does not count. `change` prepares a line of perf's.
function lines.same(theirs, ours, change, share)
  local differing = 0
  for i = 1, math.max(#theirs, #ours) do
    local a, b = theirs[i], ours[i]
    if a and change then a, b = change(a), change(b or "") end
    if a ~= b then
      local explained = a and b and is_known(a, b)
      if not explained then assert.are.equal(("%d: %s"):format(i, a), ("%d: %s"):format(i, b)) end
      if not known[1](a, b) then differing = differing + 1 end
    end
  end
  assert.is_true(differing <= (share or 0.05) * #theirs, differing .. " lines differ as is known")
end

return lines
