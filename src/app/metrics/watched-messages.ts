/**
 * Lines of the log that the runbook quotes and that are counted by their text. Lines of wagers are not: that there is one says that the
 * forecast of its day is no HOLD.
 */
export const WATCHED_MESSAGES = [
  'market history is incomplete: asking again later',
  'a payment could not be checked or sent',
  'what became of a payment is not known yet',
  'job failed',
  'a purchase cannot be delivered yet',
  'a job of the agent commerce contract cannot go on; it is tried again',
  'the agent commerce contract has not paid a job without an evaluator; no further one is accepted',
  'the marketplace does not take a delivery; it is tried again',
  'a webhook was disabled',
  'a webhook is suspended: its wallet has lost the Basic tier',
  'the secret of a webhook does not open: nothing is sent to it',
  'a task notification was not delivered',
  'the database does not count requests: each process limits for itself',
  'X-Forwarded-For is present but not trusted: behind a proxy, set TRUST_PROXY',
  'credentials of the operator refused',
  'publishing changes failed: it will be retried',
  'events could not be read or passed on: trying again',
] as const;

export type WatchedMessage = (typeof WATCHED_MESSAGES)[number];
