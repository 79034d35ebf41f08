import type { CompletedCommand, CompletedProgram } from './describe-program.ts';

/** A completion script for bash 3.2 and later. Without a match of its own, readline completes file names. */
export function formatBashCompletion({ name, options, commands }: CompletedProgram): string {
  const top = [...commands.map((command) => command.name), ...options.map(({ long }) => long)];
  return `# bash completion of ${name}
_${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command='' words='' i
  # bash splits --option=value at the equals sign.
  if [[ $cur == = ]]; then cur=''
  elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ \${COMP_WORDS[i]} != -* ]]; then command=\${COMP_WORDS[i]}; break; fi
  done
  case "$command $prev" in
${commands.flatMap(formatValueCases).join('\n')}
    *)
      case $command in
        '') words='${top.join(' ')}' ;;
${commands.map(formatCommandCase).join('\n')}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _${name} ${name}
`;
}

/** An option with any value completes file names only. */
function formatValueCases({ name, options }: CompletedCommand): string[] {
  const valued = options.filter(({ takesValue }) => takesValue);
  const listed = valued.filter(({ values }) => values.length > 0);
  const free = valued.filter(({ values }) => values.length === 0).map(({ long }) => `'${name} ${long}'`);
  return [
    ...listed.map(({ long, values }) => `    '${name} ${long}') words='${values.join(' ')}' ;;`),
    ...(free.length === 0 ? [] : [`    ${free.join(' | ')}) ;;`]),
  ];
}

function formatCommandCase({ name, values, options }: CompletedCommand): string {
  return `        ${name}) words='${[...values, ...options.map(({ long }) => long)].join(' ')}' ;;`;
}
