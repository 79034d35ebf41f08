import type { ErrorCode } from '../../../platform/errors.ts';
import recorded from './examples.json' with { type: 'json' };

/** Real requests and answers, cut short; written by `npm run docs:examples`. */
export interface Examples {
  /** By operation: the body that was sent. */
  requests: Record<string, unknown>;
  /** By operation, status and media type: what was answered. */
  replies: Record<string, Record<string, Record<string, unknown>>>;
  problems: Partial<Record<ErrorCode, object>>;
}

export const EXAMPLES = recorded as unknown as Examples;
