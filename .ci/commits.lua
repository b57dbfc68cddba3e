-- commits.lua: checks the messages of the commits after SINCE, as git has them.
--
-- A subject is "area: what" of at most 72 columns, and is about more than line breaks. What
-- changes src or lua/perflua has a body that says why. Nothing is checked where there is no
-- history: in a source archive, or in a clone that does not reach back to SINCE.

local SINCE <const>, COLUMNS <const> = "b68de8e09ed7", 72

local function git(arguments)
  local output = assert(io.popen("git " .. arguments .. " 2>/dev/null"))
  local text = output:read("a")
  return output:close() and text
end

local AREA <const> = "[a-z][a-z0-9_/.-]*"

local function is_subject(subject)
  local areas = subject:match("^(.-): %S")
  if not areas then return false end
  for area in (areas .. ", "):gmatch("(.-), ") do
    if not area:find("^" .. AREA .. "$") then return false end
  end
  return true
end

-- Returns what is wrong with a commit; nil if nothing is.
local function find_fault(subject, body, paths)
  if not is_subject(subject) then return "the subject is not \"area: what\"" end
  if utf8.len(subject) > COLUMNS then
    return ("the subject has %d columns, at most %d"):format(utf8.len(subject), COLUMNS)
  end
  if subject:find "wrap.* lines?%f[%W]" then return "a commit does more than wrap lines" end
  local in_program = paths:find "\nsrc/" or paths:find "\nlua/perflua/"
  if body == "" and in_program then
    return "no body says why src or lua/perflua changes"
  end
end

if not git("merge-base --is-ancestor " .. SINCE .. " HEAD") then return end
local FORMAT <const> = "--name-only --format=%x01%h%x02%s%x02%b%x02 "
local log = assert(git("log --no-merges " .. FORMAT .. SINCE .. "..HEAD"))
local failed = false
for commit, subject, body, paths in log:gmatch("\1(.-)\2(.-)\2(.-)\2([^\1]*)") do
  local fault = find_fault(subject, body, paths)
  if fault then
    failed = true
    print(("%s %s: %s"):format(commit, subject, fault))
  end
end
os.exit(not failed)
