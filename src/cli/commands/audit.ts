import { OPTIONS_TEXT, runAudit } from '../../audit/command.ts';
import { openByAddress } from '../../audit/open.ts';
import type { Command } from '../command.ts';
import type { Host } from '../host.ts';

/** The audit of the whole record, as `npm run audit` runs it. */
export const audit: Command = {
  name: 'audit',
  takes: '[--rpc <url> --attester <address>] [options]',
  summary: 'Recomputes the whole record from chain and prices, and names every difference',
  help: `It believes nothing that the service says. Without --rpc: the service of this folder, against its chain and the prices that its
record is made from.

${OPTIONS_TEXT}`,
  run: (words, host) =>
    runAudit(withService(words, host), {
      open: (command) =>
        command.rpc === undefined && host.openAudit !== undefined ? host.openAudit(command) : openByAddress(command, host.now()),
      out: host.out,
      err: host.err,
    }),
};

/** The other commands call it `--url`; SERVICE_URL says which service it is where no chain is named. */
function withService(words: readonly string[], { environment: { SERVICE_URL: named = '' } }: Host): string[] {
  const told = words.map((word) => (word === '--url' ? '--service' : word.replace(/^--url=/, '--service=')));
  const has = (option: string) => told.some((word) => word === option || word.startsWith(`${option}=`));
  return named === '' || has('--service') || has('--rpc') ? told : [...told, '--service', named];
}
