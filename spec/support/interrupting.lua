-- Lua source of functions for scripts of the interpreter. Each sends SIGINT to the interpreter
-- itself, which has it when the function returns.
--
--   interrupt()       the signal comes while the core is at work, as it does in a pass
--   interrupt_alone() it comes where only Lua is, unless a pass is open
return [[
local function interrupt_alone() io.popen("kill -INT $PPID"):close() end
local function interrupt()
  local columns = { { name = "n", kind = "integer" } }
  require("perflua.core").write_table("csv", interrupt_alone, {}, columns, {})
end
]]
