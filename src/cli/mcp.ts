import { type ChildProcess, fork } from 'node:child_process';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { getLocalUrl, loadConfig } from '../config.ts';
import { createDemoTokenCache, type DemoWalletName } from '../dev/demo.ts';
import { getErrorMessage, OracleError, UsageError } from '../errors.ts';
import { readAppDocuments } from '../mcp/protocol.ts';
import { loadSkillCatalog } from '../mcp/resources.ts';
import { createServerFactory } from '../mcp/server.ts';
import { createRemoteBackend, type RemoteBackendOptions, serveOverStdio } from '../mcp/stdio.ts';
import { filterChildEnvironment, stopChild } from '../platform/child-process.ts';
import { createLog } from '../platform/log.ts';
import { writeNotice } from '../platform/progress.ts';
import { createShutdown, type Shutdown, stopOnSignals } from '../platform/shutdown.ts';
import { type Config, listSecretValues, listVariables, SETTINGS, serviceUrlSchema } from '../settings.ts';
import { failWith, probeService, type ServiceProbe } from './script.ts';
import { parseChoice } from './svc/command.ts';
import { type CommandSyntax, parseCommandLine } from './svc/command-line.ts';

const WALLET_NAMES = ['basic', 'premium'] as const satisfies DemoWalletName[];

const SYNTAX: CommandSyntax = {
  name: 'npm run -s mcp --',
  example: 'npm run -s mcp -- --wallet premium',
  summary: 'Serves MCP over standard input and output, for an assistant that starts its servers itself',
  description: 'Calls go to the service of --url, or to the one of this machine, which is started if needed and ends with this program.',
  options: [
    [
      '--url <url>',
      'the service; or ORACLE_URL (default: http://127.0.0.1:PORT, with the settings of the service)',
      parseWith(serviceUrlSchema),
    ],
    [
      '--token <token>',
      'access token; prefer ORACLE_TOKEN, as other users of this machine can read command lines',
      parseWith(SETTINGS.ORACLE_TOKEN.schema),
    ],
    ['--wallet <name>', `log in with this demo wallet of DATA_DIR/demo.json and renew its token: ${WALLET_NAMES.join(' or ')}`],
  ],
  footer: `The settings of the service are read from the environment. A relative DATA_DIR counts from the current folder; by default it is the
folder data of this program. Progress is written to standard error.`,
};

/** Returned to the model, which passes it on to its user. */
const HOW_TO_SEND_TOKEN =
  'It goes into the environment of this program as ORACLE_TOKEN, before it starts. For the demonstration service of this machine: start it with --wallet basic or --wallet premium, which gets tokens by itself.';

/** MCP clients time out a call after a minute by default. */
const READY_TIMEOUT_MS = 45_000;
/** The service takes up to ten seconds to close, including its database and chain. */
const STOP_TIMEOUT_MS = 25_000;

type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

interface McpCommand {
  url: string | undefined;
  token: string | undefined;
  wallet: DemoWalletName | undefined;
}

/** `npm run mcp` and `bitcoin-signal-oracle-mcp` */
export async function runMcpCommand(args: string[], environment: ProcessEnvironment): Promise<void> {
  try {
    const command = parseMcpCommand(args);
    if (command !== null) await serveMcp(command, environment);
  } catch (error) {
    failWith(error, 1);
    process.exit();
  }
}

/** @returns null after printing the help @throws UsageError naming the option, never a token */
export function parseMcpCommand(args: string[]): McpCommand | null {
  const parsed = parseCommandLine<McpCommand>(SYNTAX, args, process.stdout);
  if (parsed === null) return null;
  const { url, token, wallet } = parsed.values;
  parseChoice('--wallet', wallet, WALLET_NAMES);
  if (wallet !== undefined && token !== undefined) throw new UsageError('--wallet', 'goes without --token: it gets a token of its own');
  return { url, token, wallet };
}

function parseWith(schema: z.ZodType): (name: string, value: string) => string {
  return (name, value) => {
    const issue = schema.safeParse(value).error?.issues[0];
    if (issue !== undefined) throw new UsageError(name, issue.message);
    return value;
  };
}

