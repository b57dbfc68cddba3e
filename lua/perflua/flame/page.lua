-- Pages that need nothing but a browser: an SVG document with a style sheet, one script for all
-- kinds of pages, and the data that the script draws. As HTML the page has a policy by which
-- the browser runs this script only, and loads nothing.

local core = require "perflua.core"
local json = require "perflua.text.json"

local page = {}

-- Text inside XML, whatever bytes it is made of.

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
function page.escape(text)
  if text:find("[^\n !#$%%(-;=?-~]") then
    text = drop_invalid(text):gsub("[&<>\"']", entities)
  end
  return text
end

local function escape_unicode(c) return ("\\u%04x"):format(utf8.codepoint(c)) end

---@param text string
---@return string # a literal of JavaScript inside a script of XML or HTML
function page.script_string(text)
  local quoted = json.string(text):gsub("[<>&%]\127]", escape_unicode)
  return (quoted:gsub("\u{2028}", escape_unicode):gsub("\u{2029}", escape_unicode):gsub(
    "\xef\xbf[\xbe\xbf]", escape_unicode))
end

local DIGITS <const> = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

---@param text string
---@return string # its digest in Base64
function page.sha256(text)
  local bytes, parts = core.sha256(text), {}
  for i = 1, #bytes, 3 do
    local a, b, c = bytes:byte(i, i + 2)
    local bits, n = a << 16 | (b or 0) << 8 | (c or 0), c and 4 or b and 3 or 2
    for k = 1, 4 do
      local digit = bits >> (24 - 6 * k) & 63
      parts[#parts + 1] = k <= n and DIGITS:sub(digit + 1, digit + 1) or "="
    end
  end
  return table.concat(parts)
end

page.ROW = 18 -- pixels from one row to the next
page.FOOT = 34 -- below the rows
page.PAD = 16 -- left and right

local LETTER <const> = 6.7 -- a letter's width, about; the script measures

local directory = debug.getinfo(1, "S").source:match("^@(.*/)") -- of this file

-- Files of the script: those of all pages, and those of one kind of page.
local parts = {
  { "text", "view", "tools" },
  { kind = "flame", "frames", "reverse", "draw", "changes", "status", "search", "keys",
    "start" },
  { kind = "chart", "rows", "axis", "chart" },
}

local function read_asset(path)
  local file <close> = assert(io.open(path, "rb"))
  return assert(file:read "a")
end

-- Returns the text of a file beside this one, without the comment that it begins with. In the
-- interpreter it is embedded, as a module of that name.
local function text_of(name)
  local embedded = "perflua/flame/" .. name
  local text = package.preload[embedded] and require(embedded) or read_asset(directory .. name)
  return (text:gsub("^.-\n\n", "", 1))
end

---@return string # the script of all pages
function page.script()
  local list = { '(function () {\n"use strict";\nconst pages = {};\n' }
  for _, part in ipairs(parts) do
    if part.kind then list[#list + 1] = ("pages.%s = function () {\n"):format(part.kind) end
    for _, name in ipairs(part) do list[#list + 1] = text_of("js/" .. name .. ".js") .. "\n" end
    if part.kind then list[#list + 1] = "};\n" end
  end
  list[#list + 1] = "pages[PAGE.kind]();\n})();\n"
  return table.concat(list)
end

---Cuts a text to about the width that it has.
---@param text string
---@param width number pixels
---@return string
function page.fit(text, width)
  local room = width // LETTER
  local length = utf8.len(text)
  if not length then return "" end -- the script will tell
  if length <= room then return text end
  if room < 3 then return "" end
  return text:sub(1, utf8.offset(text, room) - 1) .. "…"
end

---@param value number pixels
---@return string
function page.fixed(value) return (("%.2f"):format(value):gsub("%.?0+$", "")) end

local function write_legend(out, settings)
  local x = page.PAD
  out '<g class="legend">\n'
  for _, entry in ipairs(settings.legend) do
    out(('<rect class="%s" x="%d" y="60" width="12" height="12" rx="2"/>'):format(entry[1], x))
    out(('<text x="%d" y="70">%s</text>\n'):format(x + 17, entry[2]))
    x = x + 32 + #entry[2] * 7
  end
  out(('<text id="note" x="%d" y="70">%s</text>\n</g>\n'):format(x, page.escape(settings.note)))
end

---Writes the head of a page, after the rows, which pass under it when they are scrolled.
---@param out fun(text: string)
---@param settings { height: integer, title: string, about: string, note: string,
--- legend: string[][] } legend: a class and what it stands for, each
function page.write_head(out, settings)
  out '<g id="head">\n'
  out(('<rect class="paper" width="100%%" height="%d"/>\n'):format(settings.height - 4))
  out(('<text class="title" id="title" x="%d" y="27">%s</text>\n'):format(page.PAD,
    page.escape(settings.title)))
  out(('<text class="about" id="about" x="%d" y="47">%s</text>\n'):format(page.PAD,
    page.escape(settings.about)))
  write_legend(out, settings)
  out "</g>\n"
end

local POLICY <const> = "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'"

---Begins an HTML page, whose policy allows this script and this style sheet alone.
---@param out fun(text: string)
---@param title string
---@param script string the text of its only element `script`
---@param style string the text of its only element `style`
function page.open_html(out, title, script, style)
  out('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n')
  out(('<meta http-equiv="Content-Security-Policy" content="%s">\n'):format(POLICY:format(
    page.sha256(script), page.sha256(style))))
  out(("<title>%s</title>\n</head>\n<body>\n"):format(page.escape(title)))
end

---Writes a page.
---@param out fun(text: string)
---@param settings { title: string, about: string, width: integer, height: number,
--- fixed: boolean?, rules: { light: string[], dark: string[] }, html: boolean? }
---@param draw fun(out: fun(text: string)) writes what is seen without the script
---@param data fun(out: fun(text: string)) writes an object of JSON in which &, < and > stand
--- only as escapes: its `kind` is one of those above
function page.write(out, settings, draw, data)
  local script = "\n" .. page.script()
  local style = ("\n%s%s\n@media (prefers-color-scheme: dark) {\n%s\n}\n"):format(
    text_of "style.css", table.concat(settings.rules.light, "\n"),
    table.concat(settings.rules.dark, "\n"))
  if settings.html then page.open_html(out, settings.title, script, style) end
  out(('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '):format(settings.width,
    settings.height))
  out(('viewBox="0 0 %d %d"%s>\n'):format(settings.width, settings.height,
    settings.fixed and ' data-fixed=""' or ""))
  out(("<title>%s</title>\n<desc>%s</desc>\n<style>%s</style>\n"):format(
    page.escape(settings.title), page.escape(settings.about), style))
  out '<rect class="paper" width="100%" height="100%"/>\n'
  draw(out)
  out '<metadata>'
  data(out)
  out(("</metadata>\n<script><![CDATA[%s]]></script>\n</svg>\n"):format(script))
  if settings.html then out "</body>\n</html>\n" end
end

return page
