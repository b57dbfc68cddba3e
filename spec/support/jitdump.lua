-- Writes jitdump files; see tools/perf/Documentation/jitdump-specification.txt.
local pack = require "spec.support.builder_pack"

-- The bytes of one of records: {"load", time, name, address, size, number}, {"move", time,
-- number, from, to, size}, or bytes. options: endian, flags.
return function(records, options)
  options = options or {}
  local w = pack.writer(options.endian or "little")
  local out = { w:u32(0x4a695444), w:u32(1), w:u32(40), w:u32(62), w:u32(0), w:u32(7), w:u64(0),
    w:u64(options.flags or 0) }
  for _, r in ipairs(records) do
    if type(r) == "string" then
      out[#out + 1] = r
    elseif r[1] == "load" then
      local body = w:u32(7) .. w:u32(7) .. w:u64(r[4]) .. w:u64(r[4]) .. w:u64(r[5])
        .. w:u64(r[6]) .. r[3] .. "\0"
        .. ("\x90"):rep(r[5])
      out[#out + 1] = w:u32(0) .. w:u32(16 + #body) .. w:u64(r[2]) .. body
    else
      local body = w:u32(7) .. w:u32(7) .. w:u64(r[5]) .. w:u64(r[4]) .. w:u64(r[5])
        .. w:u64(r[6]) .. w:u64(r[3])
      out[#out + 1] = w:u32(1) .. w:u32(16 + #body) .. w:u64(r[2]) .. body
    end
  end
  return table.concat(out)
end
