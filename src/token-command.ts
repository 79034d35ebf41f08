import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { privateKeyToAccount } from 'viem/accounts';
import { loginMessage } from './access/login-message.ts';
import { type Config, listenHost, loadConfig } from './config.ts';
import { isOracleError, messageOf, OracleError } from './errors.ts';
import { DEMO_WALLETS, type DemoFile, parseDemoFile } from './local/demo-file.ts';

const USAGE = `Usage: npm run -s token -- <${DEMO_WALLETS.join(' | ')}> [--url <url of the service>]

Logs a demonstration wallet of DATA_DIR/demo.json in at the running service and prints its access token, and nothing else:

  TOKEN=$(npm run -s token -- premium)
  curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:3000/api/svc/oracle
`;

type WalletName = (typeof DEMO_WALLETS)[number];

interface Command {
  wallet: WalletName;
  /** Unset: where the settings say that it listens. */
  url: string | undefined;
}

const PATIENCE_MS = 10_000;

/** Logs a demonstration wallet in: what `npm run token` starts. */
export async function main(words: string[]): Promise<void> {
  if (words.length === 0 || words.includes('--help') || words[0] === 'help') {
    process.stdout.write(USAGE);
    process.exitCode = words.length === 0 ? 2 : 0;
    return;
  }
  try {
    const { wallet, url } = parseCommand(words);
    const config = loadConfig();
    process.stdout.write(`${await logIn(await readDemoFile(config), wallet, url ?? localUrl(config))}\n`);
  } catch (error) {
    if (!isOracleError(error)) throw error;
    process.stderr.write(`${[error.message, error.suggestedAction].filter(Boolean).join('\n')}\n`);
    process.exitCode = 1;
  }
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong. */
export function parseCommand(words: string[]): Command {
  const { values, positionals } = parsedWords(words);
  const [wallet, ...rest] = positionals;
  if (!DEMO_WALLETS.includes(wallet as WalletName)) throw invalid('wallet', `must be one of ${DEMO_WALLETS.join(', ')}`);
  if (rest.length > 0) throw invalid('arguments', `"${rest[0]}" is one argument too many`);
  const { url } = values;
  if (url !== undefined && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)))
    throw invalid('--url', 'must be an http(s) URL');
  return { wallet: wallet as WalletName, url };
}

function parsedWords(words: string[]) {
  try {
    return parseArgs({ args: words, options: { url: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    throw invalid('arguments', messageOf(error));
  }
}

function invalid(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run token -- --help' });
}

function localUrl(config: Config): string {
  const host = listenHost(config);
  return `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${config.PORT}`;
}

async function readDemoFile({ DATA_DIR }: Config): Promise<DemoFile> {
  const path = join(DATA_DIR, 'demo.json');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new OracleError('CONFIG_INVALID', `${path} cannot be read: no service with a local chain has been started on this folder`, {
      field: 'DATA_DIR',
      suggestedAction: 'Run npm start first, or set DATA_DIR to its folder.',
      cause,
    });
  }
  return parseDemoFile(jsonOf(text));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The token of a wallet. @throws OracleError with the service's own words when it refuses, or when nothing answers. */
async function logIn({ wallets }: DemoFile, name: WalletName, url: string): Promise<string> {
  const account = privateKeyToAccount(wallets[name]!.privateKey);
  const timestamp = Date.now();
  const wallet = account.address;
  const signature = await account.signMessage({ message: loginMessage(wallet, timestamp) });
  const answer = await post(new URL('/api/svc/oracle/verify', url), { wallet, signature, timestamp });
  if (typeof answer.token === 'string') return answer.token;
  const { code, detail, suggestedAction } = answer;
  throw new OracleError('UNAUTHENTICATED', `${code ?? 'The service at this address'}: ${detail ?? 'gave no token'}`, {
    suggestedAction: typeof suggestedAction === 'string' ? suggestedAction : 'Name the address of the service with --url.',
  });
}

async function post(url: URL, body: object): Promise<Record<string, unknown>> {
  try {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(PATIENCE_MS) });
    return (await response.json()) as Record<string, unknown>;
  } catch (cause) {
    throw new OracleError('NOT_FOUND', `No service answers at ${url.origin}`, {
      suggestedAction: 'Start it with npm start, or name its address with --url.',
      cause,
    });
  }
}
