import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Address, type Hex, hashTypedData, recoverAddress, recoverTypedDataAddress } from 'viem';

/**
 * A stand-in for Polymarket's order book on loopback. It checks what the exchange checks: who asks (EIP-712 for credentials, HMAC
 * afterwards), who signed an order and for which contract, its price, size and decimals, and that it has not been placed before.
 */

export interface StubBook {
  bids: [price: string, size: string][];
  asks: [price: string, size: string][];
  tickSize: string;
  minOrderSize: string;
  negRisk: boolean;
}

export interface StubMarket {
  conditionId: string;
  yes: string;
  no: string;
  fee: { r: number; e: number } | null;
  books: Record<string, StubBook>;
  winner: 'Yes' | 'No' | null;
  closed: boolean;
  /** Resolved 50/50. */
  isHalf?: boolean;
  /** Of a YES token, as the exchange has it after the end; default: 0.5. */
  finalPrice?: number;
}

/**
 * What becomes of a posted order: `lost` never arrives, `answer-lost` is filled but the answer is not, `no-answer` is filled and the
 * answer held back, `late` is taken and filled by `fillLate`, `broken` is an error of the exchange's own.
 */
export type PostFault = 'lost' | 'answer-lost' | 'no-answer' | 'late' | 'broken' | 'micro-amounts';

export interface PlacedOrder {
  hash: Hex;
  tokenId: string;
  makerMicros: number;
  takerMicros: number;
  contract: string;
  signatureType: number;
  maker: string;
}

export interface PolymarketExchange {
  url: string;
  market: StubMarket;
  balanceMicros: number;
  /** Orders that were taken, each once. */
  orders: PlacedOrder[];
  /** Method and path of every request. */
  requests: string[];
  /** Secrets that were handed out. */
  secrets: string[];
  version: number;
  /** What becomes of the next posted orders, first to last. */
  faults: PostFault[];
  /** Requests under this path are refused with 401. */
  refuse: string | null;
  /** Called when an order has arrived, before anything is done with it. */
  onPost(): Promise<void>;
  fillLate(): void;
  posts(): number;
  close(): Promise<void>;
}

interface Trade {
  id: string;
  taker_order_id: string;
  market: string;
  asset_id: string;
  size: string;
  price: string;
  status: string;
}

interface Answer {
  status: number;
  body: unknown;
}

const CHAIN_ID = 137;
const CONTRACTS = {
  plain: '0xE111180000d2663C0091e4f400237545B87B996B',
  negRisk: '0xe2222d279d744050d28e00520010520000310F59',
  version3: '0xe3333700cA9d93003F00f0F71f8515005F6c00Aa',
};
const ORDER_FIELDS =
  'uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,bytes32 builder';
const ORDER_TYPE = ORDER_FIELDS.split(',').map((field) => ({ type: field.split(' ')[0], name: field.split(' ')[1] }));
const AUTH_TYPE = ['address address', 'string timestamp', 'uint256 nonce', 'string message'].map((field) => ({
  type: field.split(' ')[0],
  name: field.split(' ')[1],
}));
const MAX_CLOCK_ERROR_S = 60;

const ok = (body: unknown): Answer => ({ status: 200, body });
const refused = (error: string, status = 400): Answer => ({ status, body: { error } });

/** A market with a book of ten cents around the middle for YES, and its mirror image for NO. */
export function stubMarket(changes: Partial<StubMarket> = {}): StubMarket {
  const book = { tickSize: '0.01', minOrderSize: '5', negRisk: false };
  return {
    conditionId: `0x${'c0'.repeat(32)}`,
    yes: '111222333',
    no: '444555666',
    fee: null,
    books: {
      '111222333': { ...book, bids: [['0.40', '500'], ['0.44', '200']], asks: [['0.60', '500'], ['0.47', '300'], ['0.46', '30']] }, // biome-ignore format: worst prices first, as the exchange lists them
      '444555666': { ...book, bids: [['0.40', '500'], ['0.54', '30']], asks: [['0.60', '500'], ['0.56', '200']] }, // biome-ignore format: see above
    },
    winner: null,
    closed: false,
    ...changes,
  };
}

