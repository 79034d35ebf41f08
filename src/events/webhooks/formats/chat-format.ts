import type { ChatMessage } from './chat-message.ts';

export interface ChatAddress {
  /** Absolute; its path holds the credential. */
  url: URL;
  /** Only of chats that name one: see `hasChatId`. */
  chatId: string | null;
}

export interface ChatAnswer {
  status: number;
  /** The beginning of the body. */
  text: string;
  /** From the header `Retry-After`. */
  retryAfterSeconds: number | null;
  /** Value of a header, named in lower case. */
  header(name: string): string | undefined;
}

export interface ChatVerdict {
  /** Why the message was not accepted, without any text of the answer; null if it was. */
  reason: string | null;
  /** When it may be sent again; null where the answer does not say. */
  retryAfterSeconds: number | null;
  /** Time until the next message to this address, beside the usual interval. */
  pauseMs: number;
  /** Why the address accepts no message any more; null otherwise. */
  ended: string | null;
}

/** How messages are posted to one kind of chat. */
export interface ChatFormat {
  /** Name in texts. */
  label: string;
  /** Whether messages name the chat beside the URL. */
  hasChatId: boolean;
  /** JSON Schema pattern of its usual URLs: accepts only what `parseUrl` accepts. */
  urlPattern: string;
  /** What a URL looks like, for errors. */
  urlRule: string;
  /** The URL to post to; null for one of another form. */
  parseUrl(url: URL): URL | null;
  /** The last characters of the credential. */
  getHint(url: URL): string;
  /** Least time between two messages to an address. */
  getIntervalMs(address: Pick<ChatAddress, 'chatId'>): number;
  /** The body of a post. */
  render(message: ChatMessage, address: Pick<ChatAddress, 'chatId'>): object;
  judge(answer: ChatAnswer): ChatVerdict;
}
