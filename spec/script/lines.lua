-- Lines of perf script beside ours: they are the same but for what is known to differ.
local assert = require "luassert"
local core = require "perflua.core"
local files = require "spec.support.files"
local oracle = require "spec.support.oracle"
local run = require "spec.cli.run"

local lines = {}

--- An array of the lines of a command.
local function collect(command)
  local list = {}
  for line in files.lines(command) do list[#list + 1] = line end
  return list
end

--- Returns the lines that perf prints; arguments are words of a shell.
function lines.of_perf(path, arguments)
  return collect(("perf script -f %s -i %s 2>/dev/null"):format(arguments, files.quote(path)))
end

--- Returns the lines that a kept text of perf has.
function lines.kept(path)
  return collect("gzip -dcf " .. files.quote(path))
end

--- Ours, as a version of perf has them (default: the installed one), and what was said besides.
function lines.of_ours(path, arguments, version)
  local got = run.shell(("\"$perflua\" script --as %s %s %s"):format(version or oracle.version,
    arguments,
    files.quote(path)))
  local list = {}
  for line in got.out:gmatch "([^\n]*)\n" do list[#list + 1] = line end
  return list, got
end

-- The text of a tracepoint begins after its name.
local function same_before_text(theirs, ours)
  local text = ours:match "[%w_]:[%w_]+: ()"
  return text and ours:sub(1, text - 1) == theirs:sub(1, text - 1)
end

-- Events whose texts plugins of libtraceevent make.
local plugin_events = {}
for name in ([[sched:sched_switch sched:sched_wakeup sched:sched_wakeup_new kmem:kmalloc kmem:kmalloc_node kmem:kfree
  kmem:kmem_cache_alloc kmem:kmem_cache_alloc_node kmem:kmem_cache_free timer:hrtimer_start
  timer:hrtimer_expire_entry tlb:tlb_flush]]):gmatch "%S+" do
  plugin_events[name] = true
end

-- Name of a difference that perflua does not follow (core.perf_differences) → whether two lines
-- differ only in it.
local known = {
  unread_formats = function(theirs, ours)
    return theirs:find("[FAILED TO PARSE]", 1, true) and same_before_text(theirs, ours)
  end,
  plugin_texts = function(theirs, ours)
    return oracle.plugins and plugin_events[ours:match "([%w_]+:[%w_]+): "]
      and same_before_text(theirs, ours)
  end,
  few_plt_names = function(theirs, ours)
    local function unnamed(line) return (line:gsub("%S*[@.]plt%S*", "[unknown]")) end
    return ours:find "[@.]plt" and unnamed(ours) == unnamed(theirs)
  end,
  -- where DWARF and ELF name the function differently
  inlined_outermost = function(theirs, ours)
    local address, offset = theirs:gsub(" %(inlined%)$", ""):match "^(%s+%x+) %S+(%+0x%x+)$"
    return address and ours:sub(1, #address) == address and ours:find(offset .. " (", 1, true)
  end,
}

-- This kernel's vdso; "" if it has none.
local vdso
local function vdso_image()
  if vdso then return vdso end
  local first, last = files.read "/proc/self/maps":match "(%x+)%-(%x+) [^\n]*%[vdso%]"
  vdso = ""
  if not first then return vdso end
  local memory <close> = assert(io.open("/proc/self/mem", "rb"))
  memory:seek("set", tonumber(first, 16))
  vdso = memory:read(tonumber(last, 16) - tonumber(first, 16))
  return vdso
end

-- Sizes of its functions, by name.
local sizes
local function vdso_sizes()
  if sizes then return sizes end
  sizes = {}
  local image = files.temporary(vdso_image())
  for line in files.lines("nm -D -S " .. image .. " 2>/dev/null") do
    local size, name = line:match "^%x+ (%x+) %a (__vdso_[%w_]+)"
    if size then sizes[name] = tonumber(size, 16) end
  end
  return sizes
end

-- perf may name no function of the vdso in a recording made now, also at addresses inside of
-- one.
local function is_unnamed_in_vdso(theirs, ours)
  local unnamed = ours:gsub("(%x )(__vdso_[%w_]+)%+?(%w*)", function(before, name, offset)
    local size = vdso_sizes()[name]
    if size and (tonumber(offset) or 0) < size then return before .. "[unknown]" end
  end)
  return unnamed == theirs
end

-- It then has no instruction there, either.
local function lacks_code_of_vdso(theirs, ours)
  if theirs:find " ilen: 0$" then return theirs == ours:gsub(" ilen: %d+$", " ilen: 0") end
  local before, bytes = ours:match "^(.*) insn:([ %x]+)$"
  local code = bytes and bytes:gsub(" (%x%x)", function(byte)
    return string.char(tonumber(byte, 16))
  end)
  return before == theirs and vdso_image():find(code, 1, true) ~= nil
end

local of_texts = { unread_formats = true, plugin_texts = true }

-- The name of the difference that explains why two lines differ; nil: none does.
local function explanation(theirs, ours, version)
  if is_unnamed_in_vdso(theirs, ours) or lacks_code_of_vdso(theirs, ours) then
    return "unnamed_in_vdso"
  end
  for _, difference in ipairs(core.perf_differences(version)) do
    local same = known[difference.name]
    if same and same(theirs, ours) then return difference.name end
  end
end

-- Leaves out frames at -1, by which perf ends user stacks that it cannot follow, and those that
-- are ours from there on.
local function drop_missed(theirs, ours)
  local i = 1
  while theirs[i] do
    if theirs[i]:find "^%s+ffffffffffffffff %[unknown%]" and theirs[i] ~= ours[i] then
      table.remove(theirs, i)
      while theirs[i] == "" and (ours[i] or "") ~= "" do table.remove(ours, i) end
    else
      i = i + 1
    end
  end
end

--- Asserts that they are the same; at most `share` of them (0.05) differ as is known of that
--- version of perf (the installed one). A tracepoint's text does not count. `change` prepares a
--- line of perf's.
function lines.same(theirs, ours, change, share, version)
  local differing = 0
  drop_missed(theirs, ours)
  for i = 1, math.max(#theirs, #ours) do
    local a, b = theirs[i], ours[i]
    if a and change then a, b = change(a), change(b or "") end
    if a ~= b then
      local why = a and b and explanation(a, b, version or oracle.version)
      if not why then assert.are.equal(("%d: %s"):format(i, a), ("%d: %s"):format(i, b)) end
      if not of_texts[why] then differing = differing + 1 end
    end
  end
  assert.is_true(differing <= (share or 0.05) * #theirs,
    differing .. " lines differ as is known")
end

return lines
