import type { ProviderHealth } from '../market/live/provider.ts';
import { ProviderHealthStore } from '../market/live/store.ts';
import { openExistingStorage, parseOrFail, runToEnd } from './script.ts';
import { type CommandSyntax, parseCommandLine } from './svc/command-line.ts';

const SYNTAX: CommandSyntax = {
  name: 'npm run -s feeds --',
  example: 'npm run -s feeds -- --json',
  summary: 'Prints calls, failures and rows left out of each market data provider since its process started, and why',
  options: [['--json', 'print JSON']],
  footer: 'Read-only. Live data alone is collected. Works beside a running service with the same settings, or alone.',
};

const EXIT_USAGE = 2;

export async function runFeedsCommand(args: string[]): Promise<void> {
  const command = parseOrFail(() => parseFeedsCommand(args), EXIT_USAGE);
  if (command === null) return;
  await runToEnd(async (context) => {
    const { db } = await openExistingStorage(context);
    const providers = await new ProviderHealthStore(db).read();
    process.stdout.write(command.json ? `${JSON.stringify({ providers }, null, 2)}\n` : formatProviders(providers));
    return 0;
  });
}

/** @returns null after printing the help @throws OracleError INPUT_INVALID naming the argument */
export function parseFeedsCommand(args: string[]): { json: boolean } | null {
  const parsed = parseCommandLine<{ json?: boolean }>(SYNTAX, args, process.stdout);
  return parsed === null ? null : { json: parsed.values.json ?? false };
}

/** One line a provider, and one for its last error and for the last row left out. */
export function formatProviders(providers: readonly ProviderHealth[]): string {
  if (providers.length === 0) return 'no provider was asked\n';
  const lines = providers.flatMap(({ title, circuit, calls, failures, rowsLeftOut, lastError, lastLeftOut, lastLeftOutAtMs }) => [
    `${title}: ${calls} calls, ${failures} failed, ${rowsLeftOut} rows left out${circuit === 'closed' ? '' : `, circuit ${circuit}`}`,
    ...(lastError === null ? [] : [`  failing: ${lastError}`]),
    ...(lastLeftOutAtMs === null ? [] : [`  last row left out ${new Date(lastLeftOutAtMs).toISOString()}: ${lastLeftOut}`]),
  ]);
  return `${lines.join('\n')}\n`;
}
