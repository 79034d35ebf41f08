import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { getAddress } from 'viem';
import { buildAgentCard, CardChangeStore, type CardService, createCardService } from '../../agent-card/card.ts';
import type { CardSource } from '../../agent-card/endpoints.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { PaidCalls, RunSkill } from '../../skills/runner.ts';
import type { DispatchOptions } from '../a2a/dispatcher.ts';
import { TaskPush } from '../a2a/push.ts';
import { type A2a, createA2a } from '../a2a/server.ts';
import type { ProtocolAdapter } from '../adapter.ts';
import { ApplicationTokens, AuthService, createApplicationAccess, WalletTiers } from '../auth/auth.ts';
import { ArtifactStore, ClientStore, GrantStore, listMcpResources, MCP_PATHS } from '../auth/oauth-clients.ts';
import { OAuthServer, type OAuthStores, RefreshReplyStore } from '../auth/oauth-server.ts';
import { createRateLimits, createRequestCountStore } from '../auth/rate-limits.ts';
import { createGateReader } from '../auth/tiers.ts';
import { CardKeyStore } from '../auth/tokens.ts';
import { readContractStates } from '../chain/contracts.ts';
import type { Commerce } from '../commerce/commerce.ts';
import type { Context } from '../context.ts';
import { createDemoWallets } from '../dev/demo.ts';
import { getErrorMessage, OracleError } from '../errors.ts';
import { formatDay, MINUTE_MS, parseDay } from '../forecast/day.ts';
import { type AdminService, type AdminStepResult, AuditLog, createCredentialCheck } from '../http/admin.ts';
import { createChainWork, createLoadShedder } from '../http/admission.ts';
import type { AppOptions } from '../http/request.ts';
import { createJobsPage, type JobsConsole, type JobsSource } from '../http/routes/admin.ts';
import { createOAuthAdapter, DocumentBudget, renderProviderError } from '../http/routes/oauth.ts';
import type { About, DemoWallets } from '../http/schemas/info.ts';
import { type McpFixtures, type McpSession, readAppDocuments } from '../mcp/protocol.ts';
import { loadSkillCatalog } from '../mcp/resources.ts';
import { createMcpAdapter, createMcpAuthorization, createOriginCheck } from '../mcp/server.ts';
import { createLocalBackend } from '../mcp/tools.ts';
import type { PipelineContext } from '../pipeline/forecaster.ts';
import { runStepManually, type StepReport } from '../pipeline/pipeline.ts';
import type { Schedule } from '../pipeline/schedule.ts';
import { readStepStatus } from '../pipeline/status.ts';
import { TIMETABLE } from '../pipeline/timetable.ts';
import { createCache } from '../platform/concurrency.ts';
import { watchQueueingDelay } from '../platform/load-shedder.ts';
import type { Log } from '../platform/log.ts';
import type { Database } from '../platform/mongo.ts';
import { createResolver } from '../platform/outbound/guarded.ts';
import { createSecretBox } from '../platform/secrets.ts';
import { joinUrl } from '../platform/service-client.ts';
import { WagerSwitch } from '../wager/wagers.ts';
import type { ServiceCore } from './core.ts';

/** @throws OracleError CONFIG_INVALID if the stored signing keys are encrypted under another secret */
export async function composeAuth(context: Context, applications?: ApplicationTokens): Promise<AuthService> {
  const { db, chain, encryptionSecret, agentId, publicUrl, now } = context;
  const { host, origin } = new URL(publicUrl);
  const access = new AuthService({
    db,
    chain,
    secretBox: createSecretBox(encryptionSecret),
    issuer: `eip155:${chain.chainId}:${getAddress(chain.addresses.identityRegistry)}:${agentId}`,
    siwe: { domain: host, origin, chainId: chain.chainId },
    ...(applications === undefined ? {} : { applications }),
    now,
  });
  await access.keys.getSigningKey();
  return access;
}

/** What public answers are made from: the record and, as market data are read once a minute, the minute. */
export function composeAnswerState({ record: { known }, now }: Context): () => string {
  return () => `${known.revision} ${Math.floor(now().getTime() / MINUTE_MS)} ${known.isStale}`;
}

