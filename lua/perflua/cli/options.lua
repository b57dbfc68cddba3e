-- The options of the interpreter, before its script or tool.

local screen = require "perflua.cli.screen"

local options = {}

options.usage = [=[
usage: perflua perf.data
       perflua [options] script.lua [perf.data [args…]]
       perflua [options] tool [args…]
       perflua [options] -e STAT | -p LIST [perf.data…]
]=]

options.help = options.usage .. [[

An argument with / or . is a script. Any other word is a tool (perflua help lists
them) or else a script file of that name. - is a script on standard input. A recording
is described on one screen (perflua overview). Without arguments, perflua is a prompt on
a terminal.

  -e STAT     run the Lua statements STAT, or print the values of the expression
              STAT; recordings after the options, or -, are arg[1] … and, opened
              together, the global `file`; default: perf.data
  -f EXPR     only samples for which the filter EXPR is true: of -p, and of `file`
              in -e and at the prompt
  -p LIST     print a line for each sample: values of fields or expressions, separated
              by commas in LIST and by tabs in the line; - stands for an absent one
  -i          start a prompt after the script, or with a recording as the global `file`
  -l NAME     require NAME into the global of that name; -l GLOBAL=NAME
  -v          print the version
  -W          turn warnings on (default)
  -E          ignore environment variables
  --quiet     no progress line on the terminal
  --no-pager  print text longer than the screen without a pager
  --color WHEN
              colors: auto (default: on a terminal, unless NO_COLOR is set), always, never
  --wide      print names in full where lines are longer than the terminal
  --timing    say on standard error where the time went: the passes, and the stages
              of each; --timing=json for programs
  --traceback show a traceback of every error of a script, also of a wrong call
  -j N        read with at most N workers, 1 to 16
  --          end of options
  --help      print this text
  --version   print the version and the libraries built in
]]

local flags = {
  ["-i"] = "interactive",
  ["-v"] = "banner",
  ["-W"] = "warnings",
  ["-E"] = "no_environment",
  ["--quiet"] = "quiet",
  ["--no-pager"] = "no_pager",
  ["--wide"] = "wide",
  ["--timing"] = "timing",
  ["--traceback"] = "traceback",
  ["--help"] = "help",
  ["--version"] = "version",
}

-- Options that take a word, joined or the next one; they may be repeated.
local take = {
  e = function(parsed, text) table.insert(parsed.actions, { letter = "e", value = text }) end,
  l = function(parsed, text) table.insert(parsed.actions, { letter = "l", value = text }) end,
  f = function(parsed, text) table.insert(parsed.filters, text) end,
  p = function(parsed, text)
    parsed.list = parsed.list and parsed.list .. ", " .. text or text
  end,
}

---Parses the words before a script or tool.
---@param argv string[] with the program at 0
---@return table? options, integer|string first of the script or tool; or nil and what is wrong
function options.parse(argv)
  local parsed = { actions = {}, filters = {} }
  local i = 1
  while argv[i] and argv[i]:find("^%-.") do
    local word = argv[i]
    i = i + 1
    local letter, value = word:match("^%-([elfp])(.*)")
    if word == "--" then
      break
    elseif flags[word] then
      parsed[flags[word]] = true
    elseif word == "--timing=json" then
      parsed.timing = "json"
    elseif word == "--color" or word:find "^%-%-color=" then
      parsed.color = word:match "=(.*)"
      if not parsed.color then parsed.color, i = argv[i], i + 1 end
      local wrong = screen.wrong_color(parsed.color or "")
      if wrong then return nil, wrong end
    elseif word:find "^%-j" then
      local text = word:match "^%-j(.+)"
      if not text then text, i = argv[i], i + 1 end
      parsed.workers = math.tointeger(tonumber(text))
      if not parsed.workers or parsed.workers < 1 or parsed.workers > 16 then
        return nil, "'-j' needs a number from 1 to 16"
      end
    elseif letter then
      if value == "" then
        value = argv[i]
        i = i + 1
        if not value or value:find("^%-") then
          return nil, ("'%s' needs an argument"):format(word)
        end
      end
      take[letter](parsed, value)
    else
      return nil, ("unrecognized option '%s'"):format(word)
    end
  end
  return parsed, i
end

return options
