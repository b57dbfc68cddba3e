-- Recordings that belong to other users.
local builder = require "spec.support.builder"
local dkjson = require "dkjson"
local needs = require "spec.support.needs"
local run = require "spec.cli.run"

local NOBODY <const> = 65534

-- Returns a recording that belongs to that user.
local function recording_of(user)
  local b = builder.new()
  b:sample(b:event { name = "cycles" }, { ip = 1, pid = 1, time = 1 })
  local path = b:write()
  assert(os.execute(("chmod a+r %s && chown %d %s"):format(path, user, path)))
  return path
end

local function warning_of(path)
  return ("perflua: %s: belongs to user %d, neither to you nor to root; perf would read it "
    .. "only with -f\n"):format(path, NOBODY)
end

needs.describe("root", "a recording of another user", function()
  local count, foreign, own = 'print(file:samples():count())'

  setup(function() foreign, own = recording_of(NOBODY), recording_of(0) end)

  local function counted(prefix, ...)
    return run.shell_with(prefix .. [[ "$perflua" -e "$1" "$2" ${3:+"$3"}]], count, ...)
  end

  it("is read with a warning", function()
    assert.are.same({ status = 0, out = "1\n", err = warning_of(foreign) },
      counted("env -u SUDO_UID", foreign))
    assert.are.same({ status = 0, out = "2\n", err = warning_of(foreign) },
      counted("env -u SUDO_UID", own, foreign))
    assert.are.same({ status = 0, out = "1\n", err = "" }, counted("env -u SUDO_UID", own))
  end)

  it("is read without one where its user called sudo, or opened it for perflua", function()
    assert.are.same({ status = 0, out = "1\n", err = "" }, counted("SUDO_UID=65534", foreign))
    assert.are.same({ status = 0, out = "1\n", err = warning_of(foreign) },
      counted("SUDO_UID=65533", foreign))
    assert.are.same({ status = 0, out = "1\n", err = "" },
      run.shell_with([["$perflua" -e "$1" - <"$2"]], count, foreign))
  end)

  it("is named by doctor", function()
    local report = dkjson.decode(run.shell_with([[env -u SUDO_UID "$perflua" doctor --json "$1"]],
      foreign).out)
    assert.equal(NOBODY, report.foreign_owner)
    local found
    for _, finding in ipairs(report.findings) do
      found = finding.code == "owner" and finding or found
    end
    assert.equal("the file belongs to user 65534, neither to you nor to root", found.text)
  end)

  needs.it("an ordinary user", "is one that is not root's either", function()
    local theirs = recording_of(12345)
    local got = run.shell_with([[setpriv --reuid=65534 --clear-groups "$perflua" -e "$1" "$2"]],
      count, theirs)
    assert.are.same({ status = 0, out = "1\n", err = (warning_of(theirs)
      :gsub("user 65534", "user 12345")) }, got)
    for _, path in ipairs { own, foreign } do
      got = run.shell_with([[SUDO_UID=1 setpriv --reuid=65534 --clear-groups "$perflua" -e "$1" "$2"]],
        count, path)
      assert.are.same({ status = 0, out = "1\n", err = "" }, got)
    end
  end)

  it("is one if a file of a directory is", function()
    local b = builder.new()
    b.container = "directory"
    local event = b:event { name = "cycles" }
    b:sample(event, { ip = 1, pid = 1, time = 1 })
    b:beside(0, function() b:sample(event, { ip = 1, pid = 1, time = 2 }) end)
    local dir = b:write()
    assert(os.execute("chown 65534 " .. dir .. "/data.0"))
    assert.are.same({ status = 0, out = "2\n", err = warning_of(dir .. "/data.0") },
      counted("env -u SUDO_UID", dir))
  end)
end)