export function composeAppOptions(context: Context, operator: Pick<AppOptions, 'identify' | 'admin' | 'adminPage'>) {
  const { config, db, log, shutdown, now, record } = context;
  const limits = createRateLimits({
    counts: createRequestCountStore(db),
    limits: {
      public: config.RATE_LIMIT_PUBLIC,
      wallet: config.RATE_LIMIT_WALLET,
      rpc: config.RATE_LIMIT_RPC,
      tasks: config.RATE_LIMIT_TASKS,
    },
    now,
    log,
  });
  const loadShedder = createLoadShedder();
  watchQueueingDelay({ ping: () => db.command({ ping: 1 }), observe: (delayMs) => loadShedder.observe(delayMs), signal: shutdown.signal });
  return {
    ...operator,
    ...{ log, limits },
    readState: composeAnswerState(context),
    isStale: () => record.known.isStale,
    chainWork: createChainWork(),
    loadShedder,
    trustProxy: config.TRUST_PROXY,
    reusesAnswers: true,
    stopping: shutdown.signal,
  } satisfies AppOptions;
}

/** Concurrent callers share one computation: an unmetered path has at most one in flight. */
export function shareWhileInFlight<T>(compute: () => Promise<T>): () => Promise<T> {
  let inFlight: Promise<T> | undefined;
  return () => {
    inFlight ??= compute().finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  };
}

export function buildCardSource({ chain, agentId, publicUrl }: ServiceCore, commerce: Commerce, version: string): CardSource {
  const { merchant, receiptSigner } = commerce;
  return {
    publicUrl,
    version,
    chainId: chain.chainId,
    registry: chain.addresses.identityRegistry,
    agentId,
    payments: { payee: merchant.payee, asset: merchant.asset, receiptSigner },
  };
}

/** @throws OracleError CONFIG_INVALID if the stored keys are encrypted under another secret */
export async function composeCard({ db, encryptionSecret, now }: Context, source: CardSource): Promise<CardService> {
  const keys = new CardKeyStore({ db, secretBox: createSecretBox(encryptionSecret), now });
  const service = createCardService({ source, keys, changes: new CardChangeStore({ db, now }), now });
  await service.current();
  return service;
}

/** Source of the service's description of itself; contract states are read at most once a minute. */
export function composeAbout({ config, chain, agentId, wallets, now }: Context): About {
  const cache = createCache<Awaited<ReturnType<About['contracts']>>>('contract-states', 1);
  const read = async () => ({ ...(await readContractStates(chain, { agentId, reporter: wallets.reporter.address })), checkedAt: now() });
  return {
    local: config.chainMode !== 'real',
    confirmations: chain.confirmations,
    rates: { public: config.RATE_LIMIT_PUBLIC, wallet: config.RATE_LIMIT_WALLET, rpc: config.RATE_LIMIT_RPC },
    schedule: [...TIMETABLE],
    contracts: () => cache.get(Math.floor(now().getTime() / 60_000), read),
  };
}

/** Applications that wallets have allowed; null where `MCP_OAUTH` is off. */
export function composeApplications(context: Context) {
  const { config, chain, publicUrl, now } = context;
  if (config.MCP_OAUTH === 'off') return null;
  const artifacts = new ArtifactStore(context);
  const refreshReplies = new RefreshReplyStore({ ...context, artifacts, secretBox: createSecretBox(context.encryptionSecret) });
  const stores = { artifacts, refreshReplies, clients: new ClientStore(context), grants: new GrantStore(context) };
  const balances = new WalletTiers({ readGate: createGateReader(chain), now });
  const readBalance = (wallet: string) => balances.getBalance(wallet);
  return {
    stores,
    tokens: new ApplicationTokens({ stores, resources: listMcpResources(publicUrl), readBalance }),
    access: createApplicationAccess(stores),
  };
}

const MAX_DETAIL_CHARS = 200;

