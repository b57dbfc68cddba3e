-- run.lua DIR FILE...: lays perflua annotate beside perf annotate: the hottest functions of
-- recordings that are made now in DIR, and of FILEs, in both layouts. Their instructions,
-- addresses, shares, jumps and source lines have to be equal. PERFLUA is the interpreter; ONLY
-- names one of the recordings. VMLINUX, a kernel's file with symbols, and MODULE, a file of one
-- of its modules: of these, too.

local annotate = require "perflua.annotate"
local files = require "spec.support.files"
local kernel = require "spec.annotate.kernel"
local listings = require "spec.annotate.listings"
local perflua = require "perflua"
local recordings = require "spec.annotate.recordings"

local DIR <const>, FUNCTIONS <const>, SHOWN <const> = arg[1], 10, 4
local SOURCES <const> = files.quote(os.getenv "PWD" .. "/spec/annotate")

local function shell(command)
  return files.output(("{ %s\n} 2>>%s/errors"):format(command, DIR))
end

-- Makes a recording, in a directory of its own. Returns its path; nil: something is missing.
local function record(name, program, build, run, is_jit)
  local out = ("%s/%s"):format(DIR, name:gsub("%W+", "-"))
  local _, ok = shell(([[command -v %s >/dev/null && rm -rf %s && mkdir %s && cd %s &&
    export src=%s out=program && { %s; } &&
    perf record -q -k mono -e cpu-clock:u -F 10000 -o perf.data -- sh -c %s >text]]):format(
    program, out, out, out, SOURCES, build, files.quote(run)))
  if not ok then return nil end
  if not is_jit then return out .. "/perf.data" end
  _, ok = shell(("cd %s && perf inject --jit -i perf.data -o jit.data"):format(out))
  return ok and out .. "/jit.data" or nil
end

-- Returns the hottest functions, { symbol, size }, without those that share their name, as perf
-- takes no binary.
local function hottest(path, vmlinux)
  local file <close> = assert(perflua.open(path, { vmlinux = vmlinux }))
  local read, named, list = annotate.read(file, {}), {}, {}
  local all = read:hottest(1)
  for _, func in ipairs(all) do named[func.symbol] = (named[func.symbol] or 0) + 1 end
  for _, func in ipairs(all) do
    if named[func.symbol] == 1 and #list < FUNCTIONS then list[#list + 1] = func end
  end
  return list
end

local KINDS <const> = { "functions", "instructions", "source lines", "listings that differ",
  "excepted" }

local function new_counts()
  local counts = {}
  for _, kind in ipairs(KINDS) do counts[kind] = 0 end
  return counts
end

local function print_counts(name, counts)
  local parts = {}
  for i, kind in ipairs(KINDS) do parts[i] = ("%s %d"):format(kind, counts[kind]) end
  print(("%s: %s"):format(name, table.concat(parts, ", ")))
end

local function without_label(row) return ((row or ""):gsub("|%x+|", "||")) end

-- Returns true if rows differ in a way that docs/topics/annotate.md proves to be perf's: it
-- takes a jump to the address after the function, where the next one begins, for one inside;
-- and where it shows several sections, its labels may be in another one, and the last
-- instruction of one has no share, as the addresses after it are lower.
local function is_excepted(theirs, ours, size, sections)
  local before, target = (theirs or ""):match "^(.*|)[↓↑]+(%x+)$"
  local without_share = (ours or ""):gsub("%d+%.%d%d", "")
  return target and tonumber(target, 16) == size and ours == before .. "→"
    or sections.several and without_label(theirs) == without_label(ours)
    or sections.ends and (theirs or ""):gsub("0%.00", "") == without_share
end

