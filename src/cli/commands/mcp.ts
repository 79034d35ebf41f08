import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../../package.json' with { type: 'json' };
import type { DemoWalletName } from '../../dev/demo/demo-login.ts';
import { createDemoTokenCache } from '../../dev/demo/demo-token.ts';
import { filterChildEnvironment } from '../../platform/child-process/child-environment.ts';
import { getLocalUrl, loadConfig } from '../../platform/config/config.ts';
import { serviceUrlSchema } from '../../platform/config/settings/define.ts';
import { type Config, listSecretValues, SETTINGS } from '../../platform/config/settings.ts';
import { getErrorMessage, isOracleError, OracleError } from '../../platform/errors.ts';
import { createLog, type Log } from '../../platform/log.ts';
import { createShutdown, type Shutdown, stopOnSignals } from '../../platform/shutdown.ts';
import { createRemoteBackend, type RemoteBackendOptions } from '../../transports/mcp/backends/remote.ts';
import { buildMcpServer } from '../../transports/mcp/server.ts';
import { serveOverStdio } from '../../transports/mcp/stdio/stdio.ts';
import { createLocalService, forkService, type LocalService } from './local-service.ts';
import { probeService } from './probe-service.ts';

const WALLET_NAMES = ['basic', 'premium'] as const satisfies DemoWalletName[];

const USAGE = `Usage: npm run -s mcp -- [--url <url>] [--token <token> | --wallet <${WALLET_NAMES.join(' | ')}>]

Serves MCP over standard input and output, for an assistant that starts its servers itself. What it tells comes from a service:
the one that --url names, or the one of this machine. Where none runs here, it is started, and ends with this program.

  --url <url>        the service to ask; or ORACLE_URL. Unset: http://127.0.0.1:PORT, with the settings of the service
  --token <token>    access token to call with; better ORACLE_TOKEN: other users of this machine can read command lines
  --wallet <name>    logs that demonstration wallet of DATA_DIR/demo.json in, and again before its token expires

Settings are those of the service, from the environment. A relative DATA_DIR counts from the current folder; unset, it is the
folder data of this program, from wherever it is started. Standard error tells what goes on.
`;

/** For the model, which tells its user. */
const HOW_TO_SEND_TOKEN =
  'It goes into the environment of this program as ORACLE_TOKEN, before it starts. For the demonstration service of this machine: start it with --wallet basic or --wallet premium, which gets tokens by itself.';

/** A client gives a call a minute unless told otherwise. */
const READY_TIMEOUT_MS = 45_000;
/** The service itself takes up to ten seconds to close, its database and chain included. */
const STOP_TIMEOUT_MS = 25_000;

type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

interface McpCommand {
  url: string | undefined;
  token: string | undefined;
  wallet: DemoWalletName | undefined;
}

/** MCP over stdio: what `npm run mcp` and `bitcoin-signal-oracle-mcp` start. */
export async function runMcpCommand(args: string[], environment: ProcessEnvironment): Promise<void> {
  if (args.includes('--help') || args[0] === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  try {
    await serveMcp(parseMcpCommand(args), environment);
  } catch (error) {
    if (!isOracleError(error)) throw error;
    writeNotice([error.message, error.suggestedAction].filter(Boolean).join('\n'));
    process.exit(1);
  }
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong; never a token. */
export function parseMcpCommand(args: string[]): McpCommand {
  const { url, token, wallet } = parseMcpOptions(args);
  const badUrl = url === undefined ? undefined : serviceUrlSchema.safeParse(url).error?.issues[0];
  if (badUrl !== undefined) throw usageError('--url', badUrl.message);
  const badToken = token === undefined ? undefined : SETTINGS.ORACLE_TOKEN.schema.safeParse(token).error?.issues[0];
  if (badToken !== undefined) throw usageError('--token', badToken.message);
  if (wallet !== undefined && !WALLET_NAMES.some((name) => name === wallet))
    throw usageError('--wallet', `must be one of ${WALLET_NAMES.join(', ')}`);
  if (wallet !== undefined && token !== undefined) throw usageError('--wallet', 'goes without --token: it gets a token of its own');
  return { url, token, wallet: wallet as DemoWalletName | undefined };
}

function parseMcpOptions(args: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ args: args, options: { url: text, token: text, wallet: text } }).values;
  } catch (error) {
    // The parser quotes what it does not understand, which may be a token.
    const option =
      (error as { code?: string }).code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL' ? 'only options are understood' : getErrorMessage(error);
    throw usageError('arguments', option);
  }
}

function usageError(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run -s mcp -- --help' });
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
  const server = serveOverStdio(
    () => createMcpServer({ url, ...(service && { ready: service.ready }), ...chooseTokenSource(command, config, url) }, log),
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

function createMcpServer(options: RemoteBackendOptions, log: Log) {
  return buildMcpServer(createRemoteBackend(options), {
    version: packageJson.version,
    publicUrl: options.url,
    howToSendToken: HOW_TO_SEND_TOKEN,
    onError: (error) => log.warn({ err: error }, 'a call failed'),
  });
}

/** A port and a folder that stay the same however often the service is started. */
async function resolveLocalSettings(config: Config): Promise<Config> {
  const isDefault = config.DATA_DIR === SETTINGS.DATA_DIR.default;
  const DATA_DIR = isDefault ? join(import.meta.dirname, '../../..', config.DATA_DIR) : resolve(config.DATA_DIR);
  return { ...config, DATA_DIR, PORT: config.PORT === 0 ? await findFreePort() : config.PORT };
}

/** The settings of the service and what a process needs; nothing else of what this program was started with, its token included. */
function buildServiceEnvironment(environment: ProcessEnvironment): ProcessEnvironment {
  const names = Object.keys(SETTINGS).filter((name) => name !== 'ORACLE_TOKEN' && name !== 'ORACLE_URL');
  return { ...filterChildEnvironment(environment), ...Object.fromEntries(names.map((name) => [name, environment[name]])) };
}

/** Starts at once, so that it is up when the first call comes; that a call finds it is not up is told there. */
function keepLocalService(url: string, config: Config, environment: ProcessEnvironment, shutdown: Shutdown): LocalService {
  const { DATA_DIR, PORT } = config;
  const settings = { ...buildServiceEnvironment(environment), DATA_DIR, PORT: String(PORT) };
  const start = () => forkService(new URL('./mcp-service.ts', import.meta.url), settings);
  const service = createLocalService({
    url,
    probe: probeService,
    // Never a second worker on a chain where mistakes stay.
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

/** On standard error: the other one carries the protocol. */
function writeNotice(text: string): void {
  process.stderr.write(`${text}\n`);
}
