import type { McpFixtures } from './fixtures/fixtures.ts';

/** What a server says of itself, and what it does besides. */
export interface McpServerOptions {
  version: string;
  /** Where callers reach the service. */
  publicUrl: string;
  /** What a caller does with a token; unset: it is sent as a header. */
  howToSendToken?: string;
  /** Single answers can be paid for with the call. */
  sells?: boolean;
  /** What the official test suites call by name; unset: nothing of it. */
  fixtures?: McpFixtures;
  /** Hears of failures of ours, which the caller is told nothing of. */
  onError?(error: unknown): void;
}
