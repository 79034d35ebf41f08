import { Message } from '@a2a-js/sdk';

/** Limits of the stored history; the newest message is always kept. */
export const HISTORY_LIMITS = { messages: 40, bytes: 64 * 1_024 } as const;

/** Removes repeats and old messages. */
export function limitHistory(history: readonly Message[]): Message[] {
  const kept: Message[] = [];
  let bytes = 0;
  for (const message of removeRepeats(history).slice(-HISTORY_LIMITS.messages).reverse()) {
    bytes += Buffer.byteLength(JSON.stringify(Message.toJSON(message)));
    if (kept.length > 0 && bytes > HISTORY_LIMITS.bytes) break;
    kept.unshift(message);
  }
  return kept;
}

/** The SDK appends the opening message a second time. */
function removeRepeats(history: readonly Message[]): Message[] {
  return [...new Map(history.map((message) => [`${message.role} ${message.messageId}`, message])).values()];
}
