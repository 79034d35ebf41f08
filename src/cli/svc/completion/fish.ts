import type { CompletedCommand, CompletedOption, CompletedProgram } from './describe-program.ts';

/** A completion script for fish 3 and later. */
export function formatFishCompletion({ name, options, commands }: CompletedProgram): string {
  const complete = (command: string, rest: string) => `complete -c ${name} -n ${quote(`__${name}_command ${command}`)} ${rest}`;
  return `# fish completion of ${name}
function __${name}_command --description 'Whether the first word that is no option is this one; without a name: whether there is none'
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        string match -q -- '-*' $word; and continue
        test "$word" = "$argv[1]"
        return
    end
    test -z "$argv[1]"
end
complete -c ${name} -f
${commands.map((command) => complete('', `-a ${command.name} -d ${quote(command.summary)}`)).join('\n')}
${options.map((option) => complete('', formatOption(option))).join('\n')}
${commands.flatMap((command) => formatCommand(command).map((rest) => complete(command.name, rest))).join('\n')}
`;
}

function formatCommand({ options, values, takesFile }: CompletedCommand): string[] {
  const positionals = values.length > 0 ? [`-a ${quote(values.join(' '))}`] : [];
  return [...positionals, ...(takesFile ? ['-F'] : []), ...options.map(formatOption)];
}

function formatOption({ short, long, description, takesValue, values, takesFile }: CompletedOption): string {
  const flags = [...(short === undefined ? [] : [`-s ${short.slice(1)}`]), `-l ${long.slice(2)}`];
  const value = takesFile ? ['-r -F'] : takesValue ? ['-x'] : [];
  const list = values.length > 0 ? [`-a ${quote(values.join(' '))}`] : [];
  return [...flags, ...value, ...list, `-d ${quote(description)}`].join(' ');
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
