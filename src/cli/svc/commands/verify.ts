import type { Address } from 'viem';
import type { ForecastQuery } from '../../../audit/chain/collect-forecast-evidence.ts';
import type { ReadBlock } from '../../../audit/claims/check-timestamps.ts';
import { claimsOf, openPrices } from '../../../audit/command/open-audit.ts';
import { parseAddressOption, parseEndpointOption, parseNumberOption } from '../../../audit/command/option-values.ts';
import { createProgressLine } from '../../../audit/command/run-audit.ts';
import { buildForecastReport } from '../../../audit/forecast/forecast-report.ts';
import { type ForecastVerification, parseForecastQuery, verifyForecast } from '../../../audit/forecast/verify-forecast.ts';
import type { AuditPrices } from '../../../audit/prices/audit-prices.ts';
import { DEFAULT_HORIZON } from '../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../forecast/model.ts';
import { isOracleError } from '../../../platform/errors.ts';
import { UsageError } from '../../../platform/usage-error.ts';
import { getVerdict } from '../../../verify/summary.ts';
import { HORIZON_OPTION, JSON_OPTION, type ServiceValues, URL_OPTION } from '../arguments.ts';
import { EXIT, type SvcCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { printError } from '../errors/print-error.ts';
import { printResult } from '../print.ts';
import { locateRecord, type RecordLocation } from '../record-location.ts';
import { createBlockReader } from '../verify/bitcoin-blocks.ts';
import { formatVerification } from '../verify/verification-report.ts';
import { verifyRecord } from '../verify/verify-record.ts';

const EXIT_CODES = { pass: EXIT.ok, fail: EXIT.failed, unknown: EXIT.incomplete } as const;

interface VerifyValues extends ServiceValues {
  rpc?: string;
  attester?: Address;
  eas?: Address;
  horizon?: HorizonName;
  prices?: string;
  toleranceBps?: number;
  fromBlock?: number;
  bitcoin?: string;
}

export const verifyCommand: SvcCommand<VerifyValues> = {
  arguments: '<id>',
  argumentValues: ['latest', 'all'],
  description: `<id> is a uid, a prediction id such as 2026-11-14:7d, or latest: the newest forecast with an outcome on chain, otherwise the newest.
all checks the whole record; Ctrl-C keeps what was read, and the next call continues.
The service is asked for attester, chain endpoint, the distributions of resolved forecasts, which are checked against their digests on
chain, and independent timestamps; for nothing when --rpc and --attester are given, and for the latter two when --url is given with them.`,
  options: [
    [
      '--rpc <url>',
      'JSON-RPC endpoint of the chain (default: the demo deployment, or the endpoint that the service names)',
      parseEndpointOption,
    ],
    ['--attester <address>', 'wallet of the attestations (default: as the service names it)', parseAddressOption],
    ['--eas <address>', 'EAS contract (default: that of Base and other OP chains; elsewhere as the service names it)', parseAddressOption],
    [HORIZON_OPTION[0], 'with latest: days of the outcome window (default: 7d)', HORIZON_OPTION[2], HORIZON_OPTION[3]],
    ['--prices <file | live>', 'also compare the closes with a CSV file, or with the median of public exchanges'],
    ['--tolerance-bps <number>', 'largest difference of these closes (default: 100)', parseNumberOption(10_000)],
    [
      '--bitcoin <url>',
      'also compare timestamps with Bitcoin blocks, read from an Esplora API that you trust, such as that of a node of yours',
      parseEndpointOption,
    ],
    ['--from-block <number>', 'with all: first block to read (default: 0)', parseNumberOption(1e12)],
    URL_OPTION,
    JSON_OPTION,
  ],
  footer: `Exits with 0 when every check passes, 1 when one fails, 3 when none fails and at least one could not be made, 2 on a usage error.`,
  async run(context, { horizon = DEFAULT_HORIZON, prices, toleranceBps, fromBlock = 0, bitcoin, json, ...where }, [id]) {
    const query = id === 'all' ? null : parseForecastQuery(id, horizon);
    try {
      const location = await locateRecord(context, where);
      const closes = prices === undefined ? null : await openPrices({ prices, toleranceBps }, context.now());
      const readBlock = bitcoin === undefined ? null : createBlockReader(bitcoin);
      if (query === null) return await verifyRecord(context, location, { fromBlock, prices: closes, readBlock, json });
      const verification = await runVerification(context, location, query, { prices: closes, readBlock });
      const report = buildForecastReport(verification, location);
      printResult(context, json, report, (writer) => formatVerification(report, writer));
      return EXIT_CODES[getVerdict(verification.findings.list)];
    } catch (error) {
      if (!isOracleError(error) || error instanceof UsageError) throw error;
      // An endpoint that does not answer says nothing about the forecast.
      printError(error, context);
      return EXIT.incomplete;
    }
  },
};

async function runVerification(
  context: CliContext,
  { chain, attester, service }: RecordLocation,
  query: ForecastQuery,
  { prices, readBlock }: { prices: AuditPrices | null; readBlock: ReadBlock | null },
): Promise<ForecastVerification> {
  const progress = createProgressLine(context.err);
  progress.update('reading the chain', 0, 1);
  try {
    const search = { chain, attester, prices, now: context.now(), onProgress: progress.update };
    const { distributions = null, timestamps = null } = service === null ? {} : claimsOf(service);
    return await verifyForecast(search, query, { distributions, timestamps, readBlock });
  } finally {
    progress.end();
  }
}
