import type { IncomingMessage } from 'node:http';
import type { RequestContext } from '../../../auth/request-context.ts';
import { isOracleError } from '../../../platform/errors.ts';

/** Counts the documents of clients that are fetched for a request against its address. */
export class DocumentBudget {
  readonly #contexts = new WeakMap<IncomingMessage, RequestContext>();

  async during<T>(request: IncomingMessage, context: RequestContext, work: () => Promise<T>): Promise<T> {
    this.#contexts.set(request, context);
    return work();
  }

  /** False beyond the limit of the address. */
  async takeOne(request: IncomingMessage): Promise<boolean> {
    try {
      await this.#contexts.get(request)?.countClient();
      return true;
    } catch (error) {
      if (isOracleError(error, 'RATE_LIMITED')) return false;
      throw error;
    }
  }
}
