import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { getLocalUrl, loadConfig } from '../config.ts';
import { createDemoTokenCache, type DemoWalletName } from '../dev/demo.ts';
import { getErrorMessage, UsageError } from '../errors.ts';
import { type McpServerOptions, readAppDocuments } from '../mcp/protocol.ts';
import { loadSkillCatalog } from '../mcp/resources.ts';
import { buildMcpServer } from '../mcp/server.ts';
import { serveOverStdio } from '../mcp/stdio.ts';
import { createRemoteBackend, type RemoteBackendOptions } from '../mcp/tools.ts';
import { filterChildEnvironment } from '../platform/child-process.ts';
import { createLog, type Log } from '../platform/log.ts';
import { writeNotice } from '../platform/progress.ts';
import { createShutdown, type Shutdown, stopOnSignals } from '../platform/shutdown.ts';
import { type Config, listSecretValues, listVariables, SETTINGS, serviceUrlSchema } from '../settings.ts';
import { createLocalService, failWith, forkService, type LocalService, probeService } from './script.ts';
import { parseChoice } from './svc/command.ts';
import { type CommandSyntax, parseCommandLine } from './svc/command-line.ts';

const WALLET_NAMES = ['basic', 'premium'] as const satisfies DemoWalletName[];

const SYNTAX: CommandSyntax = {
  name: 'npm run -s mcp --',
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
  stopOnSignals(shutdown, log);
  const namedUrl = command.url ?? config.ORACLE_URL;
  const url = namedUrl ?? getLocalUrl(config);
  const service = namedUrl === undefined ? keepLocalService(url, config, environment, shutdown) : undefined;
  const payments = config.MCP_PAYMENTS === 'on' ? 'elsewhere' : 'off';
  const skillCatalog = await loadSkillCatalog({ publicUrl: url, version: packageJson.version }, payments);
  const offered = { apps: readAppDocuments(), payments, skillCatalog } as const;
  const server = serveOverStdio(
    () => createMcpServer({ url, ...(service && { ready: service.ready }), ...chooseTokenSource(command, config, url) }, offered, log),
    {
      input: process.stdin,
      output: process.stdout,
      onError: (error) => log.warn({ err: error }, 'a message could not be handled'),
    },
  );
  shutdown.onStop('connection', () => server.close());
  await server.disconnected;
  const failed = await shutdown.stop('the client has gone');
  process.exit(failed.length > 0 ? 1 : 0);
}

function createMcpServer(options: RemoteBackendOptions, offered: Pick<McpServerOptions, 'apps' | 'payments' | 'skillCatalog'>, log: Log) {
  return buildMcpServer(createRemoteBackend(options), {
    version: packageJson.version,
    publicUrl: options.url,
    howToSendToken: HOW_TO_SEND_TOKEN,
    ...offered,
    onError: (error) => log.warn({ err: error }, 'a call failed'),
  });
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
