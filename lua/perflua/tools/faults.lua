-- perflua faults FILE: page faults, by what is mapped where they were, by the code that met
-- them.

local aside = require "perflua.group.aside"
local result_table = require "perflua.table.result_table"
local page_faults = require "perflua.waits.page_faults"
local samples_with_losses = require "perflua.file.samples_with_losses"
local sums = require "perflua.measures.sums"

local add = sums.adder "unsigned"

local known = { "object", "function", "stack", "comm", "thread" }

local columns = { { "faults", "unsigned" }, { "percent", "percent" }, { "kernel", "unsigned" },
  { "minor", "unsigned" }, { "major", "unsigned" }, { "comm", "string" }, { "tid", "signed" },
  { "object", "string" }, { "function", "string" }, { "stack", "string" } }

local tool = {
  description = "page faults: by mapped object, function, call chain, thread",
  usage = "faults [options] FILE…",
  reads = "samples", several = true,
  needs = {
    events = { { any = { "page-faults", "faults", "minor-faults", "major-faults",
      "exceptions:page_fault_*" } } },
  },
  record = "perf record -e page-faults -c 1 -d -g -- COMMAND",
  options = result_table.with_options(columns, {
    by = { "WHAT",
      "group by object (default), function, stack, comm, thread, or several: object,function",
      values = known },
  }),
  help = [[
An object is the file mapped at the address, or [heap], [stack], //anon. It needs perf record -d, which
records addresses and mappings of data. The column kernel counts faults in kernel code. Recordings of
-e page-faults,minor-faults,major-faults have a column for each.

  faults  percent  kernel  object
    2162   85.39%    2048  //anon
     157    6.20%       3  /usr/lib/x86_64-linux-gnu/libc.so.6
      48    1.90%       5  /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2

A flame graph of them: perflua flame --event page-faults FILE -o faults.svg]],
}

-- Rows by what they are of, faults in all, what was lost, what the events tell, and how many
-- samples were set aside.
local function read_faults(file, by)
  local kinds, has = page_faults.kinds(file)
  local whole, rows, by_key, total = has.faults, {}, {}, 0
  local lost, n_aside = page_faults.each(file, kinds, has,
    by, function(n, kind, kernel, object, code, comm, tid, stack)
    local key = object .. "\0" .. code .. "\0" .. comm .. "\0" .. (tid or "") .. "\0" .. stack
    local row = by_key[key]
    if not row then
      row = { object = object, ["function"] = code, comm = comm, tid = tid, stack = stack,
        faults = 0, minor = 0, major = 0, kernel = 0 }
      by_key[key], rows[#rows + 1] = row, row
    end
    if kind == "minor" or kind == "major" then row[kind] = add(row[kind], n) end
    if kind == "faults" or not whole then
      row.faults, total = row.faults + n, add(total, n)
      if kernel then row.kernel = row.kernel + n end
    end
  end)
  return rows, total, lost, has, n_aside
end

tool.prepare = result_table.prepare("object", known)

---@param file perflua.File
---@param args table
---@param out file*
---@param by table<string, boolean>
---@return integer | nil status
---@return string | nil message
function tool.run(file, args, out, by)
  local rows, total, lost, has, n_aside = read_faults(file, by)
  local list = result_table.new(columns, "faults", { minor = not has.minor,
    major = not has.major, comm = not (by.comm or by.thread), tid = not by.thread,
    object = not by.object, ["function"] = not by["function"], stack = not by.stack })
  for _, row in ipairs(rows) do
    row.percent = total > 0 and 100 * row.faults / total or 0.0
    list:add(row)
  end
  samples_with_losses.add_notes(list, lost)
  aside.note(list, n_aside)
  return list:write(args, out)
end

return tool
