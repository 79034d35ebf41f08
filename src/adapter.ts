import type { Request, Response } from 'express';
import type { RequestContext } from './auth/auth.ts';
import type { Caller } from './auth/caller.ts';
import type { ClientError } from './errors.ts';

export interface AdapterError extends ClientError {
  /** HTTP status, already set on the response with `Retry-After` and `WWW-Authenticate`. */
  status: number;
  /** Id in the log, for internal errors. */
  requestId?: string;
}

/** A protocol that shares port, limits and authentication with REST, but has its own messages and errors. */
export interface ProtocolAdapter {
  /** All methods of the path, or those listed; `below` includes sub-paths. */
  mounts: readonly { path: string; below?: true; methods?: readonly ('get' | 'post' | 'delete')[] }[];
  /** Media types parsed as JSON; `request.body` stays undefined for others. */
  bodyTypes: readonly string[];
  bodyLimitBytes: number;
  /** Authenticates in place of the service's own way, e.g. with further kinds of tokens. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  identify?(authorization: string | undefined): Promise<Caller>;
  /** Runs before authentication and limits. @throws OracleError ORIGIN_REFUSED */
  inspectRequest?(request: Request): void;
  /** Whether a body has a payment of a known form, whose request is never shed under load; nothing of it is verified. */
  carriesPayment?(body: unknown): boolean;
  /** Thrown errors go to `serializeError`. Below a sub-path mount, `request.url` is relative to it. */
  handle(request: Request, response: Response, context: RequestContext): Promise<void> | void;
  serializeError(error: AdapterError, response: Response): void;
}