-- Returns the rows that differ, as "theirs | ours", and the number of those that are excepted.
local function differences(theirs, ours, size, has_sections)
  local list, excepted = {}, 0
  for i = 1, math.max(#theirs, #ours) do
    if theirs[i] == ours[i] then goto next end
    if is_excepted(theirs[i], ours[i], size, { several = has_sections,
      ends = has_sections and i == #ours }) then
      excepted = excepted + 1
    else
      list[#list + 1] = ("%5d: %-40s | %s"):format(i, theirs[i] or "", ours[i] or "")
    end
    ::next::
  end
  return list, excepted
end

-- Returns what a program prints of a function, and as rows.
local function listing(command, layout, path, symbol)
  local text = shell(("%s --%s %s %s"):format(command, layout, path, symbol))
  local rows, is_bare = listings[layout](text)
  return rows, text, is_bare
end

-- Returns the name that perf has for a function: some builds write types of C++, too.
local function name_in_perf(path, symbol)
  local found = symbol
  for name in shell("perf report -f --stdio -F sym -i " .. path):gmatch "%[[.k]%] (%C+)" do
    name = name:gsub("%s+$", "")
    if name == symbol then return symbol end
    local at = name:find(symbol .. "(", 1, true)
    if at == 1 or at and name:sub(at - 1, at - 1) == " " then found = name end
  end
  return found
end

-- Lays a function's listings in one layout beside each other.
local function compare(path, func, layout, counts, vmlinux)
  local file, more = files.quote(path), ""
  if vmlinux then more = " --vmlinux " .. files.quote(vmlinux) end
  local ours = listing(files.quote(os.getenv "PERFLUA") .. " annotate", layout, file,
    files.quote(func.symbol) .. more)
  local theirs, text, is_bare = listing("perf annotate -f", layout, "-i " .. file,
    files.quote(vmlinux and func.symbol or name_in_perf(file, func.symbol)) .. more)
  local _, sections = text:gsub("Disassembly of section", "")
  func.has_sections = func.has_sections or sections > 1
  if is_bare then -- without a line where the first section ends
    ours = listings.instructions(ours)
    if func.has_sections then theirs = table.move(theirs, 1, #ours, 1, {}) end
  end
  if layout == "stdio" then
    counts.functions = counts.functions + 1
    for _, row in ipairs(theirs) do
      local kind = row:find "^%x+ %d+%.%d%d$" and "instructions" or "source lines"
      counts[kind] = counts[kind] + 1
    end
  end
  local list, excepted = differences(theirs, ours, func.size, func.has_sections)
  counts.excepted = counts.excepted + excepted
  if #list == 0 then return end
  counts["listings that differ"] = counts["listings that differ"] + 1
  print(("  %s, --%s: %d of %d rows differ (perf | perflua):"):format(func.symbol, layout,
    #list, math.max(#theirs, #ours)))
  print(table.concat(list, "\n", 1, os.getenv "ONLY" and #list or math.min(#list, SHOWN)))
end

local total = new_counts()

local function compare_recording(name, path, vmlinux)
  local counts = new_counts()
  for _, func in ipairs(hottest(path, vmlinux)) do
    for _, layout in ipairs { "stdio", "stdio2" } do
      compare(path, func, layout, counts, vmlinux)
    end
  end
  print_counts(name, counts)
  for kind, n in pairs(counts) do total[kind] = total[kind] + n end
end

for _, one in ipairs(recordings) do
  if not os.getenv "ONLY" or os.getenv "ONLY" == one[1] then
    local path = record(table.unpack(one, 1, 5))
    if path then compare_recording(one[1], path) else print(one[1] .. ": not recorded") end
  end
end
local vmlinux, module = os.getenv "VMLINUX", os.getenv "MODULE"
if vmlinux then compare_recording("kernel", kernel.record(vmlinux), vmlinux) end
if vmlinux and module then
  compare_recording("module", kernel.record(vmlinux, module), vmlinux)
end
for i = 2, #arg do compare_recording(arg[i], arg[i]) end
print_counts("all", total)
os.exit(total["listings that differ"] == 0 and total.functions > 0)
