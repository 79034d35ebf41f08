import type { IncomingMessage } from 'node:http';
import type { OAuthStores } from '../../../auth/oauth/provider/provider-adapter.ts';
import type { RequestContext } from '../../../auth/request-context.ts';
import { isOracleError } from '../../../platform/errors.ts';

type FetchingContext = Pick<RequestContext, 'address' | 'detach'>;

/** Counts the documents of clients that are fetched for a request against its address, but those of clients that wallets allow. */
export class DocumentBudget {
  readonly #stores: Pick<OAuthStores, 'clients' | 'grants'>;
  readonly #contexts = new WeakMap<IncomingMessage, FetchingContext>();

  constructor(stores: Pick<OAuthStores, 'clients' | 'grants'>) {
    this.#stores = stores;
  }

  async during<T>(request: IncomingMessage, context: FetchingContext, work: () => Promise<T>): Promise<T> {
    this.#contexts.set(request, context);
    return work();
  }

  /** False beyond the limits of the address. The unit of work ends: the request now waits for a server that its client names. */
  async takeOne(request: IncomingMessage, clientId: string): Promise<boolean> {
    const { clients, grants } = this.#stores;
    const context = this.#contexts.get(request);
    if (context === undefined) return true;
    try {
      if (!(await grants.hasLive(clientId))) await clients.countDocument(context.address);
      context.detach();
      return true;
    } catch (error) {
      if (isOracleError(error, 'RATE_LIMITED')) return false;
      throw error;
    }
  }
}
