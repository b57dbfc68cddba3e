-- perflua completion SHELL: the script by which a shell completes perflua's words. It asks
-- `perflua completion --words`, so what there is to complete is known here alone.

local candidates = require "perflua.meta.candidates"
local tools = require "perflua.tools"

local BASH <const> = [==[
# bash completion of perflua: source it, or put it where bash-completion finds it
_perflua() {
	local line=${COMP_LINE:0:COMP_POINT} current prefix
	local -a words behind
	read -ra words <<<"$line"
	read -ra behind <<<"${COMP_LINE:COMP_POINT}"
	[[ $line == *[[:space:]] ]] && words+=("")
	current=${words[${#words[@]}-1]}
	# bash takes what follows the last : or = for a word of its own
	prefix=${current%"${current##*[:=]}"}
	mapfile -t COMPREPLY < <("${words[0]}" completion --words $((${#words[@]} - 1)) -- \
		"${words[@]:1}" "${behind[@]}" 2>/dev/null)
	COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
}
complete -o bashdefault -o default -F _perflua perflua
]==]

local ZSH <const> = [==[
#compdef perflua
# zsh completion of perflua: put it into a directory of $fpath as _perflua, or source it
_perflua() {
	local -a found line
	line=("${(@)words[2,CURRENT-1]}" "$PREFIX" "${(@)words[CURRENT+1,-1]}")
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
	set -l words (commandline -opc) (commandline -ct)
	set -l n (math (count $words) - 1)
	$words[1] completion --words $n -- $words[2..-1] (commandline -o) 2>/dev/null
end
complete -c perflua -a '(__perflua_words)'
]==]

local scripts = { bash = BASH, zsh = ZSH, fish = FISH }

local tool = {
  description = "write the script by which bash, zsh or fish complete the words of perflua",
  usage = "completion bash | zsh | fish",
  recordings = false, operands = { 0, math.huge },
  options = {
    words = { "N", "print what the N-th operand, a word of a command line, may become" },
  },
  help = [[
make install puts these scripts where the shells look for them. For one session of bash:

  source <(perflua completion bash)

Tools, scripts and options are completed, and events and fields of the recording on the line.]],
}

---@param args table
---@param out file*
---@param host table of the interpreter
---@return integer | nil status
---@return string | nil message
function tool.run(args, out, host)
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
