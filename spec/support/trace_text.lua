-- perf's text of a tracepoint's sample, compared with its fields: where a conversion of the
-- print format is of a field as it is, the text has the field's value.
local trace_text = {}

-- The parts of a print format between commas that are in no brackets and no string.
local function split(text)
  local parts, depth, from, quoted, at = {}, 0, 1, false, 1
  while at <= #text do
    local c = text:sub(at, at)
    if quoted then
      if c == "\\" then
        at = at + 1
      elseif c == '"' then
        quoted = false
      end
    elseif c == '"' then
      quoted = true
    elseif c:match "[%(%[{]" then
      depth = depth + 1
    elseif c:match "[%)%]}]" then
      depth = depth - 1
    elseif c == "," and depth == 0 then
      parts[#parts + 1] = text:sub(from, at - 1)
      from = at + 1
    end
    at = at + 1
  end
  parts[#parts + 1] = text:sub(from)
  return parts
end

local escapes = { n = "\n", t = "\t", r = "\r" }

local function literal(part)
  local out = {}
  for s in part:gsub('\\"', "\1"):gmatch '"([^"]*)"' do
    out[#out + 1] = s:gsub("\1", '"'):gsub("\\(.)", function(c) return escapes[c] or c end)
  end
  return table.concat(out)
end

--- The field that an argument is, as it is; nil: it is more than that.
local function field_of(arg)
  arg = arg:gsub("%s", "")
  local before
  repeat
    before = arg
    arg = arg:gsub("^%((.*)%)$", function(inner)
      return not inner:find "[()]" and inner or nil
    end)
    arg = arg:gsub("^%(unsignedlonglong%)", ""):gsub("^%(longlong%)",
      ""):gsub("^%(unsignedlong%)", "")
  until arg == before
  return arg:match "^REC%->([%w_]+)$" or arg:match "^__get_str%(([%w_]+)%)$"
    or arg:match "^__get_rel_str%(([%w_]+)%)$"
end

local widths = { hh = 8, h = 16, [""] = 32, l = "long", z = "long", t = "long", ll = 64,
  L = 64 }

local function escaped(s)
  return (s:gsub("%p", "%%%0"))
end

--- A print format as { pattern (of a line), captures ({ field, letter, bits }) }; nil: nothing
--- of it can be told.
function trace_text.parse(print_fmt)
  local parts = split(print_fmt)
  local text = literal(parts[1])
  local pattern, captures, at, arg = {}, {}, 1, 2
  while at <= #text do
    local percent = text:find("%", at, true)
    pattern[#pattern + 1] = escaped(text:sub(at, (percent or #text + 1) - 1))
    if not percent then
      break
    end
    local flags, width, letter = text:match("^%%([%-%+ #0-9%.%*]*)([hlLzt]*)(%a)", percent)
    if text:sub(percent + 1, percent + 1) == "%" then
      pattern[#pattern + 1], at = "%%", percent + 2
    elseif not letter then
      return nil
    else
      at = percent + 1 + #flags + #width + 1
      local _, stars = flags:gsub("%*", "")
      if letter == "p" then
        at = text:find("[^%a%d]", at) or #text + 1
      end
      arg = arg + stars
      local field = letter ~= "p" and stars == 0 and parts[arg] and field_of(parts[arg])
      pattern[#pattern + 1] = not field and ".-" or letter:match "[diuxXo]"
        and "(%s*[%-%+]?%w+)" or "(.-)"
      if field then
        captures[#captures + 1] = { field = field, letter = letter, bits = widths[width] }
      end
      arg = arg + 1
    end
  end
  if #captures == 0 or #captures > 30 then
    return nil
  end
  return { pattern = "^" .. table.concat(pattern):gsub("%s+$", "") .. "%s*$",
    captures = captures }
end

local bases = { d = 10, i = 10, u = 10, x = 16, X = 16, o = 8 }

local function low(v, bits)
  return bits >= 64 and v or v & ((1 << bits) - 1)
end

local function number(digits, base)
  local n = 0
  local sign, rest = digits:match "^%s*([%-%+]?)0?[xX]?(%x+)%s*$"
  if not rest then
    sign, rest = digits:match "^%s*([%-%+]?)(%x+)%s*$"
  end
  for d in (rest or ""):gmatch "%x" do
    n = n * base + tonumber(d, 16)
  end
  return rest and (sign == "-" and -n or n)
end

-- Whether what was printed is this value.
local function same(capture, printed, value, long_bits)
  if type(value) == "string" then
    return printed:match "^%s*(.-)%s*$" == value:match "^%s*(.-)%s*$"
  end
  local base = bases[capture.letter]
  if not base or math.type(value) ~= "integer" then
    return nil
  end
  local bits = capture.bits == "long" and long_bits or capture.bits
  local n = number(printed, base)
  return n ~= nil and low(n, bits) == low(value, bits)
end

--- Compares a line with the fields of a sample: how many were compared; of a difference also
--- the field and what was printed; nil: the line is not of this format.
function trace_text.compare(parsed, line, args, long_bits)
  local got = table.pack(line:match(parsed.pattern))
  if got.n == 0 or got[1] == nil then
    return nil
  end
  local n = 0
  for i, capture in ipairs(parsed.captures) do
    local is_same = same(capture, got[i], args[capture.field], long_bits)
    if is_same == false then
      return n, capture.field, got[i]
    end
    n = n + (is_same and 1 or 0)
  end
  return n
end

return trace_text