async function serveMcp(command: McpCommand, environment: ProcessEnvironment): Promise<void> {
  const config = await resolveLocalSettings(loadConfig(environment));
  const secrets = [...listSecretValues(config), ...(command.token === undefined ? [] : [{ name: '--token', value: command.token }])];
  const log = createLog({ level: config.LOG_LEVEL, secrets });
  const shutdown = createShutdown({ log, timeoutMs: STOP_TIMEOUT_MS });
  stopOnSignals(shutdown, (signal) => log.info({ signal }, 'stopping'));
  const namedUrl = command.url ?? config.ORACLE_URL;
  const url = namedUrl ?? getLocalUrl(config);
  const service = namedUrl === undefined ? keepLocalService(url, config, environment, shutdown) : undefined;
  const payments = config.MCP_PAYMENTS === 'on' ? 'elsewhere' : 'off';
  const skillCatalog = await loadSkillCatalog({ publicUrl: url, version: packageJson.version }, payments);
  const apps = readAppDocuments();
  const { version } = packageJson;
  const buildServer = createServerFactory({ version, publicUrl: url, howToSendToken: HOW_TO_SEND_TOKEN, apps, payments, skillCatalog });
  const backend = createRemoteBackend({ url, ...(service && { ready: service.ready }), ...chooseTokenSource(command, config, url) });
  const server = serveOverStdio(() => buildServer({ backend, onError: (error) => log.warn({ err: error }, 'a call failed') }), {
    input: process.stdin,
    output: process.stdout,
    onError: (error) => log.warn({ err: error }, 'a message could not be handled'),
  });
  shutdown.onStop('connection', () => server.close());
  await server.disconnected;
  const failed = await shutdown.stop('the client has gone');
  process.exit(failed.length > 0 ? 1 : 0);
}

/** Fixes port and data folder, so that a restarted service keeps both. */
async function resolveLocalSettings(config: Config): Promise<Config> {
  const isDefault = config.DATA_DIR === SETTINGS.DATA_DIR.default;
  const DATA_DIR = isDefault ? join(import.meta.dirname, '../..', config.DATA_DIR) : resolve(config.DATA_DIR);
  return { ...config, DATA_DIR, PORT: config.PORT === 0 ? await findFreePort() : config.PORT };
}

/** Settings of the service and the base environment of a child process; other variables and the token are not passed on. */
function buildServiceEnvironment(environment: ProcessEnvironment): ProcessEnvironment {
  const names = listVariables().filter((name) => !/^ORACLE_(TOKEN|URL)/.test(name));
  return { ...filterChildEnvironment(environment), ...Object.fromEntries(names.map((name) => [name, environment[name]])) };
}

/** Starts the service ahead of the first call; a start failure is reported by the calls. */
function keepLocalService(url: string, config: Config, environment: ProcessEnvironment, shutdown: Shutdown): LocalService {
  const { DATA_DIR, PORT } = config;
  const settings = { ...buildServiceEnvironment(environment), DATA_DIR, PORT: String(PORT) };
  const start = () => forkService(new URL('./mcp-service.ts', import.meta.url), settings);
  const service = createLocalService({
    url,
    probe: probeService,
    // Never starts a second worker on a real chain.
    ...(config.chainMode === 'own' ? { start } : {}),
    maxWaitMs: READY_TIMEOUT_MS,
    writeNotice: (line) => writeNotice(`${line} Its data is in ${DATA_DIR}.`),
  });
  shutdown.onStop('service', () => service.stop());
  service.ready().then(
    () => writeNotice(`The service at ${url} can be asked.`),
    (error: unknown) => writeNotice(getErrorMessage(error)),
  );
  return service;
}

interface LocalServiceOptions {
  url: string;
  probe(url: string): Promise<ServiceProbe>;
  /** Starts the service as a child; undefined when it must not be started from here. */
  start?: () => ChildProcess;
  maxWaitMs: number;
  writeNotice(line: string): void;
}

