-- perflua as a module of plain Lua, where it is installed.
--
-- usage: lua5.4 examples/module.lua perf.data
--
-- $ lua5.4 examples/module.lua spec/fixtures/demo.perf.data
-- demo, x86_64, 2 cpus online
-- cpu-clock	457
-- page-faults	39
-- context-switches	176

local perflua = require "perflua"

local file, message = perflua.open(arg[1])
if not file then
  io.stderr:write(message, "\n")
  os.exit(1)
end

local machine = file.features
print(("%s, %s, %d cpus online"):format(machine.hostname, machine.arch, machine.nrcpus.online))
for _, event in ipairs(file.events) do
  print(event.name, file:samples(event):count())
end
file:close()
