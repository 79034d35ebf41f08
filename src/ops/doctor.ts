import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { type Db, MongoServerError } from 'mongodb';
import { isAddressEqual } from 'viem';
import { z } from 'zod';
import { createFacilitatorEndpoint } from '../app/commerce.ts';
import { ALL_INDEXES } from '../app/indexes.ts';
import { type Chain, readChainHealth, readPendingBlockTime } from '../chain/client.ts';
import { requireFacilitatorSupport } from '../commerce/x402/facilitator.ts';
import { suggestCorrection } from '../config.ts';
import { getErrorMessage, OracleError } from '../errors.ts';
import type { WebhookDoc } from '../events/webhooks/queue.ts';
import { DAY_MS, toDay } from '../forecast/day.ts';
import { PROVIDERS, type ProviderId } from '../market/live/provider.ts';
import { createProviders, parseProviderUrls } from '../market/live/providers.ts';
import { SERIES, type SeriesId } from '../market/series.ts';
import { createEtfSources, SERIES_PLANS, VENUE_SOURCES } from '../market/sources/registry.ts';
import { findMissingIndexes, readDatabaseTime } from '../platform/mongo.ts';
import { createResolver, getHostname, isLoopbackAddress, isPublicAddress } from '../platform/outbound/guarded.ts';
import { createOperatorFetch, type OutboundFetch, readCertificate, readJson, readSntpOffsetMs } from '../platform/outbound/operator.ts';
import { joinUrl } from '../platform/service-client.ts';
import { MAX_CLOCK_SKEW_MS, withTimeout } from '../platform/time.ts';
import { type Config, listSettings } from '../settings.ts';
import {
  type Check,
  contractsCheck,
  type DoctorDeps,
  type DoctorTarget,
  type Finding,
  fail,
  findNetworkFault,
  identityCheck,
  isUnreachable,
  LEVELS,
  type Level,
  ok,
  orFinding,
  type RoleWallet,
  rpcCheck,
  skipped,
  toFinding,
  walletsCheck,
  warn,
} from './checks.ts';

/** Venues whose closes settle an outcome. */
const QUORUM = 3;
const MAX_SKEW_MS = 60_000;
/** One attempt each: the report is of now. */
const ONCE = { attempts: 1, attemptTimeoutMs: 8_000 };

type Providers = ReturnType<typeof createProviders>;

/** Each provider of live data asked once: shape and age of the answer, and its terms. */
export const feedsCheck: Check = {
  id: 'feeds',
  title: 'Market data',
  needs: ['FEEDS', 'PROVIDER_URLS'],
  needsTarget: false,
  async run(deps) {
    const { config } = deps;
    // A wrong setting is named although nothing reads it now.
    const urls = parseProviderUrls(config.PROVIDER_URLS ?? '');
    const isLive = config.FEEDS === 'live' || (config.FEEDS === 'auto' && config.chainMode === 'real');
    if (!isLive) return [ok(`FEEDS=${config.FEEDS}: no provider is asked`)];
    const providers = createProviders({ urls, log: deps.log, timing: ONCE });
    const byProvider = [...Map.groupBy(listQuestions(deps), ({ provider }) => provider)];
    const reports = await Promise.all(byProvider.map(([id, questions]) => ask(providers[id], questions)));
    return [...countVenues(reports), ...describeProviders(reports), ...compareClocks(providers)];
  },
};

interface Question {
  provider: ProviderId;
  what: string;
  /** Age of the newest value in days. */
  read(provider: Providers[ProviderId]): Promise<number>;
}

interface ProviderReport {
  provider: Providers[ProviderId];
  fresh: string[];
  problems: string[];
  /** Why it cannot be reached. */
  error?: unknown;
}

const PRICE = 'price';

