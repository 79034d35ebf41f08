import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { isOracleError, OracleError } from './errors.ts';
import { jsonOf } from './json-of.ts';
import { type DEMO_WALLETS, type DemoFile, parseDemoFile } from './local/demo-file.ts';
import { logInWallet } from './wallet-login.ts';

export type DemoWallet = (typeof DEMO_WALLETS)[number];

export interface DemoSession {
  token: string;
  /** How long it holds. */
  seconds: number;
}

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

/** Logs a demonstration wallet in. @throws OracleError with the service's own words when it refuses, or when nothing answers. */
export async function logIn({ wallets }: DemoFile, name: DemoWallet, url: string): Promise<DemoSession> {
  try {
    const { token, expires_in: seconds } = await logInWallet(privateKeyToAccount(wallets[name]!.privateKey), url);
    return { token, seconds };
  } catch (error) {
    throw told(error, url);
  }
}

/** The code of a refusal goes along: it says which of the reference's errors it is. */
function told(error: unknown, url: string): unknown {
  if (!isOracleError(error)) return error;
  if (error.code === 'SERVICE_UNREACHABLE') {
    return new OracleError('NOT_FOUND', `No service answers at ${new URL(url).origin}`, {
      suggestedAction: 'Start it with npm start, or name its address with --url.',
      cause: error,
    });
  }
  const suggestedAction = error.suggestedAction ?? 'Name the address of the service with --url.';
  return new OracleError('UNAUTHENTICATED', `${error.code}: ${error.message}`, { suggestedAction, cause: error });
}
