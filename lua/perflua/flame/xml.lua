-- Text inside XML, whatever bytes it is made of.

local json = require "perflua.text.json"

local xml = {}

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
  ["'"] = "&#39;" }

local REPLACEMENT = "\u{fffd}"

-- Drops invalid UTF-8, and characters that XML 1.0 does not allow: controls, U+FFFE, U+FFFF.
local function drop_invalid(text)
  local parts, at = {}, 1
  while at <= #text do
    local length, bad = utf8.len(text, at)
    local stop = length and #text or bad - 1
    local part = text:sub(at, stop):gsub("[\0-\8\11\12\14-\31\127]", REPLACEMENT)
    parts[#parts + 1] = part:gsub("\xc2[\x80-\x9f]", REPLACEMENT):gsub("\xef\xbf[\xbe\xbf]",
      REPLACEMENT)
    if not length then parts[#parts + 1] = REPLACEMENT end
    at = (bad or #text) + 1
  end
  return table.concat(parts)
end

---@param text string
---@return string # for content and attributes
function xml.escape(text)
  if text:find("[^\n !#$%%(-;=?-~]") then
    text = drop_invalid(text):gsub("[&<>\"']", entities)
  end
  return text
end

local function escape_unicode(c) return ("\\u%04x"):format(utf8.codepoint(c)) end

---@param text string
---@return string # a literal of JavaScript inside a script of XML or HTML
function xml.script_string(text)
  local quoted = json.string(text):gsub("[<>&%]\127]", escape_unicode)
  return (quoted:gsub("\u{2028}", escape_unicode):gsub("\u{2029}", escape_unicode):gsub(
    "\xef\xbf[\xbe\xbf]", escape_unicode))
end

return xml
