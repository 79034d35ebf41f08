import { connectMongo } from '../../platform/mongo.ts';

/** A record of ten years has some 200 MB, of which the service reads the newest. */
const CACHE_MB = 64;

/** The engine has no settings of its own, and would take up to half of the machine's memory. Lasts until it is closed. */
export async function limitEngineCache(uri: string): Promise<void> {
  const { client, close } = await connectMongo(uri);
  try {
    await client.db('admin').command({ setParameter: 1, wiredTigerEngineRuntimeConfig: `cache_size=${CACHE_MB}M` });
  } finally {
    await close();
  }
}