function listQuestions({ config, now }: DoctorDeps): Question[] {
  const today = toDay(now().getTime());
  const series = Object.entries(SERIES_PLANS).flatMap(([what, { sources }]) =>
    sources.map((source) => ({ what: what as SeriesId, source })),
  );
  const etf = createEtfSources(config.SOSOVALUE_API_KEY).map((source) => ({ what: 'etfFlow' as const, source }));
  const prices = VENUE_SOURCES.map(({ provider: id, fetchTicker }): Question => {
    return { provider: id, what: PRICE, read: (provider) => fetchTicker(provider).then(() => 0) };
  });
  const days = [...series, ...etf].map(({ what, source }): Question => {
    const { lagDays, staleDays } = SERIES[what];
    const range = { from: today - lagDays - staleDays, to: today };
    const read: Question['read'] = async (provider) => {
      const newest = Math.max(...(await source.fetch(provider, range)).map(({ day }) => day));
      if (newest === Number.NEGATIVE_INFINITY) throw new Error(`nothing within ${lagDays + staleDays} days`);
      return today - newest;
    };
    return { provider: source.provider, what, read };
  });
  return [...prices, ...days];
}

/** One after the other, unless the provider cannot be reached. */
async function ask(provider: Providers[ProviderId], questions: readonly Question[]): Promise<ProviderReport> {
  const report: ProviderReport = { provider, fresh: [], problems: [] };
  for (const { what, read } of questions) {
    try {
      report.fresh.push(`${what} ${await read(provider)} days old`);
    } catch (error) {
      if (report.fresh.length === 0 && findNetworkFault(error) !== null) return { ...report, error };
      report.problems.push(`${what}: ${getErrorMessage(error)}`);
    }
  }
  const { rowsLeftOut, lastLeftOut } = provider.health();
  if (rowsLeftOut > 0) report.problems.push(`${rowsLeftOut} rows left out, the last because ${lastLeftOut}`);
  return report;
}

function countVenues(reports: readonly ProviderReport[]): Finding[] {
  const venues = reports.filter(({ provider }) => VENUE_SOURCES.some((source) => source.provider === provider.id));
  const answering = venues.filter(({ fresh }) => fresh.some((text) => text.startsWith(PRICE))).length;
  if (answering >= QUORUM) return [];
  return [
    fail(`${answering} of ${venues.length} venues answer: without ${QUORUM} no outcome is settled`, {
      action: 'Let HTTPS to the venues out, or set PROVIDER_URLS.',
      reached: venues.every(({ error }) => isUnreachable(error)) ? false : undefined,
    }),
  ];
}

const OTHER_PROVIDER = 'Where another provider has the data it takes its place; see docs/DATA.md.';

/** A line a provider; one line for all that cannot be reached for the same reason. */
function describeProviders(reports: readonly ProviderReport[]): Finding[] {
  return [...Map.groupBy(reports, ({ error }) => findNetworkFault(error))].flatMap(([fault, members]) => {
    if (fault === null) return members.map(describeProvider);
    const names = members.map(({ provider }) => provider.title).join(', ');
    const reached = isUnreachable(members[0]!.error) ? false : undefined;
    return [{ ...warn(`${names}: cannot be reached (${fault})`, OTHER_PROVIDER), reached }];
  });
}

function describeProvider({ provider: { id, title }, fresh, problems }: ProviderReport): Finding {
  const texts = [...problems, ...fresh].map((text) => text.replaceAll(`${title}: `, ''));
  const detail = `${title}: ${texts.join('; ')}; terms: ${PROVIDERS[id].licence}`;
  return { ...(problems.length === 0 ? ok(detail) : warn(detail, OTHER_PROVIDER)), reached: true };
}

/** The providers' `Date` headers. */
function compareClocks(providers: Providers): Finding[] {
  const skews = Object.values(providers).flatMap((provider) => provider.health().clockSkewMs ?? []);
  if (skews.length === 0) return [];
  const median = skews.toSorted((a, b) => a - b)[Math.floor(skews.length / 2)]!;
  const detail = `the clocks of ${skews.length} providers are ${Math.round(median / 1_000)} s from this machine's in the median`;
  return [Math.abs(median) <= MAX_SKEW_MS ? ok(detail) : fail(detail, { action: REPAIR, isPermanent: true, because: ['clock'] })];
}

