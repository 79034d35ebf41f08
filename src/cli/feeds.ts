import { askProviders, type FeedReading, recordAnswers, replayAnswers } from '../market/live/ask.ts';
import { PROVIDERS, type ProviderHealth } from '../market/live/provider.ts';
import { createProviders, parseProviderUrls } from '../market/live/providers.ts';
import { ProviderHealthStore } from '../market/live/store.ts';
import { createLog } from '../platform/log.ts';
import type { Config } from '../settings.ts';
import { openExistingStorage, parseOrFail, runToEnd } from './script.ts';
import { type CommandSyntax, parseCommandLine } from './svc/command-line.ts';

const SYNTAX: CommandSyntax = {
  name: 'npm run -s feeds --',
  example: 'npm run -s feeds -- --json',
  summary: 'Prints calls, failures and rows left out of each market data provider since its process started, and why',
  options: [
    ['--ask', 'ask every provider once instead, and print values, ages, agreement and terms'],
    ['--record <folder>', 'with --ask: keep the answers, for a report of what went wrong'],
    ['--replay <folder>', 'with --ask: read the answers of such a folder, at its time'],
    ['--json', 'print JSON'],
  ],
  footer: 'Read-only. Live data alone is collected. Works beside a running service with the same settings, or alone.',
};

const EXIT_USAGE = 2;

export async function runFeedsCommand(args: string[]): Promise<void> {
  const command = parseOrFail(() => parseFeedsCommand(args), EXIT_USAGE);
  if (command === null) return;
  await runToEnd(async (context) => {
    if (command.ask) {
      const readings = await askOnce(context.config, command);
      process.stdout.write(command.json ? `${JSON.stringify({ readings }, null, 2)}\n` : formatReadings(readings));
      return readings.every(({ problem }) => problem === undefined) ? 0 : 1;
    }
    const { db } = await openExistingStorage(context);
    const providers = await new ProviderHealthStore(db).read();
    process.stdout.write(command.json ? `${JSON.stringify({ providers }, null, 2)}\n` : formatProviders(providers));
    return 0;
  });
}

/** @returns null after printing the help @throws OracleError INPUT_INVALID naming the argument */
export function parseFeedsCommand(args: string[]): FeedsCommand | null {
  const parsed = parseCommandLine<Partial<FeedsCommand>>(SYNTAX, args, process.stdout);
  return parsed === null ? null : { ...parsed.values, json: parsed.values.json ?? false };
}

type FeedsCommand = { json: boolean; ask?: boolean; record?: string; replay?: string };

/** By one clock, so that a replay asks for the same days. */
export async function askOnce(
  { PROVIDER_URLS, SOSOVALUE_API_KEY: sosovalueKey }: Pick<Config, 'PROVIDER_URLS' | 'SOSOVALUE_API_KEY'>,
  { record, replay }: Pick<FeedsCommand, 'record' | 'replay'>,
  now = Date.now(),
): Promise<FeedReading[]> {
  const replayed = replay === undefined ? null : await replayAnswers(replay);
  const nowMs = replayed?.nowMs ?? now;
  const answers = replayed?.answers ?? (record === undefined ? undefined : await recordAnswers(record, nowMs));
  const urls = parseProviderUrls(PROVIDER_URLS ?? '');
  const log = createLog({ level: 'silent', secrets: [] });
  // Each answer counts, whatever the others of its provider say.
  const timing = { attempts: 1, failuresToOpen: 1_000, ...(replayed && { minIntervalMs: 0 }) };
  return askProviders(createProviders({ urls, log, now: () => nowMs, timing, answers }), { nowMs, sosovalueKey });
}

function formatReadings(readings: readonly FeedReading[]): string {
  const lines = readings.map(({ what, provider, value, ageMs, differs, problem, terms }) => {
    if (problem !== undefined) return `${what}: ${problem}`;
    const agreement = differs === undefined ? '' : `, ${(100 * differs).toFixed(2)} % from the median`;
    return `${what}: ${value} from ${PROVIDERS[provider].title}, ${Math.round(ageMs! / 60_000)} min old${agreement} (${terms})`;
  });
  return `${lines.join('\n')}\n`;
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
