import { startEmbeddedMongo } from '../../../../src/dev/embedded-mongo.ts';
import { connectMongo } from '../../../../src/platform/mongo.ts';

/** A process with an embedded engine that writes as fast as it can, reporting what was acknowledged, until it is killed. */
const [, , dbPath, cacheDir] = process.argv;
const engine = await startEmbeddedMongo({ dbPath, cacheDir });
const { db } = await connectMongo(engine.uri);
process.send?.({ uri: engine.uri, pid: engine.pid });
for (let n = 0; ; n++) {
  await db.collection('written').insertOne({ n });
  process.send?.({ acknowledged: n });
}
