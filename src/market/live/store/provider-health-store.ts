import type { Collection, Db } from 'mongodb';
import type { ProviderHealth } from '../providers/provider.ts';
import { PROVIDER_IDS, type ProviderId } from '../providers/providers.ts';

type ProviderHealthDoc = Omit<ProviderHealth, 'provider'> & { _id: ProviderId };

/** The collection `provider_health`: how providers are doing, as the process that asks them last saved it. */
export class ProviderHealthStore {
  readonly #docs: Collection<ProviderHealthDoc>;
  readonly #saved = new Map<ProviderId, string>();

  constructor(db: Db) {
    this.#docs = db.collection('provider_health');
  }

  /** Writes what has changed since this process last saved it. */
  async save(healths: readonly ProviderHealth[]): Promise<void> {
    const changed = healths.filter((health) => this.#saved.get(health.provider) !== JSON.stringify(health));
    if (changed.length === 0) return;
    await this.#docs.bulkWrite(
      changed.map(({ provider, ...health }) => ({ replaceOne: { filter: { _id: provider }, replacement: health, upsert: true } })),
      { ordered: false },
    );
    for (const health of changed) this.#saved.set(health.provider, JSON.stringify(health));
  }

  /** Everything saved, in the order of `PROVIDERS`. */
  async read(): Promise<ProviderHealth[]> {
    const docs = await this.#docs.find().toArray();
    const byId = new Map(docs.map(({ _id, ...health }) => [_id, { provider: _id, ...health }]));
    return PROVIDER_IDS.flatMap((id) => byId.get(id) ?? []);
  }
}