export async function startPolymarketExchange(account: Address): Promise<PolymarketExchange> {
  const credentials = new Map<string, { key: string; secret: string; passphrase: string; address: string }>();
  const trades: Trade[] = [];
  const late: PlacedOrder[] = [];
  const held = new Set<ServerResponse>();

  const exchange: PolymarketExchange = {
    url: '',
    market: stubMarket(),
    balanceMicros: 1_000_000_000,
    orders: [],
    requests: [],
    secrets: [],
    version: 2,
    faults: [],
    refuse: null,
    onPost: async () => {},
    fillLate: () => {
      for (const order of late.splice(0)) match(order);
    },
    posts: () => exchange.requests.filter((request) => request === 'POST /order').length,
    close: async () => {
      for (const response of held) response.destroy();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };

  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => respond(response, refused(String(error), 500)));
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stub');
    const body = await bodyOf(request);
    exchange.requests.push(`${request.method} ${pathname}`);
    if (exchange.refuse !== null && pathname.startsWith(exchange.refuse))
      return respond(response, refused('Unauthorized/Invalid api key', 401));
    if (request.method === 'POST' && pathname === '/order') return post(request, response, body);
    respond(response, await answer(request, pathname, searchParams));
  }

  async function answer(request: IncomingMessage, path: string, query: URLSearchParams): Promise<Answer> {
    const { market } = exchange;
    if (path === '/version') return ok({ version: exchange.version });
    if (path === '/time') return ok(Math.floor(Date.now() / 1000));
    if (path === '/book') return book(query.get('token_id') ?? '');
    if (path === `/clob-markets/${market.conditionId}`) return ok(marketInfo(market));
    if (path === `/markets/${market.conditionId}`) return ok(marketState(market));
    if (path === '/auth/derive-api-key' || path === '/auth/api-key') return apiKey(request, path);
    const denied = deniedL2(request, path, '');
    if (denied !== null) return denied;
    if (path === '/balance-allowance') return ok({ balance: String(exchange.balanceMicros), allowances: {} });
    if (path.startsWith('/data/order/')) return openOrder(path.slice('/data/order/'.length));
    if (path === '/data/trades') return tradesPage(query);
    return refused('not found', 404);
  }

  function book(tokenId: string): Answer {
    const found = exchange.market.books[tokenId];
    if (found === undefined) return refused('No orderbook exists for the requested token id', 404);
    const levels = (side: [string, string][]) => side.map(([price, size]) => ({ price, size }));
    const { bids, asks, tickSize: tick_size, minOrderSize: min_order_size, negRisk: neg_risk } = found;
    return ok({ market: exchange.market.conditionId, asset_id: tokenId, timestamp: String(Date.now()), bids: levels(bids), asks: levels(asks), min_order_size, tick_size, neg_risk }); // biome-ignore format: one answer
  }

  async function apiKey(request: IncomingMessage, path: string): Promise<Answer> {
    const { poly_address: address, poly_signature: signature, poly_timestamp: timestamp, poly_nonce: nonce } = headersOf(request);
    const message = { address, timestamp, nonce: BigInt(nonce ?? 0), message: 'This message attests that I control the given wallet' };
    const domain = { name: 'ClobAuthDomain', version: '1', chainId: CHAIN_ID };
    const typed = { domain, types: { ClobAuth: AUTH_TYPE }, primaryType: 'ClobAuth', message } as const;
    const signer = await recoverTypedDataAddress({ ...typed, signature: signature as Hex });
    if (signer !== address || signer !== account || isOff(timestamp)) return refused('Invalid L1 Request headers', 401);
    const known = [...credentials.values()].find((item) => item.address === address);
    if (path === '/auth/derive-api-key') return known ? ok(shown(known)) : refused('Could not derive api key!');
    if (known) return refused('Could not create api key');
    const made = {
      key: crypto.randomUUID(),
      secret: randomBytes(32).toString('base64url'),
      passphrase: randomBytes(32).toString('hex'),
      address,
    };
    credentials.set(made.key, made);
    exchange.secrets.push(made.secret, made.passphrase);
    return ok(shown(made));
  }

  /** The refusal of a request that the account's key has not signed; null for one that it has. */
  function deniedL2(request: IncomingMessage, path: string, body: string): Answer | null {
    const { poly_address, poly_signature, poly_timestamp, poly_api_key, poly_passphrase } = headersOf(request);
    const found = credentials.get(poly_api_key ?? '');
    if (found === undefined || isOff(poly_timestamp)) return refused('Unauthorized/Invalid api key', 401);
    const hmac = createHmac('sha256', Buffer.from(found.secret, 'base64url')).update(`${poly_timestamp}${request.method}${path}${body}`);
    const expected = hmac.digest('base64').replaceAll('+', '-').replaceAll('/', '_');
    const right = expected === poly_signature && found.passphrase === poly_passphrase && found.address === poly_address;
    return right ? null : refused('Unauthorized/Invalid api key', 401);
  }

  async function post(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const fault = exchange.faults.shift();
    await exchange.onPost();
    if (fault === 'lost') return void response.destroy();
    if (fault === 'broken') return respond(response, refused('internal error', 500));
    const result = deniedL2(request, '/order', body) ?? (await place(JSON.parse(body), fault));
    if (fault === 'answer-lost') return void response.destroy();
    if (fault === 'no-answer') return void held.add(response);
    respond(response, result);
  }

  async function place({ order, owner, orderType }: PostBody, fault: PostFault | undefined): Promise<Answer> {
    const stub = exchange.market.books[order.tokenId];
    if (!credentials.has(owner)) return refused('the order owner has to be the owner of the API KEY');
    if (orderType !== 'FAK' || order.side !== 'BUY') return refused('this stub takes FAK buys only');
    if (stub === undefined) return refused('invalid token id');
    const contract = exchange.version === 3 ? CONTRACTS.version3 : stub.negRisk ? CONTRACTS.negRisk : CONTRACTS.plain;
    const hash = hashOf(order, contract, exchange.version);
    const signer = await recoverAddress({ hash, signature: order.signature });
    if (signer !== account || order.signer !== account) return refused('invalid signature');
    const makerMicros = Number(order.makerAmount);
    const takerMicros = Number(order.takerAmount);
    const price = makerMicros / takerMicros;
    if (makerMicros % 10_000 !== 0 || takerMicros % 100 !== 0) return refused('invalid amounts, the market buy orders maker amount supports a max accuracy of 2 decimals, taker amount a max of 4 decimals'); // biome-ignore format: one text
    const ticks = price / Number(stub.tickSize);
    if (Math.abs(ticks - Math.round(ticks)) > 1e-9) return refused(`order is invalid. Price breaks minimum tick size rules`);
    if (takerMicros < Number(stub.minOrderSize) * 1e6) return refused('order is invalid. Size lower than the minimum');
    if (exchange.orders.some((known) => known.hash === hash)) return refused("order is invalid. Duplicated. Same order has already been placed, can't be placed again"); // biome-ignore format: one text
    if (makerMicros > exchange.balanceMicros) return refused('not enough balance / allowance');
    const placed = {
      hash,
      tokenId: order.tokenId,
      makerMicros,
      takerMicros,
      contract,
      signatureType: order.signatureType,
      maker: order.maker,
    };
    if (fault === 'late') {
      exchange.orders.push(placed);
      late.push(placed);
      return ok({ success: true, errorMsg: '', orderID: hash, status: 'live', makingAmount: '', takingAmount: '' });
    }
    const bought = match(placed);
    if (bought === null)
      return refused('no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.');
    exchange.orders.push(placed);
    const unit = fault === 'micro-amounts' ? 1e6 : 1;
    const amounts = { makingAmount: String(bought.paid * unit), takingAmount: String(bought.contracts * unit) };
    return ok({
      success: true,
      errorMsg: '',
      orderID: hash,
      status: 'matched',
      ...amounts,
      transactionsHashes: [`0x${'ab'.repeat(32)}`],
      tradeIDs: ['t1'],
    });
  }

  /** Fills an order from the asks at no more than its price; null without such asks. */
  function match(order: PlacedOrder): { contracts: number; paid: number } | null {
    const { asks } = exchange.market.books[order.tokenId];
    const price = order.makerMicros / order.takerMicros;
    let left = order.takerMicros / 1e6;
    let paid = 0;
    for (const level of asks.toReversed()) {
      const size = Math.min(left, Number(level[1]));
      if (Number(level[0]) > price + 1e-9 || size <= 0) continue;
      trades.push({ id: `t${trades.length + 1}`, taker_order_id: order.hash, market: exchange.market.conditionId, asset_id: order.tokenId, size: String(size), price: level[0], status: 'MATCHED' }); // biome-ignore format: one trade
      level[1] = String(Number(level[1]) - size);
      left -= size;
      paid += size * Number(level[0]);
    }
    const contracts = order.takerMicros / 1e6 - left;
    exchange.balanceMicros -= Math.round(paid * 1e6);
    return contracts > 0 ? { contracts, paid: Math.round(paid * 1e6) / 1e6 } : null;
  }

  /** Of orders that are over the exchange says nothing. */
  function openOrder(hash: string): Answer {
    const open = late.find((order) => order.hash === hash);
    return ok(open === undefined ? null : { id: hash, status: 'LIVE', size_matched: '0' });
  }

  /** One trade a page, so that a client that reads only the first page misses some. */
  function tradesPage(query: URLSearchParams): Answer {
    const mine = trades.filter(({ market, asset_id }) => market === query.get('market') && asset_id === query.get('asset_id'));
    const index = Number(Buffer.from(query.get('next_cursor') ?? 'MA==', 'base64').toString());
    const next = index + 1 < mine.length ? Buffer.from(String(index + 1)).toString('base64') : 'LTE=';
    return ok({ limit: 1, count: 1, data: mine.slice(index, index + 1), next_cursor: next });
  }

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  exchange.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return exchange;
}

