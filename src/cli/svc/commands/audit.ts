import { openAuditByAddress } from '../../../audit/command/open-audit.ts';
import { OPTIONS_TEXT, runAudit } from '../../../audit/command/run-audit.ts';
import type { SvcCommand } from '../command.ts';
import type { CliContext } from '../context.ts';

export const auditCommand: SvcCommand = {
  name: 'audit',
  summary: 'Recomputes the whole record from chain and prices, and reports every difference',
  description: `Nothing that the service claims is trusted. Without --rpc: the service of this folder, against its chain and the prices that its record is made from.`,
  options: [],
  footer: OPTIONS_TEXT.trimEnd(),
  run: (context, _, args) =>
    runAudit(addServiceOption(args, context), {
      open: (command) =>
        command.rpc === undefined && context.openAudit !== undefined
          ? context.openAudit(command)
          : openAuditByAddress(command, context.now()),
      out: context.out,
      err: context.err,
    }),
};

function addServiceOption(args: readonly string[], { environment: { SERVICE_URL: named = '' } }: CliContext): string[] {
  const options = args.map((word) => (word === '--url' ? '--service' : word.replace(/^--url=/, '--service=')));
  const has = (option: string) => options.some((word) => word === option || word.startsWith(`${option}=`));
  return named === '' || has('--service') || has('--rpc') ? options : [...options, '--service', named];
}