/** Who settles payments, whether it takes this chain, and whether it accepts the API key. */
export const facilitatorCheck: Check = {
  id: 'facilitator',
  title: 'Facilitator',
  needs: ['X402_FACILITATOR_URL', 'CDP_API_KEY_ID', 'CDP_API_KEY_SECRET', 'CHAIN_ID'],
  needsTarget: false,
  async run({ config, now }) {
    const endpoint = createFacilitatorEndpoint(config, now);
    if (endpoint === null) return [ok('the service settles payments itself')];
    await requireFacilitatorSupport(endpoint, config.CHAIN_ID);
    const key = endpoint.authorize === undefined ? '' : ', and accepts the API key';
    return [ok(`${endpoint.url} settles "exact" on eip155:${config.CHAIN_ID}${key}`)];
  },
};

const PROXY_SECTION = 'See "Reverse proxy" in docs/OPERATE.md.';
/** RFC 5737: the address of no client. */
const CLAIMED_ADDRESS = '198.51.100.1';
/** The service sends the events a second apart. */
const MIN_GAP_MS = 300;

/** Whose address limits are counted for, and whether streams arrive as they are sent: from `GET /api/connection`. */
function examineConnection(fetchService: OutboundFetch, base: string): Promise<Finding[]> {
  return orFinding(async () => {
    const response = await fetchService(joinUrl(base, '/api/connection'), { headers: { 'X-Forwarded-For': CLAIMED_ADDRESS } });
    const { text, gapMs } = await readStream(response);
    return [judgeAddress(text, new URL(base)), judgeGap(gapMs)];
  });
}

/** @returns the text, and the time from its first part to its end */
async function readStream(response: Response): Promise<{ text: string; gapMs: number }> {
  const decoder = new TextDecoder();
  let text = '';
  let firstAtMs: number | null = null;
  for await (const part of response.body ?? []) {
    firstAtMs ??= performance.now();
    text += decoder.decode(part, { stream: true });
  }
  return { text, gapMs: performance.now() - (firstAtMs ?? performance.now()) };
}

function judgeAddress(text: string, { hostname }: URL): Finding {
  const address = /"address":"([^"]+)"/.exec(text)?.[1];
  if (address === undefined) return fail('GET /api/connection does not answer', { action: PROXY_SECTION });
  if (address === CLAIMED_ADDRESS)
    return warn(
      'X-Forwarded-For of a client is believed: it can choose the address that its limit is counted for',
      `Let the proxy replace the header, and set TRUST_PROXY to its address. ${PROXY_SECTION}`,
    );
  const isOwnMachine = hostname === 'localhost' || isLoopbackAddress(hostname.replaceAll(/[[\]]/g, ''));
  if (!isOwnMachine && !address.includes('/') && !isPublicAddress(address))
    return warn(
      `limits are counted for ${address}, which is no public address: if that is the proxy, all clients share its limits`,
      `Set TRUST_PROXY to the proxy, unless this command runs in the same network. ${PROXY_SECTION}`,
    );
  return ok(`limits are counted for ${address}, whatever X-Forwarded-For a client sends`);
}

function judgeGap(gapMs: number): Finding {
  if (gapMs >= MIN_GAP_MS) return ok('streams arrive as they are sent');
  return warn('a proxy buffers streams: events reach clients late or never', `Switch its buffering off. ${PROXY_SECTION}`);
}

const TIMEOUT_MS = 8_000;
const MAX_BYTES = 2 ** 20;
const MIN_CERTIFICATE_DAYS = 14;
const INFO = z.looseObject({ version: z.string(), chain: z.looseObject({ attester: z.string() }) });

/** The service as clients reach it: TLS, the right host behind the proxy, WebSockets, streams, and whose address counts. */
const publicUrlCheck: Check = {
  id: 'public-url',
  title: 'Public address',
  needs: ['PUBLIC_URL', 'TRUST_PROXY'],
  needsTarget: true,
  async run(deps) {
    const { PUBLIC_URL: base } = deps.config;
    if (base === undefined) return [skipped('PUBLIC_URL is not set')];
    const findings = await examinePublicUrl(deps, base);
    // Before the first day nothing has to answer.
    const days = await deps
      .database()
      .then(({ db }) => db.collection('days').estimatedDocumentCount())
      .catch(() => 1);
    return findings.map((finding) => (finding.action === START && days === 0 ? { ...finding, level: 'warn' } : finding));
  },
};

