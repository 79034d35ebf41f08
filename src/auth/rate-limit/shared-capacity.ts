import { OracleError } from '../../platform/errors.ts';
import { addressRanges } from '../../platform/limits/address-ranges.ts';
import type { Caller } from '../caller.ts';
import { isTierAtLeast } from '../tiers/tiers.ts';

/** Priority class: a payer has sent a payment, a holder currently has at least the Basic tier. */
export type CapacityClass = 'anonymous' | 'payer' | 'holder';

export interface CapacityClient {
  key: string;
  /** Client address as the rate limits key it. */
  address: string;
  class: CapacityClass;
}

export interface CapacityLimits {
  perClient: number;
  per56: number;
  per48: number;
  anonymous: number;
  /** Of anonymous callers and payers together; the rest up to `overall` is reserved for holders. */
  anonymousAndPayers: number;
  overall: number;
}

export interface SharedCapacityOptions {
  /** Plural name of the units, e.g. `streams`. */
  units: string;
  limits: Readonly<CapacityLimits>;
  suggestedAction: string;
  retryAfterSeconds: number;
}

/** @param isPaying whether the request carries a payment */
export function toCapacityClient({ caller, address }: { caller: Caller; address: string }, isPaying = false): CapacityClient {
  const { wallet, tier } = caller;
  const key = wallet === undefined ? address : wallet.toLowerCase();
  if (wallet !== undefined && isTierAtLeast(tier, 'basic')) return { key, address, class: 'holder' };
  return { key, address, class: isPaying ? 'payer' : 'anonymous' };
}

/** A bounded resource of one process that no few clients, address range or class of clients can exhaust. */
export class SharedCapacity {
  readonly #options: SharedCapacityOptions;
  readonly #inUse = new Map<string, number>();

  constructor(options: SharedCapacityOptions) {
    this.#options = options;
  }

  /** Acquires one unit; the returned function releases it. @throws OracleError RATE_LIMITED with the exhausted limit in `details.scope` */
  acquire(client: CapacityClient): () => void {
    const bounds = this.#getBounds(client);
    const full = bounds.find(({ scope, limit }) => this.#getCount(scope) >= limit);
    if (full !== undefined) throw this.#createFullError(full);
    for (const { scope } of bounds) this.#changeCount(scope, 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      for (const { scope } of bounds) this.#changeCount(scope, -1);
    };
  }

  #getBounds(client: CapacityClient): CapacityBound[] {
    const { perClient, per56, per48, anonymous, anonymousAndPayers, overall } = this.#options.limits;
    const own = { scope: `client ${client.key}`, name: 'client', limit: perClient };
    const all = { scope: 'all', name: 'all callers', limit: overall };
    if (client.class === 'holder') return [own, all];
    const [, range56, range48] = addressRanges(client.address);
    return [
      own,
      ...(range56 === undefined ? [] : [{ scope: range56, name: '/56', limit: per56 }]),
      ...(range48 === undefined ? [] : [{ scope: range48, name: '/48', limit: per48 }]),
      ...(client.class === 'anonymous'
        ? [{ scope: 'anonymous', name: 'anonymous callers', limit: this.#getAnonymousLimit(own, anonymous) }]
        : []),
      { scope: 'unreserved', name: 'callers without a token', limit: anonymousAndPayers },
      all,
    ];
  }

  /** A quarter of the anonymous share is for clients without a unit, so that a few addresses cannot use it up. */
  #getAnonymousLimit(own: CapacityBound, anonymous: number): number {
    return this.#getCount(own.scope) === 0 ? anonymous : Math.ceil(anonymous * 0.75);
  }

  #getCount(scope: string): number {
    return this.#inUse.get(scope) ?? 0;
  }

  #changeCount(scope: string, by: 1 | -1): void {
    const count = this.#getCount(scope) + by;
    if (count === 0) this.#inUse.delete(scope);
    else this.#inUse.set(scope, count);
  }

  #createFullError({ name, limit }: CapacityBound): OracleError {
    const { units, suggestedAction, retryAfterSeconds } = this.#options;
    const message = name === 'client' ? `${limit} ${units} of this caller are open` : `All ${limit} ${units} of ${name} are in use`;
    return new OracleError('RATE_LIMITED', message, { suggestedAction, retryAfterSeconds, details: { scope: name, limit } });
  }
}

interface CapacityBound {
  scope: string;
  name: string;
  limit: number;
}
