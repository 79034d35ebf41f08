import type { ServerResponse } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import type { Request, Response } from 'express';
import ipaddr from 'ipaddr.js';
import type { RateLimitDecision, RateLimits } from '../auth/rate-limits.ts';
import { OracleError } from '../errors.ts';

interface CountedUnits {
  decision: RateLimitDecision;
  units: number;
}

const countedByResponse = new WeakMap<ServerResponse, CountedUnits>();

/** A request of which some units were counted before its handler: the handler counts the others, unless it was rejected. */
export function setCountedUnits(response: ServerResponse, counted: CountedUnits): void {
  countedByResponse.set(response, counted);
}

/**
 * `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) name every policy that was applied.
 * @param limits undefined during startup, and for unmetered routes
 */
export function createRequestCounter(limits: RateLimits | undefined, response: Response) {
  // The last decision of each policy: a batch counts several times.
  const decisions = new Map<RateLimitDecision['policy'], RateLimitDecision>();
  const applyDecision = (decision: RateLimitDecision) => {
    decisions.set(decision.policy, decision);
    // A streamed response sends its headers before the last count.
    if (!response.headersSent) response.set(formatRateLimitHeaders([...decisions.values()]));
    if (!decision.allowed) throw buildRateLimitError(decision);
  };
  return {
    /** @throws OracleError RATE_LIMITED */
    async count(policy: keyof RateLimits, client: string, units = 1): Promise<void> {
      if (limits === undefined) return;
      const noted = countedByResponse.get(response);
      const counted = noted?.decision.policy === policy ? noted : undefined;
      if (counted !== undefined) countedByResponse.delete(response);
      const left = units - (counted?.units ?? 0);
      const isDecided = counted !== undefined && (!counted.decision.allowed || left <= 0);
      applyDecision(isDecided ? counted.decision : await limits[policy].take(client, left));
    },
    /** Counts without headers or rejection. */
    countSilently: async (policy: keyof RateLimits, client: string): Promise<void> => void (await limits?.[policy].take(client)),
    /** Does not count. @throws OracleError RATE_LIMITED where the client has no requests left */
    requireRemaining(policy: keyof RateLimits, client: string): void {
      const rejection = limits?.[policy].getRejection(client) ?? null;
      if (rejection !== null) applyDecision(rejection);
    },
    /** Whether `requireRemaining` passes. Sets no headers. */
    hasRemaining: (policy: keyof RateLimits, client: string): boolean => (limits?.[policy].getRejection(client) ?? null) === null,
  };
}

export function formatRateLimitHeaders(decisions: readonly RateLimitDecision[]): Record<string, string> {
  return {
    'RateLimit-Policy': decisions.map(({ policy, limit, windowSeconds: w }) => `"${policy}";q=${limit};w=${w}`).join(', '),
    RateLimit: decisions.map(({ policy, remaining, resetSeconds }) => `"${policy}";r=${remaining};t=${resetSeconds}`).join(', '),
  };
}

const POLICY_LABELS: Record<keyof RateLimits, string> = {
  public: 'requests per minute of one address',
  wallet: 'requests per minute of one wallet',
  rpc: 'chain-call requests per minute of one address',
  failures: 'failed passwords per minute of one address',
  tasks: 'A2A messages per hour (one per 4 kB) of one address without a token',
  payer: 'rejected payments per minute of one payer',
  payments: 'rejected payments per minute of one address',
};

const SCOPE_LABELS = { '/56': 'of one /56', '/48': 'of one /48', all: 'of all callers' } as const;

function buildRateLimitError({ policy, scope, limit, windowSeconds, resetSeconds }: RateLimitDecision): OracleError {
  const login = policy === 'public' || policy === 'tasks' ? ' A token from POST /api/svc/oracle/verify has a higher limit.' : '';
  const label = POLICY_LABELS[policy];
  const limited = scope === 'client' ? label : label.replace(/of one (?:address|wallet)/, SCOPE_LABELS[scope]);
  return new OracleError('RATE_LIMITED', `The limit of ${limit} ${limited} is reached`, {
    suggestedAction: `Wait ${resetSeconds} s.${login}`,
    retryAfterSeconds: resetSeconds,
    details: { policy, scope, limit, windowSeconds },
  });
}

/** IPv4 address, or IPv6 /64, which one subscriber owns. Behind trusted proxies the forwarded address where valid, else the proxy's. */
export function getClientAddress(request: Request): string {
  return (request.ip && toAddressKey(request.ip)) || toAddressKey(request.socket.remoteAddress ?? '') || 'unknown';
}

/** Key of an address in text form, with or without a port; null for any other text. */
export function toAddressKey(text: string): string | null {
  const ip = /^\[(.+)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  if (isIPv4(ip)) return ip;
  if (!isIPv6(ip)) return null;
  const address = parseIp(ip) as ipaddr.IPv6;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString();
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

/** Parses an address without its zone, whose alphabet is wider in Node than in ipaddr.js. */
export function parseIp(ip: string): ipaddr.IPv4 | ipaddr.IPv6 {
  return ipaddr.parse(ip.replace(/%.*$/, ''));
}
