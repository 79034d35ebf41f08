import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Address, type Hex, isAddressEqual } from 'viem';
import { z } from 'zod';
import {
  type AuditReport,
  audit,
  buildForecastReport,
  type ForecastVerification,
  parseForecastQuery,
  verifyForecast,
} from '../../../audit/audit.ts';
import {
  type AuditChain,
  type AuditPrices,
  createReadingState,
  type ForecastQuery,
  OP_STACK_CHAIN_IDS,
  type ReadingState,
} from '../../../audit/chain-record.ts';
import { EAS_ADDRESS } from '../../../chain/addresses.ts';
import { isOracleError, OracleError, UsageError } from '../../../errors.ts';
import { DEFAULT_HORIZON } from '../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../forecast/model.ts';
import { getCheck } from '../../../verify/findings.ts';
import { getVerdict } from '../../../verify/summary.ts';
import {
  EXIT_CODES as AUDIT_EXIT_CODES,
  type AuditCommand,
  claimsOf,
  createProgressLine,
  openAuditChain,
  openPrices,
  parseAddressOption,
  parseEndpointOption,
  parseNumberOption,
} from '../audit-options.ts';
import {
  HORIZON_OPTION,
  JSON_OPTION,
  printNotice,
  printResult,
  queryService,
  resolveServiceUrl,
  type ServiceValues,
  URL_OPTION,
} from '../command.ts';
import {
  type CliContext,
  type DemoDeployment,
  EXIT,
  getConfigFolder,
  readJsonFile,
  type SvcCommand,
  writePrivateFile,
} from '../context.ts';
import { printError } from '../errors.ts';
import {
  formatCheckLines,
  formatFacts,
  formatMinute,
  formatPercentOrDash,
  formatReturn,
  formatSections,
  formatUsdAmount,
  styleValue,
  type TerminalWriter,
  wrapText,
} from '../text.ts';

interface RecordVerification {
  fromBlock: number;
  /** Null: closes are not compared. */
  prices: AuditPrices | null;
  json: boolean | undefined;
}

/**
 * Checks the whole record from the chain. What was read is kept when the reading ends early, and the next call continues with it.
 * @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID
 */
async function verifyRecord(
  context: CliContext,
  { chain, attester, service }: RecordLocation,
  { fromBlock, prices, json }: RecordVerification,
): Promise<number> {
  const file = await openReadingFile(context, { chain, attester, fromBlock });
  if (file.isContinued) printNotice(context, `Continues the reading that was interrupted (${file.path}).`);
  const signal = context.createInterruptSignal();
  const progress = createProgressLine(context.err);
  const { state } = file;
  try {
    const distributions = service === null ? null : claimsOf(service).forecasts;
    const reading = { fromBlock, state, signal, onProgress: progress.update };
    const report = await audit({
      chain,
      attester,
      prices,
      claims: null,
      distributions,
      now: context.now(),
      ...reading,
    }).finally(progress.end);
    await file.remove();
    printResult(context, json, report, (writer) => formatConclusion({ ...report, words: `${report.summary}.` }, writer).slice(1));
    return AUDIT_EXIT_CODES[report.verdict];
  } catch (error) {
    await file.save();
    printNotice(context, `Not finished: ${state.contents.size} attestations were read. The same command continues (${file.path}).`);
    if (signal.aborted) return AUDIT_EXIT_CODES.incomplete;
    throw error;
  }
}

interface RecordLocation {
  chain: AuditChain;
  attester: Address;
  /** Host of the endpoint, as its URL may contain a key. */
  endpoint: string;
  /** Base URL; null: no service is asked. */
  service: string | null;
  /** Parts that only the service has named. */
  takenFromService: ('attester' | 'endpoint' | 'eas')[];
}

