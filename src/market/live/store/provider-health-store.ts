import type { Collection, Db } from 'mongodb';
import type { ProviderHealth } from '../providers/provider.ts';
import { PROVIDER_IDS, type ProviderId } from '../providers/providers.ts';

type ProviderHealthDoc = Omit<ProviderHealth, 'provider'> & { _id: ProviderId };

/** Provider health as last saved by the calling process. */
export class ProviderHealthStore {
  readonly #docs: Collection<ProviderHealthDoc>;
  readonly #saved = new Map<ProviderId, string>();

  constructor(db: Db) {
    this.#docs = db.collection('provider_health');
  }

  /** Writes only changes since this process's last save. */
  async save(healths: readonly ProviderHealth[]): Promise<void> {
    const changed = healths.filter((health) => this.#saved.get(health.provider) !== JSON.stringify(health));
    if (changed.length === 0) return;
    const writes = changed.map(({ provider: _id, ...health }) => ({ replaceOne: { filter: { _id }, replacement: health, upsert: true } }));
    await this.#docs.bulkWrite(writes, { ordered: false });
    for (const health of changed) this.#saved.set(health.provider, JSON.stringify(health));
  }

  /** In the order of `PROVIDERS`. */
  async read(): Promise<ProviderHealth[]> {
    const docs = await this.#docs.find().toArray();
    const byId = new Map(docs.map(({ _id, ...health }) => [_id, { provider: _id, ...health }]));
    return PROVIDER_IDS.flatMap((id) => byId.get(id) ?? []);
  }
}
