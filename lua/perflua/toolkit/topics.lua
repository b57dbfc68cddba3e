-- The pages of the manual, which the interpreter brings with it: perflua help TOPIC; and what
-- the reference says of a method.

local fmt = require "perflua.text.fmt"
local suggest = require "perflua.errors.suggest"

local topics = {}

-- Pages of the manual as text for a terminal: links without their targets, tables as lists,
-- code without fences.

local COLUMNS <const>, TERM <const> = 96, 24

-- Adds words to lines of at most COLUMNS. The first line begins with `first`, the others with
-- `rest`.
local function add_wrapped(lines, text, first, rest)
  local line, empty = first, true
  for word in text:gmatch "%S+" do
    if not empty and utf8.len(line) + 1 + utf8.len(word) > COLUMNS then
      lines[#lines + 1] = line
      line, empty = rest, true
    end
    line = empty and line .. word or line .. " " .. word
    empty = false
  end
  lines[#lines + 1] = line
end

-- Removes the targets of links, and the escapes of characters.
local function plain(text)
  text = text:gsub("!%b[]%b()", "")
  text = text:gsub("(%b[])%b()", function(link) return link:sub(2, -2) end)
  return (text:gsub("\\([|*<\\])", "%1"))
end

local function cells_of(line)
  local cells = {}
  for cell in line:gsub("\\|", "\0"):gmatch "|%s*([^|]*)" do
    if cell ~= "" then cells[#cells + 1] = plain(fmt.trim_end((cell:gsub("%z", "|")))) end
  end
  return cells
end

-- Adds a row of a table: its first cell, and the others after it.
local function add_row(lines, line)
  local cells = cells_of(line)
  if #cells == 0 then return end
  local term, rest = cells[1], table.concat(cells, " · ", 2)
  local indent = (" "):rep(TERM + 4)
  if rest == "" then
    add_wrapped(lines, term, "  ", "    ")
  elseif utf8.len(term) <= TERM then
    add_wrapped(lines, rest, "  " .. term .. (" "):rep(TERM + 2 - utf8.len(term)), indent)
  else
    add_wrapped(lines, term, "  ", "    ")
    add_wrapped(lines, rest, indent, indent)
  end
end

-- Adds a heading, underlined if it is one of the page's chapters.
local function add_heading(lines, level, title)
  lines[#lines + 1] = title
  if level <= 2 then
    lines[#lines + 1] = (level == 1 and "=" or "-"):rep(utf8.len(title))
  end
end

-- Adds what a line begins; returns the paragraph that it opens, if it does.
local function add_line(lines, line)
  local level, title = line:match "^(#+) (.*)$"
  if level then
    add_heading(lines, #level, plain(title))
  elseif line:find "^|[-|]*|$" then
    return nil
  elseif line:find "^|" then
    add_row(lines, line)
  elseif line == "" or line:find "^    " then
    lines[#lines + 1] = line
  else
    local bullet = line:match "^[-*] " or line:match "^%d+%. " or ""
    return { first = bullet, rest = (" "):rep(#bullet), line:sub(#bullet + 1) }
  end
end

---@param text string a page in Markdown
---@return string
function topics.render(text)
  local lines, paragraph, in_code = {}, nil, false
  local function finish()
    local words = paragraph and plain(table.concat(paragraph, " "))
    if words and words:find "%S" then
      add_wrapped(lines, words, paragraph.first, paragraph.rest)
    end
    paragraph = nil
  end
  for line in text:gmatch "([^\n]*)\n" do
    if line:find "^```" then
      finish()
      in_code = not in_code
      if in_code and lines[#lines] ~= "" then lines[#lines + 1] = "" end
    elseif in_code then
      lines[#lines + 1] = line == "" and "" or "    " .. line
    elseif paragraph and line:find "^[^|#%s]" and not line:find "^[-*] "
      and not line:find "^%d+%. " or paragraph and line:find "^  +%S" then
      table.insert(paragraph, line)
    else
      finish()
      paragraph = add_line(lines, line)
    end
  end
  finish()
  return (table.concat(lines, "\n"):gsub("\n\n\n+", "\n\n")) .. "\n"
end

local FOLDERS <const> = { "docs/topics/", "docs/" }

---@return string[] # the names of all topics, sorted
function topics.names()
  local set = {}
  for module in pairs(package.preload) do
    local name = module:match "^docs/topics/([%w-]+)%.md$" or module:match "^docs/([%w-]+)%.md$"
    if name then set[name] = true end
  end
  return suggest.names(set)
end

local function page_of(name)
  for _, folder in ipairs(FOLDERS) do
    local module = folder .. name .. ".md"
    if package.preload[module] then return require(module) end
  end
end

---@param name string
---@return string? # the page as text for a terminal; nil: there is no such topic
function topics.text(name)
  local page = page_of(name)
  return page and topics.render(page)
end

-- Calls fn(name, section) for each function and method of the reference: "query:top".
local function each_method(fn)
  local page = page_of "reference"
  for section in ((page or ""):gsub("\n##", "\n\0##")):gmatch "%z(###[^%z]*)" do
    local name = section:match "^### `([%w_]+[.:][%w_]+)%("
    if name then fn(name, section) end
  end
end

---@param are_full boolean? "query:top" instead of "top"
---@return string[] # the names of all functions and methods, sorted
function topics.methods(are_full)
  local set = {}
  each_method(function(name) set[are_full and name or name:match "[%w_]+$"] = true end)
  return suggest.names(set)
end

---@param name string "top", or "query:top"
---@return string? # what the reference says of the functions and methods of that name
function topics.method(name)
  local sections = {}
  each_method(function(full, section)
    if full == name or full:match "[%w_]+$" == name then sections[#sections + 1] = section end
  end)
  return sections[1] and topics.render(table.concat(sections)) or nil
end

---@param name string
---@return string? # the title of the topic's page
function topics.title(name)
  local page = page_of(name)
  return page and page:match "^# ([^\n]*)"
end

return topics