const HEX = z.custom<Hex>((text) => typeof text === 'string' && /^0x[0-9a-f]*$/i.test(text));
const WHOLE_NUMBER = z.codec(z.string().regex(/^\d{1,20}$/), z.bigint(), { decode: BigInt, encode: String });
const TIME = z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (at) => at.toISOString() });
const LOGS = z.array(z.object({ uid: HEX, txHash: HEX, blockNumber: z.number() }));
const CONTENT = z.object({
  ...{ uid: HEX, schema: HEX, refUID: HEX, recipient: HEX, attester: HEX, data: HEX, revocable: z.boolean() },
  ...{ time: WHOLE_NUMBER, expirationTime: WHOLE_NUMBER, revocationTime: WHOLE_NUMBER },
});

const mapOf = <Key, Value, In>(entry: z.ZodType<[Key, Value], In>) =>
  z.codec(z.array(entry), z.custom<Map<Key, Value>>(), { decode: (entries) => new Map(entries), encode: (map) => [...map] });

const SAVED = z.object({
  scope: z.string(),
  found: z.object({ prediction: LOGS, resolution: LOGS }),
  nextBlock: z.object({ prediction: z.number(), resolution: z.number() }),
  contents: mapOf(z.tuple([HEX, CONTENT])),
  blockTimes: mapOf(z.tuple([z.number(), TIME])),
});

/** The reading of a record that was interrupted (`isContinued`), or a new one. A file of another record, or a damaged one, is not used. */
async function openReadingFile(context: CliContext, record: { chain: AuditChain; attester: Address; fromBlock: number }) {
  const { chain, attester, fromBlock } = record;
  const scope = `${chain.chainId}:${chain.addresses.eas}:${attester}:${fromBlock}`.toLowerCase();
  const path = join(getConfigFolder(context), `reading-${chain.chainId}-${attester.toLowerCase()}.json`);
  const saved = SAVED.safeParse(await readJsonFile(path));
  const isContinued = saved.success && saved.data.scope === scope;
  const state: ReadingState = isContinued ? saved.data : createReadingState(fromBlock);
  const save = () => writePrivateFile(path, z.encode(SAVED, { scope, ...state }));
  return { state, path, isContinued, save, remove: () => rm(path, { force: true }) };
}

function formatVerification(report: ForecastReport, writer: TerminalWriter): string[] {
  const { where, checks, unchecked } = report;
  const left = [...unchecked.map(({ what, reason }) => `${what}: ${reason}`), ...checks.flatMap(formatOpenPart)];
  const name = (part: RecordLocation['takenFromService'][number]) =>
    where.takenFromService.includes(part) ? ', named by the service' : '';
  const facts = [
    ['Chain', `${where.chainId}, read by ${where.endpoint}${name('endpoint')}`],
    ['EAS', `${where.eas}${name('eas')}`],
    ['Attester', `${where.attester}${name('attester')}`],
  ] as const;
  const subject = [...formatForecast(report, writer), ...formatFacts(facts, writer)];
  return [...subject, '', ...formatCheckLines(checks, writer), ...formatConclusion({ ...report, unchecked: left }, writer)];
}

type ForecastReport = ReturnType<typeof buildForecastReport>;

function formatOpenPart({ check, open }: ForecastReport['checks'][number]): string[] {
  return open === null ? [] : [`${getCheck(check).title.toLowerCase()}, in part: ${open}`];
}

const STYLES = { agrees: 'green', verified: 'green', differs: 'red', incomplete: 'yellow', unknown: 'yellow' } as const;

interface Conclusion extends Pick<AuditReport, 'differences'>, Record<'notes' | 'incomplete', readonly string[]> {
  verdict: keyof typeof STYLES;
  words: string;
  unchecked?: readonly string[];
}

/** Differences and gaps, then the verdict. */
function formatConclusion(conclusion: Conclusion, writer: TerminalWriter): string[] {
  const { verdict, words, differences, incomplete, notes, unchecked = [] } = conclusion;
  const failed = differences.map(({ check, message }) => `[${check}] ${message}`);
  return [
    ...formatSections({ Notes: notes, 'Could not be checked': incomplete, Failed: failed, 'Not checked': unchecked }, writer),
    ...['', ...wrapText(words, writer.width).map((line) => writer.paint(STYLES[verdict], line))],
  ];
}

