-- The code of BPF programs, which the recording has itself: the features bpf_prog_info and, for
-- source lines, bpf_btf. See struct bpf_prog_info and bpf_line_info, include/uapi/linux/bpf.h,
-- and Documentation/bpf/btf.rst, in the kernel.

local fmt = require "perflua.text.fmt"

local bpf = {}

-- Numbers of machines in ELF headers, by their names in recordings.
local MACHINES <const> = {
  x86_64 = 62, aarch64 = 183, s390x = 22, ppc64 = 21, ppc64le = 21, riscv64 = 243, i686 = 3,
  armv7l = 40,
}

local HAVE_32_BITS <const> = { i686 = true, armv7l = true }

local BTF_MAGIC <const> = 0xeb9f

-- Returns a function that reads a string of BTF at an offset; nil: there is no BTF.
local function btf_strings(features, id, order)
  for _, one in ipairs(features.bpf_btf or {}) do
    local data = one.id == id and one.data or ""
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
  local records, step = program.line_info or "", program.line_info_rec_size or 0
  local addresses, width = program.jited_line_info or "", program.jited_line_info_rec_size or 0
  local list = {}
  if not text_at or step < 16 or width < 8 then return list end
  for i = 0, math.min(#records // step, #addresses // width) - 1 do
    local address = string.unpack(order .. "i8", addresses, i * width + 1)
    local _, path, text, place = string.unpack(order .. "I4I4I4I4", records, i * step + 1)
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
function bpf.find(file, func)
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

return bpf
