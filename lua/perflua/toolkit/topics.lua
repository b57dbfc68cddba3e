-- The pages of the manual, which the interpreter brings with it: perflua help TOPIC; and what
-- the reference says of a method.

local markdown = require "perflua.toolkit.markdown"
local suggest = require "perflua.errors.suggest"

local topics = {}

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
  return page and markdown(page)
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
  return sections[1] and markdown(table.concat(sections)) or nil
end

---@param name string
---@return string? # the title of the topic's page
function topics.title(name)
  local page = page_of(name)
  return page and page:match "^# ([^\n]*)"
end

return topics
