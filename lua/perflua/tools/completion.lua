-- perflua completion SHELL: the script by which a shell completes perflua's words. It asks
-- `perflua completion --words`, so what there is to complete is known here alone.

local candidates = require "perflua.meta.candidates"
local split = require "perflua.text.split"
local tools = require "perflua.tools"

local BASH <const> = [==[
# bash completion of perflua: source it, or put it where bash-completion finds it
_perflua() {
	local rest
	local -a found
	# the quote that is open at the cursor, then what may follow there
	mapfile -t found < <("$1" completion --line -- "${COMP_LINE:0:COMP_POINT}" \
		"${COMP_LINE:COMP_POINT}" 2>/dev/null)
	COMPREPLY=()
	for rest in "${found[@]:1}"; do
		# names of a recording are not for the shell to evaluate
		[[ -z $rest || -n ${found[0]} ]] || printf -v rest %q "$rest"
		COMPREPLY+=("$2$rest")
	done
}
complete -o bashdefault -o default -F _perflua perflua
]==]

local ZSH <const> = [==[
#compdef perflua
# zsh completion of perflua: put it into a directory of $fpath as _perflua, or source it
_perflua() {
	local -a found line
	line=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" "${(@Q)words[CURRENT+1,-1]}")
	found=("${(@f)$("${words[1]}" completion --words $((CURRENT - 1)) -- \
		"${line[@]}" 2>/dev/null)}")
	if [[ -n ${found[1]} ]]; then
		compadd -- "${found[@]}"
	else
		_files
	fi
}
if [[ ${funcstack[1]} == _perflua ]]; then _perflua "$@"; else compdef _perflua perflua; fi
]==]

local FISH <const> = [==[
# fish completion of perflua: put it into ~/.config/fish/completions as perflua.fish
function __perflua_words
	set -l words (commandline -opc)
	set -l word (string unescape -- (commandline -ct))
	$words[1] completion --words (count $words) -- $words[2..-1] "$word" (commandline -o) 2>/dev/null
end
complete -c perflua -a '(__perflua_words)'
]==]

local scripts = { bash = BASH, zsh = ZSH, fish = FISH }

local tool = {
  description = "write the script by which bash, zsh or fish complete the words of perflua",
  usage = "completion bash | zsh | fish",
  reads = "nothing", operands = { 0, math.huge }, paged = false,
  completes = function() return { "bash", "zsh", "fish" } end,
  options = {
    line = "print what may follow at the end of the first operand, a line of bash",
    words = { "N", "print what the N-th operand, a word of a command line, may become" },
  },
  help = [[
make install puts these scripts where the shells look for them. For one session of bash:

  source <(perflua completion bash)

Tools, scripts, options, many of their values, and what help explains are completed; events and fields are
those of the recording on the line.]],
}

-- Characters that bash does not take as they are after an open quote.
local SPECIAL <const> = { ["'"] = "'", ['"'] = '["$`\\!]', [""] = "%c" }

-- Writes the quote that is open at the end of a line, and what may follow there.
local function complete_line(line, after, out, host)
  local before, quote, is_plain = split.command(line)
  local last = before[#before]
  out:write(quote, "\n")
  if not is_plain then return end
  local words = split.command(line .. "x" .. after) -- the x: there is a word at the cursor
  words[#before] = last
  table.remove(words, 1)
  for _, word in ipairs(candidates(words, #before - 1, host, tools)) do
    local rest = word:sub(#last + 1)
    if not rest:find(SPECIAL[quote]) then out:write(rest, "\n") end
  end
end

---@param args table
---@param out file*
---@param host table of the interpreter
---@return integer | nil status
---@return string | nil message
function tool.run(args, out, host)
  if args.line then
    complete_line(args[1] or "", args[2] or "", out, host)
    return 0
  end
  if args.words then
    local list = candidates(args, math.tointeger(tonumber(args.words)), host, tools)
    for _, word in ipairs(list) do out:write(word, "\n") end
    return 0
  end
  local script = scripts[args[1] or ""]
  if not script or args[2] then return 2, "completion: bash, zsh or fish expected" end
  out:write(script)
end

return tool
