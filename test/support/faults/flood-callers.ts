import { Agent, type OutgoingHttpHeaders, request } from 'node:http';

/** A request; `{n}` in path and body is another number each time. */
export interface FloodCall {
  path: string;
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
}

export interface Flood {
  url: string;
  call: FloodCall;
  /** Callers at once, each from an address of its own in `127.<network>.0.0/16`. */
  callers: number;
  network: number;
  /** Answers that each waits for, one after the other. */
  callsEach: number;
}

const TIMEOUT_MS = 120_000;

let sent = 0;

/** Resolves to the status, 0 for a lost connection. */
export function send(url: string, { path, body, ...rest }: FloodCall, agent: Agent): Promise<{ status: number; text: string }> {
  sent += 1;
  const number = String(sent);
  return new Promise((resolve) => {
    const lost = () => resolve({ status: 0, text: '' });
    const outgoing = request(`${url}${path.replace('{n}', number)}`, { ...rest, agent, timeout: TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }));
      response.on('error', lost);
    });
    outgoing.on('error', lost);
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.end(body?.replaceAll('{n}', number));
  });
}

async function callAgain({ url, call, network, callsEach }: Flood, index: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: `127.${network}.${index >> 8}.${index & 255}` });
  const statuses: number[] = [];
  while (statuses.length < callsEach) statuses.push((await send(url, call, agent)).status);
  agent.destroy();
  return statuses;
}

/** Floods once, and sends the parent process the number of answers by status. */
async function flood(given: Flood): Promise<void> {
  const all = await Promise.all(Array.from({ length: given.callers }, (_, index) => callAgain(given, index)));
  const counts: Record<string, number> = {};
  for (const status of all.flat()) counts[status] = (counts[status] ?? 0) + 1;
  process.send!(counts);
  process.disconnect();
}

// As a process of its own, whose work delays no measurement of another.
if (process.argv[1] === import.meta.filename) process.once('message', flood);
