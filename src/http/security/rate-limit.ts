import type { Response } from 'express';
import type { RateLimits, RateScope, Verdict } from '../../access/rate-limits.ts';
import { OracleError } from '../../errors.ts';

/** Counts one request against the limits it falls under, and tells the caller of them. */
export interface RequestCounter {
  /** @throws OracleError RATE_LIMITED */
  take(policy: keyof RateLimits, client: string, units?: number): Promise<void>;
  /** Counts without telling or refusing. */
  note(policy: keyof RateLimits, client: string): Promise<void>;
  /** Without counting. @throws OracleError RATE_LIMITED when nothing is left for this client */
  refuseSpent(policy: keyof RateLimits, client: string): void;
}

/** Counts for nobody: before the parts are there. */
const UNCOUNTED: RequestCounter = { take: async () => undefined, note: async () => undefined, refuseSpent: () => undefined };

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) of this answer name every policy that was applied. */
export function requestCounter(limits: RateLimits | undefined, response: Response): RequestCounter {
  if (limits === undefined) return UNCOUNTED;
  // The last one of each policy: what came with one request may count several times.
  const verdicts = new Map<Verdict['policy'], Verdict>();
  const judge = (verdict: Verdict) => {
    verdicts.set(verdict.policy, verdict);
    // What is streamed has its headers before all of it is counted.
    if (!response.headersSent) response.set(headersOf([...verdicts.values()]));
    if (!verdict.allowed) throw refusal(verdict);
  };
  return {
    take: async (policy, client, units) => judge(await limits[policy].take(client, units)),
    note: async (policy, client) => void (await limits[policy].take(client)),
    refuseSpent(policy, client) {
      const verdict = limits[policy].refusal(client);
      if (verdict !== null) judge(verdict);
    },
  };
}

function headersOf(verdicts: readonly Verdict[]): Record<string, string> {
  return {
    'RateLimit-Policy': verdicts.map(({ policy, limit, windowSeconds: w }) => `"${policy}";q=${limit};w=${w}`).join(', '),
    RateLimit: verdicts.map(({ policy, remaining, resetSeconds }) => `"${policy}";r=${remaining};t=${resetSeconds}`).join(', '),
  };
}

const WHAT: Record<keyof RateLimits, string> = {
  public: 'requests a minute of one address',
  wallet: 'requests a minute of one wallet',
  rpc: 'requests a minute of one address to operations that ask the chain',
  failures: 'refused passwords a minute of one address',
  tasks: 'A2A messages an hour (one counts for each 4 kB) of one address without a token',
  payer: 'rejected payments a minute of one payer',
  payments: 'rejected payments a minute of one address',
};

const SCOPED = { '/56': 'of one /56', '/48': 'of one /48', all: 'of all callers' } as const;

function limitName({ policy, scope }: { policy: keyof RateLimits; scope: RateScope }): string {
  return scope === 'client' ? WHAT[policy] : WHAT[policy].replace(/of one (?:address|wallet)/, SCOPED[scope]);
}

function refusal({ policy, scope, limit, windowSeconds, resetSeconds }: Verdict): OracleError {
  const login = policy === 'public' || policy === 'tasks' ? ' A token from POST /api/svc/oracle/verify has a higher limit.' : '';
  return new OracleError('RATE_LIMITED', `The limit of ${limit} ${limitName({ policy, scope })} is reached`, {
    suggestedAction: `Wait ${resetSeconds} s.${login}`,
    retryAfterSeconds: resetSeconds,
    details: { policy, scope, limit, windowSeconds },
  });
}
