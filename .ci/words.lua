-- words.lua FILE...: checks how comments, lines and titles of specs are written.
--
-- The first sentence of a comment that has lines of its own opens neither with Of, What, As
-- (but As of, As in) nor with The same, and is not a question. A line has at most 96 columns;
-- long strings of Lua, which may be expected output, are exempt. The title of a spec reads as a
-- sentence whose subject is the program or the title around it, so no word in it refers to
-- another title.
--
-- Variables and parameters are nouns: none is called is, of or said. Members of tables and of
-- structs may be, as in `frame.of`. In C a comment stands above a declaration or statement, not
-- inside of it.
--
-- Some phrases read badly wherever they stand, in comments, messages and pages of the manual:
-- see `phrases`.

local COLUMNS <const>, TAB <const> = 96, 8

local failed = false

local function report(path, number, message)
  failed = true
  print(("%s:%d: %s"):format(path, number, message))
end

local function count_columns(line)
  local n = 0
  for _, code in utf8.codes(utf8.len(line) and line or line:gsub("[\x80-\xff]", "?")) do
    n = code == 9 and n - n % TAB + TAB or n + 1
  end
  return n
end

local function check_width(path, number, line)
  local n = count_columns(line)
  if n > COLUMNS then report(path, number, ("%d columns, at most %d"):format(n, COLUMNS)) end
end

-- Phrases that read badly, each with a better one. `except` are harmless ones, which are left
-- out of the text before.
local phrases = {
  { "%f[%w_]behind%f[^%w_]", "after", except = { "le[fa][tv]%a* [%a ]-behind" } },
  { "%f[%a]parted by%f[%A]", "separated by" },
  { "%f[%a]unless said%f[%A]", "by default" },
  { "%f[%a]unless %a+ is said%f[%A]", "by default" },
  { "%f[%a]asked of%f[%A]", "applied to, or wanted from" },
  { "%f[%a]is no %a+", "is not a", except = {
    "there[%a ]- is no", "is no longer", "is no more", "is no less", "is no one" } },
  { "%f[%a]are no %a+", "are not", except = { "there[%a ]- are no", "are no longer" } },
  { "%f[%a]of what is%f[%A]", "of, and a noun" },
  { "%f[%a]of what are%f[%A]", "of, and a noun" },
  { "%f[%a]of what was%f[%A]", "of, and a noun" },
  { "%f[%a]of what were%f[%A]", "of, and a noun" },
  { "%f[%a]ha[sv]e? %a+[%a\" ]- be an? ", "makes it a", except = {
    "ha[sv]e? to be", "can[%a ]- be", "may[%a ]- be", "must[%a ]- be", "to be" } },
}

-- Reports phrases in a line or paragraph that begins at a line.
local function check_phrases(path, number, text)
  if path:find("%.ci/words%.lua$") then return end -- it names them
  text = text:lower()
  for _, phrase in ipairs(phrases) do
    local rest = text
    for _, except in ipairs(phrase.except or {}) do rest = rest:gsub(except, "") end
    local found = rest:match(phrase[1])
    if found then report(path, number, ("\"%s\": write \"%s\""):format(found, phrase[2])) end
  end
end

local function check_comment(path, number, text)
  check_phrases(path, number, text)
  local plain = text:gsub("`[^`]*`", "x"):gsub("\"[^\"]*\"", "x"):gsub("'[^' ]*'", "x")
  local sentence = plain:match("^(.-[.?!])%f[%s\0]") or plain
  local first, second = sentence:match("^(%a+)%s*(%a*)")
  local why = sentence:sub(-1) == "?" and "is a question"
    or (first == "Of" or first == "What") and "opens with " .. first
    or first == "As" and second ~= "of" and second ~= "in" and "opens with As"
    or first == "The" and second == "same" and "opens with The same"
  if why then report(path, number, ("a comment %s: %s"):format(why, sentence:sub(1, 60))) end
