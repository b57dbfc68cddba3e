-- Recordings with an ailment, and what perflua doctor says of them.
local assert = require "luassert"
local builder = require "spec.support.builder"
local dkjson = require "dkjson"
local run = require "spec.cli.run"

local doctor = {}

local MS = 1000000
doctor.START = 1000 * MS

---Returns the doctor's output, and its JSON.
function doctor.examine(path)
  local text, json = run.perflua { "doctor", path }, run.perflua { "doctor", "--json", path }
  assert.are.equal(text.status, json.status)
  assert.are.equal("", text.err .. json.err)
  return text, assert(dkjson.decode(json.out))
end

--- The finding of that code, nil if there is none.
function doctor.find(report, code)
  for _, finding in ipairs(report.findings) do
    if finding.code == code then
      return finding
    end
  end
end

--- A builder with one event of these parts, of which `change` may make more, with samples each
--- millisecond.
function doctor.ailing(change, parts, members)
  local b = builder.new()
  local event = {
    name = "cycles", freq = true, sample_freq = 4000, sample_period = nil,
    sample_type = { "ip", "tid", "time", "id", "cpu", table.unpack(parts or {}) },
  }
  for name, value in pairs(members or {}) do
    event[name] = value
  end
  event = b:event(event)
  for i = 1, 100 do
    b:sample(event, { pid = 7, tid = 7, time = doctor.START + i * MS })
  end
  change(b, event)
  return b
end

--- The finding of that code about what `change` does.
function doctor.finding(code, change, parts, members)
  local got, report = doctor.examine(doctor.ailing(change, parts, members):write())
  local found = assert(doctor.find(report, code), got.out)
  assert.matches("\n  " .. found.level .. " +" .. found.text:gsub("%p", "%%%0") .. "\n",
    got.out)
  for _, line in ipairs(found.details or {}) do
    assert.matches("\n             " .. line .. "\n", got.out, 1, true)
  end
  if found.advice then
    assert.matches("\n             -> " .. found.advice .. "\n", got.out, 1, true)
  end
  return found, got
end

return doctor
