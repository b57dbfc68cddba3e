-- The figures of jobs on different machines: read from and written to text, and compared.
--
-- The text has a paragraph for each machine: a line with its versions, then a line for each
-- job, "million instructions, peak kilobytes, name".

local figures = {}

local MORE_INSTRUCTIONS, MORE_MEMORY = 1.03, 1.10

local HEADER = [[
# Figures of `make counts`: million instructions, without steps of Lua's collector, and most
# kilobytes that were allocated at once, of each job, by the versions that they depend on. Each
# run writes build/counts/counts.txt, a copy with its own figures.
]]

--- Reads text as figures.text() returns it; returns { [versions] = list of { name,
--- instructions, peak (bytes) } }. Raises an error that names the line it cannot read.
function figures.read(text)
  local known, list = {}, nil
  local n = 0
  for line in text:gmatch "([^\n]*)\n" do
    n = n + 1
    local instructions, peak, name = line:match "^ +([%d.]+) +(%d+)  (.+)$"
    if name then
      assert(list, ("counts.txt, line %d: a job before the versions of a machine"):format(n))
      list[#list + 1] =
        { name = name, instructions = instructions * 1e6, peak = peak * 1024 }
    elseif line:find "^[^#%s]" then
      list = {}
      known[line] = list
    elseif not line:find "^#" and line ~= "" then
      error(("counts.txt, line %d: found %q, expected instructions, kilobytes and a name")
        :format(n, line), 0)
    end
  end
  return known
end

--- Writes what figures.read() reads, machines by name.
function figures.text(known)
  local keys, out = {}, { HEADER }
  for key in pairs(known) do keys[#keys + 1] = key end
  table.sort(keys)
  for _, key in ipairs(keys) do
    out[#out + 1] = ("\n%s\n"):format(key)
    for _, job in ipairs(known[key]) do
      out[#out + 1] = ("%10.2f %8d  %s\n"):format(job.instructions / 1e6, job.peak // 1024,
        job.name)
    end
  end
  return table.concat(out)
end

local function change(new, old) return ("%+.1f %%"):format(100 * (new / old - 1)) end

--- Compares jobs with those of the same machine (nil: there are none). Returns a table of all
--- jobs as text and how many take more than 3 % more instructions, or 10 % more memory. A job
--- that the machine's list lacks, or that was measured no more, counts as well: the list must
--- name exactly the jobs that there are.
function figures.compare(old, new)
  local by_name, lines, too_much = {}, {}, 0
  for _, job in ipairs(old or {}) do by_name[job.name] = job end
  for _, job in ipairs(new) do
    local was, verdict = by_name[job.name], ""
    local line = ("%10.2f M %8d kB"):format(job.instructions / 1e6, job.peak // 1024)
    if was then
      by_name[job.name] = nil
      line = ("%s  %8s %8s"):format(line, change(job.instructions, was.instructions),
        change(job.peak, was.peak))
      if job.instructions > was.instructions * MORE_INSTRUCTIONS then
        verdict = "  more instructions"
      elseif job.peak > was.peak * MORE_MEMORY then
        verdict = "  more memory"
      end
    elseif old then
      verdict = "  not in counts.txt"
    end
    if verdict ~= "" then too_much = too_much + 1 end
    lines[#lines + 1] = ("%s  %s%s"):format(line, job.name, verdict)
  end
  for name in pairs(by_name) do
    too_much = too_much + 1
    lines[#lines + 1] = ("%s is in counts.txt, but no job"):format(name)
  end
  return table.concat(lines, "\n"), too_much
end

return figures
