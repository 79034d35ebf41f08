import { INTERFACES, loadClient, readInstalledVersion, STOCK_CLIENTS, type StockClient } from '../../../examples/clients/catalog.ts';
import { createKeyPayer } from '../world/payers.ts';
import { OBSERVED } from './observed.ts';
import type { Row } from './row.ts';
import { listSmartWalletRows } from './smart-wallet-rows.ts';

/** All stock clients at all their interfaces and wallets that are not deployed, or the clients named. */
export async function listRows(names: readonly string[]): Promise<Row[]> {
  const clients = STOCK_CLIENTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const rows = (await Promise.all(clients.map(listClientRows))).flat();
  return names.length === 0 ? [...rows, ...listSmartWalletRows()] : rows;
}

async function listClientRows(client: StockClient): Promise<Row[]> {
  const { buy } = await loadClient(client);
  const version = await readInstalledVersion(client);
  return client.interfaces.map((name) => {
    const { toAnswer = (body) => body, ...observed } = OBSERVED[name];
    return {
      client: version,
      interface: INTERFACES[name].title,
      notApplicable: {},
      ...observed,
      createPayer: createKeyPayer,
      async buy({ wire, rpcUrl }, { privateKey }) {
        const { answer, settlement } = await buy!({ ...INTERFACES[name].order(wire.url), privateKey, rpcUrl });
        return { answer: toAnswer(answer), settlement };
      },
    };
  });
}
