import type { ClientFeedbackDoc, FeedbackStateDoc } from './client-feedback-store.ts';
import { collectFeedback } from './collect-feedback.ts';
import type { CollectFeedbackDeps } from './deps.ts';

export interface FeedbackPage {
  paid: boolean;
  limit: number;
  /** Exclusive position; null: from the newest. */
  before: number | null;
}

/** Feedback of clients other than the operator's reporter, as collected from the chain. */
export interface ClientFeedback {
  /** Continues where the last run ended. @throws OracleError CHAIN_UNREACHABLE */
  collect(): Promise<void>;
  /** Null before the first run. */
  findState(): Promise<FeedbackStateDoc | null>;
  /** Newest first. */
  list(page: FeedbackPage): Promise<ClientFeedbackDoc[]>;
}

export function createClientFeedback(deps: CollectFeedbackDeps): ClientFeedback {
  const { agent, store } = deps;
  return {
    collect: () => collectFeedback(deps),
    findState: () => store.findState(agent),
    list: (page) => store.list(agent, page),
  };
}
