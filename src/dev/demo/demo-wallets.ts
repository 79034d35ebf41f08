import { randomUUID } from 'node:crypto';
import type { Address } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { AuthService } from '../../auth/auth-service.ts';
import { formatLoginMessage } from '../../auth/login/login-message.ts';
import type { PaymentQuote } from '../../commerce/x402/protocol/payment-quote.ts';
import { signPayment } from '../../payer/authorization.ts';
import type { SignedPayment } from '../../payer/payment-signer.ts';
import { OracleError } from '../../platform/errors.ts';
import type { DemoPayment, DemoRole, DemoWallets } from '../../transports/http/demo/demo-wallets.ts';
import type { DemoFile } from './demo-file.ts';

interface DemoWalletsDeps extends Pick<DemoFile, 'wallets'> {
  access: Pick<AuthService, 'logIn' | 'acts'>;
  now(): Date;
}

/** What one process lets the demo buyer authorize within `BUDGET_WINDOW_MS`: 1 USD. */
const BUDGET_MICROS = 1_000_000n;
const BUDGET_WINDOW_MS = 24 * 3_600_000;

export function createDemoWallets({ wallets, access, now }: DemoWalletsDeps): DemoWallets {
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
