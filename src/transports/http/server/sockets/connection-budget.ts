import { AddressRangeCounter, buildRangeLimits, type RangeLimits } from './address-range-counter.ts';

/** Connections of the general share, unless set: well below the file descriptors that a service manager allows. */
export const DEFAULT_MAX_CONNECTIONS = 4_096;

/** A sixteenth lets a large office behind one IPv4 address in, and needs sixteen addresses, or four sites of IPv6, to use all up. */
const GENERAL_SHARES = { address: 1 / 16, home: 1 / 8, site: 1 / 4 };

const RESERVE_SHARES = { address: 1 / 8, home: 1 / 8, site: 1 / 4 };

/** What the first request of a connection to the reserve must be or carry. */
export type ReserveKind = 'probe' | 'token' | 'payment';

/** Parts of an eighth of the general share, one for each kind: what may be forged for one takes nothing from the others. */
const RESERVES: Record<ReserveKind, number> = { probe: 1 / 32, token: 1 / 16, payment: 1 / 32 };

/** Gives a place back; further calls change nothing. */
export type ReleaseSlot = () => void;

/** Places for connections, and for requests that come through trusted proxies: a general share, and a reserve on top of it. */
export class ConnectionBudget {
  /** Connections whose first request is awaited at a time, beside those with a place. */
  readonly maxProvisional: number;
  readonly #general: AddressRangeCounter;
  readonly #reserves: Record<ReserveKind, AddressRangeCounter>;

  /** @param maxConnections size of the general share */
  constructor(maxConnections: number) {
    const reserve = (kind: ReserveKind) => {
      const all = Math.max(1, Math.floor(maxConnections * RESERVES[kind]));
      return new AddressRangeCounter(buildRangeLimits(all, RESERVE_SHARES));
    };
    this.maxProvisional = Math.max(1, Math.floor(maxConnections / 8));
    this.#general = new AddressRangeCounter(buildRangeLimits(maxConnections, GENERAL_SHARES));
    this.#reserves = { probe: reserve('probe'), token: reserve('token'), payment: reserve('payment') };
  }

  /** A place in the general share; null where it, or what a range of the address may have of it, is used up. */
  acquireGeneral(address: string): ReleaseSlot | null {
    return acquireSlot(this.#general, address);
  }

  /** A place in a part of the reserve; null where it, or what a range of the address may have of it, is used up. */
  acquireReserve(kind: ReserveKind, address: string): ReleaseSlot | null {
    return acquireSlot(this.#reserves[kind], address);
  }
}

function acquireSlot(counts: AddressRangeCounter, address: string): ReleaseSlot | null {
  if (!counts.tryAdd(address)) return null;
  let isHeld = true;
  return () => {
    if (isHeld) counts.add(address, -1);
    isHeld = false;
  };
}

/** Bytes that clients have not taken yet. A socket holds up to 4 MB in the kernel (net.ipv4.tcp_wmem), a response as much as it has. */
export const UNSENT_LIMITS: RangeLimits = { address: 12e6, home: 24e6, site: 48e6, all: 96e6 };
