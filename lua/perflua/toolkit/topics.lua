-- The pages of the manual, which the interpreter brings with it: perflua help TOPIC.

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

---@param name string
---@return string? # the title of the topic's page
function topics.title(name)
  local page = page_of(name)
  return page and page:match "^# ([^\n]*)"
end

return topics
