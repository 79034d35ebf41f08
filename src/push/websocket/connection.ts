import type { Address } from 'viem';
import type { WebSocket } from 'ws';
import type { Tier } from '../../record/caller.ts';
import type { AnyEvent } from '../events/event.ts';
import type { Clock } from './clock.ts';
import { CLOSE_CODES, type CloseCause } from './close-codes.ts';
import { type EncodeEvent, encodeMessage } from './encode.ts';
import type { Holder } from './holder.ts';
import type { ServerData, ServerMessageName } from './messages.ts';
import { isWanted, type Subscription } from './subscription.ts';

/** What may wait for a client that reads slowly. */
export const MOST_WAITING_BYTES = 1024 * 1024;
/** A client that does not answer a close frame is dropped after it. */
export const CLOSING_MS = 2_000;
/** So long before the end the client is told of it. */
export const EXPIRY_NOTICE_MS = 60_000;
/** One that reads slowly is waited for no longer: a replay for its next page, and a connection that ends for its farewell to be read. */
export const SLOW_READER_MS = 30_000;

export interface ConnectionOptions {
  /** Random. */
  id: string;
  socket: WebSocket;
  holder: Holder;
  subscription: Subscription;
  /** Id of the last event that is not to be sent any more. */
  lastId: number;
  clock: Clock;
}

const NOTHING: () => void = () => undefined;
const TEXT = { binary: false };

/** One client: what it asked for, how far it has got, and why it ends. */
export class Connection {
  readonly id: string;
  /** Resolves once the socket is gone. */
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #wallet: string;
  #holder: Holder;
  #subscription: Subscription;
  #lastId: number;
  /** False while what was missed is sent. */
  #live = false;
  #cause: CloseCause | null = null;
  #answered = true;
  /** Messages of a replay that have not left this process. */
  #unwritten = 0;
  #onDrained = NOTHING;
  #cancelNotice = NOTHING;
  #cancelExpiry = NOTHING;
  #cancelTermination = NOTHING;

