-- A row of format/fields.c, or of fields_user.c, is all that a record type needs.
local builder = require "spec.support.builder"
local everything = require "spec.support.everything"
local extended = require "spec.support.extended"
local files = require "spec.support.files"
local needs = require "spec.support.needs"
local perflua = require "perflua"
local types = require "perflua.core".types

local TABLES = [[
static const struct pd_field renamed_fields[] = {
	{ FIELD(S32, "pid", 8, "Process whose thread is named.") },
	{ FIELD(S32, "tid", 12, "Thread that is named.") },
	{ FIELD(CSTR, "comm", 16, "The new name.") },
	END_OF_FIELDS,
};
static const struct pd_field dropped_fields[] = {
	{ FIELD(U64, "lost", 8, "Records dropped.") },
	END_OF_FIELDS,
};
static const struct pd_field page_fields[] = {
	{ FIELD(X64, "checksum", 8, "Checksum of the page that follows.") },
	END_OF_FIELDS,
};

]]

local ROWS = [[
	RECORD(23, "renamed", renamed_fields, "A thread was renamed.",
	       .sideband = PD_SB_THREAD_NAME),
	RECORD(24, "dropped", dropped_fields, "Records were dropped.", .loss = PD_LOSS_RECORDS),
	RECORD(25, "page", page_fields, "A page was copied."),
]]

-- Describes a record of perf's own, after which other bytes lie.
local USER_TABLES = [[
static const struct pd_field blob_fields[] = {
	{ FIELD(U64, "bytes", 8, "Bytes that follow.") },
	END_OF_FIELDS,
};
static uint64_t get_blob_payload(const struct pd_record *rec)
{
	return rec->size >= 16 ? pd_rec64(rec, 8) : 0;
}

]]

-- All numbers are taken, and one more would compile all files anew: takes the place of a row.
local USER_ROWS = [[
	USER(PD_RECORD_STAT_ROUND, "blob", blob_fields, "Bytes follow.", .payload = get_blob_payload),
]]

local SCRIPT = [[
local file <close> = assert(require "perflua".open(arg[1]))
local comms = {}
for s in file:samples() do comms[#comms + 1] = s.comm end
print("samples", table.concat(comms, " "))
for r in file:records { type = { "renamed", "page" } } do
  print(r.type, r.time, r.type == "page" and r.checksum or r.comm)
end
for r in file:records { type = "blob" } do print("data", r:data()) end
print("lost", require("perflua.core").count(file).lost_records)
print("damage", #file.damage)
]]

-- Records of four types that nobody knows, among samples; one is larger than the kernel's
-- records are, and after one is not a record.
local function recording()
  local b = builder.new()
  local event = b:event { sample_type = { "ip", "tid", "time" } }
  local w = b.w
  local function add(type, body, time)
    b:raw(type, 2, body .. w:u32(7) .. w:u32(7) .. w:u64(time))
  end
  b:record("comm", { pid = 7, tid = 7, comm = "before" }, { pid = 7, tid = 7, time = 1 })
  b:sample(event, { ip = 1, pid = 7, tid = 7, time = 2 })
  add(23, w:u32(7) .. w:u32(7) .. "after\0\0\0", 3)
  b:sample(event, { ip = 1, pid = 7, tid = 7, time = 4 })
  add(24, w:u64(5), 5)
  add(25, w:u64(0xabc) .. ("\0page..."):rep(512), 6)
  b:raw(77, 0, w:u64(16), nil, "more than bytes!")
  b:sample(event, { ip = 1, pid = 7, tid = 7, time = 7 })
  return b:write()
end

-- A directory that goes with the variable.
local function scratch()
  return setmetatable({ path = files.output "mktemp -d":match "%S+" }, {
    __close = function(self) files.output("rm -r " .. files.quote(self.path)) end,
  })
end

local function build(dir, tables, rows)
  local fields, user = "src/perfdata/format/fields.c", "src/perfdata/format/fields_user.c"
  return extended.build(dir.path, {
    { fields, "static const struct pd_record_desc records[] = {\n", tables },
    { fields, "\tRECORD(PD_RECORD_CALLCHAIN_DEFERRED, ", rows },
    { user, "const struct pd_record_desc pd_user_records[", USER_TABLES },
    { user, "\tUSER(PD_RECORD_SCHEDSTAT_DOMAIN,", USER_ROWS },
  })
end

describe("the tables of record types", function()
  needs.it("this architecture", "need one more row for a type more", function()
    local dir <close> = scratch()
    local perflua_of_more = build(dir, TABLES, ROWS)
    local path = recording()
    local script = files.temporary(SCRIPT)
    assert.equal(
      "samples\tbefore after after\nrenamed\t3\tafter\npage\t6\t2748\n"
      .. "data\tmore than bytes!\nlost\t5\ndamage\t0\n",
      (files.output(("%s %s %s 2>&1"):format(perflua_of_more, script, path))))
    local dump = files.output(("%s dump %s"):format(perflua_of_more, path))
    assert.matches(
      'renamed size=40 misc=0x2 cpumode=user pid=7 tid=7 comm=after time=0.000000003', dump)
    assert.matches("page size=4128 misc=0x2 cpumode=user checksum=0xabc", dump)
  end)

  needs.it("this architecture",
    "are not compiled when they hold more than there is room for", function()
    local dir <close> = scratch()
    local field = '{ FIELD(U64, "%s", 8, "Nothing.") },\n'
    local tables = ("static const struct pd_field %s_fields[] = {\n%sEND_OF_FIELDS };\n")
    local rows = '\tRECORD(23, "long", long_fields, ""), RECORD(24, "many", many_fields, ""),\n'
    local ok, message = pcall(build, dir, tables:format("long", field:format(("x"):rep(47)))
      .. tables:format("many", field:format "x":rep(96)), rows)
    assert.is_false(ok)
    assert.matches("a field's name is too long", message)
    assert.matches("a table has too many fields", message)
  end)

  it("have no field that records cannot be asked for", function()
    local file <close> = assert(perflua.open(everything.builder():write()))
    local of = {}
    for _, desc in pairs(types()) do of[desc.name or "common"] = desc.fields end
    local asked = 0
    for r in file:records { container = true } do
      for _, fields in ipairs { of[r.type], of.common } do
        for _, field in ipairs(fields) do
          local _ = r[field.name] -- raises if it has no number
          asked = asked + 1
        end
      end
    end
    assert.is_true(asked > 1000)
  end)
end)