/** The authorization server of the applications. */
export function composeOAuth(
  { chain, config, log, now, publicUrl }: Context,
  { stores, access, hasDemoWallets }: { stores: OAuthStores; access: AuthService; hasDemoWallets: boolean },
): ProtocolAdapter {
  const budget = new DocumentBudget(stores);
  const server = new OAuthServer({
    publicUrl,
    stores,
    readGate: createGateReader(chain),
    documentRules: { allowLocal: config.PUSH_LOCAL_TARGETS === 'allow', resolve: createResolver() },
    allowFetch: (request, clientId) => budget.takeOne(request, clientId),
    renderError: (context, out) => renderProviderError(publicUrl, context, out),
    onDocumentFailure: (host, reason) =>
      log.info({ host, reason: reason.slice(0, MAX_DETAIL_CHARS) }, 'a document of a client was refused'),
    onRejected: ({ error, detail, clientHost }) =>
      log.info({ error, detail: detail.slice(0, MAX_DETAIL_CHARS), clientHost }, 'a request of an application was refused'),
    onError: (error) => log.error({ err: error }, 'a request of an application failed'),
    now,
  });
  return createOAuthAdapter({ server, clients: stores.clients, budget, publicUrl, hasDemoWallets, access });
}

interface SkillRunners {
  runSkill: RunSkill;
  paidCalls: PaidCalls;
}

/** What official test suites call by name or id. */
interface ProtocolFixtures {
  a2aFixtures: DispatchOptions['fixtures'];
  createMcpFixtures(): McpFixtures;
}

/** @throws OracleError CONFIG_INVALID */
async function loadFixtures({ PROTOCOL_FIXTURES: path }: Context['config']): Promise<ProtocolFixtures | undefined> {
  if (path === undefined) return undefined;
  try {
    return await import(pathToFileURL(resolve(path)).href);
  } catch (cause) {
    const problem = `Setting PROTOCOL_FIXTURES: ${path} cannot be loaded: ${getErrorMessage(cause)}`;
    throw new OracleError('CONFIG_INVALID', problem, { field: 'PROTOCOL_FIXTURES', cause });
  }
}

export async function composeA2a(context: Context, source: CardSource, runners: SkillRunners): Promise<A2a> {
  const { config, encryptionSecret } = context;
  const createRules = () => ({ allowLocal: config.PUSH_LOCAL_TARGETS === 'allow', resolve: createResolver() });
  const secretBox = createSecretBox(encryptionSecret);
  const push = new TaskPush({ ...context, secretBox, rules: createRules(), registering: createRules() });
  const fixtures = await loadFixtures(config);
  return createA2a(context, { ...runners, card: buildAgentCard(source), push, fixtures: fixtures?.a2aFixtures });
}

const MAX_TRACE_CHARS = 2_000;
const MAX_REASON_CHARS = 200;

/** @param options.hasOAuth whether applications can get access by OAuth */
export async function composeMcp(
  { config, log, shutdown, publicUrl }: Context,
  options: SkillRunners & { access: AuthService; hasOAuth: boolean; observeMessage: McpSession['observeMessage'] },
): Promise<ProtocolAdapter> {
  const { runSkill, paidCalls, access, hasOAuth, observeMessage } = options;
  const identify = (authorization: string | undefined) => access.identify(authorization, 'mcp');
  const apps = readAppDocuments();
  if (apps === undefined) log.warn('the views of the MCP App have not been built; "npm run build:page" does');
  const { version } = packageJson;
  const payments = config.MCP_PAYMENTS === 'on' ? 'call' : 'off';
  const adapter = createMcpAdapter({
    version,
    publicUrl,
    payments,
    apps,
    observeMessage,
    skillCatalog: await loadSkillCatalog({ publicUrl, version }, payments),
    ...(hasOAuth
      ? { authorization: createMcpAuthorization({ publicUrl, identify }), accountUrl: joinUrl(publicUrl, MCP_PATHS.account) }
      : {}),
    fixtures: (await loadFixtures(config))?.createMcpFixtures(),
    backendFor: (context) => createLocalBackend({ runSkill, ...(config.MCP_PAYMENTS === 'on' && { paidCalls }) }, context),
    checkOrigin: createOriginCheck({
      publicUrl,
      allowedOrigins: config.MCP_ALLOWED_ORIGINS ?? [],
      allowLoopback: config.chainMode !== 'real',
    }),
    onRejected: ({ message }) => log.info({ reason: message.slice(0, MAX_REASON_CHARS) }, 'an MCP request was refused'),
    onError(error, requestId) {
      const trace = error instanceof Error ? (error.stack ?? error.message) : getErrorMessage(error);
      log.error({ requestId, err: trace.slice(0, MAX_TRACE_CHARS) }, 'an MCP request failed');
    },
  });
  shutdown.onStop('MCP streams', () => adapter.close());
  return adapter;
}

