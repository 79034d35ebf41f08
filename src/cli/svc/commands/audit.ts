import { openAuditByAddress } from '../../../audit/command/open-audit.ts';
import { OPTIONS_TEXT, runAudit } from '../../../audit/command/run-audit.ts';
import type { SvcCommand } from '../command.ts';
import type { CliContext } from '../context.ts';

/** The audit of the whole record, as `npm run audit` runs it. */
export const auditCommand: SvcCommand = {
  name: 'audit',
  usage: '[--rpc <url> --attester <address>] [options]',
  summary: 'Recomputes the whole record from chain and prices, and names every difference',
  help: `It believes nothing that the service says. Without --rpc: the service of this folder, against its chain and the prices that its
record is made from.

${OPTIONS_TEXT}`,
  run: (args, context) =>
    runAudit(addServiceOption(args, context), {
      open: (command) =>
        command.rpc === undefined && context.openAudit !== undefined
          ? context.openAudit(command)
          : openAuditByAddress(command, context.now()),
      out: context.out,
      err: context.err,
    }),
};

/** The other commands call it `--url`; SERVICE_URL says which service it is where no chain is named. */
function addServiceOption(args: readonly string[], { environment: { SERVICE_URL: named = '' } }: CliContext): string[] {
  const options = args.map((word) => (word === '--url' ? '--service' : word.replace(/^--url=/, '--service=')));
  const has = (option: string) => options.some((word) => word === option || word.startsWith(`${option}=`));
  return named === '' || has('--service') || has('--rpc') ? options : [...options, '--service', named];
}