end

-- Words that join a title to another one, or whose noun stands in another one.
local joining = {}
for word in ([[about after also among and as at because before beside besides but by except for from
  if in like nor of on or so than that therefore to unless what when where which while who whom whose
  why with within without]]):gmatch("%S+") do
  joining[word] = true
end

local titles = {
  "^%s*it%s*%(?%s*\"(.*)\"", "^%s*it%s*%(?%s*'(.*)'", "^%s*pending%s*%(?%s*\"(.*)\"",
  "^%s*needs%.it%s*%(%s*\"[^\"]*\"%s*,%s*\"(.*)\"",
}

local function check_title(path, number, line)
  for _, pattern in ipairs(titles) do
    local title = line:match(pattern)
    local first = title and title:match("^[%a']+") or ""
    if joining[first:lower()] then
      report(path, number, ("a title opens with %s: %s"):format(first, title))
    elseif first:find("^%u%l") then
      report(path, number, "a title opens with a capital: " .. title)
    end
  end
end

-- Returns how the long string ends that is open after a line of Lua; nil if none is.
local function find_long_string(line, closing)
  local rest = line
  if closing then
    local _, last = line:find(closing, 1, true)
    if not last then return closing end
    rest = line:sub(last + 1)
  end
  rest = rest:gsub("\\.", ""):gsub("\"[^\"]*\"", ""):gsub("'[^']*'", "")
  local before, level, after = rest:match("^(.-)%[(=*)%[(.*)$")
  while level and not before:find("%-%-") do
    closing = "]" .. level .. "]"
    local _, last = after:find(closing, 1, true)
    if not last then return closing end
    before, level, after = after:sub(last + 1):match("^(.-)%[(=*)%[(.*)$")
  end
end

local vague = { is = true, of = true, said = true }

-- Reports vague names in a list.
local function check_names(path, number, names)
  for name in names:gmatch("[%a_][%w_]*") do
    if vague[name] then report(path, number, "a variable is called " .. name) end
  end
end

-- Reports vague names of variables and parameters that a line of Lua declares.
local function check_lua_names(path, number, line)
  line = line:gsub("%-%-.*$", ""):gsub("\"[^\"]*\"", "")
  if not line:find("^%s*local%s+function") then
    check_names(path, number, line:match("^%s*local%s+([%w_,%s<>]+)") or "")
  end
  check_names(path, number, line:match("^%s*for%s+([%w_,%s]-)%s*=") or "")
  check_names(path, number, line:match("^%s*for%s+([%w_,%s]-)%sin%s") or "")
  for parameters in line:gmatch("function[%s%w_.:]*%(([^)]*)") do
    check_names(path, number, parameters)
  end
end

