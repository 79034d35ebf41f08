import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Collection, Filter, MatchKeysAndValues, OptionalUnlessRequiredId } from 'mongodb';
import { type IndexSpec, isFirstWrite } from './mongo.ts';
import { repeatIfUncertain } from './retry.ts';

/** A document that takes a unit of a budget. */
export interface BudgetUnit {
  _id: string;
  /** What it counts against: its address ranges and `all`, each behind the group. Empty: nothing any more. */
  scopes: string[];
  /** It counts for the window of the budget from here on. */
  at: Date;
  /** False until it is counted: one that is too many is withdrawn. */
  isTaken: boolean;
}

export const BUDGET_KEY = { scopes: 1, at: 1 } as const;
export const BUDGET_INDEX: IndexSpec = { key: BUDGET_KEY };

/** Units at most within the window. */
export interface RangeLimits extends Record<RangeScope, number> {
  /** Unset: no bound over all. */
  all?: number;
  /** The last units of `all`, for ranges (/24, /48) that have fewer than `reservePerRange`. */
  reserve?: number;
  reservePerRange?: number;
}

export interface SpentLimit {
  scope: RangeScope | 'all';
  limit: number;
  /** When the oldest unit that stands in the way leaves the window. */
  freeAt: Date;
}

interface BudgetRequest<Unit extends BudgetUnit> {
  /** A repetition continues its unit. */
  id: string;
  /** No other request has the id. */
  isFresh?: boolean;
  /** As the rate limits key it. */
  address: string;
  at: Date;
  /** Each group has the limits for itself. */
  group?: string;
  fields: Omit<Unit, keyof BudgetUnit>;
}

const UNLIMITED = Number.POSITIVE_INFINITY;

interface CountedScope {
  scope: RangeScope | 'all';
  key: string;
  limit: number;
}

/**
 * A budget over all clients that no address range can use up: shares of ranges, and a reserve for ranges that have hardly used it. Units
 * are documents, so that it holds over crashes and for all processes, and a unit is given back by deleting its document.
 */
export class RangeBudget<Unit extends BudgetUnit> {
  readonly #units: Collection<Unit>;
  readonly #limits: RangeLimits;
  readonly #windowMs: number;

  /** @param units with `BUDGET_INDEX` */
  constructor(units: Collection<Unit>, { limits, windowMs }: { limits: RangeLimits; windowMs: number }) {
    this.#units = units;
    this.#limits = limits;
    this.#windowMs = windowMs;
  }

