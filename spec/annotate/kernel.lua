-- A recording of a kernel and a module that are files: none may run here whose code can be
-- read. Its samples are at instructions of functions here and there, as objdump lists them.

local builder = require "spec.support.builder"
local files = require "spec.support.files"

local kernel = {}

local FUNCTIONS <const>, STRIDE <const> = 10, 7

-- Returns functions of .text that are neither small nor large, { address, size }.
local function functions_of(path)
  local all, list = {}, {}
  local text = files.output("readelf -SW " .. files.quote(path)):match "%[ *(%d+)%] %.text "
  local symbols = "readelf -sW %s | awk '$4 == \"FUNC\" && $7 == %d && $3 > 200 && $3 < 4000 "
    .. "{ print $2, $3 }'"
  for line in files.lines(symbols:format(files.quote(path), text)) do
    local address, size = line:match "^(%x+) (%d+)$"
    all[#all + 1] = { address = math.tointeger(tonumber("0x" .. address)),
      size = math.tointeger(tonumber(size)) }
  end
  for i = 1, FUNCTIONS do list[i] = all[1 + (i - 1) * (#all // FUNCTIONS)] end
  return list
end

-- Returns the addresses of the instructions of a function.
local function instructions_of(path, func)
  local command = "objdump -d -j .text --start-address=0x%x --stop-address=0x%x %s"
  local list = {}
  for line in files.lines(command:format(func.address, func.address + func.size,
    files.quote(path))) do
    local address = line:match "^ *(%x+):\t"
    if address then list[#list + 1] = math.tointeger(tonumber("0x" .. address)) end
  end
  return list
end

---Writes a recording of a kernel, or of a module in it.
---@param vmlinux string a kernel's file, with its symbols
---@param module string? a file of a module: name.ko
---@return string path
function kernel.record(vmlinux, module)
  local b = builder.new()
  local event = b:event { name = "cpu-clock", type = 1, sample_period = 1,
    sample_type = { "ip", "tid", "time" } }
  local start = files.output("nm " .. files.quote(vmlinux) .. " | grep ' T _text$'"):match "%x+"
  local text, time = math.tointeger(tonumber("0x" .. start)), 1
  local loaded = 0xffffffffc0000000 - (1 << 64)
  local function map(addr, len, pgoff, filename)
    b:record("mmap", { pid = -1, tid = 0, addr = addr, len = len, pgoff = pgoff,
      filename = filename, misc = 1 }, { pid = 0, tid = 0, time = 0 })
  end
  local build_ids = {}
  if module then
    local notes = files.output("readelf -n " .. files.quote(module) .. " 2>/dev/null")
    build_ids[1] = { build_id = notes:match "Build ID: (%x+)", filename = module,
      cpumode = "kernel" }
  end
  b:feature("build_id", build_ids)
  map(text, 0x2000000, text, "[kernel.kallsyms]_text")
  if module then map(loaded, 0x400000, 0, module) end
  local path, base = module or vmlinux, module and loaded or 0
  for n, func in ipairs(functions_of(path)) do
    for i, address in ipairs(instructions_of(path, func)) do
      for _ = 1, i * n % STRIDE do
        b:sample(event, { ip = base + address, pid = 1, tid = 1, time = time, misc = 1 })
        time = time + 1
      end
    end
  end
  return b:write()
end

return kernel