/** The service of this machine: a running one, or a child that ends with this process. */
interface LocalService {
  /** Resolves once the service accepts requests. @throws OracleError STEP_WAITING, SERVICE_UNREACHABLE, CONFIG_INVALID */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

const PROBE_INTERVAL_MS = 200;
const KILL_AFTER_MS = 20_000;

export function createLocalService({ url, probe, start, maxWaitMs, writeNotice }: LocalServiceOptions): LocalService {
  const stopping = new AbortController();
  let child: ReturnType<typeof watchExit> | undefined;
  let pendingStart: Promise<void> | undefined;
  let detail = 'it has just been started';

  function startService(): ChildProcess {
    if (start === undefined) throw serviceMissingError(url);
    writeNotice(`No service answers at ${url}: starting one.`);
    return start();
  }

  /** Probes until the service is up, whichever process runs it: of two programs that start at once, one finds the other's. */
  async function waitUntilUp(): Promise<void> {
    let started = child !== undefined && child.ended === undefined;
    for (;;) {
      // Read before the probe: a child that lost the race for the port has exited while another process answers there.
      const exitReason = child?.ended;
      const probed = await probe(url);
      if (probed.state === 'up') return;
      if (probed.state === 'foreign') throw foreignServiceError(url);
      if (probed.state === 'starting') detail = probed.detail;
      if (probed.state === 'nothing' && started && exitReason !== undefined) throw startFailedError(url, exitReason);
      if (probed.state === 'nothing' && !started) {
        child = watchExit(startService());
        started = true;
      }
      await delay(PROBE_INTERVAL_MS, undefined, { signal: stopping.signal });
    }
  }

  return {
    async ready() {
      if (stopping.signal.aborted) throw stoppingError();
      pendingStart ??= waitUntilUp().finally(() => {
        pendingStart = undefined;
      });
      const waited = await Promise.race([pendingStart, delay(maxWaitMs, 'waited' as const, { ref: false })]);
      if (waited === 'waited') throw stillStartingError(url, detail);
    },
    async stop() {
      stopping.abort(stoppingError());
      await pendingStart?.catch(() => {});
      if (child !== undefined) await stopChild(child.process, child.exited, KILL_AFTER_MS);
    },
  };
}

function watchExit(process: ChildProcess) {
  const { promise: exited, resolve } = Promise.withResolvers<void>();
  const child = { process, ended: undefined as string | undefined, exited };
  const end = (exitReason: string) => {
    child.ended ??= exitReason;
    resolve();
  };
  process.once('error', (error) => end(error.message));
  process.once('exit', (code, signal) => end(signal ?? `exit code ${code}`));
  return child;
}

function foreignServiceError(url: string): OracleError {
  return new OracleError('CONFIG_INVALID', `What answers at ${url} is not this service`, {
    field: 'PORT',
    suggestedAction: 'Set PORT to where the service runs or may run, or name its address by --url or ORACLE_URL.',
  });
}

function serviceMissingError(url: string): OracleError {
  return new OracleError('SERVICE_UNREACHABLE', `No service answers at ${url}`, {
    suggestedAction: 'Start it with npm start, or name its address by --url or ORACLE_URL.',
  });
}

function startFailedError(url: string, exitReason: string): OracleError {
  return new OracleError('SERVICE_UNREACHABLE', `No service answers at ${url}, and the one that was started has ended (${exitReason})`, {
    suggestedAction: 'Its error is on the standard error of this program. The next call starts it again.',
  });
}

function stillStartingError(url: string, detail: string): OracleError {
  return new OracleError('STEP_WAITING', `The service at ${url} is starting: ${detail}`, {
    retryAfterSeconds: 10,
    suggestedAction: 'Repeat the call in a moment: the first start replays history, later ones take seconds.',
  });
}

function stoppingError(): OracleError {
  return new OracleError('SHUTTING_DOWN', 'This program is stopping');
}

/** Its output goes to standard error, since standard output carries the protocol; in a process group of its own, Ctrl-C does not reach it. */
function forkService(module: URL, environment: Readonly<Record<string, string | undefined>>): ChildProcess {
  return fork(module, [], { detached: true, execArgv: [], env: environment, stdio: ['ignore', 2, 2, 'ipc'] });
}

function chooseTokenSource(command: McpCommand, config: Config, url: string): Pick<RemoteBackendOptions, 'token' | 'forgetToken'> {
  if (command.wallet === undefined) {
    const token = command.token ?? config.ORACLE_TOKEN;
    return { token: async () => token };
  }
  const demo = createDemoTokenCache({ wallet: command.wallet, dataDir: config.DATA_DIR, url, now: Date.now });
  return {
    token: demo.getToken,
    forgetToken: () => {
      demo.forget();
      return true;
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening, failed) => server.once('error', failed).listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
