-- ELF files of any machine, written for specs: one segment, sections as they are given, one
-- table of symbols.
local builder_elf = {}

local types = { notype = 0, object = 1, func = 2, section = 3, file = 4, tls = 6, ifunc = 10 }
local bindings = { ["local"] = 0, global = 1, weak = 2, unique = 10 }

--- Where the segment lies: that much above its place in the file.
builder_elf.base = 0x10000

-- Fields of a struct: {format for 32 bits, for 64, their order in both}.
local function packer(endian, wide)
  local mark = endian == "big" and ">" or "<"
  local function pack(format, ...)
    return string.pack(mark .. format:gsub("A", wide and "I8" or "I4"), ...)
  end
  return pack
end

local function strings(names)
  local bytes, at = "\0", { [""] = 0 }
  for _, name in ipairs(names) do
    if not at[name] then
      at[name] = #bytes
      bytes = bytes .. name .. "\0"
    end
  end
  return bytes, at
end

local function pack_symbols(pack, wide, list, index_of, sections)
  local names = {}
  for i, symbol in ipairs(list) do
    names[i] = symbol.name
  end
  local text, at = strings(names)
  local bytes = string.rep("\0", wide and 24 or 16)
  for _, s in ipairs(list) do
    local info = (bindings[s.binding or "global"] << 4) | (types[s.type or "func"])
    local index = index_of[s.section] or s.section
    local value = (s.value or 0) + (sections[index] and sections[index].addr or 0)
    if wide then
      bytes = bytes .. pack("I4BBI2I8I8", s.st_name or at[s.name], info, s.other or 0, index,
        value, s.size or 0)
    else
      bytes = bytes .. pack("I4I4I4BBI2", s.st_name or at[s.name], value, s.size or 0, info,
        s.other or 0, index)
    end
  end
  return bytes, text
end

--- The bytes of a file. file: `machine`, `endian`, `class` (64), `type` (3: a library),
--- `sections` {name, data, type, flags, link, entsize}, `symbols` {name, value in its section,
--- size, type, binding, other, section}.
function builder_elf.pack(file)
  local wide = (file.class or 64) == 64
  local pack = packer(file.endian or "little", wide)
  local header_size, base = wide and 64 or 52, file.type == 1 and 0 or builder_elf.base
  local sections, index_of, at = {}, {}, header_size + (wide and 56 or 32)
  local function add(section)
    at = at + -at % 16
    section.offset = at
    section.addr = (section.flags or 0) & 2 ~= 0 and base > 0 and base + at or 0
    sections[#sections + 1] = section
    index_of[section.name] = #sections
    at = at + #section.data
    return section
  end
  for _, section in ipairs(file.sections) do
    add(section)
  end
  local symbols, text = pack_symbols(pack, wide, file.symbols, index_of, sections)
  add { name = ".strtab", type = 3, data = file.strings or text }
  add { name = ".symtab", type = 2, data = symbols, link = #sections, entsize = wide and 24
    or 16 }
  local names = { ".shstrtab" }
  for _, section in ipairs(sections) do
    names[#names + 1] = section.name
  end
  local shstrtab, name_at = strings(names)
  add { name = ".shstrtab", type = 3, data = shstrtab }
  return builder_elf.join(file, pack,
    { wide = wide, sections = sections, name_at = name_at, at = at, base = base })
end

function builder_elf.join(file, pack, made)
  local wide, sections = made.wide, made.sections
  local shoff = made.at + -made.at % 16
  local header_size, phent, shent = wide and 64 or 52, wide and 56 or 32, wide and 64 or 40
  local bytes = "\x7fELF" .. string.char(wide and 2 or 1, file.endian == "big" and 2 or 1, 1)
    .. ("\0"):rep(9)
    .. pack("I2I2I4AAAI4I2I2I2I2I2I2", file.type or 3, file.machine, 1, 0, header_size, shoff,
      file.flags or 0,
      header_size, phent, made.base > 0 and 1 or 0, shent, #sections + 1, #sections)
  bytes = bytes .. (wide and pack("I4I4I8I8I8I8I8I8", 1, 5, 0, made.base, made.base, shoff,
    shoff, 4096)
    or pack("I4I4I4I4I4I4I4I4", 1, 0, made.base, made.base, shoff, shoff, 5, 4096))
  for _, section in ipairs(sections) do
    bytes = bytes .. ("\0"):rep(section.offset - #bytes) .. section.data
  end
  bytes = bytes .. ("\0"):rep(shoff - #bytes) .. ("\0"):rep(shent)
  for _, s in ipairs(sections) do
    bytes = bytes .. pack("I4I4AAAAI4I4AA", made.name_at[s.name], s.type or 1, s.flags or 0,
      s.addr, s.offset,
      #s.data, s.link or 0, s.info or 0, 16, s.entsize or 0)
  end
  return bytes, sections
end

return builder_elf
