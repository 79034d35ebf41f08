import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { logInWallet } from '../../auth/login/login-client.ts';
import { inDataDir } from '../../platform/data-dir/entries.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import { parseJsonOrNull } from '../../platform/validation/parse-json.ts';
import { type DEMO_WALLETS, type DemoFile, parseDemoFile } from './demo-file.ts';

export type DemoWalletName = (typeof DEMO_WALLETS)[number];

export interface DemoSession {
  token: string;
  expiresInSeconds: number;
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
  return inDataDir(dataDir, async () => parseDemoFile(parseJsonOrNull(text)));
}

/** Logs a demo wallet in. @throws OracleError with the message of the service, or NOT_FOUND without a response */
export async function logInDemoWallet({ wallets }: DemoFile, name: DemoWalletName, url: string): Promise<DemoSession> {
  try {
    const { token, expires_in: seconds } = await logInWallet(privateKeyToAccount(wallets[name]!.privateKey), url);
    return { token, expiresInSeconds: seconds };
  } catch (error) {
    throw toLoginError(error, url);
  }
}

/** Keeps the error code of the service in the message, since the API reference documents it. */
function toLoginError(error: unknown, url: string): unknown {
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
