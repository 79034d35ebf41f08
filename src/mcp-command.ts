import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { childEnvironment } from './child-environment.ts';
import { type Config, loadConfig, localUrl, SETTINGS, secretValues, serviceUrl } from './config.ts';
import type { DemoWallet } from './demo-login.ts';
import { createDemoToken } from './demo-token.ts';
import { isOracleError, messageOf, OracleError } from './errors.ts';
import { forkService, type KeptService, keepService } from './local/kept-service.ts';
import { lookAtService } from './local/look-at-service.ts';
import { createLog, type Log } from './log.ts';
import { type RemoteBackendOptions, remoteBackend } from './mcp/remote-backend.ts';
import { buildMcpServer } from './mcp/server.ts';
import { serveOverStdio } from './mcp/stdio.ts';
import { createShutdown, type Shutdown, stopOnSignals } from './shutdown.ts';

const WALLETS = ['basic', 'premium'] as const satisfies DemoWallet[];

const USAGE = `Usage: npm run -s mcp -- [--url <url>] [--token <token> | --wallet <${WALLETS.join(' | ')}>]

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
const PATIENCE_MS = 45_000;
/** The service itself takes up to ten seconds to close, its database and chain included. */
const STOP_MS = 25_000;

type Environment = Readonly<Record<string, string | undefined>>;

interface Command {
  url: string | undefined;
  token: string | undefined;
  wallet: DemoWallet | undefined;
}

/** MCP over stdio: what `npm run mcp` and `bitcoin-signal-oracle-mcp` start. */
export async function main(words: string[], environment: Environment): Promise<void> {
  if (words.includes('--help') || words[0] === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  try {
    await serve(parseCommand(words), environment);
  } catch (error) {
    if (!isOracleError(error)) throw error;
    tell([error.message, error.suggestedAction].filter(Boolean).join('\n'));
    process.exit(1);
  }
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong; never a token. */
export function parseCommand(words: string[]): Command {
  const { url, token, wallet } = parsedWords(words);
  const badUrl = url === undefined ? undefined : serviceUrl.safeParse(url).error?.issues[0];
  if (badUrl !== undefined) throw invalid('--url', badUrl.message);
  const badToken = token === undefined ? undefined : SETTINGS.ORACLE_TOKEN.schema.safeParse(token).error?.issues[0];
  if (badToken !== undefined) throw invalid('--token', badToken.message);
  if (wallet !== undefined && !WALLETS.some((name) => name === wallet)) throw invalid('--wallet', `must be one of ${WALLETS.join(', ')}`);
  if (wallet !== undefined && token !== undefined) throw invalid('--wallet', 'goes without --token: it gets a token of its own');
  return { url, token, wallet: wallet as DemoWallet | undefined };
}

function parsedWords(words: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ args: words, options: { url: text, token: text, wallet: text } }).values;
  } catch (error) {
    // The parser quotes what it does not understand, which may be a token.
    const option =
      (error as { code?: string }).code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL' ? 'only options are understood' : messageOf(error);
    throw invalid('arguments', option);
  }
}

function invalid(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run -s mcp -- --help' });
}

async function serve(command: Command, environment: Environment): Promise<void> {
  const config = await settled(loadConfig(environment));
  const secrets = [...secretValues(config), ...(command.token === undefined ? [] : [{ name: '--token', value: command.token }])];
  const log = createLog({ level: config.LOG_LEVEL, secrets });
  const shutdown = createShutdown({ log, timeoutMs: STOP_MS });
  stopOnSignals(shutdown, log);
  const named = command.url ?? config.ORACLE_URL;
  const url = named ?? localUrl(config);
  const service = named === undefined ? keepLocal(url, config, environment, shutdown) : undefined;
  const server = serveOverStdio(() => build({ url, ...(service && { ready: service.ready }), ...tokenOf(command, config, url) }, log), {
    input: process.stdin,
    output: process.stdout,
    onError: (error) => log.warn({ err: error }, 'a message could not be handled'),
  });
  shutdown.onStop('connection', () => server.close());
  await server.gone;
  const failed = await shutdown.stop('the client has gone');
  process.exit(failed.length > 0 ? 1 : 0);
}

function build(options: RemoteBackendOptions, log: Log) {
  return buildMcpServer(remoteBackend(options), {
    version: packageJson.version,
    publicUrl: options.url,
    howToSendToken: HOW_TO_SEND_TOKEN,
    onError: (error) => log.warn({ err: error }, 'a call failed'),
  });
}

/** A port and a folder that stay the same however often the service is started. */
async function settled(config: Config): Promise<Config> {
  const isDefault = config.DATA_DIR === SETTINGS.DATA_DIR.default;
  const DATA_DIR = isDefault ? join(import.meta.dirname, '..', config.DATA_DIR) : resolve(config.DATA_DIR);
  return { ...config, DATA_DIR, PORT: config.PORT === 0 ? await freePort() : config.PORT };
}

/** The settings of the service and what a process needs; nothing else of what this program was started with, its token included. */
function serviceEnvironment(environment: Environment): Environment {
  const names = Object.keys(SETTINGS).filter((name) => name !== 'ORACLE_TOKEN' && name !== 'ORACLE_URL');
  return { ...childEnvironment(environment), ...Object.fromEntries(names.map((name) => [name, environment[name]])) };
}

/** Starts at once, so that it is up when the first call comes; that a call finds it is not up is told there. */
function keepLocal(url: string, config: Config, environment: Environment, shutdown: Shutdown): KeptService {
  const { DATA_DIR, PORT } = config;
  const settings = { ...serviceEnvironment(environment), DATA_DIR, PORT: String(PORT) };
  const start = () => forkService(new URL('./mcp-service.ts', import.meta.url), settings);
  const service = keepService({
    url,
    look: lookAtService,
    // Never a second worker on a chain where mistakes stay.
    ...(config.chainMode === 'own' ? { start } : {}),
    patienceMs: PATIENCE_MS,
    tell: (line) => tell(`${line} Its data is in ${DATA_DIR}.`),
  });
  shutdown.onStop('service', () => service.stop());
  service.ready().then(
    () => tell(`The service at ${url} can be asked.`),
    (error: unknown) => tell(messageOf(error)),
  );
  return service;
}

function tokenOf(command: Command, config: Config, url: string): Pick<RemoteBackendOptions, 'token' | 'forgetToken'> {
  if (command.wallet === undefined) {
    const token = command.token ?? config.ORACLE_TOKEN;
    return { token: async () => token };
  }
  const demo = createDemoToken({ wallet: command.wallet, dataDir: config.DATA_DIR, url, now: Date.now });
  return {
    token: demo.token,
    forgetToken: () => {
      demo.forget();
      return true;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening, failed) => server.once('error', failed).listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

/** On standard error: the other one carries the protocol. */
function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}
