import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { urlAt } from '../agent-card/url.ts';
import { loginMessage } from './access/login-message.ts';
import { OracleError } from './errors.ts';
import { type DEMO_WALLETS, type DemoFile, parseDemoFile } from './local/demo-file.ts';

export type DemoWallet = (typeof DEMO_WALLETS)[number];

export interface DemoSession {
  token: string;
  /** How long it holds. */
  seconds: number;
}

const PATIENCE_MS = 10_000;

/** @throws OracleError CONFIG_INVALID naming `DATA_DIR`, DATA_DIR_DAMAGED */
export async function readDemoFile(dataDir: string): Promise<DemoFile> {
  const path = join(dataDir, 'demo.json');
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

/** Logs a demonstration wallet in. @throws OracleError with the service's own words when it refuses, or when nothing answers. */
export async function logIn({ wallets }: DemoFile, name: DemoWallet, url: string): Promise<DemoSession> {
  const account = privateKeyToAccount(wallets[name]!.privateKey);
  const timestamp = Date.now();
  const wallet = account.address;
  const signature = await account.signMessage({ message: loginMessage(wallet, timestamp) });
  const answer = await post(new URL(urlAt(url, '/api/svc/oracle/verify')), { wallet, signature, timestamp });
  if (typeof answer.token === 'string') return { token: answer.token, seconds: Number(answer.expires_in) };
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
