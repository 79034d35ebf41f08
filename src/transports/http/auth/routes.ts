import type { Address } from 'viem';
import { z } from 'zod';
import type { Caller } from '../../../auth/caller.ts';
import type { OpenedSession } from '../../../auth/login/login.ts';
import { formatTierRequirement, isTierAtLeast, type PaidTier, TIER_REQUIREMENTS } from '../../../auth/tiers/tiers.ts';
import { unauthenticated } from '../../../auth/tokens/access-tokens.ts';
import type { HttpDeps } from '../deps.ts';
import { walletInput } from '../server/parsing/wallet-parameters.ts';
import { type Reply, type Route, route } from '../server/route.ts';
import { JWKS_REPLY, LOGIN_BODY, LOGOUT_REPLY, NONCE_REPLY, SESSION_REPLY, SIWE_BODY, WALLET_REPLY } from './schemas.ts';

type AccessDeps = Pick<HttpDeps, 'access' | 'addresses' | 'chainId' | 'now'>;

const LOGIN_ERRORS = ['UNAUTHENTICATED', 'TIER_REQUIRED', 'CONFLICT', 'CHAIN_UNREACHABLE'] as const;

/** Interface, sections 2.10 and 4.2: wallet login, gate token balances, and the JWKS of the tokens. */
export function accessRoutes(deps: AccessDeps): Route[] {
  return [...loginRoutes(deps), walletRoute(deps), keysRoute(deps)];
}

function loginRoutes(deps: AccessDeps): Route[] {
  const { access, now } = deps;
  const reply = (session: OpenedSession) => ({ body: toSessionReply(session, now()) });
  return [
    route('POST /api/svc/oracle/verify', 'logInWithWallet', {
      tag: 'access',
      summary: 'Access token for a wallet that holds the gate token and signs a message',
      description:
        'The wallet signs `Verify svc balance: <wallet>:<timestamp>` (EIP-191) with both parts exactly as sent. Contract wallets sign by EIP-1271, undeployed ones by ERC-6492. A message opens one session: a second login with it answers 409. A failed login (403, 503) does not consume it.',
      cost: 'rpc',
      body: LOGIN_BODY,
      reply: SESSION_REPLY,
      errors: LOGIN_ERRORS,
      handle: async ({ body }) => reply(await access.logIn(body)),
    }),
    route('GET /api/svc/oracle/nonce', 'getLoginNonce', {
      tag: 'access',
      summary: 'Nonce for one EIP-4361 login, with the required message fields',
      reply: NONCE_REPLY,
      isLive: true,
      handle: () => issueNonce(deps),
    }),
    route('POST /api/svc/oracle/siwe', 'logInWithSiwe', {
      tag: 'access',
      summary: 'Access token for a wallet that signs in with EIP-4361',
      cost: 'rpc',
      body: SIWE_BODY,
      reply: SESSION_REPLY,
      errors: LOGIN_ERRORS,
      handle: async ({ body }) => reply(await access.logInBySiwe(body)),
    }),
    route('DELETE /api/svc/oracle/session', 'logOut', {
      tag: 'access',
      summary: 'Revokes the session of the token, whatever its tier',
      reply: LOGOUT_REPLY,
      errors: ['UNAUTHENTICATED'],
      variesByCaller: true,
      handle: ({ caller }) => logOut(deps, caller),
    }),
  ];
}

export function toSessionReply({ token, tier, wallet: address, gate, expiresAt }: OpenedSession, now: Date): z.input<typeof SESSION_REPLY> {
  return {
    success: true,
    token,
    tier,
    expires_in: Math.max(0, Math.round((expiresAt.getTime() - now.getTime()) / 1_000)),
    expiresAt: expiresAt.toISOString(),
    wallet: address,
    balance: gate.balance,
    requirement: formatTierRequirement(tier),
    blockNumber: gate.blockNumber,
  };
}

async function issueNonce({ access }: AccessDeps): Promise<Reply<z.input<typeof NONCE_REPLY>>> {
  const { nonce, expiresAt } = await access.acts.issueLoginNonce();
  const { domain, origin: uri, chainId } = access.siwe;
  return {
    headers: { 'Cache-Control': 'no-store' },
    body: { success: true, nonce, expiresAt: expiresAt.toISOString(), domain, uri, version: '1', chainId },
  };
}

async function logOut(
  { access, now }: AccessDeps,
  { sessionId, wallet: address, rejectedToken }: Caller,
): Promise<Reply<z.input<typeof LOGOUT_REPLY>>> {
  if (sessionId === undefined || address === undefined) {
    throw unauthenticated(rejectedToken ?? 'Send the access token to revoke');
  }
  const revokedAt = now();
  await access.logOut(sessionId);
  return { body: { success: true, wallet: address, revokedAt: revokedAt.toISOString() } };
}

function walletRoute(deps: AccessDeps): Route {
  return route('GET /api/svc/verify/{wallet}', 'getWalletTier', {
    tag: 'access',
    summary: 'Gate token balance of a wallet and its tier',
    cost: 'rpc',
    params: z.object({ wallet: walletInput }),
    reply: WALLET_REPLY,
    errors: ['CHAIN_UNREACHABLE'],
    handle: async ({ params }) => ({ body: await readWalletTier(deps, params.wallet) }),
  });
}

async function readWalletTier({ access, addresses, chainId }: AccessDeps, address: Address): Promise<z.input<typeof WALLET_REPLY>> {
  const { tier, balance, blockNumber } = await access.getGateBalance(address);
  const requirement = (of: PaidTier) => ({ balance: String(TIER_REQUIREMENTS[of]), met: isTierAtLeast(tier, of) });
  return {
    success: true,
    wallet: address,
    balance,
    tier,
    requirements: { basic: requirement('basic'), premium: requirement('premium') },
    gateToken: addresses.gateToken,
    chain: `eip155:${chainId}`,
    blockNumber,
  };
}

function keysRoute({ access }: AccessDeps): Route {
  return route('GET /.well-known/jwks.json', 'getTokenKeys', {
    tag: 'access',
    summary: 'Public keys of access tokens',
    reply: JWKS_REPLY,
    // Bounds how long a verifier trusts a revoked key.
    handle: async () => ({ headers: { 'Cache-Control': 'public, max-age=60' }, body: { keys: await access.keys.listPublicKeys() } }),
  });
}
