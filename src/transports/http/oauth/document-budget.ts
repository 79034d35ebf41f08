import type { IncomingMessage } from 'node:http';
import type { OAuthStores } from '../../../auth/oauth/provider/provider-adapter.ts';
import { isOracleError } from '../../../platform/errors.ts';

/** Counts the documents of clients that are fetched for a request against its address, but those of clients that wallets allow. */
export class DocumentBudget {
  readonly #stores: Pick<OAuthStores, 'clients' | 'grants'>;
  readonly #addresses = new WeakMap<IncomingMessage, string>();

  constructor(stores: Pick<OAuthStores, 'clients' | 'grants'>) {
    this.#stores = stores;
  }

  async during<T>(request: IncomingMessage, address: string, work: () => Promise<T>): Promise<T> {
    this.#addresses.set(request, address);
    return work();
  }

  /** False beyond the limits of the address. */
  async takeOne(request: IncomingMessage, clientId: string): Promise<boolean> {
    const { clients, grants } = this.#stores;
    const address = this.#addresses.get(request);
    if (address === undefined || (await grants.hasLive(clientId))) return true;
    try {
      await clients.countDocument(address);
      return true;
    } catch (error) {
      if (isOracleError(error, 'RATE_LIMITED')) return false;
      throw error;
    }
  }
}
