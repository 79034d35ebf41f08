import { UsageError } from '../../../platform/usage-error.ts';
import { parseChoice } from '../arguments.ts';
import { EXIT, type SvcCommand } from '../command.ts';
import { formatBashCompletion } from '../completion/bash.ts';
import { describeProgram } from '../completion/describe-program.ts';
import { formatFishCompletion } from '../completion/fish.ts';
import { formatZshCompletion } from '../completion/zsh.ts';
import { printJson } from '../print.ts';

const FORMATTERS = { bash: formatBashCompletion, zsh: formatZshCompletion, fish: formatFishCompletion } as const;
const SHELLS = ['bash', 'zsh', 'fish'] as const satisfies (keyof typeof FORMATTERS)[];

export const completionCommand: SvcCommand<{ json?: boolean }> = {
  arguments: '<shell>',
  argumentValues: SHELLS,
  description: `It completes commands, options and their values, as --help lists them.

  bash   source <(svc completion bash)                                   in ~/.bashrc
  zsh    source <(svc completion zsh)                                    in ~/.zshrc, after compinit
  fish   svc completion fish > ~/.config/fish/completions/svc.fish       once

Where svc is called by npx: alias svc='npx svc' before it.`,
  options: [['--json', 'print the script as a JSON document']],
  async run(context, { json }, [word]) {
    const shell = parseChoice('shell', word, SHELLS);
    if (shell === undefined || context.loadProgram === undefined) throw new UsageError('shell', 'is missing');
    const script = FORMATTERS[shell](describeProgram(await context.loadProgram()));
    if (json) printJson(context, { shell, script });
    else context.out.write(script);
    return EXIT.ok;
  },
};
