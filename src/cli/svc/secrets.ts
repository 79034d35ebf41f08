import { readFile, stat } from 'node:fs/promises';
import type { Hex, PrivateKeyAccount } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Credentials, createCredentials, createSend, type Send, WalletLogin } from '../../../clients/typescript/src/http.ts';
import { UsageError } from '../../errors.ts';
import { createOperatorFetch } from '../../platform/outbound/operator.ts';
import { printNotice } from './command.ts';
import type { OptionSyntax } from './command-line.ts';
import type { CliContext } from './context.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 2 ** 20;

interface SendOptions {
  timeoutMs?: number;
  /** Ends requests with the command. */
  signal?: AbortSignal;
}

/** Logins, tickets and payments. */
export function createServiceSend(url: string, { timeoutMs = TIMEOUT_MS, signal }: SendOptions): Send {
  const fetchService = createOperatorFetch({ base: url, timeoutMs, maxBytes: MAX_BYTES });
  return createSend({
    timeoutMs,
    fetch: async (request) => {
      const { method, headers } = request;
      const body = request.body === null ? {} : { body: await request.text() };
      const until = signal === undefined ? request.signal : AbortSignal.any([request.signal, signal]);
      return fetchService(request.url, { method, headers, ...body, signal: until });
    },
  });
}

/** Tokens of a command that runs until `signal`: it logs in with the key of the options or the environment whenever one is needed. @throws UsageError as `loadAccount` */
export async function openLogin(
  context: CliContext,
  { url, signal, ...key }: KeyOptions & { url: string; signal: AbortSignal },
): Promise<Credentials> {
  return createCredentials(undefined, new WalletLogin(url, createServiceSend(url, { signal }), await loadAccount(key, context)));
}

/** Every demo deployment has these. */
const DEMO_WALLET_NAMES = ['basic', 'premium', 'poor', 'buyer'] as const;

export const KEY_OPTIONS: readonly OptionSyntax[] = [
  ['--wallet <name>', 'throw-away wallet of the demo deployment (DATA_DIR/demo.json)', undefined, DEMO_WALLET_NAMES],
  ['--key-file <file>', 'file with the private key, readable only by you (default: the PRIVATE_KEY environment variable)'],
];

export interface KeyOptions {
  wallet?: string;
  keyFile?: string;
}

export function hasKeyOption({ wallet, keyFile }: KeyOptions, { environment }: CliContext): boolean {
  return wallet !== undefined || keyFile !== undefined || (environment.PRIVATE_KEY ?? '') !== '';
}

/** The signer. Errors name where the key should be, never the key. @throws UsageError; OracleError CONFIG_INVALID without a demo deployment */
export async function loadAccount({ wallet, keyFile: file }: KeyOptions, context: CliContext): Promise<PrivateKeyAccount> {
  if (wallet !== undefined && file !== undefined) throw new UsageError('--wallet', 'cannot be combined with --key-file');
  if (wallet !== undefined) return privateKeyToAccount(await readDemoKey(wallet, context));
  if (file !== undefined) return parseAccount('--key-file', await readKeyFile(file, context));
  const { PRIVATE_KEY: key = '' } = context.environment;
  if (key !== '') return parseAccount('PRIVATE_KEY', key);
  throw new UsageError('PRIVATE_KEY', 'is not set', 'Set it to the private key of your wallet, or use --key-file or --wallet.');
}

async function readDemoKey(name: string, { demo }: CliContext): Promise<Hex> {
  if (demo === undefined) throw new UsageError('--wallet', 'requires the folder of a demo deployment', 'Use PRIVATE_KEY or --key-file.');
  const { wallets } = await demo();
  if (Object.hasOwn(wallets, name)) return wallets[name].privateKey;
  throw new UsageError('--wallet', `must be one of ${Object.keys(wallets).join(', ')}`);
}

async function readKeyFile(file: string, context: CliContext): Promise<string> {
  try {
    const text = (await readFile(file, 'utf8')).trim();
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) printNotice(context, `Others can read ${file}; restrict it with chmod 600.`);
    return text;
  } catch (error) {
    throw new UsageError('--key-file', `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

function parseAccount(field: string, key: string): PrivateKeyAccount {
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) throw new UsageError(field, 'must contain a private key: 0x and 64 hex characters');
  try {
    return privateKeyToAccount(key as Hex);
  } catch {
    // Zero, or at least the order of the curve.
    throw new UsageError(field, 'contains an invalid private key');
  }
}