/** Until one is no good: what comes behind it is then of another server. */
async function examinePublicUrl({ config, roles }: DoctorDeps, base: string): Promise<Finding[]> {
  const fetchService = createOperatorFetch({ base, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  const tls = await checkCertificate(new URL(base));
  if (tls.some(({ level }) => level === 'fail')) return tls;
  const answers = await checkService(fetchService, base, await roles());
  if (answers.some(({ level }) => level === 'fail')) return [...tls, ...answers];
  const rest = [
    orFinding(() => checkWebSocket(fetchService, base)),
    examineConnection(fetchService, base),
    listUntrustedProxy(config, new URL(base)),
  ];
  return [...tls, ...answers, ...(await Promise.all(rest)).flat()];
}

async function checkCertificate({ protocol, hostname, port }: URL): Promise<Finding[]> {
  if (protocol !== 'https:') return [];
  try {
    const { subject, validTo } = await readCertificate({ hostname, port: Number(port || 443) }, TIMEOUT_MS);
    const days = Math.floor((validTo.getTime() - Date.now()) / DAY_MS);
    const detail = `TLS: the certificate of ${subject} is valid for ${days} days`;
    return [days >= MIN_CERTIFICATE_DAYS ? ok(detail) : warn(detail, 'Look why the proxy has not renewed it.')];
  } catch (error) {
    const fault = findNetworkFault(error);
    if (fault !== null) return [{ ...notYet(`${hostname} cannot be reached (${fault})`), ...(isUnreachable(error) && { reached: false }) }];
    const code = (error as NodeJS.ErrnoException).code ?? 'no answer';
    return [fail(`TLS: no valid certificate for ${hostname} (${code})`, { action: PROXY_SECTION })];
  }
}

async function checkService(fetchService: OutboundFetch, base: string, roles: readonly RoleWallet[]): Promise<Finding[]> {
  const attester = roles.find(({ role }) => role === 'attester')?.address;
  try {
    const response = await fetchService(joinUrl(base, '/api/svc/info'));
    if (!response.ok) return [notYet(`${base} answers ${response.status}`)];
    const { version, chain } = INFO.parse(await readJson(response, MAX_BYTES));
    if (attester !== undefined && !isAddressEqual(chain.attester as `0x${string}`, attester))
      return [
        fail(`${base} is another service: its attester is ${chain.attester}`, { action: 'Point the name to this one, or set PUBLIC_URL.' }),
      ];
    return [ok(`${base} is this service, version ${version}`)];
  } catch {
    return [notYet(`${base} gives no valid answer`)];
  }
}

const START = `Start the service and the proxy, then run it again. ${PROXY_SECTION}`;
const notYet = (detail: string): Finding => fail(detail, { action: START });

/** Without a token the handshake is answered 401; where a proxy drops `Upgrade`, the request is answered 426. */
async function checkWebSocket(fetchService: OutboundFetch, base: string): Promise<Finding> {
  const response = await fetchService(joinUrl(base, '/ws/signal'), {
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    },
  });
  if (response.status === 401) return ok('WebSocket handshakes reach the service');
  return fail(`a WebSocket handshake is answered ${response.status} instead of 401`, {
    action: `Let the proxy pass Upgrade. ${PROXY_SECTION}`,
  });
}

function listUntrustedProxy({ TRUST_PROXY }: DoctorDeps['config'], { protocol, hostname }: URL): Finding[] {
  if (protocol !== 'https:' || TRUST_PROXY !== 0 || isLoopbackAddress(hostname)) return [];
  return [warn('https needs a proxy in front, and TRUST_PROXY trusts none: all clients share one limit', 'Set TRUST_PROXY to the proxy.')];
}

/** Of the receivers, whose names are looked up. */
const MAX_LOOKUPS = 5;

/** Whether deliveries find their way out: the names of receivers, and the webhooks that fail now. */
const webhooksCheck: Check = {
  id: 'webhooks',
  title: 'Webhooks',
  needs: ['MONGODB_URI'],
  needsTarget: true,
  uses: ['database'],
  async run({ database }) {
    const { db } = await database();
    const webhooks = db.collection<WebhookDoc>('webhooks');
    const [all, failing, some] = await Promise.all([
      webhooks.countDocuments(),
      webhooks.countDocuments({ failingSince: { $ne: null } }),
      webhooks
        .find({ status: 'active' }, { projection: { url: 1 } })
        .limit(MAX_LOOKUPS)
        .toArray(),
    ]);
    const names = await checkNames([...new Set(some.map(({ url }) => getHostname(url)).filter((host) => isIP(host) === 0))]);
    const detail = `${all} registered, ${failing} of them fail at present`;
    const isOurs = all > 1 && failing === all;
    return [...names, isOurs ? warn(detail, 'All fail, so the fault is probably on this side: look at the way out.') : ok(detail)];
  },
};

async function checkNames(names: readonly string[]): Promise<Finding[]> {
  if (names.length === 0) return [];
  const resolve = createResolver();
  const found = await Promise.allSettled(names.map((name) => resolve(name)));
  const count = found.filter(({ status }) => status === 'fulfilled').length;
  if (count > 0) return [ok(`names of receivers are resolved: ${count} of ${names.length}`)];
  return [fail(`no name of ${names.length} receivers can be resolved: nothing is delivered`, { action: 'Repair DNS on this machine.' })];
}

const MAX_BLOCK_DIFFERENCE_MS = 60_000;
const MAX_NTP_DIFFERENCE_MS = 1_000;
const REPAIR = 'Repair NTP on this machine.';

/** This machine's clock against the database, NTP and the newest block; the venues are compared where they are asked. */
const clockCheck: Check = {
  id: 'clock',
  title: 'Clock',
  needs: [],
  needsTarget: false,
  async run(deps) {
    const hasTarget = typeof deps.target !== 'string';
    const chain = hasTarget ? await deps.chain().catch(() => null) : null;
    const database = hasTarget ? await deps.database().catch(() => null) : null;
    const checks = [
      database === null ? [] : orFinding(() => compareWithDatabase(deps, database.db)),
      compareWithNtp(deps),
      chain === null ? [] : orFinding(() => compareWithChain(deps, chain)),
    ];
    return (await Promise.all(checks)).flat();
  },
};

function judgeOffset(clock: string, offsetMs: number, limitMs: number): Finding {
  const abs = Math.abs(offsetMs);
  const difference = abs < 10_000 ? `${Math.round(abs)} ms` : `${Math.round(abs / 1_000)} s`;
  const detail = `this machine is ${difference} ${offsetMs > 0 ? 'behind' : 'ahead of'} ${clock}`;
  return abs <= limitMs ? ok(detail) : fail(detail, { action: REPAIR, isPermanent: true });
}

async function compareWithDatabase({ now }: DoctorDeps, db: Db): Promise<Finding> {
  const before = now().getTime();
  const at = (await readDatabaseTime(db)).getTime();
  return judgeOffset('the database', at - (before + now().getTime()) / 2, MAX_CLOCK_SKEW_MS);
}

async function compareWithNtp({ ntpHost }: DoctorDeps): Promise<Finding> {
  if (ntpHost === null) return skipped('no NTP server is named: --ntp <host>');
  try {
    return { ...judgeOffset(ntpHost, await readSntpOffsetMs(ntpHost), MAX_NTP_DIFFERENCE_MS), reached: true };
  } catch {
    return skipped(`${ntpHost} does not answer to NTP`, { reached: false });
  }
}

async function compareWithChain({ config, now }: DoctorDeps, chain: Chain): Promise<Finding> {
  // A local chain makes no blocks while it is idle.
  const at = config.chainMode === 'real' ? (await readChainHealth(chain)).at : await readPendingBlockTime(chain);
  const aheadMs = at.getTime() - now().getTime();
  const detail = `the newest block is ${Math.abs(Math.round(aheadMs / 1_000))} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine`;
  return aheadMs <= MAX_BLOCK_DIFFERENCE_MS ? ok(detail) : warn(detail, REPAIR);
}

const MIN_MAJOR_VERSION = 7;
const LOW_BYTES = 10 * 2 ** 30;
const EMPTY_BYTES = 2 ** 30;
/** Of a privilege, by the names of MongoDB. */
const ACTIONS = ['find', 'insert', 'update', 'remove', 'createIndex', 'createCollection'];

/** Version, replication, rights, indexes and space. */
const databaseCheck: Check = {
  id: 'database',
  title: 'Database',
  needs: ['MONGODB_URI'],
  needsTarget: true,
  async run(deps) {
    const { client, db } = await deps.database();
    const admin = client.db('admin');
    const isReal = deps.config.chainMode === 'real';
    const checks = [
      orFinding(() => checkVersion(admin)),
      orFinding(() => checkReplication(admin, isReal)),
      orFinding(() => checkRights(admin, db, isReal)),
      orFinding(() => checkIndexes(db)),
      orFinding(() => checkSpace(db)),
    ];
    return (await Promise.all(checks)).flat();
  },
};

async function checkVersion(admin: Db): Promise<Finding> {
  const { version } = (await admin.command({ buildInfo: 1 })) as { version: string };
  if (Number.parseInt(version, 10) >= MIN_MAJOR_VERSION) return ok(`MongoDB ${version}`);
  return warn(`MongoDB ${version} is older than ${MIN_MAJOR_VERSION}, with which the service is tested`, 'Upgrade the database.');
}

async function checkReplication(admin: Db, isReal: boolean): Promise<Finding[]> {
  const { setName, hosts, msg } = (await admin.command({ hello: 1 })) as { setName?: string; hosts?: string[]; msg?: string };
  if (msg === 'isdbgrid') return [ok('a router of a sharded cluster; writes wait for the majority and the journal')];
  if (setName === undefined) {
    if (!isReal) return [ok('a single server; writes wait for its journal')];
    const action = 'Use a replica set of three: what is attested and not in the database cannot be made up.';
    return [warn('a single server: a lost disk is a lost record', action)];
  }
  const members = hosts?.length ?? 0;
  const detail = `replica set ${setName} with ${members} members; writes wait for the majority and the journal`;
  return [members >= 3 ? ok(detail) : warn(detail, 'Add members until there are three.')];
}

/** By the rights that the server lists: nothing is written to try them. */
async function checkRights(admin: Db, db: Db, isReal: boolean): Promise<Finding> {
  const status = await admin.command({ connectionStatus: 1, showPrivileges: true }).catch((error: unknown) => {
    if (error instanceof MongoServerError && error.codeName === 'CommandNotFound') return null;
    throw error;
  });
  if (status === null) return skipped('the embedded engine has no users');
  const { authInfo } = status;
  const users = (authInfo?.authenticatedUsers ?? []) as { user: string }[];
  if (users.length === 0) {
    if (!isReal) return ok('without users');
    return warn('the connection has no user: everybody who reaches the server may write', 'Create a user, and name it in MONGODB_URI.');
  }
  type Privilege = { resource: { db?: string; collection?: string; anyResource?: boolean }; actions: string[] };
  const granted = ((authInfo.authenticatedUserPrivileges ?? []) as Privilege[])
    .filter(
      ({ resource }) => resource.anyResource || ((resource.db === db.databaseName || resource.db === '') && resource.collection === ''),
    )
    .flatMap(({ actions }) => actions);
  const missing = ACTIONS.filter((action) => !granted.includes(action) && !granted.includes('anyAction'));
  const who = `user ${users[0]!.user} on database ${db.databaseName}`;
  if (missing.length === 0) return ok(`${who} may read, write and make indexes`);
  return fail(`${who} may not ${missing.join(', ')}`, { action: `Grant it readWrite on ${db.databaseName}.`, isPermanent: true });
}

async function checkIndexes(db: Db): Promise<Finding> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const existing = new Set(collections.map(({ name }) => name));
  const missing: string[] = [];
  for (const spec of ALL_INDEXES) {
    if (existing.has(spec.collection) && (await findMissingIndexes(db, spec)).length > 0) missing.push(spec.collection);
  }
  if (missing.length === 0) return ok(`${existing.size} collections, no index is missing`);
  return warn(`indexes are missing in ${missing.join(', ')}`, 'The next start makes them; requests before are slow.');
}

