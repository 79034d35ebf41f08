import type { Request, Response } from 'express';
import type { RequestContext } from '../auth/request-context.ts';
import type { ClientError } from '../platform/errors.ts';

/** An error on its way out of a door. */
export interface AdapterError extends ClientError {
  /** HTTP status, set already together with `Retry-After` and `WWW-Authenticate` where they belong. */
  status: number;
  /** What the log names the request by; told where the fault is ours. */
  requestId?: string;
}

/** A protocol of its own behind the same socket: same limits, same callers, its own words for answers and errors. */
export interface ProtocolAdapter {
  /** All methods there, or those named; `below` for everything under the path too. */
  mounts: readonly { path: string; below?: true; methods?: readonly ('get' | 'post' | 'delete')[] }[];
  /** Media types of bodies that are read as JSON; a body of another type is left unread, and `request.body` undefined. */
  bodyTypes: readonly string[];
  /** The largest body, in bytes. */
  bodyLimitBytes: number;
  /** Looks at a request before anything else does. @throws OracleError ORIGIN_REFUSED */
  inspectRequest?(request: Request): void;
  /** Answers. What it throws is told by `tell`. Below a path, `request.url` is what is left of it. */
  handle(request: Request, response: Response, context: RequestContext): Promise<void> | void;
  /** Sends an error in the words of its protocol. */
  serializeError(error: AdapterError, response: Response): void;
}