function formatForecast({ prediction, resolution }: ForecastReport, writer: TerminalWriter): string[] {
  if (prediction === null) return [];
  const { uid, attestedAt, commitment, windowOpensAt, resolvesAt } = prediction;
  const title = writer.paint('bold', `Forecast ${prediction.predictionId}, number ${prediction.sequence}`);
  const facts = [
    ['Prediction', uid],
    ['Committed', `${formatMinute(attestedAt)} UTC, ${commitment}`],
    ['Window', `${formatMinute(windowOpensAt)} to ${formatMinute(resolvesAt)} UTC`],
    ...(resolution === null ? [] : listRevealed(resolution, prediction)),
    ['Result', styleValue(prediction.status)],
  ] as const;
  return [title, ...formatFacts(facts, writer), ''];
}

function listRevealed(
  resolution: NonNullable<ForecastReport['resolution']>,
  { windowOpensAt, resolvesAt }: NonNullable<ForecastReport['prediction']>,
) {
  const { uid, signal, direction, pUpBps, btcAtSignalCents, btcAtResolutionCents, returnBps } = resolution;
  // A window opens and ends with the close of the day before.
  const closedDay = (at: string) => new Date(Date.parse(at) - 1).toISOString().slice(0, 10);
  const closes = `${formatUsdAmount(btcAtSignalCents / 100)} (${closedDay(windowOpensAt)}) to ${formatUsdAmount(btcAtResolutionCents / 100)} USD (${closedDay(resolvesAt)})`;
  return [
    ['Resolution', uid],
    ['Call', `${signal} ${direction}, P(up) ${formatPercentOrDash(pUpBps / 10_000, 2)}`],
    ['Closes', `${closes}, ${formatReturn(returnBps)}`],
  ] as const;
}

const EXIT_CODES = { pass: EXIT.ok, fail: EXIT.failed, unknown: EXIT.incomplete } as const;

interface VerifyValues extends ServiceValues {
  rpc?: string;
  attester?: Address;
  eas?: Address;
  horizon?: HorizonName;
  prices?: string;
  toleranceBps?: number;
  fromBlock?: number;
}

const ADDRESS = z.custom<Address>((text) => typeof text === 'string' && /^0x[0-9a-fA-F]{40}$/.test(text));

const SERVICE_INFO = z.object({
  chain: z.object({ id: z.number(), local: z.boolean(), attester: ADDRESS, rpcUrl: z.string().nullable().optional() }),
  contracts: z.object({ eas: ADDRESS, stablecoin: ADDRESS }),
});

