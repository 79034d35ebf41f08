import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address, Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';
import type { AuthService } from '../auth/auth.ts';
import { logInWallet } from '../auth/login-client.ts';
import { formatLoginMessage } from '../auth/login-message.ts';
import { type SignedPayment, signPayment } from '../commerce/payment-signer.ts';
import type { PaymentQuote } from '../commerce/x402/terms.ts';
import { isOracleError, OracleError } from '../errors.ts';
import type { DemoPayment, DemoRole, DemoWallets as ShownWallets } from '../http/schemas/info.ts';
import { damagedPartError, inDataDir } from '../platform/data-dir.ts';
import { parseJsonOrNull } from '../platform/validation.ts';
import type { DemoWallets, LocalAddresses } from './local-chain/contracts.ts';

/** Renewed this long before expiry, since a call may take half a minute. */
const RENEWAL_MARGIN_MS = 120_000;

interface DemoTokenOptions {
  wallet: DemoWalletName;
  dataDir: string;
  url: string;
  now(): number;
}

export function createDemoTokenCache({ wallet, dataDir, url, now }: DemoTokenOptions): { getToken(): Promise<string>; forget(): void } {
  let session: Promise<{ token: string; goodUntilMs: number }> | undefined;

  async function startSession() {
    const { token, expiresInSeconds: seconds } = await logInDemoWallet(await readDemoFile(dataDir), wallet, url);
    return { token, goodUntilMs: now() + seconds * 1_000 - RENEWAL_MARGIN_MS };
  }
  /** Concurrent calls share a login: a second one in the same millisecond would sign the same message. */
  function logInOnce() {
    const starting = startSession();
    session = starting;
    return starting;
  }

  return {
    async getToken() {
      const found = session;
      const known = await found?.catch(() => undefined);
      if (known !== undefined && known.goodUntilMs > now()) return known.token;
      // A concurrent call may have started a login meanwhile.
      return (await (session === found || session === undefined ? logInOnce() : session)).token;
    },
    forget() {
      session = undefined;
    },
  };
}

export type DemoWalletName = (typeof DEMO_WALLETS)[number];

