import type { Response } from 'express';
import type { RateLimitDecision, RateLimitScope, RateLimits } from '../../../../auth/rate-limit/rate-limits.ts';
import { OracleError } from '../../../../platform/errors.ts';

/** Counts one request against the limits it falls under, and tells the caller of them. */
export interface RequestCounter {
  /** @throws OracleError RATE_LIMITED */
  count(policy: keyof RateLimits, client: string, units?: number): Promise<void>;
  /** Counts without telling or refusing. */
  countSilently(policy: keyof RateLimits, client: string): Promise<void>;
  /** Without counting. @throws OracleError RATE_LIMITED when nothing is left for this client */
  requireRemaining(policy: keyof RateLimits, client: string): void;
}

/** Counts for nobody: before the parts are there. */
const NO_COUNTER: RequestCounter = {
  count: async () => undefined,
  countSilently: async () => undefined,
  requireRemaining: () => undefined,
};

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) of this answer name every policy that was applied. */
export function createRequestCounter(limits: RateLimits | undefined, response: Response): RequestCounter {
  if (limits === undefined) return NO_COUNTER;
  // The last one of each policy: what came with one request may count several times.
  const verdicts = new Map<RateLimitDecision['policy'], RateLimitDecision>();
  const applyVerdict = (verdict: RateLimitDecision) => {
    verdicts.set(verdict.policy, verdict);
    // What is streamed has its headers before all of it is counted.
    if (!response.headersSent) response.set(formatRateLimitHeaders([...verdicts.values()]));
    if (!verdict.allowed) throw buildRateLimitError(verdict);
  };
  return {
    count: async (policy, client, units) => applyVerdict(await limits[policy].take(client, units)),
    countSilently: async (policy, client) => void (await limits[policy].take(client)),
    requireRemaining(policy, client) {
      const verdict = limits[policy].getRejection(client);
      if (verdict !== null) applyVerdict(verdict);
    },
  };
}

function formatRateLimitHeaders(verdicts: readonly RateLimitDecision[]): Record<string, string> {
  return {
    'RateLimit-Policy': verdicts.map(({ policy, limit, windowSeconds: w }) => `"${policy}";q=${limit};w=${w}`).join(', '),
    RateLimit: verdicts.map(({ policy, remaining, resetSeconds }) => `"${policy}";r=${remaining};t=${resetSeconds}`).join(', '),
  };
}

const POLICY_LABELS: Record<keyof RateLimits, string> = {
  public: 'requests a minute of one address',
  wallet: 'requests a minute of one wallet',
  rpc: 'requests a minute of one address to operations that ask the chain',
  failures: 'refused passwords a minute of one address',
  tasks: 'A2A messages an hour (one counts for each 4 kB) of one address without a token',
  payer: 'rejected payments a minute of one payer',
  payments: 'rejected payments a minute of one address',
};

const SCOPE_LABELS = { '/56': 'of one /56', '/48': 'of one /48', all: 'of all callers' } as const;

function formatLimit({ policy, scope }: { policy: keyof RateLimits; scope: RateLimitScope }): string {
  return scope === 'client' ? POLICY_LABELS[policy] : POLICY_LABELS[policy].replace(/of one (?:address|wallet)/, SCOPE_LABELS[scope]);
}

function buildRateLimitError({ policy, scope, limit, windowSeconds, resetSeconds }: RateLimitDecision): OracleError {
  const login = policy === 'public' || policy === 'tasks' ? ' A token from POST /api/svc/oracle/verify has a higher limit.' : '';
  return new OracleError('RATE_LIMITED', `The limit of ${limit} ${formatLimit({ policy, scope })} is reached`, {
    suggestedAction: `Wait ${resetSeconds} s.${login}`,
    retryAfterSeconds: resetSeconds,
    details: { policy, scope, limit, windowSeconds },
  });
}
