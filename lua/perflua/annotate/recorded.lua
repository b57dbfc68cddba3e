-- Code that the recording has itself: that of BPF programs, and changes of the kernel's code
-- while it ran.

local core = require "perflua.core"
local fmt = require "perflua.text.fmt"
local records = require "perflua.file.records"

local recorded = {}

-- BPF programs are in the features bpf_prog_info and, for source lines, bpf_btf. See struct
-- bpf_prog_info and bpf_line_info, include/uapi/linux/bpf.h, and Documentation/bpf/btf.rst, in
-- the kernel.

-- Numbers of machines in ELF headers, by their names in recordings.
local MACHINES <const> = {
  x86_64 = 62, aarch64 = 183, s390x = 22, ppc64 = 21, ppc64le = 21, riscv64 = 243, i686 = 3,
  armv7l = 40,
}

local HAVE_32_BITS <const> = { i686 = true, armv7l = true }

local BTF_MAGIC <const> = 0xeb9f

-- Returns a function that reads a string of BTF at an offset; nil: there is no BTF.
local function btf_strings(features, id, order)
  for _, blob in ipairs(features.bpf_btf or {}) do
    local data = blob.id == id and blob.data or ""
    if #data >= 24 and string.unpack(order .. "I2", data) == BTF_MAGIC then
      local header, first, size = string.unpack(order .. "xxxxI4xxxxxxxxI4I4", data)
      local strings = data:sub(header + first + 1, header + first + size)
      return function(at) return strings:match("^[^\0]*", at + 1) end
    end
  end
end

-- Returns the lines of a function, { address, path, number, text }, by address.
local function lines_of(program, features, order, first, size)
  local text_at = btf_strings(features, program.btf_id, order)
  local infos, step = program.line_info or "", program.line_info_rec_size or 0
  local addresses, width = program.jited_line_info or "", program.jited_line_info_rec_size or 0
  local list = {}
  if not text_at or step < 16 or width < 8 then return list end
  for i = 0, math.min(#infos // step, #addresses // width) - 1 do
    local address = string.unpack(order .. "i8", addresses, i * width + 1)
    local _, path, text, place = string.unpack(order .. "I4I4I4I4", infos, i * step + 1)
    path, text = text_at(path), text_at(text)
    if address - first >= 0 and address - first < size and path and path ~= "" then
      list[#list + 1] = { address = address, path = path, number = place >> 10, text = text }
    end
  end
  table.sort(list, function(a, b) return a.address < b.address end)
  return list
end

-- Returns the source of a function: frames by offset, and the text of lines by path.
local function source_of(lines, func)
  local texts = {}
  for _, line in ipairs(lines) do
    texts[line.path] = texts[line.path] or {}
    texts[line.path][line.number] = line.text
  end
  local function frames(offset)
    local low, high = 0, #lines -- the line is one of these
    while low < high do
      local middle = (low + high + 1) // 2
      if lines[middle].address <= func.start + offset then
        low = middle
      else
        high = middle - 1
      end
    end
    local found = lines[low]
    if not found then return {} end
    return { { symbol = func.symbol, file = found.path, line = found.number,
      srcline = ("%s:%d"):format(fmt.base_name(found.path), found.number) } }
  end
  return frames, texts
end

---Finds the code of a function of a BPF program. The name of the function has the tag of its
---program, a hash of the instructions, which proves that it is that one.
---@param file perflua.File
---@param func table { symbol, start }
---@return { bytes: string, machine: table, tag: string, frames: fun(offset: integer): table[],
--- texts: table<string, string[]> }? # with what calls.code() takes
function recorded.bpf(file, func)
  local features, order = file.features, file.byte_order == "big" and ">" or "<"
  local machine = MACHINES[features.arch]
  for _, program in ipairs(machine and features.bpf_prog_info or {}) do
    local at, lengths = 1, program.jited_func_lens or {}
    for i, address in ipairs(program.jited_ksyms or {}) do
      local tag = program.prog_tags and program.prog_tags[i]
      local bytes = (program.jited_prog_insns or ""):sub(at, at + (lengths[i] or 0) - 1)
      at = at + (lengths[i] or 0)
      if address == func.start and tag and bytes ~= ""
        and func.symbol:sub(1, #tag + 9) == "bpf_prog_" .. tag then
        local frames, texts = source_of(lines_of(program, features, order, address, #bytes),
          func)
        return { bytes = bytes, machine = machine, is_64 = not HAVE_32_BITS[features.arch],
          is_big = order == ">", tag = tag, frames = frames, texts = texts }
      end
    end
  end
end

-- The recording notes text pokes, changes of the kernel's code. A listing shows the code as it
-- was at the last sample of its function. See PERF_RECORD_TEXT_POKE,
-- include/uapi/linux/perf_event.h, in the kernel.

local MOST_TOLD <const> = 8

-- Returns the pokes of a recording, in time order.
local function read_pokes(file)
  local list, is_recorded = {}, false
  for _, event in ipairs(file.events) do is_recorded = is_recorded or event.text_poke end
  if not is_recorded or not file.size then return list end -- a stream is read once
  for record in records.records(file, "text_poke") do
    if record.time then
      list[#list + 1] = { time = record.time, address = record.addr, old = record.old,
        new = record.new }
    end
  end
  table.sort(list, function(a, b) return a.time < b.time end)
  return list
end

-- Returns the pokes in a function, with their offsets in it.
local function pokes_in(list, func)
  local found = {}
  for _, poke in ipairs(list) do
    local at = poke.address - func.address
    if at < func.size and at + math.max(#poke.old, #poke.new) > 0 then
      found[#found + 1] = { time = poke.time, at = at, old = poke.old, new = poke.new }
    end
  end
  return found
end

local function hex_of(bytes)
  return (bytes:gsub(".", function(c) return (" %02x"):format(c:byte()) end))
end

---Finds the changes of a function's code.
---@param file perflua.File
---@param read perflua.SampledFunctions which keeps the changes of the recording
---@param func table { symbol, address, size }
---@return { patches: any[], lines: string[] }? # what calls.code() takes, and lines for the
--- head of the listing; nil: it was not changed
function recorded.changes(file, read, func)
  read.pokes = read.pokes or read_pokes(file)
  local list = pokes_in(read.pokes, func)
  if #list == 0 then return nil end
  local last = records.samples(file):where({ symbol = func.symbol }):max "time"
  -- The code that is read may be older or newer than a change: undo those after the last
  -- sample, newest first, then make those before it.
  local patches, lines = {}, {}
  for i = #list, 1, -1 do
    local poke = list[i]
    if not last or poke.time > last then
      table.move({ poke.at, poke.old }, 1, 2, #patches + 1, patches)
    end
  end
  for _, poke in ipairs(list) do
    if last and poke.time <= last then
      table.move({ poke.at, poke.new }, 1, 2, #patches + 1, patches)
    end
    lines[#lines + 1] = ("changed at %s s, +%x:%s -> %s"):format(core.seconds(poke.time),
      poke.at, hex_of(poke.old), hex_of(poke.new):sub(2))
  end
  if #lines > MOST_TOLD then
    lines = table.move(lines, #lines - MOST_TOLD + 1, #lines, 1,
      { ("%d changes, the last ones:"):format(#lines) })
  end
  return { patches = patches, lines = lines }
end

return recorded
