-- The root of the machine that recordings of script.lua are of, below $TMPDIR: one program, a
-- kernel's symbols and the names of code made at run time. Returns the options of perflua.open
-- for them.
local builder_elf = require "spec.support.builder_elf"

local root = (os.getenv "TMPDIR" or "/tmp") .. "/root"

local function write(path, bytes)
  local out <close> = assert(io.open(root .. path, "wb"))
  assert(out:write(bytes))
end

local text = { name = ".text", flags = 6, data = ("\x90"):rep(3840) }
local program = builder_elf.pack {
  machine = 62,
  sections = { text },
  symbols = {
    { name = "main", value = 0, size = 256, section = ".text" },
    { name = "_Z4workPKc", value = 256, size = 3584, section = ".text" },
  },
}

assert(os.execute(("mkdir -p '%s/bin' '%s/tmp'"):format(root, root)))
write("/bin/sh", program)
write("/tmp/perf-7.map", "1000 800 made at run time\n1800 10 and;this\n")
write("/kallsyms",
  "ffffffff81000000 T _text\nffffffff81000100 T do_work\n"
    .. "ffffffffc0000000 t of_module\t[ext4]\n")

return { symfs = root, kallsyms = root .. "/kallsyms" }