interface DemoSession {
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

const address = z.string().transform((text) => text as Address);

const DemoFile = z.object({
  rpcUrl: z.url(),
  chainId: z.number().int(),
  /** For other processes on the same folder; absent with MONGODB_URI. */
  mongodbUri: z.string().optional(),
  contracts: z.object({
    eas: address,
    schemaRegistry: address,
    gateToken: address,
    stablecoin: address,
    identityRegistry: address,
    reputationRegistry: address,
    agentCommerce: address.nullable().default(null),
  }),
  wallets: z.record(z.string(), z.object({ address, privateKey: z.string().transform((text) => text as Hex) })),
});

export type DemoFile = z.infer<typeof DemoFile>;

export const DEMO_WALLETS = ['basic', 'premium', 'poor', 'buyer'] as const satisfies (keyof DemoWallets)[];

export function deriveDemoWallets(keys: LocalKeys): DemoWallets {
  const addressOf = (name: keyof DemoWallets) => privateKeyToAccount(keys[name]).address;
  return { basic: addressOf('basic'), premium: addressOf('premium'), poor: addressOf('poor'), buyer: addressOf('buyer') };
}

interface DemoFileSource {
  rpcUrl: string;
  chainId: number;
  mongodbUri?: string;
  contracts: LocalAddresses;
  keys: LocalKeys;
}

export function buildDemoFile({ keys, ...rest }: DemoFileSource): DemoFile {
  const wallets = deriveDemoWallets(keys);
  return {
    ...rest,
    wallets: Object.fromEntries(DEMO_WALLETS.map((name) => [name, { address: wallets[name], privateKey: keys[name] }])),
  };
}

/** @throws OracleError DATA_DIR_DAMAGED for an invalid file */
export function parseDemoFile(value: unknown): DemoFile {
  const parsed = DemoFile.safeParse(value);
  if (parsed.success) return parsed.data;
  throw damagedPartError('demo.json of the data folder does not hold what it should');
}

const privateKeySchema = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .transform((text) => text as Hex);

const LocalKeys = z.object({
  deployer: privateKeySchema,
  attester: privateKeySchema,
  reporter: privateKeySchema,
  facilitator: privateKeySchema,
  provider: privateKeySchema,
  basic: privateKeySchema,
  premium: privateKeySchema,
  poor: privateKeySchema,
  buyer: privateKeySchema,
  saltSecret: z.string().min(32),
});

/** Throw-away keys of one data folder, for its local chain only. */
export type LocalKeys = z.infer<typeof LocalKeys>;

export function generateLocalKeys(): LocalKeys {
  const names = Object.keys(LocalKeys.shape).filter((name) => name !== 'saltSecret');
  return LocalKeys.parse({
    ...Object.fromEntries(names.map((name) => [name, generatePrivateKey()])),
    saltSecret: randomBytes(32).toString('hex'),
  });
}

/** @throws OracleError DATA_DIR_DAMAGED for invalid keys */
export function parseLocalKeys(value: unknown): LocalKeys {
  const parsed = LocalKeys.safeParse(value);
  if (parsed.success) return parsed.data;
  // The parser's message may quote a key.
  throw damagedPartError('keys.json of the data folder does not hold the keys it should');
}

interface DemoWalletsDeps extends Pick<DemoFile, 'wallets'> {
  access: Pick<AuthService, 'logIn' | 'acts'>;
  now(): Date;
}

/** What one process lets the demo buyer authorize within `BUDGET_WINDOW_MS`: 1 USD. */
const BUDGET_MICROS = 1_000_000n;
const BUDGET_WINDOW_MS = 24 * 3_600_000;

export function createDemoWallets({ wallets, access, now }: DemoWalletsDeps): ShownWallets {
  const accountOf = (role: DemoRole) => privateKeyToAccount(wallets[role]!.privateKey);
  const accounts = { basic: accountOf('basic'), premium: accountOf('premium'), buyer: accountOf('buyer') };
  const spend = createBudget(now);
  let lastTimestamp = 0;
  return {
    addresses: { basic: accounts.basic.address, premium: accounts.premium.address, buyer: accounts.buyer.address },
    async logIn(role) {
      const account = accounts[role];
      // A message opens one session, so two logins of a wallet need two timestamps.
      const timestamp = Math.max(now().getTime(), lastTimestamp + 1);
      lastTimestamp = timestamp;
      const wallet = account.address;
      return access.logIn({ wallet, timestamp, signature: await account.signMessage({ message: formatLoginMessage(wallet, timestamp) }) });
    },
    async sign(role, message) {
      const account = accounts[role];
      if ((await access.acts.findWallet(message)) !== account.address) {
        throw new OracleError('INPUT_INVALID', 'body field "message" is no text of this service for this wallet', { field: 'message' });
      }
      return account.signMessage({ message });
    },
    async authorize(quote) {
      spend(BigInt(quote.requirements.amount));
      return toDemoPayment(quote, await signPayment(accounts.buyer, toRequirement(quote), now()));
    },
  };
}

/** @throws by the function it returns: OracleError RATE_LIMITED */
function createBudget(now: () => Date): (micros: bigint) => void {
  let spent: { atMs: number; micros: bigint }[] = [];
  return (micros) => {
    const nowMs = now().getTime();
    spent = spent.filter(({ atMs }) => atMs > nowMs - BUDGET_WINDOW_MS);
    const total = spent.reduce((sum, one) => sum + one.micros, micros);
    if (total > BUDGET_MICROS) throw budgetSpentError(spent[0]!.atMs + BUDGET_WINDOW_MS - nowMs);
    spent.push({ atMs: nowMs, micros });
  };
}

function budgetSpentError(waitMs: number): OracleError {
  return new OracleError('RATE_LIMITED', 'The demo buyer has spent its budget of 1 USD a day', {
    suggestedAction: 'Pay from a wallet of your own, or wait.',
    retryAfterSeconds: Math.ceil(waitMs / 1_000),
  });
}

function toRequirement({ requirements, resource, merchant }: PaymentQuote): Parameters<typeof signPayment>[1] {
  const { amount, asset, payTo, extra, maxTimeoutSeconds } = requirements;
  return {
    accepted: { ...requirements },
    resource,
    takesPaymentId: false,
    chainId: merchant.chainId,
    amountMicros: BigInt(amount),
    asset: asset as Address,
    assetName: extra.name,
    assetVersion: extra.version,
    payTo: payTo as Address,
    validForSeconds: maxTimeoutSeconds,
  };
}

/** The id is random: whatever follows from the authorization is public once it is settled. */
function toDemoPayment({ requirements, resource }: PaymentQuote, { payload }: SignedPayment): DemoPayment {
  const info = { required: false, id: `demo_${randomUUID()}` };
  return { x402Version: 2, resource, accepted: requirements, payload, extensions: { 'payment-identifier': { info } } };
}
