import type { Address } from 'viem';
import type { WebSocket } from 'ws';
import type { Tier } from '../../auth/caller.ts';
import type { AnyEvent } from '../log/event.ts';
import type { Clock } from './clock.ts';
import { CLOSE_CODES, type CloseCause } from './messages/close-codes.ts';
import { type EncodeEvent, encodeMessage } from './messages/encode-message.ts';
import type { ServerData, ServerMessageName } from './messages/message-schemas.ts';
import type { SessionHolder } from './session-holder.ts';
import { type ConnectionSubscription, matchesSubscription } from './subscription.ts';

/** What may wait for a client that reads slowly. */
export const MAX_BUFFERED_BYTES = 1024 * 1024;
/** A client that does not answer a close frame is dropped after it. */
export const CLOSE_TIMEOUT_MS = 2_000;
/** So long before the end the client is told of it. */
export const EXPIRY_NOTICE_MS = 60_000;
/** One that reads slowly is waited for no longer: a replay for its next page, and a connection that ends for its farewell to be read. */
export const SLOW_READER_TIMEOUT_MS = 30_000;

export interface ConnectionOptions {
  /** Random. */
  id: string;
  socket: WebSocket;
  holder: SessionHolder;
  subscription: ConnectionSubscription;
  /** Id of the last event that is not to be sent any more. */
  lastId: number;
  clock: Clock;
}

const NOOP: () => void = () => undefined;
const TEXT_FRAME = { binary: false };

/** One client: what it asked for, how far it has got, and why it ends. */
export class Connection {
  readonly id: string;
  /** Resolves once the socket is gone. */
  readonly closed: Promise<void>;
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #wallet: string;
  #holder: SessionHolder;
  #subscription: ConnectionSubscription;
  #lastId: number;
  /** False while what was missed is sent. */
  #isLive = false;
  #closeCause: CloseCause | null = null;
  #isPongReceived = true;
  /** Messages of a replay that have not left this process. */
  #bufferedMessages = 0;
  #onDrained = NOOP;
  #cancelNotice = NOOP;
  #cancelExpiry = NOOP;
  #cancelTermination = NOOP;

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
    socket.on('error', () => this.#terminateIn(CLOSE_TIMEOUT_MS));
    socket.on('pong', () => {
      this.#isPongReceived = true;
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
    return this.#isLive;
  }

  /** True from the first close frame on, of either side. */
  get isClosing(): boolean {
    return this.#closeCause !== null || this.#socket.readyState !== this.#socket.OPEN;
  }

  /** Why this side has ended it; null where it has not. */
  get closeCause(): CloseCause | null {
    return this.#closeCause;
  }

  /** Says hello, and begins to watch the token. */
  start(data: Pick<ServerData<'connected'>, 'lastEventId' | 'pingSeconds'>): void {
    this.sendMessage('connected', {
      wallet: this.wallet,
      tier: toPublishedTier(this.#holder),
      expiresAt: this.#holder.expiresAt.toISOString(),
      subscription: serializeSubscription(this.#subscription),
      ...data,
    });
    this.#watchToken();
  }

  /** From now on events come as they happen: what was missed has been sent. */
  goLive(): void {
    this.#isLive = true;
  }

  /** Sends a message that is no event. */
  sendMessage<Name extends ServerMessageName>(type: Name, data: ServerData<Name>): void {
    this.#send(encodeMessage(type, data, this.#clock.now()));
  }

  /** Takes the next event: sends it where it was asked for. One that was taken before changes nothing. */
  offerEvent(event: AnyEvent, encode: EncodeEvent): void {
    if (event._id <= this.#lastId) return;
    // One that cannot be encoded now has not been taken.
    const message = matchesSubscription(event, this.#subscription, this.#wallet) ? encode(event, this.tier) : null;
    this.#lastId = event._id;
    if (message !== null) this.#send(message);
  }

  /** Resolves once everything sent has left this process, or the socket is gone; a reader who takes too long is dropped. */
  async waitUntilDrained(): Promise<void> {
    if (this.isClosing || this.#bufferedMessages === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onDrained = resolve;
    const cancel = this.#clock.after(SLOW_READER_TIMEOUT_MS, () => this.close('tooSlow'));
    await Promise.race([promise, this.closed]);
    cancel();
  }

  /** Sends a ping. One who has not answered the last is gone, without a farewell that nobody would hear. */
  ping(): void {
    // One that ends has a time of its own.
    if (this.isClosing) return;
    if (this.#isPongReceived) {
      this.#isPongReceived = false;
      this.#socket.ping();
    } else {
      this.#socket.terminate();
    }
  }

  /** What is sent from now on. */
  subscribe(subscription: ConnectionSubscription): void {
    this.#subscription = subscription;
    this.sendMessage('subscribed', serializeSubscription(subscription));
  }

  /** Goes on under another session of the same wallet. */
  reauthenticate(holder: SessionHolder): void {
    this.#holder = holder;
    this.#watchToken();
    this.sendMessage('authenticated', { tier: toPublishedTier(holder), expiresAt: holder.expiresAt.toISOString() });
  }

  /** What the session is worth by now. */
  setTier(tier: Tier): void {
    if (tier === 'public') this.close('tierLost');
    else this.#holder = { ...this.#holder, caller: { ...this.#holder.caller, tier } };
  }

  /** Ends the connection, once; a client that does not answer is dropped a moment later, and one that reads slowly has time to hear why. */
  close(cause: CloseCause): void {
    if (this.#closeCause === null) {
      this.#closeCause = cause;
      this.#cancelTimers();
      const { code, reason } = CLOSE_CODES[cause];
      this.#socket.close(code, reason);
      this.#terminateIn(cause === 'tooSlow' ? SLOW_READER_TIMEOUT_MS : CLOSE_TIMEOUT_MS);
    } else if (cause === 'goingAway') {
      // Nobody is waited for any longer.
      this.#terminateIn(CLOSE_TIMEOUT_MS);
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
    if (this.isClosing) return;
    if (this.#socket.bufferedAmount + message.length > MAX_BUFFERED_BYTES) this.close('tooSlow');
    else if (this.#isLive) this.#socket.send(message, TEXT_FRAME);
    else this.#sendCounted(message);
  }

  #sendCounted(message: Buffer): void {
    this.#bufferedMessages += 1;
    this.#socket.send(message, TEXT_FRAME, () => {
      this.#bufferedMessages -= 1;
      if (this.#bufferedMessages === 0) this.#onDrained();
    });
  }

  /** At the end of the token, whatever else happens; a clock that stood still is asked again. */
  #watchToken(): void {
    this.#cancelNotice();
    this.#cancelExpiry();
    const leftMs = () => this.#holder.expiresAt.getTime() - this.#clock.now().getTime();
    const expiresAt = this.#holder.expiresAt.toISOString();
    this.#cancelNotice = this.#clock.after(leftMs() - EXPIRY_NOTICE_MS, () => this.sendMessage('token.expiring', { expiresAt }));
    const end = () => {
      if (leftMs() <= 0) return this.close('tokenExpired');
      this.#cancelExpiry = this.#clock.after(leftMs(), end);
    };
    this.#cancelExpiry = this.#clock.after(leftMs(), end);
  }
}

/** Nobody of a lower tier has a connection. */
function toPublishedTier({ caller }: SessionHolder): 'basic' | 'premium' {
  return caller.tier === 'premium' ? 'premium' : 'basic';
}

function serializeSubscription({ events, horizons }: ConnectionSubscription): ServerData<'subscribed'> {
  return { events: [...events], horizons: horizons === null ? null : [...horizons] };
}