-- Reports vague names of variables and parameters in a file of C, but not those of members.
local function check_c_names(path)
  local number, opened = 0, {}
  for line in io.lines(path) do
    number = number + 1
    local code = line:gsub("/%*.-%*/", ""):gsub("/%*.*$", ""):gsub("\"[^\"]*\"", "")
    if code:find("^%s*%*") then code = "" end
    if code:find("^%s*}") then opened[#opened] = nil end
    if not opened[#opened] then
      for name in code:gmatch("%f[%w_*][%a_][%w_]*[%s*]+([%a_][%w_]*)%s*[;,)=[]") do
        if vague[name] and not code:find("return%s+" .. name) then
          report(path, number, "a variable is called " .. name)
        end
      end
    end
    if code:find("{%s*$") then
      opened[#opened + 1] = code:find("%f[%w]struct[%s%w_]*{") ~= nil
        or code:find("%f[%w]union[%s%w_]*{") ~= nil or code:find("%f[%w]enum[%s%w_]*{") ~= nil
    end
  end
end

-- Calls take(number, text) for each comment of lines that begin with the mark, joined by
-- spaces.
local function read_line_comments(path, mark, take)
  local number, start, words, in_tag, closing = 0, 0, nil, false, nil
  for line in io.lines(path) do
    number = number + 1
    local inside = closing
    if not line:find("^%s*" .. mark) then
      check_phrases(path, number, line)
      if not path:find("^spec/") and not inside then check_lua_names(path, number, line) end
    end
    if mark == "%-%-" then closing = find_long_string(line, closing) end
    if not inside then
      if not closing then check_width(path, number, (line:gsub("%[(=*)%[.-%]%1%]", "[[]]"))) end
      if path:find("_spec%.lua$") then check_title(path, number, line) end
    end
    local text = not inside and line:match("^%s*" .. mark .. "+%s*(.*)$")
    if not text or text:find("^[@!]") then
      if words then take(start, table.concat(words, " ")) end
      words, in_tag = nil, text ~= nil -- lines below a tag belong to it
    elseif text and not in_tag then
      if not words then start, words = number, {} end
      words[#words + 1] = text
    end
  end
  if words then take(start, table.concat(words, " ")) end
end

-- Calls take(number, text) for each comment of C or JavaScript that begins its line.
local function read_block_comments(path, take)
  local number, start, words = 0, 0, nil
  for line in io.lines(path) do
    number = number + 1
    check_width(path, number, line)
    local text = line:match("^%s*/%*+%s*(.*)$")
    if text then
      start, words = number, {}
    elseif words then
      text = line:match("^%s*%*?%s*(.*)$")
    end
    if not words then check_phrases(path, number, line) end
    if words then
      local last = text:match("^(.-)%s*%*/")
      words[#words + 1] = (last or text) ~= "" and (last or text) or nil
      if last or text == "/" then
        take(start, table.concat(words, " "))
        words = nil
      end
    end
  end
end

-- Reports comments with lines of their own in the middle of a declaration or expression: after
-- a line of code that ends with a word or an operator.
local function check_torn(path)
  local number, before, inside = 0, "", false
  for line in io.lines(path) do
    number = number + 1
    local opens = not inside and line:match("^%s*/%*(.*)$")
    if opens and before:find("[%w_*=+|&?(<-]$") and not before:find("^#")
      and not before:find("%f[%w_]else$") and not before:find("%f[%w_]do$") then
      report(path, number, "a comment tears apart: " .. before)
    end
    local code = inside and "" or line:gsub("/%*.-%*/", ""):gsub("/%*.*$", "")
    inside = (inside or line:find("/%*") ~= nil) and not line:find("%*/%s*$")
    before = code:match("^%s*(.-)%s*$") ~= "" and code:match("^%s*(.-)%s*$") or before
  end
end

-- Calls take(number, text) for each paragraph of a page, but not for its code.
local function read_paragraphs(path, take)
  local number, start, words, in_code = 0, 0, {}, false
  local function finish()
    if #words > 0 then take(start, table.concat(words, " ")) end
    words = {}
  end
  for line in io.lines(path) do
    number = number + 1
    local is_fence = line:find("^```")
    if is_fence then in_code = not in_code end
    if is_fence or in_code or line == "" or line:find("^[|#-]") then finish() end
    if not (is_fence or in_code or line == "") then
      if #words == 0 then start = number end
      words[#words + 1] = line
    end
  end
  finish()
end

for _, path in ipairs(arg) do
  local function take(number, text) check_comment(path, number, text) end
  local ending = path:match("%.(%w+)$")
  if ending == "c" or ending == "h" or ending == "js" then
    read_block_comments(path, take)
    if ending ~= "js" then
      check_torn(path)
      if not path:find("^spec/") then check_c_names(path) end
    end
  elseif ending == "md" then
    read_paragraphs(path, function(number, text) check_phrases(path, number, text) end)
  else
    read_line_comments(path, ending == "lua" and "%-%-" or "#", take)
  end
end
os.exit(not failed)
