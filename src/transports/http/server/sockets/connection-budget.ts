import { AddressRangeCounter, buildRangeLimits, type RangeLimits } from './address-range-counter.ts';

/** Default size of the general share, well below the file-descriptor limit of service managers. */
export const DEFAULT_MAX_CONNECTIONS = 4_096;

/** 1/16 admits a large office behind one IPv4 address; exhausting the share takes sixteen addresses, or four IPv6 sites. */
const GENERAL_SHARES = { perAddress: 1 / 16, per56: 1 / 8, per48: 1 / 4 };

const RESERVE_SHARES = { perAddress: 1 / 8, per56: 1 / 8, per48: 1 / 4 };

/** Qualification of the first request of a connection for the reserve. */
export type ReserveKind = 'probe' | 'token' | 'payment';

/** Fractions of the general share, one per kind: forging one kind takes nothing from the others. */
const RESERVES: Record<ReserveKind, number> = { probe: 1 / 32, token: 1 / 16, payment: 1 / 32 };

export interface ShareUse {
  share: 'general' | ReserveKind;
  used: number;
  limit: number;
}

/** Idempotent. */
export type ReleaseSlot = () => void;

/** Slots for connections, and for requests through trusted proxies: a general share, and a reserve in addition. */
export class ConnectionBudget {
  readonly maxProvisional: number;
  readonly #general: AddressRangeCounter;
  readonly #reserves: Record<ReserveKind, AddressRangeCounter>;

  constructor(maxConnections: number) {
    const createReserve = (kind: ReserveKind) => {
      const size = Math.max(1, Math.floor(maxConnections * RESERVES[kind]));
      return new AddressRangeCounter(buildRangeLimits(size, RESERVE_SHARES));
    };
    this.maxProvisional = Math.max(1, Math.floor(maxConnections / 8));
    this.#general = new AddressRangeCounter(buildRangeLimits(maxConnections, GENERAL_SHARES));
    this.#reserves = { probe: createReserve('probe'), token: createReserve('token'), payment: createReserve('payment') };
  }

  listUse(): ShareUse[] {
    const reserves = Object.entries(this.#reserves) as [ReserveKind, AddressRangeCounter][];
    return [{ share: 'general', ...this.#general.use }, ...reserves.map(([share, counter]) => ({ share, ...counter.use }))];
  }

  /** Null where the general share, or the share of a range of the address, is used up. */
  acquireGeneral(address: string): ReleaseSlot | null {
    return acquireSlot(this.#general, address);
  }

  /** Null where this part of the reserve, or the share of a range of the address, is used up. */
  acquireReserve(kind: ReserveKind, address: string): ReleaseSlot | null {
    return acquireSlot(this.#reserves[kind], address);
  }
}

function acquireSlot(counter: AddressRangeCounter, address: string): ReleaseSlot | null {
  if (!counter.tryAdd(address)) return null;
  let isHeld = true;
  return () => {
    if (isHeld) counter.add(address, -1);
    isHeld = false;
  };
}

/** Unread response bytes. A socket buffers up to 4 MB in the kernel (net.ipv4.tcp_wmem), a response its full size in the process. */
export const UNSENT_LIMITS: RangeLimits = { perAddress: 12e6, per56: 24e6, per48: 48e6, overall: 96e6 };