async function checkSpace(db: Db): Promise<Finding> {
  const { fsTotalSize, fsUsedSize, storageSize, indexSize } = (await db.command({ dbStats: 1 })) as Record<string, number | undefined>;
  const used = `${Math.ceil(((storageSize ?? 0) + (indexSize ?? 0)) / 1e6)} MB in use`;
  if (fsTotalSize === undefined || fsUsedSize === undefined || fsTotalSize === 0)
    return ok(`${used}; the server does not say what is free`);
  const freeBytes = fsTotalSize - fsUsedSize;
  const detail = `${used}, ${(freeBytes / 1e9).toFixed(1)} GB free`;
  const action = 'Make room on the disk of the database.';
  if (freeBytes < EMPTY_BYTES) return fail(detail, { action, isPermanent: true });
  return freeBytes < LOW_BYTES ? warn(detail, action) : ok(detail);
}

const FIRST_START_CHECKS = [walletsCheck, rpcCheck, contractsCheck, databaseCheck, clockCheck];

/** Before the first transaction of a record on a real chain, which is permanent. @throws OracleError CONFIG_INVALID with all that cannot be repaired later */
export async function requireReadyForFirstStart(deps: Omit<DoctorDeps, 'problems' | 'isSet' | 'ntpHost'>): Promise<void> {
  const { causes } = await runDoctor({ ...deps, problems: [], isSet: () => true, ntpHost: null }, FIRST_START_CHECKS);
  const faults = causes.filter(({ level, isPermanent }) => level === 'fail' && isPermanent);
  if (faults.length === 0) return;
  const lines = faults.map(({ title, detail, action }) => `${title}: ${detail}${action === null ? '' : `\n    -> ${action}`}`);
  throw new OracleError('CONFIG_INVALID', `The record cannot begin, since this cannot be repaired later:\n  ${lines.join('\n  ')}`, {
    suggestedAction: 'Repair it, and see what else npm run doctor finds.',
  });
}

