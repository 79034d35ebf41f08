import { type AuditCommand, progressLine } from '../../audit/command.ts';
import { Misuse } from '../../audit/misuse.ts';
import { namedPrices } from '../../audit/open.ts';
import { addressIn, numberIn, urlIn } from '../../audit/option-values.ts';
import type { AuditPrices } from '../../audit/prices.ts';
import { isOracleError } from '../../errors.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { explain } from '../failure.ts';
import type { Host } from '../host.ts';
import { printJson, printLines, wantsJson } from '../print.ts';
import { askedBy } from '../verify/asked.ts';
import { findPlace, type Place } from '../verify/chain-place.ts';
import { verificationJson, verificationText } from '../verify/told.ts';
import { type Verification, type VerifyVerdict, verifyForecast } from '../verify/verify-forecast.ts';
import { horizonOf, parseWords } from '../words.ts';

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
export const verify: Command = {
  name: 'verify',
  takes: '<uid | 2026-11-14:7d | latest> [options]',
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
  async run(words, host) {
    const { values, positionals } = parseWords(words, OPTIONS, 1);
    const [id] = positionals;
    if (id === undefined) throw new Misuse('id', 'is missing: a uid, a prediction id such as 2026-11-14:7d, or latest');
    const asked = askedBy(id, horizonOf('--horizon', values.horizon));
    const where = { url: values.url, rpc: urlIn('--rpc', values.rpc), attester: addressIn('--attester', values.attester) };
    const eas = addressIn('--eas', values.eas);
    const toleranceBps = numberIn('--tolerance-bps', values['tolerance-bps'], 10_000);
    return orIncomplete(host, async () => {
      const place = await findPlace(host, { ...where, eas });
      const prices = await pricesFor({ prices: values.prices, toleranceBps, json: false }, host);
      const verification = await verifyAt(place, { asked, prices, host });
      show(host, verification, { place, json: values.json });
      return EXIT_CODES[verification.verdict];
    });
  },
};

/** What cannot be asked says nothing about the forecast. */
async function orIncomplete(host: Host, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!isOracleError(error) || error instanceof Misuse) throw error;
    explain(error, host);
    return EXIT.incomplete;
  }
}

async function verifyAt(
  { chain, attester }: Place,
  { asked, prices, host }: { asked: ReturnType<typeof askedBy>; prices: AuditPrices | null; host: Host },
): Promise<Verification> {
  const progress = progressLine(host.err);
  progress.update('reading the chain', 0, 1);
  try {
    return await verifyForecast({ chain, attester, asked, prices, now: host.now(), onProgress: progress.update });
  } finally {
    progress.end();
  }
}

async function pricesFor(command: AuditCommand, host: Host): Promise<AuditPrices | null> {
  return command.prices === undefined ? null : namedPrices(command, host.now());
}

function show(host: Host, verification: Verification, { place, json }: { place: Place; json?: boolean }): void {
  if (wantsJson(host, json)) printJson(host, verificationJson(verification, place));
  else printLines(host, (pen) => verificationText(verification, place, pen));
}