interface PostBody {
  order: Record<'maker' | 'signer' | 'tokenId' | 'makerAmount' | 'takerAmount' | 'side' | 'timestamp' | 'metadata' | 'builder', string> & {
    salt: number;
    signatureType: number;
    signature: Hex;
  };
  owner: string;
  orderType: string;
}

function hashOf(order: PostBody['order'], verifyingContract: string, version: number): Hex {
  const domain = {
    name: 'Polymarket CTF Exchange',
    version: String(version),
    chainId: CHAIN_ID,
    verifyingContract: verifyingContract as Address,
  };
  const { salt, tokenId, makerAmount, takerAmount, timestamp } = order;
  const numbers = { salt: BigInt(salt), tokenId: BigInt(tokenId), makerAmount: BigInt(makerAmount), takerAmount: BigInt(takerAmount) };
  const message = { ...order, ...numbers, timestamp: BigInt(timestamp), side: 0 };
  return hashTypedData({ domain, types: { Order: ORDER_TYPE }, primaryType: 'Order', message });
}

function marketInfo({ conditionId, yes, no, fee }: StubMarket): object {
  const tokens = [
    { t: yes, o: 'Yes' },
    { t: no, o: 'No' },
  ];
  return { c: conditionId, t: tokens, mts: 0.01, mos: 5, nr: false, fd: fee === null ? undefined : { ...fee, to: true }, r: null };
}

function marketState({ conditionId, yes, no, winner, closed, isHalf = false, finalPrice = 0.5 }: StubMarket): object {
  const token = (token_id: string, outcome: string, price: number) => ({ token_id, outcome, price, winner: outcome === winner });
  const tokens = [token(yes, 'Yes', finalPrice), token(no, 'No', 1 - finalPrice)];
  return { condition_id: conditionId, closed, is_50_50_outcome: isHalf, tokens };
}

function shown({ key: apiKey, secret, passphrase }: { key: string; secret: string; passphrase: string }): object {
  return { apiKey, secret, passphrase };
}

function isOff(timestamp: string | undefined): boolean {
  return !(Math.abs(Number(timestamp) - Date.now() / 1000) <= MAX_CLOCK_ERROR_S);
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return request.headers as Record<string, string>;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function respond(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