  /** Inserts the document of a unit; null, or the limit that is spent, with nothing inserted. */
  async take(request: BudgetRequest<Unit>): Promise<SpentLimit | null> {
    const { id, isFresh = false } = request;
    const own = { _id: id, isTaken: isFresh } as Filter<Unit>;
    for (;;) {
      // A rejected request writes nothing.
      const early = await this.findSpent(request);
      const isInserted = early === null && (await this.#insert(request));
      const known = isInserted || isFresh ? null : await this.#units.findOne({ _id: id } as Filter<Unit>, { projection: { isTaken: 1 } });
      if (known !== null && known.isTaken !== false) return null;
      if (known === null && early !== null) return early;
      // Counted after the write, so that concurrent units of all processes never exceed a limit together.
      const spent = await this.#findSpent(request, 1);
      if (spent !== null && (await this.#units.deleteOne(own)).deletedCount === 1) return spent;
      if (spent === null && (isFresh || (await this.#confirm(own)))) return null;
      // A concurrent request of the same id has withdrawn or taken the unit.
    }
  }

  /** The limit that leaves no room for a further unit; null otherwise. */
  findSpent(request: Pick<BudgetRequest<Unit>, 'address' | 'at' | 'group'>): Promise<SpentLimit | null> {
    return this.#findSpent(request, 0);
  }

  async release(id: string): Promise<void> {
    await this.#units.deleteOne({ _id: id } as Filter<Unit>);
  }

  /** Whether this request inserted the unit. */
  async #insert(request: BudgetRequest<Unit>): Promise<boolean> {
    const { id, at, fields, isFresh = false } = request;
    const unit = { ...fields, _id: id, scopes: this.#listScopes(request).map(({ key }) => key), at, isTaken: isFresh };
    const insert = () => isFirstWrite(this.#units.insertOne(unit as unknown as OptionalUnlessRequiredId<Unit>));
    return (await repeatIfUncertain(insert)) || isFresh;
  }

  async #confirm(own: Filter<Unit>): Promise<boolean> {
    return (await this.#units.updateOne(own, { $set: { isTaken: true } as MatchKeysAndValues<Unit> })).matchedCount === 1;
  }

  /** @param own units of the request that are stored already */
  async #findSpent({ at, ...request }: Pick<BudgetRequest<Unit>, 'address' | 'at' | 'group'>, own: number): Promise<SpentLimit | null> {
    const scopes = this.#listScopes(request);
    const counts = await Promise.all(scopes.map(({ key, limit }) => (limit === UNLIMITED ? 0 : this.#count(key, at, limit + own))));
    const index = counts.findIndex((count, position) => count - own >= scopes[position]!.limit);
    if (index >= 0) return this.#toSpent(scopes[index]!, at);
    const { all, reserve = 0, reservePerRange = 0 } = this.#limits;
    if (all === undefined || reserve === 0) return null;
    const open = { ...scopes.at(-1)!, limit: all - reserve };
    const [ofRange, overall] = counts.slice(-2) as [number, number];
    const isInReserve = overall - own >= open.limit;
    return isInReserve && ofRange - own >= reservePerRange ? this.#toSpent(open, at) : null;
  }

  #count(key: string, at: Date, max: number): Promise<number> {
    return this.#units.countDocuments(this.#inWindow(key, at), { hint: BUDGET_KEY, limit: Math.max(1, max) });
  }

  async #toSpent({ scope, key, limit }: CountedScope, at: Date): Promise<SpentLimit> {
    const [oldest] = await this.#units
      .find<{ at: Date }>(this.#inWindow(key, at), { hint: BUDGET_KEY, projection: { at: 1 } })
      .sort({ at: -1 })
      .skip(Math.max(0, limit - 1))
      .limit(1)
      .toArray();
    return { scope, limit, freeAt: new Date((oldest?.at ?? at).getTime() + this.#windowMs) };
  }

  #inWindow(key: string, at: Date): Filter<Unit> {
    return { scopes: key, at: { $gt: new Date(at.getTime() - this.#windowMs) } } as Filter<Unit>;
  }

  /** Narrowest first, `all` last. */
  #listScopes({ address, group = '' }: Pick<BudgetRequest<Unit>, 'address' | 'group'>): CountedScope[] {
    const ranges = listBudgetRanges(address).map(({ scope, range }) => ({ scope, key: group + range, limit: this.#limits[scope] }));
    return [...ranges, { scope: 'all', key: `${group}all`, limit: this.#limits.all ?? UNLIMITED }];
  }
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

/** A /64 in the form of `toAddressKey`: four hex groups without leading zeros. */
const SUBNET_KEY = /^((?:[\da-f]{1,4}:){3})([\da-f]{1,4})::\/64$/;
const IPV4_KEY = /^(\d{1,3}\.\d{1,3}\.\d{1,3}\.)\d{1,3}$/;

/** Narrowest first: the key itself, then for IPv6 its /56 and /48, the allocations of one subscriber or site (RFC 6177). */
export function addressRanges(addressKey: string): readonly string[] {
  const [, site, subnet] = SUBNET_KEY.exec(addressKey) ?? [];
  if (site === undefined || subnet === undefined) return [addressKey];
  const home = (Number.parseInt(subnet, 16) & 0xff00).toString(16);
  return [addressKey, `${site}${home}::/56`, `${site}:/48`];
}

/** `address`: an IPv4 address or a /64. */
type RangeScope = 'address' | '/24' | '/56' | '/48';

/** The ranges that share a budget, narrowest first. For IPv4 the address and its /24, the least that is routed on its own. */
export function listBudgetRanges(addressKey: string): { scope: RangeScope; range: string }[] {
  const [address, home, site] = addressRanges(addressKey) as [string, string?, string?];
  const own = { scope: 'address', range: address } as const;
  if (home !== undefined && site !== undefined) return [own, { scope: '/56', range: home }, { scope: '/48', range: site }];
  const [, network] = IPV4_KEY.exec(addressKey) ?? [];
  return network === undefined ? [own] : [own, { scope: '/24', range: `${network}0/24` }];
}
