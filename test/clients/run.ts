import { STOCK_CLIENTS } from '../../examples/clients/catalog.ts';
import { findAgent } from './outcomes/find-agent.ts';
import { type RowResult, runRow } from './outcomes/run-row.ts';
import { listRows } from './rows/list-rows.ts';
import type { Row } from './rows/row.ts';
import { formatMatrix } from './table.ts';
import { compareBooks } from './world/books.ts';
import { openWorld, type World } from './world/world.ts';

const NAMES = STOCK_CLIENTS.map(({ name }) => name);
const USAGE = `Usage: npm run test:clients -- [client...]

Stock clients, by the code of their READMEs, buy from a service of its own on a local chain: client x interface x outcome. Then ledger,
chain, receipts and wallets are compared to the unit. Ends with 1 where a cell fails or a sum differs.
Clients: ${NAMES.join(', ')}
`;

const names = process.argv.slice(2);
const unknown = names.filter((name) => !NAMES.includes(name));
if (unknown.length > 0) {
  process.stderr.write(names.includes('--help') ? USAGE : `there is no client ${unknown.join(', ')}\n\n${USAGE}`);
  process.exit(names.includes('--help') ? 0 : 2);
}

const world = await openWorld();
try {
  const results = await runAll(world);
  const agent = await findAgent(world, names);
  const books = await compareBooks(world);
  console.log([...formatMatrix(results), '', ...agent.lines, '', ...books.lines].join('\n'));
  const passed = results.every(({ result }) => Object.values(result).every(({ ok }) => ok));
  process.exitCode = passed && agent.ok && books.equal ? 0 : 1;
} finally {
  await world.close();
}

/** One after the other: the wire records one at a time. */
async function runAll(over: World): Promise<{ row: Row; result: RowResult }[]> {
  const results: { row: Row; result: RowResult }[] = [];
  for (const row of await listRows(names)) {
    const began = performance.now();
    results.push({ row, result: await runRow(row, over) });
    console.error(`${row.client}, ${row.interface}: ${Math.round(performance.now() - began)} ms`);
  }
  return results;
}
