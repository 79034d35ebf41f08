import {
  INTERFACES,
  type InterfaceName,
  loadClient,
  readInstalledVersion,
  STOCK_CLIENTS,
  type StockClient,
} from '../../../examples/clients/catalog.ts';
import { findMember, parseBody } from '../wire/payments.ts';
import { createKeyPayer } from '../world/payers.ts';
import { payAnotherTask, resend } from './replays.ts';
import type { Row } from './row.ts';

type Observed = Pick<Row, 'hold' | 'readDocument' | 'replay'>;

const PAID_HTTP: Observed = { hold: 'charged', readDocument: ({ responseBody }) => parseBody(responseBody), replay: resend };

/** What differs between interfaces once a client has sent its payment. */
const OBSERVED: Record<InterfaceName, Observed> = {
  premium: PAID_HTTP,
  signal: { ...PAID_HTTP, hold: 'free' },
  mcp: {
    hold: 'charged',
    readDocument: ({ responseBody }) => findMember(parseBody(responseBody), 'structuredContent'),
    replay: resend,
  },
  a2a: {
    hold: 'charged',
    readDocument: ({ responseBody }) => findMember(findMember(parseBody(responseBody), 'artifacts'), 'data'),
    replay: payAnotherTask,
  },
};

/** All stock clients at all their interfaces, or those named. */
export async function listRows(names: readonly string[]): Promise<Row[]> {
  const clients = STOCK_CLIENTS.filter(({ name }) => names.length === 0 || names.includes(name));
  return (await Promise.all(clients.map(listClientRows))).flat();
}

async function listClientRows(client: StockClient): Promise<Row[]> {
  const { buy } = await loadClient(client);
  const version = await readInstalledVersion(client);
  return client.interfaces.map((name) => ({
    client: version,
    interface: INTERFACES[name].title,
    notApplicable: {},
    ...OBSERVED[name],
    createPayer: createKeyPayer,
    buy: ({ wire, rpcUrl }, { privateKey }) => buy!({ ...INTERFACES[name].order(wire.url), privateKey, rpcUrl }),
  }));
}
