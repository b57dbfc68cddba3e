-- BPF programs of the BPF_PROG_INFO feature as text, named as the kernel's symbols of them.
-- See __bpf_event__print_bpf_prog_info, tools/perf/util/bpf-event.c.

local bpf_text = {}

-- BPF type information, as far as names of functions need it: see Documentation/bpf/btf.rst of
-- the kernel.

local MAGIC = 0xeb9f

-- bytes that follow a type, by its kind: {fixed, for each of its vlen members}
local EXTRA = {
  [1] = { 4, 0 }, -- INT
  [3] = { 12, 0 }, -- ARRAY
  [4] = { 0, 12 }, -- STRUCT
  [5] = { 0, 12 }, -- UNION
  [6] = { 0, 8 }, -- ENUM
  [13] = { 0, 8 }, -- FUNC_PROTO
  [14] = { 4, 0 }, -- VAR
  [15] = { 0, 12 }, -- DATASEC
  [17] = { 4, 0 }, -- DECL_TAG
  [19] = { 0, 12 }, -- ENUM64
}

---Names of the types in a blob of BTF: id → name; empty if the blob is not BTF.
---@param data string
---@param byte_order "little" | "big"
---@return table<integer, string>
local function type_names(data, byte_order)
  local endian = byte_order == "big" and ">" or "<"
  local names = {}
  if #data < 24 or string.unpack(endian .. "I2", data) ~= MAGIC then
    return names
  end
  local head, type_off, type_len, str_off,
    str_len = string.unpack(endian .. "I4I4I4I4I4", data, 5)
  local at, last = head + type_off, math.min(head + type_off + type_len, #data)
  local strings = head + str_off
  local id = 0
  while at + 12 <= last do
    local name, info = string.unpack(endian .. "I4I4", data, at + 1)
    local extra = EXTRA[info >> 24 & 0x1f] or { 0, 0 }
    local from = strings + name + 1
    id = id + 1
    if name < str_len and from <= #data then
      names[id] = data:match("^[^\0]*", from)
    end
    at = at + 12 + extra[1] + extra[2] * (info & 0xffff)
  end
  return names
end

-- Members of a program whose recorded struct bpf_prog_info ends before them.
local ABSENT = { id = 0, name = "", func_info_rec_size = 0 }

local function complete_program(program)
  local copy = {}
  for name, value in pairs(ABSENT) do copy[name] = value end
  for name, value in pairs(program) do copy[name] = value end
  return copy
end

-- Returns the name of sub-program i (from 1): of its function, by the program's BTF, or as perf
-- makes it up.
local function make_symbol(program, types, i, byte_order)
  local name
  if types then
    -- struct bpf_func_info: insn_off, type_id
    local at = (i - 1) * program.func_info_rec_size + 4
    if program.func_info and at + 4 <= #program.func_info then
      name = types[string.unpack(byte_order == "big" and ">I4" or "<I4", program.func_info,
        at + 1)]
    end
  elseif #program.jited_ksyms > 1 then
    name = "F"
  elseif program.name ~= "" then
    name = program.name
  end
  return "bpf_prog_" .. program.prog_tags[i] .. (name and "_" .. name or "")
end

local function program_lines(program, types, add, byte_order)
  local starts, sizes, tags = program.jited_ksyms, program.jited_func_lens, program.prog_tags
  if not (starts and sizes and tags and #starts == #sizes and #starts == #tags) then
    add("# bpf_prog_info %d: %s not compiled", program.id, program.name)
  elseif #starts == 1 then
    add("# bpf_prog_info %d: %s addr 0x%x size %d", program.id,
      make_symbol(program, types, 1, byte_order), starts[1],
      sizes[1])
  else
    add("# bpf_prog_info %d:", program.id)
    for i in ipairs(starts) do
      add("# \tsub_prog %d: %s addr 0x%x size %d", i - 1,
        make_symbol(program, types, i, byte_order), starts[i], sizes[i])
    end
  end
end

---Returns a copy of a list, sorted by id.
---@param list table[]
---@return table[]
function bpf_text.by_id(list)
  local sorted = table.move(list, 1, #list, 1, {})
  table.sort(sorted, function(a, b)
    return a.id < b.id
  end)
  return sorted
end

---Adds the lines of all programs, by id.
---@param programs table[] the feature
---@param add fun(format: string, ...)
---@param file perflua.File
function bpf_text.programs(programs, add, file)
  local blobs, names = {}, {}
  for _, blob in ipairs(file.features.bpf_btf or {}) do
    blobs[blob.id] = blob.data
  end
  if #programs == 0 then
    add("# bpf_prog_info empty")
  end
  local list = {}
  for i, program in ipairs(programs) do list[i] = complete_program(program) end
  for _, program in ipairs(bpf_text.by_id(list)) do
    local id = program.btf_id
    if blobs[id] and not names[id] then
      names[id] = type_names(blobs[id], file.byte_order)
    end
    program_lines(program, names[id], add, file.byte_order)
  end
end

return bpf_text
