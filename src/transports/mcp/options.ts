import type { AppDocuments } from './apps/app-documents.ts';
import type { McpFixtures } from './fixtures/fixtures.ts';
import type { McpPayments } from './payments.ts';

/** Runs the handler of a message once it is admitted, unless its client has gone. @throws OracleError OVERLOADED, RATE_LIMITED */
export type AdmitMessage = <T>(message: { params?: unknown }, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

export interface McpServerOptions {
  version: string;
  /** Base URL under which clients reach the service. */
  publicUrl: string;
  /** Address at which assistants authorize by OAuth; unset: there is none. */
  accountUrl?: string;
  /** Instruction on where an access token goes. Default: as a request header. */
  howToSendToken?: string;
  /** Where single answers are paid for with x402. */
  payments: McpPayments;
  /** Documents in which hosts with MCP Apps show answers; unset: none is declared. */
  apps?: AppDocuments;
  /** Tools, resources and prompts that the conformance suites call by name. */
  fixtures?: McpFixtures;
  /** Admits the work of each message. */
  admit?: AdmitMessage;
  /** Logs internal errors; the client receives none of their text. */
  onError?(error: unknown): void;
}