export const verifyCommand: SvcCommand<VerifyValues> = {
  example: 'svc verify 2026-11-14:7d',
  arguments: '<id>',
  description: `<id> is a uid, a prediction id such as 2026-11-14:7d, or latest: the newest forecast with an outcome on chain, otherwise the newest.
all checks the whole record; Ctrl-C keeps what was read, and the next call continues.
The service is asked for attester, chain endpoint, and its claims of the forecast, which are compared with the chain: its row in the scorecard,
its metadata and distributions; for nothing when --rpc and --attester are given, and for the claims when --url is given with them.`,
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
    ['--from-block <number>', 'with all: first block to read (default: 0)', parseNumberOption(1e12)],
    URL_OPTION,
    JSON_OPTION,
  ],
  footer: `Exits with 0 when every check passes, 1 when one fails, 3 when none fails and at least one could not be made, 2 on a usage error.`,
  async run(context, { horizon = DEFAULT_HORIZON, prices, toleranceBps, fromBlock = 0, json, ...where }, [id]) {
    const query = id === 'all' ? null : parseForecastQuery(id, horizon);
    try {
      const location = await locateRecord(context, where);
      const closes = prices === undefined ? null : await openPrices({ prices, toleranceBps }, context.now());
      if (query === null) return await verifyRecord(context, location, { fromBlock, prices: closes, json });
      const verification = await runVerification(context, location, query, closes);
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

type ServiceInfo = z.output<typeof SERVICE_INFO>;

/**
 * Chain and attester of a record. The service is asked for what the options do not name.
 * @throws UsageError; OracleError SERVICE_UNREACHABLE, CHAIN_UNREACHABLE
 */
export async function locateRecord(
  context: CliContext,
  { url, rpc, attester, eas }: Pick<AuditCommand, 'rpc' | 'attester' | 'eas'> & { url?: string },
): Promise<RecordLocation> {
  if (rpc !== undefined && attester !== undefined) {
    return {
      chain: await openAuditChain({ rpcUrl: rpc, eas }),
      attester,
      endpoint: new URL(rpc).host,
      service: url ?? null,
      takenFromService: [],
    };
  }
  const service = await resolveServiceUrl(context, url);
  const info = (await queryService({ url: service, path: '/api/svc/info', schema: SERVICE_INFO })).answer;
  const demo = rpc === undefined ? await findDemo(context, info, url) : null;
  const rpcUrl = rpc ?? demo?.rpcUrl ?? getNamedEndpoint(info);
  const ownEas = eas ?? demo?.contracts.eas;
  const chain = await openAuditChain({ rpcUrl, eas: ownEas ?? info.contracts.eas });
  if (info.chain.id !== chain.chainId) {
    throw new UsageError('--rpc', `is an endpoint of chain ${chain.chainId}, and the record is on chain ${info.chain.id}`);
  }
  // A contract that the service brings along could return anything.
  const isForeignEas = ownEas === undefined && !isAddressEqual(info.contracts.eas, EAS_ADDRESS);
  if (isForeignEas && OP_STACK_CHAIN_IDS.includes(chain.chainId)) {
    const where = `the service names ${info.contracts.eas}, and chain ${chain.chainId} has EAS at ${EAS_ADDRESS}`;
    throw new UsageError('--eas', `is needed: ${where}`, 'Name the contract that you trust.');
  }
  const isTaken = { attester: attester === undefined, endpoint: rpc === undefined && demo === null, eas: isForeignEas };
  const takenFromService = (['attester', 'endpoint', 'eas'] as const).filter((part) => isTaken[part]);
  return { chain, attester: attester ?? info.chain.attester, endpoint: new URL(rpcUrl).host, service, takenFromService };
}

/** @throws OracleError CHAIN_UNREACHABLE when the service names no endpoint */
function getNamedEndpoint({ chain }: ServiceInfo): string {
  if (chain.rpcUrl != null && URL.canParse(chain.rpcUrl)) return chain.rpcUrl;
  const suggestedAction = `Name one of chain ${chain.id} with --rpc.`;
  throw new OracleError('CHAIN_UNREACHABLE', 'The service names no endpoint of its chain', { suggestedAction });
}

/**
 * The demo deployment of this folder if the service belongs to it: its chain is read directly then.
 * @param url of the service; one that was named explicitly may be another one
 * @throws UsageError when the unnamed service is not that of this folder
 */
async function findDemo(context: CliContext, { chain, contracts }: ServiceInfo, url?: string): Promise<DemoDeployment | null> {
  if (!chain.local || context.demo === undefined) return null;
  const demo = await context.demo().catch((error: unknown) => (isOracleError(error) ? null : Promise.reject(error)));
  // Each demo deployment has its own contract addresses.
  if (demo === null || isAddressEqual(demo.contracts.stablecoin, contracts.stablecoin)) return demo;
  if (url !== undefined || (context.environment.SERVICE_URL ?? '') !== '') return null;
  const hint = 'Start the service of this folder, make PORT and DATA_DIR match, or name the service with --url.';
  throw new UsageError(
    'DATA_DIR',
    `the service at ${await resolveServiceUrl(context, url)} is not that of this data folder: it is on another chain`,
    hint,
  );
}

async function runVerification(
  context: CliContext,
  { chain, attester, service }: RecordLocation,
  query: ForecastQuery,
  prices: AuditPrices | null,
): Promise<ForecastVerification> {
  const progress = createProgressLine(context.err);
  progress.update('reading the chain', 0, 1);
  try {
    const search = { chain, attester, prices, now: context.now(), onProgress: progress.update };
    return await verifyForecast(search, query, service === null ? null : claimsOf(service).forecasts);
  } finally {
    progress.end();
  }
}