  constructor({ id, socket, holder, subscription, lastId, clock }: ConnectionOptions) {
    this.id = id;
    this.#socket = socket;
    this.#holder = holder;
    this.#wallet = holder.caller.wallet!.toLowerCase();
    this.#subscription = subscription;
    this.#lastId = lastId;
    this.#clock = clock;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    void this.closed.then(() => this.#cancelTimers());
    // What breaks the protocol is closed by the library, with the code for it.
    socket.on('error', () => this.#terminateIn(CLOSING_MS));
    socket.on('pong', () => {
      this.#answered = true;
    });
  }

  get sessionId(): string {
    return this.#holder.caller.sessionId!;
  }

  get wallet(): Address {
    return this.#holder.caller.wallet!;
  }

  get tier(): Tier {
    return this.#holder.caller.tier;
  }

  /** Id of the last event that was looked at for this connection. */
  get lastId(): number {
    return this.#lastId;
  }

  get isLive(): boolean {
    return this.#live;
  }

  /** True from the first close frame on, of either side. */
  get isEnding(): boolean {
    return this.#cause !== null || this.#socket.readyState !== this.#socket.OPEN;
  }

  /** Why this side has ended it; null where it has not. */
  get cause(): CloseCause | null {
    return this.#cause;
  }

  /** Says hello, and begins to watch the token. */
  begin(data: Pick<ServerData<'connected'>, 'lastEventId' | 'pingSeconds'>): void {
    this.tell('connected', {
      wallet: this.wallet,
      tier: toldTier(this.#holder),
      expiresAt: this.#holder.expiresAt.toISOString(),
      subscription: toldSubscription(this.#subscription),
      ...data,
    });
    this.#watchToken();
  }

  /** From now on events come as they happen: what was missed has been sent. */
  goLive(): void {
    this.#live = true;
  }

  /** Sends a message that is no event. */
  tell<Name extends ServerMessageName>(type: Name, data: ServerData<Name>): void {
    this.#send(encodeMessage(type, data, this.#clock.now()));
  }

  /** Takes the next event: sends it where it was asked for. One that was taken before changes nothing. */
  offer(event: AnyEvent, encode: EncodeEvent): void {
    if (event._id <= this.#lastId) return;
    // One that cannot be encoded now has not been taken.
    const message = isWanted(event, this.#subscription, this.#wallet) ? encode(event, this.tier) : null;
    this.#lastId = event._id;
    if (message !== null) this.#send(message);
  }

  /** Resolves once everything sent has left this process, or the socket is gone; a reader who takes too long is dropped. */
  async drained(): Promise<void> {
    if (this.isEnding || this.#unwritten === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onDrained = resolve;
    const cancel = this.#clock.after(SLOW_READER_MS, () => this.close('tooSlow'));
    await Promise.race([promise, this.closed]);
    cancel();
  }

  /** Sends a ping. One who has not answered the last is gone, without a farewell that nobody would hear. */
  ping(): void {
    // One that ends has a time of its own.
    if (this.isEnding) return;
    if (this.#answered) {
      this.#answered = false;
      this.#socket.ping();
    } else {
      this.#socket.terminate();
    }
  }

  /** What is sent from now on. */
  subscribe(subscription: Subscription): void {
    this.#subscription = subscription;
    this.tell('subscribed', toldSubscription(subscription));
  }

  /** Goes on under another session of the same wallet. */
  renew(holder: Holder): void {
    this.#holder = holder;
    this.#watchToken();
    this.tell('authenticated', { tier: toldTier(holder), expiresAt: holder.expiresAt.toISOString() });
  }

  /** What the session is worth by now. */
  setTier(tier: Tier): void {
    if (tier === 'public') this.close('tierLost');
    else this.#holder = { ...this.#holder, caller: { ...this.#holder.caller, tier } };
  }

  /** Ends the connection, once; a client that does not answer is dropped a moment later, and one that reads slowly has time to hear why. */
  close(cause: CloseCause): void {
    if (this.#cause === null) {
      this.#cause = cause;
      this.#cancelTimers();
      const { code, reason } = CLOSE_CODES[cause];
      this.#socket.close(code, reason);
      this.#terminateIn(cause === 'tooSlow' ? SLOW_READER_MS : CLOSING_MS);
    } else if (cause === 'goingAway') {
      // Nobody is waited for any longer.
      this.#terminateIn(CLOSING_MS);
    }
  }

  #terminateIn(ms: number): void {
    this.#cancelTermination();
    this.#cancelTermination = this.#clock.after(ms, () => this.#socket.terminate());
  }

  #cancelTimers(): void {
    this.#cancelNotice();
    this.#cancelExpiry();
    this.#cancelTermination();
  }

  #send(message: Buffer): void {
    if (this.isEnding) return;
    if (this.#socket.bufferedAmount + message.length > MOST_WAITING_BYTES) this.close('tooSlow');
    else if (this.#live) this.#socket.send(message, TEXT);
    else this.#sendCounted(message);
  }

  #sendCounted(message: Buffer): void {
    this.#unwritten += 1;
    this.#socket.send(message, TEXT, () => {
      this.#unwritten -= 1;
      if (this.#unwritten === 0) this.#onDrained();
    });
  }

  /** At the end of the token, whatever else happens; a clock that stood still is asked again. */
  #watchToken(): void {
    this.#cancelNotice();
    this.#cancelExpiry();
    const leftMs = () => this.#holder.expiresAt.getTime() - this.#clock.now().getTime();
    const expiresAt = this.#holder.expiresAt.toISOString();
    this.#cancelNotice = this.#clock.after(leftMs() - EXPIRY_NOTICE_MS, () => this.tell('token.expiring', { expiresAt }));
    const end = () => {
      if (leftMs() <= 0) return this.close('tokenExpired');
      this.#cancelExpiry = this.#clock.after(leftMs(), end);
    };
    this.#cancelExpiry = this.#clock.after(leftMs(), end);
  }
}

/** Nobody of a lower tier has a connection. */
function toldTier({ caller }: Holder): 'basic' | 'premium' {
  return caller.tier === 'premium' ? 'premium' : 'basic';
}

function toldSubscription({ events, horizons }: Subscription): ServerData<'subscribed'> {
  return { events: [...events], horizons: horizons === null ? null : [...horizons] };
}
