/** A message of the service. Events have an `id`; messages about the connection do not. */
export interface SocketMessage {
  id?: number;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

export interface SocketEnd {
  closeCode: number;
  reason: string;
}

const PING_MS = 30_000;
/** The service answers each `ping`; after a longer silence the connection counts as lost. */
const MAX_SILENCE_MS = 75_000;
/** Of unread messages: a consumer that is slower drops the connection and gets the rest from the log of the service. */
const MAX_UNREAD = 1_000;
const ABNORMAL_CLOSE = 1006;

/** A WebSocket of Node or of browsers as a queue of messages with an end. */
export class EventSocket {
  readonly #socket: WebSocket;
  readonly #unread: SocketMessage[] = [];
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #end: SocketEnd | null = null;
  #lastHeardAt = performance.now();
  #wake: () => void = () => undefined;

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.onmessage = ({ data }) => this.#receive(String(data));
    this.#socket.onclose = ({ code, reason }) => this.#finish({ closeCode: code, reason });
    this.#timers.push(setInterval(() => this.#ping(), PING_MS));
  }

  /** The next message; once the connection has ended and all are read, its end. */
  async next(): Promise<SocketMessage | SocketEnd> {
    for (;;) {
      const message = this.#unread.shift();
      if (message !== undefined) return message;
      if (this.#end !== null) return this.#end;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  send(message: { type: string; data: object }): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Ends the queue at once; the closing handshake may take longer. */
  close(reason = 'closed by the client'): void {
    this.#socket.close();
    this.#finish({ closeCode: ABNORMAL_CLOSE, reason });
  }

  #receive(text: string): void {
    if (this.#end !== null) return;
    this.#lastHeardAt = performance.now();
    const message = parseMessage(text);
    if (message === null) return void this.close('the server sends no messages of this service');
    this.#unread.push(message);
    this.#wake();
    if (this.#unread.length > MAX_UNREAD) this.close('too many unread events');
  }

  #ping(): void {
    if (performance.now() - this.#lastHeardAt > MAX_SILENCE_MS) this.close('no message for too long');
    else this.send({ type: 'ping', data: {} });
  }

  #finish(end: SocketEnd): void {
    this.#end ??= end;
    for (const timer of this.#timers) clearInterval(timer);
    this.#wake();
  }
}

function parseMessage(text: string): SocketMessage | null {
  try {
    const message = JSON.parse(text) as SocketMessage | null;
    return typeof message?.type === 'string' && typeof message.data === 'object' && message.data !== null ? message : null;
  } catch {
    return null;
  }
}