interface CheckReport extends Pick<Check, 'id' | 'title'> {
  findings: Finding[];
}

/** A failure or warning that no other explains. */
interface Cause extends Finding {
  title: string;
  /** Titles of other checks that fail or are skipped because of it. */
  concerns: string[];
}

export interface DoctorReport {
  checkedAt: string;
  /** `real` or a local chain. */
  chainMode: Config['chainMode'];
  /** Of failures and warnings the causes. */
  counts: Record<Level, number>;
  /** Failures first; within them in the order of the checks. */
  causes: Cause[];
  checks: CheckReport[];
}

const CHECK_TIMEOUT_MS = 20_000;

/** Runs all checks in parallel; one that hangs is a failure of its own. */
export async function runDoctor(deps: DoctorDeps, checks: readonly Check[] = CHECKS): Promise<DoctorReport> {
  const reports = await Promise.all(checks.map((check) => runCheck(check, deps)));
  const causes = listCauses(reports);
  const quiet = reports.flatMap(({ findings }) => findings.filter(({ level }) => level === 'ok' || level === 'skipped'));
  const counts = Object.fromEntries(LEVELS.map((level) => [level, [...causes, ...quiet].filter((one) => one.level === level).length]));
  return {
    checkedAt: deps.now().toISOString(),
    chainMode: deps.config.chainMode,
    counts: counts as Record<Level, number>,
    causes,
    checks: reports,
  };
}

