/** completion: the script that a shell reads; what it offers is asked of `lineside __complete`, which knows the commands. */
import { nearest } from '../../platform/base/nearest.js';
import type { CommandContext, CommandRow } from './command.js';
import { type Outcome, usage } from './outcome.js';

const BASH = `# completion of lineside for bash: . <(lineside completion bash)
_lineside() {
  local line IFS=$' \\t\\n'
  local current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(lineside __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current" 2>/dev/null)
}
complete -o default -F _lineside lineside`;

const ZSH = `#compdef lineside
# completion of lineside for zsh: source <(lineside completion zsh)
_lineside() {
  local -a found
  found=("\${(@f)$(lineside __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
# the file in $fpath is the function itself at its first call
if [[ "\${funcstack[1]}" = _lineside ]]; then _lineside "$@"; else compdef _lineside lineside; fi`;

const FISH = `# completion of lineside for fish: lineside completion fish | source
function __lineside_complete
    set -l words (commandline -opc) (commandline -ct)
    lineside __complete -- $words[2..-1] 2>/dev/null
end
complete -c lineside -a '(__lineside_complete)'`;

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
const SHELLS = Object.keys(SCRIPTS);

function completion({ args: [shell = ''] }: CommandContext): Promise<Outcome> {
  const script = SCRIPTS[shell];
  if (script !== undefined) return Promise.resolve({ data: { shell, script }, text: script });
  const near = nearest(shell, SHELLS);
  return Promise.reject(usage(`there is no completion for ${shell}${near === undefined ? ';' : `; did you mean ${near}?`} known are ${SHELLS.join(', ')}`));
}

export const COMPLETION_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'completion <shell>',
    about: 'print what makes a shell complete commands, options, and names on the box: bash, zsh or fish',
    isLocal: true,
    words: { shell: SHELLS },
    examples: ['. <(lineside completion bash)', 'lineside completion zsh > ~/.zfunc/_lineside', 'lineside completion fish > ~/.config/fish/completions/lineside.fish'],
    run: completion,
  },
];
