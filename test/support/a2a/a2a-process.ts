import { connectMongo } from '../../../src/platform/mongo.ts';
import { a2aBench } from './a2a-bench.ts';

/**
 * A2A as a process of its own: `node a2a-process.ts <MongoDB URI>`. Writes its address, and never answers what it is asked to carry
 * out: it is there to be killed.
 */
const { db } = await connectMongo(process.argv[2]);
const bench = await a2aBench({ db });
bench.hold();
process.stdout.write(`${bench.url}\n`);
