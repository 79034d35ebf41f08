import type { CompletedCommand, CompletedOption, CompletedProgram } from './describe-program.ts';

/** A completion script for zsh: to be sourced after compinit, or as `_svc` in a folder of `fpath`. */
export function formatZshCompletion({ name, options, commands }: CompletedProgram): string {
  return `#compdef ${name}
# zsh completion of ${name}
_${name}() {
  local curcontext="$curcontext" state line
  local -a commands
  commands=(
${commands.map((command) => `    ${quote(`${command.name}:${command.summary}`)}`).join('\n')}
  )
  _arguments -C ${options.map(formatOption).join(' ')} '1: :->command' '*:: :->arguments'
  case $state in
    command) _describe command commands ;;
    arguments)
      case $words[1] in
${commands.map(formatCommand).join('\n')}
      esac ;;
  esac
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function formatCommand({ name, options, values, takesFile }: CompletedCommand): string {
  const positionals = values.length > 0 ? [quote(`1: :(${values.join(' ')})`)] : [];
  const files = takesFile ? [quote('*: :_files')] : [];
  return `        ${name}) _arguments ${[...options.map(formatOption), ...positionals, ...files].join(' ')} ;;`;
}

function formatOption({ short, long, description, takesValue, values, takesFile }: CompletedOption): string {
  const action = values.length > 0 ? `(${values.join(' ')})` : takesFile ? '_files' : ' ';
  const rest = `[${description.replace(/[[\]\\:]/g, '\\$&')}]${takesValue ? `: :${action}` : ''}`;
  return short === undefined ? quote(long + rest) : `${quote(`(${short} ${long})`)}{${short},${long}}${quote(rest)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
