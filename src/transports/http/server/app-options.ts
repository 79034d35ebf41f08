import type { RequestHandler } from 'express';
import type { Caller } from '../../../auth/caller.ts';
import type { RateLimits } from '../../../auth/rate-limit/rate-limits.ts';
import type { LoadShedder } from '../../../platform/concurrency/load-shedder.ts';
import type { Log } from '../../../platform/log.ts';
import type { ChainWork } from './security/admission.ts';
import type { EndedRequest, RequestSource } from './security/request-log.ts';

export interface AppOptions {
  /** Called with each request that ends. Absent: none is observed. */
  observeRequest?: (ended: EndedRequest) => void;
  log: Log;
  /** Authenticates the `Authorization` header; the public caller without one. @throws OracleError UNAUTHENTICATED */
  identify(authorization: string | undefined): Promise<Caller>;
  /** Authenticates the operator. Absent: admin paths answer 404. @throws OracleError UNAUTHENTICATED */
  admin?: (authorization: string | undefined, source: RequestSource) => void | Promise<void>;
  /** Serves what is below `/admin` beside the operations. */
  adminPage?: RequestHandler;
  /** Absent: no rate limits. */
  limits?: RateLimits;
  /** Bounds concurrent requests that call the chain. Absent: unbounded. */
  chainWork?: ChainWork;
  /** Sheds requests that this process cannot answer in time. Absent: all are admitted. */
  loadShedder?: LoadShedder;
  /** Proxies whose `X-Forwarded-For` is trusted: the number of hops, or their addresses and ranges. Absent: none. */
  trustProxy?: number | readonly string[];
  /** Sends answers of public reads, and of other reads within a tier, again for up to a second. */
  reusesAnswers?: boolean;
  /** Aborts at shutdown: later requests are rejected. */
  stopping?: AbortSignal;
}
