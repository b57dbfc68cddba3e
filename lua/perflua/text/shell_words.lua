-- The words of a command line of bash, which may end inside of a word.

---Splits a command line as bash does, but expands nothing.
---@param line string
---@return string[] words without their quotes; the last one is "" after a space
---@return string quote that is open at the end: "'", '"' or ""
---@return boolean is_plain false if bash would expand the last word, or it ends with a
--- backslash
return function(line)
  local words, word, quote, is_plain, at = {}, nil, "", true, 1
  while at <= #line do
    local c = line:sub(at, at)
    if c == quote then
      quote = ""
    elseif quote == "" and c:find "%s" then
      words[#words + 1] = word
      word, is_plain = nil, true
    elseif quote == "" and c:find "['\"]" then
      quote, word = c, word or ""
    else
      if c == "\\" and (quote == "" or quote == '"' and line:find('^[$`"\\]', at + 1)) then
        at = at + 1
        c = line:sub(at, at)
        is_plain = is_plain and c ~= ""
      elseif quote ~= "'" and c:find "[$`]" then
        is_plain = false
      end
      word = (word or "") .. c
    end
    at = at + 1
  end
  words[#words + 1] = word or ""
  return words, quote, is_plain
end
