-- The code that a process had mapped, as /proc/PID/maps would list it.
--
-- usage: perflua examples/mappings.lua perf.data PID
--
-- $ perflua examples/mappings.lua spec/fixtures/demo.perf.data 10673
-- 55b4a28ab000-55b4a28bd000 r-x     3000 /usr/bin/sort
-- 7fbd56759000-7fbd568af000 r-x    26000 /usr/lib/x86_64-linux-gnu/libc.so.6
-- 7fbd56929000-7fbd5692b000 r-x        0 [vdso]
-- 7fbd5692c000-7fbd56952000 r-x     1000 /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2

local file <close> = assert(perflua.open(arg[1]))
local pid = math.tointeger(tonumber(arg[2]))
if not pid then
  io.stderr:write("usage: perflua examples/mappings.lua perf.data PID\n")
  os.exit(2)
end

-- Kernels before 3.12 write mmap, later ones mmap2, which knows the protection as well.
local maps = file:records({ type = { "mmap", "mmap2" } }):where({ pid = pid }):collect()
table.sort(maps, function(a, b) return math.ult(a.addr, b.addr) end)

local function protection(prot)
  if not prot then
    return "?"
  end
  return (prot & 1 ~= 0 and "r" or "-") .. (prot & 2 ~= 0 and "w" or "-")
    .. (prot & 4 ~= 0 and "x" or "-")
end

for _, map in ipairs(maps) do
  print(("%012x-%012x %s %8x %s"):format(map.addr, map.addr + map.len, protection(map.prot),
    map.pgoff, map.filename))
end
