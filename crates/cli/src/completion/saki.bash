# bash completion for saki: the command itself says what to offer (saki __complete).

_saki()
{
	local line=${COMP_LINE:0:COMP_POINT} words=() word rest i
	# bash cuts words at '=' and ':'; parts without a space between them belong together.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		rest=${line#"${line%%[![:space:]]*}"}
		[[ $rest == "$word"* ]] || word=$rest
		if ((i > 0)) && [[ -n $word && $rest == "$line" ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
		line=${rest#"$word"}
	done

	local current=${words[-1]} mark IFS=$'\n'
	# Quotes and backslashes are the shell's.
	current=${current#[\"\']}
	current=${current//\\/}
	words[-1]=$current
	# The part that bash has cut off already.
	local kept=${current%"${current##*[=:]}"}

	local offered
	mapfile -t offered < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
	COMPREPLY=()
	local candidate
	for candidate in "${offered[@]:1}"; do
		candidate=${candidate%%$'\t'*}
		COMPREPLY+=("${candidate#"$kept"}")
		# More of the value follows.
		[[ $candidate != *[=:] ]] || compopt -o nospace
	done

	local IFS=' ' directive
	read -r -a directive <<<"${offered[0]}"
	[[ ${directive[0]} == :files || ${directive[0]} == :folders ]] || return 0
	local head=${current:0:${directive[1]}} path=${current:${directive[1]}} extension file files=() filters=() IFS=$'\n'
	head=${head#"$kept"}
	files+=($(compgen -d -- "$path"))
	if [[ ${directive[0]} == :files ]]; then
		if ((${#directive[@]} == 2)); then
			files=($(compgen -f -- "$path"))
		fi
		for extension in "${directive[@]:2}"; do
			files+=($(compgen -f -X "!*.$extension" -- "$path"))
		done
	fi
	((${#files[@]})) || return 0
	compopt -o filenames
	for file in "${files[@]}"; do
		COMPREPLY+=("$head$file")
	done
}

complete -F _saki saki