function listCauses(reports: readonly CheckReport[]): Cause[] {
  const causes = new Map<Finding, Cause>();
  const add = (finding: Finding, title: string) => {
    const cause = causes.get(finding) ?? { ...finding, title, concerns: [] };
    causes.set(finding, cause);
    return cause;
  };
  const offline = findOffline(reports);
  if (offline !== null) add(offline, 'Network');
  const findRoot = (finding: Finding, id: string): [Finding, string] | null => {
    if (offline !== null && finding.reached === false) return [offline, 'Network'];
    for (const report of reports) {
      if (report.id === id || !finding.because?.includes(report.id)) continue;
      const failed = report.findings.find(({ level }) => level === 'fail');
      if (failed !== undefined) return findRoot(failed, report.id) ?? [failed, report.title];
    }
    return null;
  };
  for (const { id, title, findings } of reports) {
    for (const finding of findings.filter(({ level }) => level !== 'ok')) {
      const root = findRoot(finding, id);
      if (root === null && finding.level === 'skipped') continue;
      const { concerns, title: of } = add(...(root ?? [finding, title]));
      if (title !== of && !concerns.includes(title)) concerns.push(title);
    }
  }
  return [...causes.values()].toSorted((a, b) => Number(a.level !== 'fail') - Number(b.level !== 'fail'));
}

