-- Whatever a recording holds, its lines are text that drives no terminal.
local core = require "perflua.core"
local builder = require "spec.support.builder"
local everything = require "spec.support.everything"
local fields = require "perflua.script.fields"
local files = require "spec.support.files"
local perflua = require "perflua"

local STEP = os.getenv "SWEEP" and 1 or 29

-- every field, of every event, whether it was recorded or not
local classes = {}
for class, one in pairs(assert(fields.parse())) do
  local all = {}
  for _, field in ipairs(fields.all()) do all[#all + 1] = field.name end
  classes[class] = { fields = all, chosen = one.chosen }
end

local path, printed = files.temporary(), files.temporary()

--- The lines of a recording of these bytes, nil if it is refused.
local function lines_of(bytes, options)
  files.write(path, bytes)
  local file <close> = perflua.open(path,
    { symfs = "spec/fixtures/empty", kallsyms = "/dev/null" })
  if not file then return nil end
  local out <close> = assert(io.open(printed, "wb"))
  options.classes, options.order, options.types = classes, "time", { [9] = true }
  assert.is_number(core.script(file, out, options))
  out:close()
  return files.read(printed)
end

local function is_clean(text)
  assert.is_nil(text:find "[%z\1-\8\11-\31\127]")
  assert.is_true(text == "" or text:sub(-1) == "\n")
  assert.is_number(utf8.len(text))
end

local shapes = {
  { callchains = true, inlined = true },
  { callchains = false, ns = true },
  { callchains = true, inlined_unwound = true, max_stack = 2 },
}

describe("the lines of a recording", function()
  it("show every field that it has", function()
    local text = lines_of(everything.builder():bytes(), shapes[1])
    assert.is_true(#text > 200, text)
    is_clean(text)
  end)

  for endian, step in pairs { little = STEP, big = 3 * STEP } do
    it("are text when any byte is damaged, " .. endian .. "-endian", function()
      warn "@off"
      local bytes, n = everything.builder(endian):bytes(), 0
      for at = 1, #bytes, step do
        local byte = string.char(bytes:byte(at) ~ (0x1b << at % 3) & 255)
        local damaged = bytes:sub(1, at - 1) .. byte .. bytes:sub(at + 1)
        local text = lines_of(damaged, shapes[at % #shapes + 1])
        if text then
          is_clean(text)
          n = n + 1
        end
      end
      assert.is_true(n > 10)
    end)
  end

  it("are as wide as the longest name of an event, however long that is", function()
    local b = builder.new()
    local short = b:event { name = "short", sample_type = { "tid", "identifier" }, ids = { 1 } }
    b:event { name = ("long"):rep(12345), sample_type = { "tid", "identifier" }, ids = { 2 } }
    b:sample(short, { pid = 1, tid = 1, identifier = 1 })
    local line = lines_of(b:bytes(), {}):match "[^\n]*"
    assert.is_true(line:find((" "):rep(4 * 12345 - #"short") .. "short: ", 1, true) ~= nil)
  end)

  it("end where a predicate closes the file", function()
    local b = everything.builder()
    files.write(path, b:bytes())
    local file = assert(perflua.open(path))
    local out <close> = assert(io.open(printed, "wb"))
    local ok, message = pcall(core.script, file, out, {
      classes = classes, types = { [9] = true },
      filter = { op = "call", kind = "boolean", is = "condition", fn = function()
        file:close() return true
      end },
    })
    assert.is_false(ok)
    assert.matches("closed file", message)
  end)
end)
