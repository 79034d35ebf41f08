import type { ChatAnswer, ChatVerdict } from './chat-format.ts';

interface VerdictRules {
  label: string;
  /** Whether an answer of status 2xx says that the message was accepted. */
  isAccepted(answer: ChatAnswer): boolean;
  /** Statuses that say that the address has ended. */
  endings: readonly number[];
  /** Seconds that a rejection for too many messages asks for, from the body. */
  readRetryAfter(answer: ChatAnswer): unknown;
}

const TOO_MANY_REQUESTS = 429;
const MAX_PAUSE_SECONDS = 86_400;
/** Where a rejection for too many messages names no time. */
const DEFAULT_PAUSE_SECONDS = 5;

/** The verdict on an answer by the rules of a chat. Of its text nothing but numbers is taken over. */
export function readVerdict(answer: ChatAnswer, rules: VerdictRules): ChatVerdict {
  const { status } = answer;
  const rejected = { retryAfterSeconds: answer.retryAfterSeconds, pauseMs: 0, ended: null };
  if (status >= 200 && status < 300) {
    if (rules.isAccepted(answer)) return { ...rejected, reason: null };
    return { ...rejected, reason: `HTTP ${status}, in which ${rules.label} does not confirm the message` };
  }
  if (status === TOO_MANY_REQUESTS) {
    const seconds = Math.max(toSeconds(rules.readRetryAfter(answer)), toSeconds(answer.retryAfterSeconds)) || DEFAULT_PAUSE_SECONDS;
    return { reason: `HTTP ${status}`, retryAfterSeconds: Math.ceil(seconds), pauseMs: Math.ceil(seconds * 1_000), ended: null };
  }
  const reason = status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
  const ended = rules.endings.includes(status) ? `${rules.label} answered ${status}: the address does not exist any more` : null;
  return { ...rejected, reason, ended };
}

/** Seconds within a day; 0 for anything else. */
export function toSeconds(value: unknown): number {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, MAX_PAUSE_SECONDS) : 0;
}

/** The members of a JSON object; none for any other text. */
export function readMembers(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
