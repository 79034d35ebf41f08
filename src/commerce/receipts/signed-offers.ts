import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Log } from '../../platform/log.ts';
import type { SignedOffer } from './offer-receipt.ts';
import type { OfferTerms, SignOffer } from './offer-receipt-signer.ts';

/** An offer is signed once in a window, and is valid to the end of the next one: for five to ten minutes. */
const WINDOW_SECONDS = 300;
const MAX_OFFERS = 64;
/** A 402 without an offer is valid, so that it does not wait long for a remote signer. */
const MAX_WAIT_MS = 250;
const RETRY_AFTER_MS = 10_000;

interface OfferEntry {
  signing: Promise<void>;
  /** Null until signed. */
  offer: SignedOffer | null;
  /** Of the monotonic clock. */
  startedAtMs: number;
  failedAtMs: number | null;
}

export interface SignedOffersDeps {
  sign: SignOffer;
  log: Pick<Log, 'warn'>;
  now(): Date;
}

type Terms = Pick<OfferTerms, 'resourceUrl' | 'requirements'>;

/** Signed offers of this process. A 402 costs its client nothing, so its signature is shared: one per resource and window. */
export class SignedOffers {
  readonly #deps: SignedOffersDeps;
  readonly #entries = new LRUCache<string, OfferEntry>({ max: MAX_OFFERS });

  constructor(deps: SignedOffersDeps) {
    this.#deps = deps;
  }

  /** The offer if it is signed already; null otherwise. */
  find(terms: Terms): SignedOffer | null {
    return this.#entries.get(this.#toKey(terms))?.offer ?? null;
  }

  /** Signs the offer unless it is signed already. Null when the signer is slow or unavailable: the offer is optional. */
  async get(terms: Terms): Promise<SignedOffer | null> {
    const entry = this.#getEntry(terms);
    const waitMs = MAX_WAIT_MS - (performance.now() - entry.startedAtMs);
    if (entry.offer !== null || entry.failedAtMs !== null || waitMs <= 0) return entry.offer;
    await Promise.race([entry.signing, delay(waitMs, undefined, { ref: false })]);
    return entry.offer;
  }

  #getEntry(terms: Terms): OfferEntry {
    const key = this.#toKey(terms);
    const known = this.#entries.get(key);
    const isRetryDue = known !== undefined && known.failedAtMs !== null && performance.now() - known.failedAtMs >= RETRY_AFTER_MS;
    if (known !== undefined && !isRetryDue) return known;
    const entry: OfferEntry = { signing: Promise.resolve(), offer: null, startedAtMs: performance.now(), failedAtMs: null };
    entry.signing = this.#sign(terms, entry);
    this.#entries.set(key, entry);
    return entry;
  }

  async #sign(terms: Terms, entry: OfferEntry): Promise<void> {
    const { sign, log } = this.#deps;
    try {
      entry.offer = await sign({ ...terms, validUntil: (this.#getWindow() + 2) * WINDOW_SECONDS });
    } catch (error) {
      entry.failedAtMs = performance.now();
      log.warn({ err: error }, 'an x402 offer could not be signed: payment terms go out without it');
    }
  }

  #toKey({ resourceUrl, requirements }: Terms): string {
    return `${this.#getWindow()} ${requirements.amount} ${resourceUrl}`;
  }

  #getWindow(): number {
    return Math.floor(this.#deps.now().getTime() / 1_000 / WINDOW_SECONDS);
  }
}