/** Of a machine that nothing outside has answered. */
function findOffline(reports: readonly CheckReport[]): Finding | null {
  const asked = reports.flatMap(({ findings }) => findings.filter(({ reached }) => reached !== undefined));
  if (asked.length < 2 || asked.some(({ reached }) => reached)) return null;
  return fail('this machine reaches no other: nothing that was asked for answers', {
    action: 'Look at the network, the name server and the firewall of this machine, then run it again.',
    reached: false,
  });
}

async function runCheck(check: Check, deps: DoctorDeps): Promise<CheckReport> {
  const { id, title, needs, needsTarget, uses = [], run } = check;
  const wrong = needs.filter((name) => deps.problems.some((problem) => problem.name === name));
  if (wrong.length > 0) return { id, title, findings: [skipped(`needs ${wrong.join(', ')}`, { because: ['settings'] })] };
  const { target } = deps;
  if (needsTarget && typeof target === 'string') return { id, title, findings: [skipped(target)] };
  const used = await Promise.allSettled(uses.map((name) => deps[name]()));
  const unanswered = uses.filter((_, index) => used[index]!.status === 'rejected');
  const because = unanswered.map((name) => (name === 'chain' ? 'rpc' : name));
  if (because.length > 0) return { id, title, findings: [skipped(`the ${unanswered.join(' and ')} cannot be used`, { because })] };
  const late = new Error();
  const findings = withTimeout(CHECK_TIMEOUT_MS, run(deps, target as DoctorTarget), () => late).catch((error: unknown) => {
    if (error !== late) return [toFinding(error)];
    return [
      fail(`no answer within ${CHECK_TIMEOUT_MS / 1_000} s`, {
        action: 'Run it again; look at the network of this machine.',
        reached: false,
      }),
    ];
  });
  return { id, title, findings: await findings };
}

/** Twice a day, with an hour to spare. */
const MAX_AGE_HOURS = 25;

/** Age of the newest verified backup. */
const backupCheck: Check = {
  id: 'backup',
  title: 'Backup',
  needs: ['MONGODB_URI'],
  needsTarget: true,
  uses: ['database'],
  async run({ config, database, now }) {
    const { db } = await database();
    const newest = await db
      .collection<{ finishedAt: Date; verified: boolean }>('backups')
      .findOne({ verified: true }, { sort: { finishedAt: -1 } });
    if (newest === null) {
      if (config.chainMode !== 'real') return [skipped('none, and a demonstration needs none')];
      return [warn('none has been made', 'See "Backup and restore" in docs/OPERATE.md.')];
    }
    const hours = (now().getTime() - newest.finishedAt.getTime()) / 3_600_000;
    const detail = `the newest is of ${newest.finishedAt.toISOString()}`;
    return [
      hours <= MAX_AGE_HOURS ? ok(detail) : warn(`${detail}, ${Math.round(hours)} hours ago`, 'Look why the scheduled one has not run.'),
    ];
  },
};

/** Every wrong setting. */
const settingsCheck: Check = {
  id: 'settings',
  title: 'Settings',
  needs: [],
  needsTarget: false,
  async run({ config, problems, isSet }) {
    if (problems.length > 0) return problems.map(({ name, problem }) => fail(`${name}: ${problem}`, { action: suggestCorrection([name]) }));
    const names = listSettings().map(([name]) => name);
    const unknown = config.unknownVariables.map(({ name, problem }) => warn(`${name}: ${problem}`, suggestCorrection([name])));
    return [ok(`${names.filter(isSet).length} of ${names.length} are set, none is wrong`), ...unknown];
  },
};

/** In the order of the report: what others depend on comes first. */
const CHECKS: readonly Check[] = [
  settingsCheck,
  clockCheck,
  rpcCheck,
  contractsCheck,
  walletsCheck,
  databaseCheck,
  identityCheck,
  feedsCheck,
  publicUrlCheck,
  facilitatorCheck,
  webhooksCheck,
  backupCheck,
];