/** Operations of the operator, and their authentication; without configured credentials they cannot be reached. */
export function composeAdministration(
  pipeline: PipelineContext,
  state: { schedule: Schedule | null },
  getStartupStep: () => string | null,
): { administration: AdminService } & Pick<AppOptions, 'admin' | 'adminPage'> {
  const { config, db, log, now } = pipeline;
  const { ADMIN_USER: user, ADMIN_PASSWORD: password, ROLE } = config;
  const audit = new AuditLog({ db, user: user ?? '', log, now });
  const administration: AdminService = {
    audit,
    wagerSwitch: new WagerSwitch(db),
    wagersOff: !pipeline.placeWagers,
    steps: () => readStepStatus(pipeline),
    async runStep(step, date) {
      const left = getStartupStep();
      if (left !== null) throw new OracleError('STEP_WAITING', `The service is being set up: ${left}`);
      return toStepResult(await runStepManually(pipeline, { step, day: date === undefined ? undefined : parseDay(date), now: now() }));
    },
  };
  // A worker serves no admin routes.
  if (user === undefined || password === undefined || ROLE === 'worker') return { administration };
  return {
    administration,
    admin: createAdminCheck({ user, password }, log),
    adminPage: createJobsPage(createJobsSource(db, state), audit),
  };
}

function createAdminCheck(credentials: { user: string; password: string }, log: Log): NonNullable<AppOptions['admin']> {
  const isRight = createCredentialCheck(credentials);
  return (authorization, { requestId, address }) => {
    if (isRight(authorization)) return;
    // The sent value is not logged: it may be the password with a typo.
    if (authorization !== undefined) log.warn({ requestId, ip: address }, 'credentials of the operator refused');
    throw new OracleError('UNAUTHENTICATED', "This needs the operator's credentials", {
      field: 'Authorization',
      suggestedAction: 'Send the user and password of the settings by HTTP Basic.',
    });
  };
}

function toStepResult({ step, day, outcome }: StepReport): AdminStepResult {
  const common = { step, date: formatDay(day) };
  if ('done' in outcome) return { ...common, state: 'done', detail: outcome.done };
  if ('waiting' in outcome) return { ...common, state: 'waiting', detail: outcome.waiting };
  return { ...common, state: 'failed', detail: outcome.failed };
}

function createJobsSource(db: Database['db'], state: { schedule: Schedule | null }): JobsSource {
  let opened: Promise<JobsConsole> | undefined;
  return {
    console() {
      // Imported on first use: an API process saves the memory.
      opened ??= Promise.all([import('agendash'), import('../pipeline/schedule.ts')])
        .then(async ([{ AgendashController }, { openJobsAgenda }]) => new AgendashController(await openJobsAgenda(db)))
        .catch((error: unknown) => {
          opened = undefined;
          throw error;
        });
      return opened;
    },
    files: join(dirname(fileURLToPath(import.meta.resolve('agendash'))), '../public'),
    running: async (fullDetails) => (await state.schedule?.getRunningStats(fullDetails)) ?? null,
  };
}

/** The wallets of a local chain; null on a real one, where this process knows none. */
export function composeDemo({ infrastructure: { demo }, now }: ServiceCore, access: AuthService): DemoWallets | null {
  return demo === null ? null : createDemoWallets({ wallets: demo.wallets, access, now });
}
