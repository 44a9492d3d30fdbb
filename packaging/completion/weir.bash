# SPDX-License-Identifier: BSD-2-Clause
# bash completion for weir. What there is to complete is asked of the command itself, so it never says too much or too little.

_weir_options() { # subcommand
	weir help "$1" 2>/dev/null | awk '/^  --/ {print $1}'
}

_weir_subcommands() {
	weir help 2>/dev/null | awk '/^subcommands/ {on = 1; next} /^$/ {on = 0} on {print $1}'
}

_weir() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} sub=${COMP_WORDS[1]}
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_weir_subcommands)" -- "$cur")
		return
	fi
	case $prev in
	--policy | --table | --nginx-conf | --state | --nginx | --module | --snapshot | --source | --out | --running | --database | --secret-file)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		compopt -o filenames 2>/dev/null
		return
		;;
	--method)
		mapfile -t COMPREPLY < <(compgen -W "GET HEAD POST PUT PATCH DELETE OPTIONS" -- "$cur")
		return
		;;
	--limit)
		local args=() i
		for ((i = 2; i < COMP_CWORD - 1; i++)); do
			case ${COMP_WORDS[i]} in --table | --policy | --nginx-conf) args+=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}") ;; esac
		done
		mapfile -t COMPREPLY < <(compgen -W "$(weir show --json "${args[@]}" 2>/dev/null |
			sed -n 's/^      "name": "\([^"]*\)",$/\1/p')" -- "$cur")
		return
		;;
	esac
	case $sub:$cur in
	*:-*) mapfile -t COMPREPLY < <(compgen -W "$(_weir_options "$sub")" -- "$cur") ;;
	table:*) mapfile -t COMPREPLY < <(compgen -W "info check resize export import" -- "$cur") ;;
	keys:*)
		if [ "$prev" = import ]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			compopt -o filenames 2>/dev/null
		elif [ "$COMP_CWORD" -eq 2 ]; then
			mapfile -t COMPREPLY < <(compgen -W "add list show set rotate revoke whose import export" -- "$cur")
		elif [ "$COMP_CWORD" -eq 3 ]; then
			mapfile -t COMPREPLY < <(compgen -W "$(weir keys list 2>/dev/null | awk 'NR > 1 && !/ keys? in \// {print $1}')" -- "$cur")
		fi
		;;
	shadow:*) mapfile -t COMPREPLY < <(compgen -W "report" -- "$cur") ;;
	promote:*) mapfile -t COMPREPLY < <(compgen -W "$(weir show --json 2>/dev/null |
		sed -n 's/^      "name": "\([^"]*\)",$/\1/p')" -- "$cur") ;;
	module:*) mapfile -t COMPREPLY < <(compgen -W "path check build" -- "$cur") ;;
	help:*) mapfile -t COMPREPLY < <(compgen -W "$(_weir_subcommands)" -- "$cur") ;;
	import:* | check:* | run:* | publish:* | control:*)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		compopt -o filenames 2>/dev/null
		;;
	esac
}

complete -F _weir weir
