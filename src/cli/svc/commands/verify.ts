import { openPrices } from '../../../audit/command/open-audit.ts';
import { parseAddressOption, parseEndpointOption, parseNumberOption } from '../../../audit/command/option-values.ts';
import { type AuditCommand, createProgressLine } from '../../../audit/command/run-audit.ts';
import type { AuditPrices } from '../../../audit/prices/audit-prices.ts';
import { isOracleError } from '../../../platform/errors.ts';
import { UsageError } from '../../../platform/usage-error.ts';
import { parseArguments, parseHorizonOption } from '../arguments.ts';
import type { SvcCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { printJson, printLines, wantsJson } from '../print.ts';
import { printError } from '../print-error.ts';
import { parseForecastQuery } from '../verify/forecast-query.ts';
import { locateRecord, type RecordLocation } from '../verify/record-location.ts';
import { formatVerification, toVerificationJson } from '../verify/verification-report.ts';
import { type ForecastVerification, type VerifyVerdict, verifyForecast } from '../verify/verify-forecast.ts';

const EXIT_CODES = { verified: EXIT.ok, differs: EXIT.failed, incomplete: EXIT.incomplete } as const satisfies Record<
  VerifyVerdict,
  number
>;

const TEXT = { type: 'string' } as const;
const OPTIONS = {
  ...{ url: TEXT, rpc: TEXT, attester: TEXT, eas: TEXT, horizon: TEXT, prices: TEXT, 'tolerance-bps': TEXT },
  json: { type: 'boolean' },
} as const;

/** One forecast, read from the chain and checked with the code of the audit. */
export const verifyCommand: SvcCommand = {
  name: 'verify',
  usage: '<uid | 2026-11-14:7d | latest> [options]',
  summary: 'Reads one forecast from the chain itself, and checks all that the chain tells of it',
  help: `What the service says of it is not asked: only whose attestations they are and where its chain is, unless --rpc and --attester name both.
latest is the newest one whose outcome is on chain; where none is, the newest one.

  --rpc <url>              JSON-RPC endpoint of the chain; default: the demonstration of this folder, or the one that the service names
  --attester <address>     wallet whose forecast it is; default: as the service names it
  --eas <address>          default: where Base and other OP chains have it; on chains without one as the service names it
  --horizon <days>         of latest: 1d, 2d, 3d or 7d; default 7d
  --prices <file | live>   also hold the closes against a CSV file, or the median of public exchanges
  --tolerance-bps <number> how far they may be apart; default 100
  --url <url>              the service; or SERVICE_URL. Default: the one of this machine
  --json                   for programs; also when the output is no terminal

Ends with 0 when everything holds, 1 when something does not, 3 when nothing is wrong and something could not be checked, 2 when it was
not called as it should be.`,
  async run(args, context) {
    const { values, positionals } = parseArguments(args, OPTIONS, 1);
    const [id] = positionals;
    if (id === undefined) throw new UsageError('id', 'is missing: a uid, a prediction id such as 2026-11-14:7d, or latest');
    const query = parseForecastQuery(id, parseHorizonOption('--horizon', values.horizon));
    const where = {
      url: values.url,
      rpc: parseEndpointOption('--rpc', values.rpc),
      attester: parseAddressOption('--attester', values.attester),
    };
    const eas = parseAddressOption('--eas', values.eas);
    const toleranceBps = parseNumberOption('--tolerance-bps', values['tolerance-bps'], 10_000);
    return exitIncompleteOnError(context, async () => {
      const location = await locateRecord(context, { ...where, eas });
      const prices = await openNamedPrices({ prices: values.prices, toleranceBps, json: false }, context);
      const verification = await runVerification(location, { asked: query, prices, host: context });
      printVerification(context, verification, { place: location, json: values.json });
      return EXIT_CODES[verification.verdict];
    });
  },
};

/** What cannot be asked says nothing about the forecast. */
async function exitIncompleteOnError(context: CliContext, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!isOracleError(error) || error instanceof UsageError) throw error;
    printError(error, context);
    return EXIT.incomplete;
  }
}

async function runVerification(
  { chain, attester }: RecordLocation,
  { asked: query, prices, host: context }: { asked: ReturnType<typeof parseForecastQuery>; prices: AuditPrices | null; host: CliContext },
): Promise<ForecastVerification> {
  const progress = createProgressLine(context.err);
  progress.update('reading the chain', 0, 1);
  try {
    return await verifyForecast({ chain, attester, query, prices, now: context.now(), onProgress: progress.update });
  } finally {
    progress.end();
  }
}

async function openNamedPrices(command: AuditCommand, context: CliContext): Promise<AuditPrices | null> {
  return command.prices === undefined ? null : openPrices(command, context.now());
}

function printVerification(
  context: CliContext,
  verification: ForecastVerification,
  { place: location, json }: { place: RecordLocation; json?: boolean },
): void {
  if (wantsJson(context, json)) printJson(context, toVerificationJson(verification, location));
  else printLines(context, (writer) => formatVerification(verification, location, writer));
}
